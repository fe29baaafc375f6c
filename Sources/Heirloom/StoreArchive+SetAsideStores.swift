import Foundation
import HeirloomModel
import HeirloomVault

extension StoreArchive {
  /// Lists the set-aside stores, the oldest first, with their states for this version of the app.
  ///
  /// Nothing is written. For the plans, the delegate is asked as for a migration; the assistant that it receives has
  /// the set-aside store's ``MigrationAssistant/storeURL``.
  ///
  /// - Returns: The stores, including those that have returned to their place.
  /// - Throws: ``MigrationAssistantError`` if the folder can't be read.
  public func setAsideStores() throws(MigrationAssistantError) -> [SetAsideStore] {
    do {
      let vault = try assistant.vault()
      return try vault.setAsideStores().map { set in store(of: set, in: vault) }
    } catch {
      throw assistant.wrapped(error)
    }
  }

  /// Lists the notices of set-aside stores that are not acknowledged yet, the oldest first.
  ///
  /// A store that has returned to its place has no notice any more.
  ///
  /// - Returns: The notices.
  /// - Throws: ``MigrationAssistantError`` if the folder can't be read.
  public func pendingNotices() throws(MigrationAssistantError) -> [MigrationNotice] {
    do {
      return try assistant.vault().setAsideStores()
        .filter { $0.notice != nil && !$0.isAcknowledged && $0.adoption == nil }.map(MigrationNotice.init)
    } catch {
      throw assistant.wrapped(error)
    }
  }

  /// Records that the user has seen a notice; the store stays where it is.
  ///
  /// - Parameter notice: The notice.
  /// - Throws: ``MigrationAssistantError`` if that can't be recorded.
  public func acknowledge(_ notice: MigrationNotice) throws(MigrationAssistantError) {
    do {
      try assistant.vault().acknowledgeNotice(of: notice.id)
    } catch {
      throw assistant.wrapped(error)
    }
  }

  private func store(of set: SetAsideFiles, in vault: StoreVault) -> SetAsideStore {
    let assistant = assistant.assistant(of: set, in: vault)
    let metadata = try? assistant.storeMetadata()
    return SetAsideStore(
      id: set.name, date: Date(timeIntervalSince1970: Double(set.time)),
      folderURL: URL(fileURLWithPath: set.path, isDirectory: true), storeURL: assistant.storeURL,
      snapshotURL: assistant.modelController.snapshotURL, notice: set.notice == nil ? nil : MigrationNotice(set),
      versionChecksum: metadata.map { ManagedObjectModel.versionChecksum(of: $0.versionHashes) },
      versionName: metadata.flatMap { assistant.versionName(of: $0) },
      state: state(of: set, in: vault, assistant))
  }

  private func state(of set: SetAsideFiles, in vault: StoreVault, _ assistant: MigrationAssistant)
    -> SetAsideStore.State
  {
    if let adoption = set.adoption {
      let date = adoption.time.map { Date(timeIntervalSince1970: Double($0)) }
      return .putBack(date, replaced: adoption.replaced)
    }
    guard assistant.history.isKnown else { return .waiting }
    do {
      _ = try vault.setAsideStore(named: set.name)
      if let plan = try assistant.plan() { return .migratable(plan) }
      return .upToDate
    } catch {
      return .incompatible(assistant.wrapped(error))
    }
  }
}
