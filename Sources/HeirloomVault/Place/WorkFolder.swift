import Foundation
import HeirloomStore

/// An operation's own folder in `incoming`, with its candidate and the files to be added to the store's.
struct WorkFolder: VaultPart {
  let place: StorePlace
  let identifier: String

  /// Such a folder is not an unfinished operation: there was no store to harm.
  static let creationPrefix = "new-"

  static func isCreation(_ name: String) -> Bool {
    name.hasPrefix(creationPrefix) && VersionName.isIdentifier(String(name.dropFirst(creationPrefix.count)))
  }

  var path: String { PathText.join(location.incoming, identifier) }

  var candidate: String { PathText.join(path, location.name) }

  /// For a restored set's external files that differ from the store's.
  var replacements: String { PathText.join(path, "replacements") }

  func remove() throws(FileError) {
    try tree.remove(path)
  }

  func makeCandidate(attributes: FileAttributes) throws(FileError) -> String {
    let folder = try files.status(of: location.incoming)
    try files.makeDirectory(path, attributes: folder?.attributes ?? FileAttributes(mode: 0o700))
    try files.makeEmptyFile(candidate, attributes: attributes)
    return candidate
  }

  /// No connection may have the candidate open; throws ``VaultError/unfitCandidate(path:reason:)``.
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

  /// The old store doesn't refer to the added files: both stores are complete afterwards.
  func publishExternalFiles() throws(FileError) {
    let added = PathText.join(path, location.supportName)
    try tree.add(added, to: try place.supportFolder())
  }

  /// Constant, so a later run finds the file after a crash.
  private static let replacementDraft = "heirloom-replacement.tmp"

  /// Comes after the store's rename, so undoing a run leaves the store's own files.
  func replaceExternalFiles() throws(FileError) {
    try tree.replace(by: replacements, in: try place.supportFolder(), draft: Self.replacementDraft)
  }

  /// Core Data never writes to an existing external file, but an older app that came back with its
  /// store may.
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
