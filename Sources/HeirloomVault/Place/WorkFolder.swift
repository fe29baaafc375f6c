import Foundation
import HeirloomStore

/// An operation's own folder in `incoming`, with its candidate and the files to be added to the store's.
struct WorkFolder: VaultPart {
  let place: StorePlace
  /// The operation's identifier, which is the folder's name.
  let identifier: String

  /// The start of the name of a folder in which a new store is built.
  ///
  /// Such a folder is not an unfinished operation: there was no store to harm.
  static let creationPrefix = "new-"

  static func isCreation(_ name: String) -> Bool {
    name.hasPrefix(creationPrefix) && VersionName.isIdentifier(String(name.dropFirst(creationPrefix.count)))
  }

  var path: String { PathText.join(location.incoming, identifier) }

  /// The candidate's main file.
  var candidate: String { PathText.join(path, location.name) }

  /// The folder of a restored set's external files that differ from the store's.
  var replacements: String { PathText.join(path, "replacements") }

  /// Removes the folder and its content; does nothing if there is none.
  func remove() throws(FileError) {
    try tree.remove(path)
  }

  /// Creates the folder of an operation and the empty file of its candidate.
  func makeCandidate(attributes: FileAttributes) throws(FileError) -> String {
    let folder = try files.status(of: location.incoming)
    try files.makeDirectory(path, attributes: folder?.attributes ?? FileAttributes(mode: 0o700))
    try files.makeEmptyFile(candidate, attributes: attributes)
    return candidate
  }

  /// Gives a proven candidate its journal mode and syncs it; no connection may have it open.
  ///
  /// Throws ``VaultError/unfitCandidate(path:reason:)`` if it is not one file, or can't be put into WAL mode.
  func complete(mode: JournalMode, isSynchronized: Bool = false) throws(VaultError) {
    func checkAlone() throws(VaultError) {
      let left = try VaultError.wrapping { () throws(FileError) in
        try SideFiles.removeCold(of: candidate, files: files)
      }
      if let left { throw .unfitCandidate(path: candidate, reason: "its side file \"\(left)\" holds data") }
    }
    try checkAlone()
    if mode == .wal {
      do throws(SQLiteError) {
        let connection = try Connection(path: candidate, mode: .readWrite, options: .building.withoutLinks)
        // One sync at the end is enough.
        try connection.execute("PRAGMA synchronous=OFF")
        try connection.setJournalMode(mode)
        try connection.close()
      } catch {
        if error.isFull { throw .file(FileError(.write, candidate, code: ENOSPC)) }
        throw .unfitCandidate(path: candidate, reason: "it can't be put into WAL mode: \(error)")
      }
      try checkAlone()
    }
    let status = try VaultError.wrapping { () throws(FileError) in
      // The journal mode is written in the file's header.
      if mode == .wal || !isSynchronized { try files.synchronizeFile(candidate) }
      return try files.status(of: candidate)
    }
    guard let status, status.kind == .regular, status.size > 0, status.linkCount == 1 else {
      throw .unfitCandidate(path: candidate, reason: "it is not one file with content")
    }
  }

  /// Adds the candidate's external files to the store's own, and syncs them.
  ///
  /// The old store doesn't refer to them; both stores are complete afterwards.
  func publishExternalFiles() throws(FileError) {
    let added = PathText.join(path, location.supportName)
    try tree.add(added, to: try place.supportFolder())
  }

  /// The name of an external file before it replaces another; it is constant, so a later run finds it after a crash.
  private static let replacementDraft = "heirloom-replacement.tmp"

  /// Replaces external files of the previous store by those of a restored set; the replaced files are kept.
  ///
  /// It comes after the store's rename, so undoing a run leaves the store's own files.
  func replaceExternalFiles() throws(FileError) {
    try tree.replace(by: replacements, in: try place.supportFolder(), draft: Self.replacementDraft)
  }

  /// Gives the store external files that share no content with a kept set.
  ///
  /// Core Data never writes to an existing external file, but an older app that came back with its store may.
  func separateExternalFiles() throws(FileError) {
    try tree.separate(
      try place.supportFolder(),
      from: { () throws(FileError) in
        try tree.identities(in: location.previous).union(try tree.identities(in: location.incompatible))
      },
      by: PathText.join(path, "external-" + identifier))
  }
}

extension VaultPart {
  func workFolder(_ identifier: String) -> WorkFolder { WorkFolder(place: place, identifier: identifier) }
}
