import Foundation
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import HeirloomVault

extension MigrationAssistant {
  /// Migrates a set-aside store in its own folder, and leaves the app's store alone.
  ///
  /// The previous version is kept beside it, in the set-aside store's own folder, and never pruned. The app can then
  /// open ``SetAsideStore/storeURL`` with the current model, and copy what it needs.
  ///
  /// - Parameter store: The store.
  /// - Returns: ``MigrationOutcome/upToDate`` or ``MigrationOutcome/migrated(_:)``.
  /// - Throws: ``MigrationAssistantError`` about the set-aside store, which is unchanged; an error that the delegate
  ///   throws is reported with its own description.
  public func migrateSetAsideStoreWhereItLies(
    _ store: SetAsideStore
  ) throws(MigrationAssistantError) -> MigrationOutcome {
    do {
      let vault = try vault()
      try vault.recoverForSetAsideStore()
      return try migrateWhereItLies(try vault.setAsideStore(named: store.id), in: vault)
    } catch {
      throw wrapped(error)
    }
  }

  /// Migrates a set-aside store to the current model, and puts it back in its place.
  ///
  /// The app decides this, and should ask the user: the returning store doesn't have the rows that were written to the
  /// new store since. They are not lost either: the new store becomes a previous version, which is never pruned and
  /// which ``StoreArchive/restorePreviousVersion(_:)`` brings back.
  ///
  /// First the store is migrated in its folder. Then a copy of it replaces the app's store as in a restoration. A crash
  /// leaves either the store that was there or the returning one, whole, and the same call continues where it stopped.
  /// The set-aside store stays in its folder for good; it returns only once. Close the app's store before the call, and
  /// open it afterwards.
  ///
  /// - Parameter store: The store.
  /// - Returns: The outcome.
  /// - Throws: ``MigrationAssistantError``: the app's store is the one that was there, and the set-aside store has lost
  ///   nothing. An error that the delegate throws is reported with its own description.
  public func migrateSetAsideStore(_ store: SetAsideStore) throws(MigrationAssistantError) -> SetAsideOutcome {
    do {
      let vault = try vault()
      try vault.recoverForSetAsideStore()
      let set = try vault.setAsideStore(named: store.id)
      if let adoption = set.adoption { return .putBackBefore(replaced: adoption.replaced) }
      let outcome = try migrateWhereItLies(set, in: vault)
      switch try reportingFailure({ try adopt(set, in: vault) }) {
      case .adoptedBefore(let adoption): return .putBackBefore(replaced: adoption.replaced)
      case .adopted(let previous):
        archiveCurrentModel()
        guard case .migrated(let report) = outcome else {
          return .putBack(migration: nil, replaced: previous.map(PreviousVersion.init))
        }
        return .putBack(migration: report, replaced: previous.map(PreviousVersion.init))
      }
    } catch {
      throw wrapped(error)
    }
  }

  func assistant(of set: SetAsideFiles, in vault: StoreVault) -> MigrationAssistant {
    var configuration = configuration
    // A store that is set aside already is not moved again, and none of its files is ever removed.
    configuration.incompatibleStore = .throw
    configuration.keptVersions = .max
    var vaultConfiguration = vaultConfiguration
    vaultConfiguration.worksOnKeptStore = true
    let folder = URL(fileURLWithPath: set.path, isDirectory: true)
    let assistant = MigrationAssistant(
      storeURL: URL(fileURLWithPath: set.storePath(named: vault.location.name)),
      modelController: ModelController(
        snapshotURL: folder.appendingPathComponent(StoreLocation.snapshotName), files: files),
      history: history, configuration: configuration, files: files, builder: builder,
      vaultConfiguration: vaultConfiguration)
    assistant.delegate = delegate
    assistant.stagedManager = stagedManager
    return assistant
  }

  private func migrateWhereItLies(_ set: SetAsideFiles, in vault: StoreVault) throws -> MigrationOutcome {
    let assistant = assistant(of: set, in: vault)
    assistant.progress = progress
    let outcome = try assistant.migrateStore()
    try assistant.modelController.archive(history.current)
    // No later run inspects a set-aside store that has returned, so postponed clean-up is done now.
    try assistant.vault().recover()
    try assistant.vault().settleFinishedOperations()
    return outcome
  }

  func descriptionOfStore() -> StoreReplacement {
    guard let metadata = try? storeMetadata() else { return StoreReplacement() }
    let hashes = metadata.versionHashes
    let choice = choice(of: metadata, snapshot: snapshotModel(for: hashes))
    let model =
      choice?.model
      ?? (try? StoreModelCache.model(inStoreAt: storeURL)).flatMap { $0 }
    let isRight = model.map { $0.versionHashes() == hashes } ?? false
    return StoreReplacement(
      previousSnapshot: isRight ? model.flatMap { try? snapshot(of: $0, named: choice?.name).bytes(.compressed) } : nil,
      previousChecksum: ManagedObjectModel.versionChecksum(of: hashes), previousName: choice?.name)
  }

  private func reportingFailure<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      let wrapped = wrapped(error)
      report(.failed(reason: wrapped.description), error: wrapped)
      throw error
    }
  }

  private func adopt(_ set: SetAsideFiles, in vault: StoreVault) throws -> AdoptionResult {
    let expected = history.currentHashes
    func prove(_ connection: Connection) throws {
      guard try StoreMetadata(connection: connection, path: connection.path).versionHashes == expected else {
        throw MigrationError.proofFailed(findings: ["the set \(set.name) no longer has the current model"])
      }
    }
    do {
      return try vault.adopt(set.name, current: descriptionOfStore(), prove: prove)
    } catch VaultError.storeInUse(let path, let reason) where path != vault.location.path {
      throw MigrationAssistantError.storeInUse(storePath: path, reason: reason)
    } catch VaultError.unreadableStore(_, let reason) where reason.isAboutContent {
      // The present store can't be kept as a previous version, and must not be lost either.
      _ = try vault.setStoreAside(isReplaced: true)
      return try vault.adopt(set.name, prove: prove)
    }
  }

  /// If that fails, the app's next launch does it.
  private func archiveCurrentModel() {
    do {
      try modelController.archive(history.current)
    } catch {
      report(.snapshotUnreadable(reason: "\(error)"))
    }
  }
}
