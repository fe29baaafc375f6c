import Foundation
import HeirloomMigration
import HeirloomStore

// Stores that this version of the app can't open, moved aside rather than deleted.
extension MigrationAssistant {
  /// Moves a store aside that can't be opened.
  ///
  /// - Parameter error: Why it can't.
  /// - Returns: ``MigrationOutcome/setAside(_:)``; what became of the store, if another process has settled it meanwhile.
  /// - Throws: ``MigrationAssistantError``: the store is where it was, or the next launch goes on.
  func setStoreAside(because error: MigrationAssistantError) throws(MigrationAssistantError) -> MigrationOutcome {
    do {
      let vault = try vault()
      let found = foundVersion()
      let folder = try vault.setStoreAside(
        notice: { _ in try MigrationNotice.bytes(of: error, storeName: vault.location.name) },
        isNeeded: { self.foundVersion() == found })
      guard let folder else { return try storeMetadata() == nil ? .noStore : .upToDate }
      guard let set = try vault.asideSets().first(where: { $0.path == folder }) else { throw error }
      return .setAside(MigrationNotice(set))
    } catch {
      throw wrapped(error)
    }
  }

  /// What is seen of the store at a glance, to notice when another process has changed it.
  private func foundVersion() -> String {
    do throws(MigrationAssistantError) {
      return try storeMetadata().map { "\($0.versionHashes.count) \($0.versionChecksum ?? "")" } ?? "no store"
    } catch {
      return error.description
    }
  }

  /// Lists what a person is to be told about stores that were moved aside, the oldest first, until it is acknowledged.
  ///
  /// - Returns: The notices.
  /// - Throws: ``MigrationAssistantError`` if the folder can't be read.
  public func pendingNotices() throws(MigrationAssistantError) -> [MigrationNotice] {
    do {
      return try vault().asideSets().filter { $0.notice != nil && !$0.isAcknowledged }.map(MigrationNotice.init)
    } catch {
      throw wrapped(error)
    }
  }

  /// Notes that a person was told; the store stays where it is.
  ///
  /// - Parameter notice: The notice.
  /// - Throws: ``MigrationAssistantError`` if that can't be noted.
  public func acknowledge(_ notice: MigrationNotice) throws(MigrationAssistantError) {
    do {
      try vault().acknowledgeNotice(of: notice.id)
    } catch {
      throw wrapped(error)
    }
  }
}
