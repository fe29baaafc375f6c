public import Foundation
import HeirloomFormats
import HeirloomMapping
public import HeirloomMigration
import HeirloomModel
import HeirloomStore
import HeirloomVault

/// Brings a store to the current model at launch, so that the previous version is never lost.
///
/// An assistant works on the task that calls it. On most launches it finds nothing to do: it then takes no lock, writes nothing
/// and syncs nothing.
public final class MigrationAssistant {
  /// The store.
  public let storeURL: URL
  /// Keeps the last-used model.
  public let modelController: ModelController
  /// The app's models.
  public let history: ModelHistory
  /// What the app chose.
  public let configuration: Configuration
  /// Asked what can't be inferred, and told what happens.
  public weak var delegate: (any MigrationAssistantDelegate)?
  /// Leads stores stage by stage where code must take part; `nil` to infer mappings or ask the delegate.
  public var stagedManager: StagedMigrationManager?
  /// Made when it is asked for: most launches need none.
  var madeProgress: Progress?

  /// What the vault found and dealt with, for the report's warnings.
  private var vaultWarnings: [String] = []

  /// What happened in this run, for a diagnostics archive.
  private(set) var recentEvents = RecentEvents()

  let files: any FileOperations
  let builder: BuilderChoice
  let vaultConfiguration: StoreVault.Configuration

  /// Creates an assistant; nothing is read.
  ///
  /// - Parameters:
  ///   - storeURL: The store; it may not exist yet.
  ///   - modelController: Keeps the last-used model.
  ///   - history: The app's models.
  ///   - configuration: What the app chooses.
  public convenience init(
    storeURL: URL, modelController: ModelController, history: ModelHistory,
    configuration: Configuration = Configuration()
  ) {
    self.init(
      storeURL: storeURL, modelController: modelController, history: history, configuration: configuration,
      files: POSIXFileOperations())
  }

  /// Creates an assistant on a file system, with a builder and on a vault of the caller's choice.
  package init(
    storeURL: URL, modelController: ModelController, history: ModelHistory, configuration: Configuration,
    files: any FileOperations, builder: BuilderChoice = .automatic,
    vaultConfiguration: StoreVault.Configuration = StoreVault.Configuration()
  ) {
    self.storeURL = storeURL
    self.modelController = modelController
    self.history = history
    self.configuration = configuration
    self.files = files
    self.builder = builder
    self.vaultConfiguration = vaultConfiguration
  }

  // MARK: Looking

  /// Answers without writing whether the store has another model than the current one.
  ///
  /// - Returns: False when there is no store.
  /// - Throws: ``MigrationAssistantError/unreadableStore(_:)``.
  public func isMigrationNeeded() throws(MigrationAssistantError) -> Bool {
    guard let metadata = try storeMetadata() else { return false }
    return metadata.versionHashes != history.currentHashes
  }

  /// Reads the store's metadata; `nil` when there is no store.
  func storeMetadata() throws(MigrationAssistantError) -> StoreMetadata? {
    do throws(StoreError) {
      return try StoreMetadata(contentsOf: storeURL)
    } catch {
      if error.problem == .missing { return nil }
      throw .unreadableStore(error)
    }
  }

  /// Makes the plan of the migration without writing anything.
  ///
  /// - Returns: `nil` when there is no store, or nothing to do.
  /// - Throws: ``MigrationAssistantError`` for a store or models from which no plan can be made.
  public func plan() throws(MigrationAssistantError) -> MigrationPlan? {
    guard let metadata = try storeMetadata(), metadata.versionHashes != history.currentHashes else { return nil }
    do {
      var asked: Set<AskedHop> = []
      let route = try route(from: sourceModel(of: metadata))
      var plan = try planned(route, decisions: configuration.decisions, asked: &asked).plan
      if let warning = try placeWarning() { plan.warnings.append(warning) }
      return plan
    } catch {
      throw wrapped(error)
    }
  }

  /// The warnings of what a migration would meet beside the store: a copy of the store has none of it.
  package func placeWarnings() throws -> [String] {
    [try vault().logDamage()?.description, try placeWarning()].compactMap { $0 }
  }

  /// The warning of a place that a migration refuses; `nil` for one that is fit.
  ///
  /// A plan is made on a copy too, or where nobody may write: such a place is no failure of the plan.
  private func placeWarning() throws -> String? {
    try vault().placeObjection().map { "A migration would be refused where the store is: \($0)" }
  }

  // MARK: Migrating

  /// Brings the store to the current model.
  ///
  /// - Returns: What it came to.
  /// - Throws: ``MigrationAssistantError``; what the delegate throws is told in its words. The data are where they were.
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
        // Another process has changed the store meanwhile, so that it may be fit now.
        guard attemptsLeft > 0 else { throw observed(error) }
      }
    }
  }

  private func outcome(since start: ContinuousClock.Instant) throws -> MigrationOutcome {
    let location = try location()
    var isUnfinished = try StoreVault.hasUnfinishedOperation(at: location, files: files)
    if isUnfinished, try files.status(of: location.path) == nil {
      // One that moved the store aside, or brought it back, settles without a store; any other says what is missing.
      try vault(at: location).recover()
      isUnfinished = try StoreVault.hasUnfinishedOperation(at: location, files: files)
    }
    if !isUnfinished, let outcome = try outcomeWithoutChange(at: location) { return outcome }
    return try migrate(since: start)
  }

  /// What a launch with nothing to do comes to: one look at the metadata.
  private func outcomeWithoutChange(
    at location: StoreLocation
  ) throws(MigrationAssistantError) -> MigrationOutcome? {
    do throws(MigrationAssistantError) {
      guard let metadata = try storeMetadata() else { return .noStore }
      guard metadata.versionHashes == history.currentHashes else {
        // An older app leaves a newer store as it found it: no lock, no folder.
        try checkNotNewer(metadata)
        return nil
      }
      pruneAfterLaterLaunch(at: location)
      return .upToDate
    } catch {
      guard error.isInterruptedChange else { throw error }
      return nil
    }
  }

  private func migrate(since start: ContinuousClock.Instant) throws -> MigrationOutcome {
    beginProgress()
    var route: Route?
    var approved: MigrationPlan?
    var carriedOut: MigrationPlan?
    var chain: CandidateChain?
    var decisions = configuration.decisions
    var asked: Set<AskedHop> = []
    let vault = try vault()
    let retained = try vault.replaceStore(
      prepare: {
        try checkNotCancelled()
        // Another process may have migrated while this one waited for the lock.
        guard let metadata = try storeMetadata(), metadata.versionHashes != history.currentHashes else { return nil }
        let origin = try sourceModel(of: metadata)
        report(.foundSourceModel(origin.source, version: origin.versionName))
        var found = try self.route(from: origin)
        // Before anything is counted. The times of files on another volume may be anything.
        let seen =
          configuration.allowsUnsafeVolume
          ? nil : StoreState(of: storeURL.path, atRestFor: vaultConfiguration.restTime)
        var plan: MigrationPlan
        (found, plan) = try planned(found, decisions: decisions, asked: &asked)
        // Where code runs first, what stands in the way is known only after it.
        let isPreliminary = found.startsWithCode
        if let more = try approve(&plan, origin: origin, decisions: decisions, isPreliminary: isPreliminary) {
          decisions = more
          // Who decides has seen what is lost.
          let consented = plan.losses
          plan = try self.plan(of: found, decisions: decisions)
          plan.consent { loss in consented.contains { $0.isSame(as: loss) } ? .delegate : nil }
          if !isPreliminary { try checkApproved(&plan) }
        }
        try checkNotCancelled()
        report(.started(from: origin.model.versionChecksum(), to: history.current.versionChecksum()))
        (route, approved) = (found, plan)
        let snapshot = ModelSnapshot(model: origin.model)
        // The plan names all that has to be free; the vault adds its reserve itself. A store between two hops is there
        // together with those before and after.
        let stores: UInt64 = found.hops.count > 1 || found.startsWithCode ? 2 : 1
        let bytesNeeded = UInt64(max(0, plan.bytesNeeded)) * stores
        let reserve = min(bytesNeeded, StoreVault.Configuration().reservedBytes)
        var replacement = StoreVault.Replacement(
          retainedSnapshot: try snapshot.bytes(.compressed), retainedChecksum: origin.model.versionChecksum(),
          bytesNeeded: bytesNeeded - reserve, seen: seen)
        replacement.alone = { (carriedOut?.unconsentedLosses ?? []).map(SoleContent.init) }
        return replacement
      },
      build: { gate, candidate in
        guard let route else { return }
        // Rows may have changed between the look and the gate: what is carried out is counted on the held store, or on the same
        // rows.
        let run = CandidateChain(
          gate: gate, candidatePath: candidate, hops: route.hops, policies: configuration.policies,
          progress: progress, builder: builder, proof: configuration.proof, files: files, decisions: decisions,
          defers: configuration.defersLightweightMigration, known: gate.isAsSeen ? approved : nil
        ) { handler in self.report(.runningStage(handler.stageName, handler: handler.kind)) }
        chain = run
        // What later hops lose is known here only.
        carriedOut = try run.build { hop, plan in
          noteConsents(in: &plan)
          // What was approved before the store was held.
          let approvedLosses = plan.source == route.origin.model ? approved?.losses ?? [] : []
          plan.consent { loss in approvedLosses.first { $0.isSame(as: loss) }?.consent }
          if let hops = try hopsKeeping(hop, plan: plan, asked: &asked) { return .hops(hops) }
          let isKnown = plan.losses.allSatisfy { loss in
            loss.consent != nil || approvedLosses.contains { $0.isSame(as: loss) }
          }
          guard isKnown, plan.blockers.isEmpty else {
            guard let more = try approve(&plan, origin: route.origin, decisions: decisions) else { return nil }
            decisions = more
            return .decisions(more)
          }
          try checkConsented(&plan)
          return nil
        }
        // It may have been made anew.
        for warning in route.unusedMappings where carriedOut?.warnings.contains(warning) == false {
          carriedOut?.warnings.append(warning)
        }
      },
      prove: { _, _ in try chain?.prove() })
    guard let retained, let route, var carriedOut else {
      return try storeMetadata() == nil ? .noStore : .upToDate
    }
    let told = route.origin.warnings + vaultWarnings
    carriedOut.warnings += told.filter { !carriedOut.warnings.contains($0) }
    let quarantine = try vault.quarantineFiles(of: retained.name.text)
    if !quarantine.isEmpty {
      report(.quarantined(rows: carriedOut.allDecisions.reduce(0) { $0 + $1.quarantined }, paths: quarantine))
    }
    let pinned = carriedOut.unconsentedLosses
    if !pinned.isEmpty { report(.pinned(id: retained.name.text, losses: pinned.map(\.name))) }
    let seconds = start.duration(to: .now) / .seconds(1)
    report(.finished(seconds: seconds))
    return .migrated(
      MigrationReport(
        sourceChecksum: route.origin.model.versionChecksum(), destinationChecksum: history.current.versionChecksum(),
        modelSource: route.origin.source, plan: carriedOut, retained: PreviousVersion(retained),
        quarantine: quarantine.map { URL(fileURLWithPath: $0) }, seconds: seconds))
  }

  // MARK: Parts

  func location() throws(VaultError) -> StoreLocation {
    try StoreLocation(resolving: storeURL.path, files: files)
  }

  func vault() throws -> StoreVault {
    vault(at: try location())
  }

  private func vault(at location: StoreLocation) -> StoreVault {
    var settings = vaultConfiguration
    settings.lockTimeout = .seconds(configuration.lockTimeout)
    settings.gateTimeout = .seconds(configuration.storeTimeout)
    settings.allowUnsafeVolume = configuration.allowsUnsafeVolume
    settings.stopsAtUnreadableLog = configuration.stopsAtUnreadableLog
    settings.generation = { try StoreMetadata(connection: $0, path: $0.path).generation }
    settings.setGeneration = { try StoreMetadata.setGeneration($1, in: $0) }
    return StoreVault(location, files: files, configuration: settings) { [weak self] event in
      self?.forward(event)
    }
  }

  /// Makes the plan of a way's first hop on the store as it is.
  private func plan(of route: Route, decisions: [DataDecision]) throws -> MigrationPlan {
    let path = storeURL.path
    // Looking fails with one error and planning with another: the second travels as a value.
    let result = try StoreReading.withQuietConnection(toStoreAt: path) { connection throws(StoreError) in
      Result { () throws(MigrationError) in
        try CandidateChain.plan(
          firstOf: route.hops, connection: connection, storePath: path, policies: configuration.policies,
          builder: builder, decisions: decisions, defers: configuration.defersLightweightMigration)
      }
    }
    var plan = try result.get()
    plan.warnings += route.unusedMappings
    if let damage = try vault().logDamage() { plan.warnings.append(damage.description) }
    if let handler = route.hops.first?.willMigrate {
      plan.warnings.append("The code of \(handler.stageName) runs first: what it changes is not counted here.")
    }
    plan.warnings += route.origin.warnings
    noteConsents(in: &plan)
    if mayLoseLater(route) {
      plan.warnings.append(
        "The way leads over \(route.hops.count) steps: what the later ones lose is counted when the store before them is there,"
          + " as a rehearsal does.")
    }
    return plan
  }

  /// Makes the plan of a way's first hop, and asks the delegate for another way if it would lose something.
  private func planned(
    _ found: Route, decisions: [DataDecision], asked: inout Set<AskedHop>
  ) throws -> (route: Route, plan: MigrationPlan) {
    var route = found
    var plan = try plan(of: route, decisions: decisions)
    // Where code runs first, what is lost is known only after it.
    if !route.startsWithCode, let first = route.hops.first,
      let hops = try hopsKeeping(first, plan: plan, asked: &asked)
    {
      route = route.replacingFirstHop(by: hops)
      plan = try self.plan(of: route, decisions: decisions)
    }
    if configuration.losses == .accept { plan.consent { _ in .configuration } }
    return (route, plan)
  }

  /// Applies the rules and asks the delegate.
  ///
  /// - Parameters:
  ///   - plan: The plan.
  ///   - origin: The model that made the store.
  ///   - decisions: The decisions that the plan was made with.
  ///   - isPreliminary: Whether it is made again, so that nothing stands in the way yet.
  /// - Returns: The decisions to make the plan again with; `nil` if it is to be carried out.
  /// - Throws: ``MigrationAssistantError``, or what the delegate throws.
  private func approve(
    _ plan: inout MigrationPlan, origin: SourceModel, decisions: [DataDecision], isPreliminary: Bool = false
  ) throws -> [DataDecision]? {
    let path = storeURL.path
    let decision = try delegate?.migrationAssistant(self, shouldMigrate: plan) ?? .automatic
    switch decision {
    case .refuse: throw MigrationAssistantError.refused(storePath: path, plan: plan)
    case .proceed: plan.consent { _ in .delegate }
    case .decide(let given):
      plan.consent { _ in .delegate }
      let all = configuration.decisions + given
      if all != decisions { return all }
    case .automatic:
      // That every loss is accepted says nothing of whose store it is.
      let loses = plan.losses.contains { $0.consent != .decision && $0.consent != .lock }
      if configuration.migratesUnknownVersions { break }
      if loses || !plan.blockers.isEmpty, origin.versionName == nil,
        let newer = newerStore(withHashes: origin.model.versionHashes(), known: nil)
      {
        throw MigrationAssistantError.newerVersion(newer)
      }
      // A snapshot makes a version known, but a model that has a place for nothing is not the next one of that app.
      let isUnknown = origin.source == .cache || origin.versionName == nil && plan.losesEveryObject
      if isUnknown, loses {
        throw MigrationAssistantError.unknownVersion(storePath: path, plan: plan)
      }
    }
    if !isPreliminary { try checkApproved(&plan) }
    return nil
  }

  /// Throws while somebody has to decide about rows, or to consent to losses.
  private func checkApproved(_ plan: inout MigrationPlan) throws(MigrationAssistantError) {
    guard plan.blockers.isEmpty else { throw .decisionNeeded(storePath: storeURL.path, plan: plan) }
    try checkConsented(&plan)
  }

  /// Removes previous versions beyond those to keep: this launch found the new one working.
  private func pruneAfterLaterLaunch(at location: StoreLocation) {
    // What can't be removed now is removed by a later launch.
    _ = try? vault(at: location).prune(keeping: max(1, configuration.keptVersions))
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
      vaultWarnings.append(damage.description)
      report(.keptUnreadableLog(path: path, reason: damage.description))
    case .restoredWithFaults(let id, let reason): report(.restoredWithFaults(id: id, reason: reason))
    case .undone(let id):
      vaultWarnings.append(
        "A change of the store that was interrupted was undone; the version \(id) holds the store as it was before.")
      report(.undidInterruptedChange(id: id))
    case .gated: report(.held)
    case .built: report(.built)
    case .proven: report(.proven)
    case .retained(let id): report(.retained(id: id))
    case .swapped: report(.swapped)
    case .cleanUpPostponed(_, let error): report(.cleanUpPostponed(reason: error.description))
    case .journalModeNotRestored(let reason): report(.cleanUpPostponed(reason: reason))
    case .pruned(let id): report(.pruned(id: id))
    case .released(let id): report(.released(id: id))
    case .passedOver(let count, let first):
      vaultWarnings.append(
        "\(CountText.counted(Int64(count), "name")) in a folder of external data \(count == 1 ? "stands" : "stand") for neither a file"
          + " nor a folder, such as \(first): what they lead to is not followed, and not kept with the previous version."
      )
      report(.passedOver(count: count, first: first))
    case .setAside(let path), .movedSideFilesAside(let path): report(.movedAside(path: path))
    case .locked, .manifestWritten, .candidateSynchronized, .finished, .rolledBack: break
    }
  }

  func wrapped(_ error: any Error) -> MigrationAssistantError {
    let error = MigrationAssistantError(wrapping: error, storePath: storeURL.path)
    recentEvents.note(error)
    return error
  }
}

extension MigrationAssistantError {
  /// Whether SQLite must undo an interrupted change before the store can be read.
  var isInterruptedChange: Bool {
    guard case .unreadableStore(let error) = self else { return false }
    return error.problem == .needsRecovery
  }
}
