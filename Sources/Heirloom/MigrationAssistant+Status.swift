import Foundation
import HeirloomMigration
import HeirloomModel
import HeirloomStore

extension MigrationAssistant {
  /// Returns how the store relates to the current model; takes no lock and writes nothing.
  ///
  /// It may be called while another process migrates. A store that an app has open in WAL mode is read with its side
  /// files; none are created. A store of a version that the history doesn't have is ``StoreStatus/unknown``, or
  /// ``StoreStatus/tooNew`` if it was migrated from the current model, as a previous version of that model shows.
  ///
  /// - Returns: The status of this moment. After ``StoreStatus/current`` the store can be opened safely, even if a
  ///   migration begins right then: opening for writing waits for it or fails, and a migration waits for processes that
  ///   have the store open.
  ///   A store that the system refuses to open is ``StoreStatus/protected``, which is no error.
  /// - Throws: ``MigrationAssistantError/unreadableStore(_:)`` for a file that is no readable store, or that other
  ///   processes hold for long; ``MigrationAssistantError/unfitLocation(storePath:_:)`` when a folder
  ///   can't be read.
  public func status() throws(MigrationAssistantError) -> StoreStatus {
    guard try !isOperationUnfinished() else { return .inProgress }
    do throws(MigrationAssistantError) {
      guard let metadata = try storeMetadata() else {
        return try isOperationUnfinished() ? .inProgress : .noStore
      }
      return status(of: metadata)
    } catch {
      // An operation may have begun since the first check: a migration holds the store until it is done.
      if error.isInterruptedChange { return .inProgress }
      if try isOperationUnfinished() { return .inProgress }
      if error.isDenied { return .protected }
      throw error
    }
  }

  private func status(of metadata: StoreMetadata) -> StoreStatus {
    let hashes = metadata.versionHashes
    if hashes == history.currentHashes { return .current }
    if history.versionBelowFloor(withHashes: hashes) != nil { return .belowFloor }
    if newerStore(of: metadata) != nil { return .tooNew }
    if history.version(withHashes: hashes) != nil { return .tooOld }
    if let model = (try? modelController.snapshot())?.model, model.versionHashes() == hashes, trustsSnapshot(of: model)
    {
      return .tooOld
    }
    return stagedManager?.model(withHashes: hashes) == nil ? .unknown : .tooOld
  }

  /// False if the store's folder doesn't exist.
  private func isOperationUnfinished() throws(MigrationAssistantError) -> Bool {
    do throws(VaultError) {
      let location = try location()
      return try VaultError.wrapping { () throws(FileError) in
        try StoreVault.hasUnfinishedOperation(at: location, files: files)
      }
    } catch {
      if let reason = error.ofFile, reason.code == ENOENT || reason.code == ENOTDIR { return false }
      throw wrapped(error)
    }
  }
}
