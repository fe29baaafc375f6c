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
    try withLock(requiresStore: false) {
      try recoverHoldingLock()
      guard try files.status(of: location.path) == nil else { return false }
      try checkNoSideFiles()
      try checkPathLength()
      guard let companion = try files.status(of: location.companion) else {
        throw VaultError.unusableFolder(path: location.companion, reason: "it vanished")
      }
      try tree.ensure(location.incoming, like: companion)
      for name in try files.names(in: location.incoming) where Self.isCreation(name) {
        try tree.remove(workFolder(name))
      }
      let work = Self.creationPrefix + files.uniqueIdentifier()
      defer { try? tree.remove(workFolder(work)) }
      try files.makeDirectory(workFolder(work), attributes: companion.attributes)
      let candidate = candidate(work)
      try build(candidate)
      try complete(candidate, mode: .wal)
      try emit(.built(path: candidate))
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

  /// The start of the name of a folder in which a new store is built.
  ///
  /// Such a folder is not an unfinished operation: there was no store to harm.
  private static let creationPrefix = "new-"

  static func isCreation(_ name: String) -> Bool {
    name.hasPrefix(creationPrefix) && VersionName.isIdentifier(String(name.dropFirst(creationPrefix.count)))
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

/// Creates the folders above a store.
package struct FolderMaker {
  private let files: any FileOperations

  /// Creates a maker for a file system.
  package init(files: any FileOperations = POSIXFileOperations()) {
    self.files = files
  }

  /// Creates a folder and the missing ones above it, and syncs their names; a failure leaves those that were created.
  package func makeFolders(_ path: String) throws(FileError) {
    guard !path.isEmpty, try files.status(of: path) == nil else { return }
    let (parent, _) = PathText.split(path)
    try makeFolders(parent)
    do throws(FileError) {
      try files.makeDirectory(path, attributes: FileAttributes(mode: 0o755))
    } catch {
      // Another process may have created it at the same moment.
      guard try files.status(of: path)?.kind == .directory else { throw error }
    }
    try files.synchronizeDirectory(parent.isEmpty ? "." : parent)
  }
}
