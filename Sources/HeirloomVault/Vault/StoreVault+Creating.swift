import Foundation
import HeirloomStore

extension StoreVault {
  /// Puts a new store where there is none.
  ///
  /// The store is whole from the moment it has its name: it is built in a folder of its own and linked into place.
  /// So a crash leaves no store or the new one, and of two processes one makes it.
  ///
  /// - Parameter build: Makes the store at a path where nothing is, and closes it.
  /// - Returns: True when it was made; false when another process was quicker.
  /// - Throws: ``VaultError/sideFilesWithoutStore(path:sideFiles:)`` when side files of an earlier store are there,
  ///   ``VaultError/storeMissing(path:previousVersions:)`` when a store was being replaced and vanished,
  ///   the error of `build`, or another ``VaultError``. There is no store then.
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
      try complete(candidate, usesWAL: true)
      try emit(.built(path: candidate))
      do throws(FileError) {
        try files.linkOrMove(candidate, to: location.path)
      } catch {
        guard error.code == EEXIST else { throw error }
        return false
      }
      // The companion folder may be as new as the store's name.
      try files.synchronizeDirectory(location.directory)
      return true
    }
  }

  /// The start of the name of a folder in which a new store is built.
  ///
  /// Such a folder is no unfinished operation: no store existed that could have been harmed.
  private static let creationPrefix = "new-"

  /// Returns true for the name of a folder in which a new store was built.
  static func isCreation(_ name: String) -> Bool {
    name.hasPrefix(creationPrefix) && VersionName.isIdentifier(String(name.dropFirst(creationPrefix.count)))
  }

  /// Throws if side files hold data: SQLite would play them back into the new store, or delete them.
  private func checkNoSideFiles() throws {
    for suffix in StoreLocation.dataSuffixes {
      guard let status = try files.status(of: location.path + suffix) else { continue }
      guard status.kind == .regular, status.size == 0 else {
        throw VaultError.sideFilesWithoutStore(path: location.path, sideFiles: [location.name + suffix])
      }
    }
  }
}

/// A maker of the folders that lead to a store.
package struct FolderMaker {
  private let files: any FileOperations

  /// Creates a maker.
  package init(files: any FileOperations = POSIXFileOperations()) {
    self.files = files
  }

  /// Makes a folder and the missing ones above it, and brings their names to the disk.
  ///
  /// - Parameter path: The folder's path.
  /// - Throws: `FileError` when a folder can't be made; those that were made stay.
  package func makeFolders(_ path: String) throws(FileError) {
    guard !path.isEmpty, try files.status(of: path) == nil else { return }
    let (parent, _) = PathText.split(path)
    try makeFolders(parent)
    do throws(FileError) {
      try files.makeDirectory(path, attributes: FileAttributes(mode: 0o755))
    } catch {
      // Another process may have made it at the same moment.
      guard try files.status(of: path)?.kind == .directory else { throw error }
    }
    try files.synchronizeDirectory(parent.isEmpty ? "." : parent)
  }
}
