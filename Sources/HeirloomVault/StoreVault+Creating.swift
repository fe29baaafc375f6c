import Foundation
import HeirloomStore

extension StoreVault {
  /// Creates a new store where there is none; returns false if another process created it first.
  ///
  /// The store is complete from the moment it has its name: it is built in a folder of its own and linked into place.
  /// A crash leaves either no store or the new one. `build` creates and closes a store at an unused path.
  /// It throws ``VaultError/sideFilesWithoutStore(path:sideFiles:)`` if side files of an earlier store exist, and
  /// ``VaultError/storeMissing(path:previousVersions:)`` if a store was being replaced and vanished.
  /// There is no store after any error.
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

  /// Throws if side files hold data: SQLite would apply them to the new store, or delete them.
  private func checkNoSideFiles() throws {
    for suffix in StoreLocation.dataSuffixes {
      guard let status = try files.status(of: location.path + suffix) else { continue }
      guard status.kind == .regular, status.size == 0 else {
        throw VaultError.sideFilesWithoutStore(path: location.path, sideFiles: [location.name + suffix])
      }
    }
  }
}
