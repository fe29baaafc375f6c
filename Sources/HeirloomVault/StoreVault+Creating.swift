import Foundation
import HeirloomStore

extension StoreVault {
  /// The store is complete from the moment it has its name: a crash leaves either no store or the
  /// new one.
  ///
  /// Returns false if another process created it first. Throws
  /// ``VaultError/sideFilesWithoutStore(path:sideFiles:)`` for side files of an earlier store, and
  /// ``VaultError/storeMissing(path:previousVersions:)`` if a store was being replaced and
  /// vanished. After an error there is no store, unless only the folder's sync failed.
  package func createStore(build: (String) throws -> Void) throws -> Bool {
    try lock.withLock(requiresStore: false) {
      try recovery.recover()
      guard try files.status(of: location.path) == nil else { return false }
      try checkNoSideFiles()
      try place.checkPathLength()
      let companion = try place.companionStatus()
      try tree.ensure(location.incoming, like: companion)
      for name in try files.names(in: location.incoming) where WorkFolder.isCreation(name) {
        try workFolder(name).remove()
      }
      let work = workFolder(WorkFolder.creationPrefix + files.uniqueIdentifier())
      defer { try? work.remove() }
      try files.makeDirectory(work.path, attributes: companion.attributes)
      let candidate = work.candidate
      try build(candidate)
      try work.complete(mode: .wal)
      try place.emit(.built(path: candidate))
      do throws(FileError) {
        try files.linkOrMove(candidate, to: location.path)
      } catch {
        guard error.code == EEXIST else { throw error }
        return false
      }
      // The companion folder's name may be as new as the store's.
      try files.synchronizeDirectory(location.directory)
      return true
    }
  }

  /// SQLite would apply side files with data to the new store, or delete them.
  private func checkNoSideFiles() throws {
    for suffix in StoreLocation.dataSuffixes {
      guard let status = try files.status(of: location.path + suffix) else { continue }
      guard status.kind == .regular, status.size == 0 else {
        throw VaultError.sideFilesWithoutStore(path: location.path, sideFiles: [location.name + suffix])
      }
    }
  }
}
