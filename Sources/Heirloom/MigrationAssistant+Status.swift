import Foundation
import HeirloomMigration
import HeirloomModel
import HeirloomStore

extension MigrationAssistant {
  /// Returns how the store relates to the current model; takes no lock and writes nothing.
  ///
  /// It may be called while another process migrates. A store that an app has open in WAL mode is read with the side
  /// files that are there; where there are none, none are made. A store of a version that the history doesn't know is
  /// ``StoreStatus/unknown``, or ``StoreStatus/tooNew`` if it went on from the current model: a previous version of that
  /// model shows it.
  ///
  /// - Returns: The status of this moment. A store that is opened upon ``StoreStatus/current`` is whole, even if a
  ///   migration begins right then: opening for writing waits for it or fails, and a migration waits for whoever has
  ///   the store open.
  ///   A store that the system lets nobody open is ``StoreStatus/protected``, and no error.
  /// - Throws: ``MigrationAssistantError/unreadableStore(_:)`` for a file that is no readable store, or that others
  ///   hold for long; ``MigrationAssistantError/unfitLocation(storePath:_:)`` when a folder
  ///   can't be read.
  public func status() throws(MigrationAssistantError) -> StoreStatus {
    guard try !isOperationUnfinished() else { return .inProgress }
    do throws(MigrationAssistantError) {
      guard let metadata = try storeMetadata() else {
        return try isOperationUnfinished() ? .inProgress : .noStore
      }
      return status(of: metadata)
    } catch {
      // An operation may have begun since the first look: a migration holds the store until it is done.
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

  /// Returns true if an operation is under way or was not finished; false where there is not even a folder.
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
