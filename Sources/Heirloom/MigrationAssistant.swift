public import Foundation
import HeirloomFormats
import HeirloomMapping
public import HeirloomMigration
import HeirloomModel
import HeirloomStore
import HeirloomVault

/// Migrates a store to the current model at launch, and keeps the previous version.
///
/// An assistant works on the task that calls it. On most launches it has nothing to do: it then takes no lock, writes
/// nothing and syncs nothing.
public final class MigrationAssistant {
  /// The store.
  public let storeURL: URL
  /// The controller that keeps the last-used model.
  public let modelController: ModelController
  /// The app's models; if merged, the path from the store's version to the current one, once the store was read.
  public private(set) var history: ModelHistory
  /// The app's choices.
  public let configuration: Configuration
  /// The delegate, which answers what can't be inferred and receives events.
  ///
  /// The assistant retains it, so a new object may be assigned at once. A delegate that retains its assistant must set
  /// this to `nil` after the migration, or neither is ever freed.
  public var delegate: (any MigrationAssistantDelegate)?
  /// The manager that migrates stores through stages with code; `nil` to infer mappings or ask the delegate.
  public var stagedManager: StagedMigrationManager?
  /// The files kept beside the store; their events are reported to the delegate and the observers.
  public var archive: StoreArchive { StoreArchive(of: self) }
  /// Made once it is asked for: most launches need none.
  var madeProgress: Progress?

  package private(set) var recentEvents = RecentEvents()

  package let files: any FileOperations
  let builder: BuilderChoice
  let vaultConfiguration: VaultConfiguration
  private let givenHistory: ModelHistory

  /// Creates an assistant; nothing is read.
  ///
  /// - Parameters:
  ///   - storeURL: The store; it may not exist yet.
  ///   - modelController: The controller that keeps the last-used model.
  ///   - history: The app's models.
  ///   - configuration: The app's choices.
  public convenience init(
    storeURL: URL, modelController: ModelController, history: ModelHistory,
    configuration: Configuration = Configuration()
  ) {
    self.init(
      storeURL: storeURL, modelController: modelController, history: history, configuration: configuration,
      files: POSIXFileOperations())
  }

  package init(
    storeURL: URL, modelController: ModelController, history: ModelHistory, configuration: Configuration,
    files: any FileOperations, builder: BuilderChoice = .automatic,
    vaultConfiguration: VaultConfiguration = VaultConfiguration()
  ) {
    self.storeURL = storeURL
    self.modelController = modelController
    (self.history, givenHistory) = (history, history)
    modelController.belongs(to: storeURL, history: history)
    self.configuration = configuration
    self.files = files
    self.builder = builder
    self.vaultConfiguration = vaultConfiguration
  }

  // MARK: Looking

  /// Returns true if the store has another model than the current one; writes nothing.
  ///
  /// - Returns: False when there is no store.
  /// - Throws: ``MigrationAssistantError/unreadableStore(_:)``.
  public func isMigrationNeeded() throws(MigrationAssistantError) -> Bool {
    guard let metadata = try storeMetadata() else { return false }
    return metadata.versionHashes != history.currentHashes
  }

  /// Adopts the history of a merged model's path.
  package func storeMetadata() throws(MigrationAssistantError) -> StoreMetadata? {
    do throws(StoreError) {
      let metadata = try StoreMetadata(contentsOf: storeURL)
      if let merger = givenHistory.merger {
        if let way = merger.findWay(givenHistory, metadata.versionHashes) {
          history = way
        } else if metadata.versionHashes != history.currentHashes {
          history = givenHistory
        }
        modelController.belongs(to: storeURL, history: history)
      }
      return metadata
    } catch {
      if error.problem == .missing { return nil }
      throw .unreadableStore(error)
    }
  }

  /// Makes the plan of the migration without writing anything.
  ///
  /// - Returns: `nil` when there is no store, or nothing to do.
  /// - Throws: ``MigrationAssistantError`` for a store or models that allow no plan.
  public func plan() throws(MigrationAssistantError) -> MigrationPlan? {
    guard let metadata = try storeMetadata(), metadata.versionHashes != history.currentHashes else { return nil }
    do {
      let run = MigrationRun(of: self)
      var plan = try run.plan(from: metadata)
      if let warning = try placeWarning() { plan.warnings.append(warning) }
      return plan
    } catch {
      throw explained(wrapped(error))
    }
  }

  /// About files beside the store, which a copy of the store doesn't have.
  package func placeWarnings() throws -> [String] {
    [try vault().logDamage()?.description, try placeWarning()].compactMap { $0 }
  }

  package func fileLosses() throws -> [MigrationLoss] {
    let vault = try vault()
    return losses(of: try vault.logDamage(), in: vault)
  }

  func losses(of damage: LogDamage?, in vault: StoreVault) -> [MigrationLoss] {
    [damage.flatMap(MigrationLoss.init)].compactMap(\.self)
      + vault.pagesNotUndone().map { MigrationLoss(pages: $0.pages, keptWith: $0.version) }
  }

  /// A plan may also be made on a copy, or on a read-only volume, so an unfit location is no error.
  private func placeWarning() throws -> String? {
    try vault().placeObjection().map { "A migration would fail at the store's location: \($0)" }
  }

  /// Every migration of a mount point, or of a file with further hard links, throws this error.
  package func mountOrLinkObjection() throws -> MigrationAssistantError? {
    try vault().placeObjection().flatMap { $0.isAboutMountOrLink ? wrapped($0) : nil }
  }

  // MARK: Migrating

  /// Migrates the store to the current model.
  ///
  /// - Returns: The outcome.
  /// - Throws: ``MigrationAssistantError``; an error that the delegate throws is reported with its own description. The
  ///   data are where they were.
  public func migrateStore() throws -> MigrationOutcome {
    let start = ContinuousClock.now
    let mayMove = configuration.incompatibleStore == .setAside
    var attemptsLeft = 3
    while true {
      let found = mayMove ? try? foundFile() : nil
      do {
        return finished(try outcome(since: start))
      } catch {
        let error = explained(wrapped(error))
        report(.failed(reason: error.description), error: error)
        attemptsLeft -= 1
        guard mayMove, error.isAboutIncompatibleStore else { throw observed(error) }
        if let notice = try setStoreAside(because: error, of: found) { return finished(.setAside(notice)) }
        // Another process has changed the store meanwhile, so it may be fit now.
        guard attemptsLeft > 0 else { throw observed(error) }
      }
    }
  }

  private func outcome(since start: ContinuousClock.Instant) throws -> MigrationOutcome {
    let location = try location()
    // Also if there is nothing to do: the app would write to a store that an operation has kept.
    try vault(at: location).checkNotKept()
    var isUnfinished = try StoreVault.hasUnfinishedOperation(at: location, files: files)
    if isUnfinished, try files.status(of: location.path) == nil {
      // Recovery of a setting aside or a return works without a store; for any other operation it throws the right
      // error.
      try vault(at: location).recover()
      isUnfinished = try StoreVault.hasUnfinishedOperation(at: location, files: files)
    }
    if !isUnfinished, let outcome = try outcomeWithoutChange(at: location) { return outcome }
    return try MigrationRun(of: self, since: start).migrate()
  }

  private func outcomeWithoutChange(
    at location: StoreLocation
  ) throws(MigrationAssistantError) -> MigrationOutcome? {
    do throws(MigrationAssistantError) {
      guard let metadata = try storeMetadata() else { return .noStore }
      guard metadata.versionHashes == history.currentHashes else {
        // An older app leaves a newer store unchanged: no lock, no folder.
        try checkAge(metadata)
        return nil
      }
      reportedEdits()
      pruneAfterLaterLaunch(at: location)
      return .upToDate
    } catch {
      guard error.isInterruptedChange else { throw error }
      return nil
    }
  }

  // MARK: Parts

  package func location() throws(VaultError) -> StoreLocation {
    try StoreLocation(resolving: storeURL.path, files: files)
  }

  package func vault() throws -> StoreVault {
    vault(at: try location())
  }

  func vault(at location: StoreLocation, told: @escaping (VaultEvent) -> Void = { _ in }) -> StoreVault {
    var settings = vaultConfiguration
    settings.lockTimeout = configuration.lockTimeout
    settings.holdTimeout = configuration.storeTimeout
    settings.allowUnsafeVolume = configuration.allowsUnsafeVolume
    settings.allowLostProtection = configuration.allowsLostProtection
    settings.excludesPreviousVersionsFromBackup = configuration.excludesPreviousVersionsFromBackup
    settings.stopsAtUnreadableLog = configuration.stopsAtUnreadableLog
    return StoreVault(location, files: files, configuration: settings) { [weak self] event in
      self?.forward(event)
      told(event)
    }
  }

  /// This launch was able to open the new version.
  private func pruneAfterLaterLaunch(at location: StoreLocation) {
    // A failure is ignored: a later launch tries again.
    _ = try? vault(at: location).prune(
      keeping: max(1, configuration.keptVersions), sparing: history.current.versionChecksum())
  }

  // MARK: Telling

  func report(_ event: MigrationEvent, error: MigrationAssistantError? = nil) {
    recentEvents.note(event)
    delegate?.migrationAssistant(self, didReport: event)
    observe(event, error: error)
  }

  private func forward(_ event: VaultEvent) {
    switch event {
    case .foundStaleCandidate(let path): report(.foundStaleCandidate(path: path))
    case .removedStaleCandidate(let path): report(.removedStaleCandidate(path: path))
    case .recovered(let recovery, _): report(.recovered(operation: recovery.rawValue))
    case .keptLog(let path, let damage):
      report(.keptUnreadableLog(path: path, reason: damage.description))
    case .restoredWithFaults(let id, let reason): report(.restoredWithFaults(id: id, reason: reason))
    case .undone(let id, nil): report(.undidInterruptedChange(id: id))
    case .undone(let id, let damage?): report(.undidPartOfInterruptedChange(id: id, reason: damage.description))
    case .held: report(.held)
    case .built: report(.built)
    case .proven: report(.proven)
    case .previousVersionKept(let id): report(.previousVersionKept(id: id))
    case .swapped: report(.swapped)
    case .cleanUpPostponed(_, let error): report(.cleanUpPostponed(reason: error.description))
    case .journalModeNotRestored(let reason): report(.cleanUpPostponed(reason: reason))
    case .pruned(let id): report(.pruned(id: id))
    case .released(let id): report(.released(id: id))
    case .passedOver(let count, let first): report(.passedOver(count: count, first: first))
    case .attributesLeftOut(let path, let count, let first):
      report(.attributesLeftOut(path: path, count: count, first: first))
    case .setAside(let path), .movedSideFilesAside(let path): report(.movedAside(path: path))
    case .locked, .manifestWritten, .candidateSynchronized, .finished, .rolledBack: break
    }
  }

  package func wrapped(_ error: any Error) -> MigrationAssistantError {
    let error = MigrationAssistantError(wrapping: error, storePath: storeURL.path)
    recentEvents.note(error)
    return error
  }
}

extension MigrationAssistantError {
  var isInterruptedChange: Bool {
    guard case .unreadableStore(let error) = self else { return false }
    return error.problem == .needsRecovery
  }

  var isDenied: Bool {
    guard case .unreadableStore(let error) = self else { return false }
    return error.problem == .protected
  }
}
