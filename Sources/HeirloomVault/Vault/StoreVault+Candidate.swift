import Foundation
import HeirloomStore

// The candidate and the manifest, which every operation that replaces the store has.
extension StoreVault {
  /// Replaces the manifest; at each instant one of the two is whole.
  ///
  /// The folder's sync also makes the names `previous` and `incoming` durable, which were created before.
  func write(_ manifest: VaultManifest) throws(VaultError) {
    let bytes: [UInt8]
    do throws(ManifestError) {
      bytes = try manifest.encoded()
    } catch {
      throw .damagedManifest(path: location.manifest, reason: error.reason)
    }
    try VaultError.wrapping { () throws(FileError) in
      if try files.status(of: location.manifestDraft) != nil { try files.unlink(location.manifestDraft) }
      // Users that can read the store may finish the operation; the manifest is hidden from all others.
      let attributes = try files.status(of: location.path)?.attributes ?? FileAttributes(mode: 0o600)
      try files.writeNewFile(location.manifestDraft, bytes: bytes, attributes: attributes)
      try files.rename(location.manifestDraft, to: location.manifest)
      try files.synchronizeDirectory(location.companion)
    }
  }

  func workFolder(_ identifier: String) -> String { PathText.join(location.incoming, identifier) }

  func candidate(_ identifier: String) -> String { PathText.join(workFolder(identifier), location.name) }

  /// Creates the folder of an operation and the empty file of its candidate.
  func makeCandidate(_ identifier: String, attributes: FileAttributes) throws(FileError) -> String {
    let folder = try files.status(of: location.incoming)
    try files.makeDirectory(
      workFolder(identifier), attributes: folder?.attributes ?? FileAttributes(mode: 0o700))
    try files.makeEmptyFile(candidate(identifier), attributes: attributes)
    return candidate(identifier)
  }

  /// Gives a proven candidate its journal mode and syncs it; no connection may have it open.
  ///
  /// Throws ``VaultError/unfitCandidate(path:reason:)`` if it is not one file, or can't be put into WAL mode.
  func complete(_ candidate: String, mode: JournalMode, isSynchronized: Bool = false) throws(VaultError) {
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
  func publishExternalFiles(_ identifier: String) throws(FileError) {
    let added = PathText.join(workFolder(identifier), location.supportName)
    try tree.add(added, to: try supportFolder())
  }

  /// The folder, in the operation's folder, of a restored set's external files that differ from the store's.
  static let replacementsName = "replacements"
  /// The name of an external file before it replaces another; it is constant, so a later run finds it after a crash.
  private static let replacementDraft = "heirloom-replacement.tmp"

  /// Replaces external files of the previous store by those of a restored set; the replaced files are kept.
  ///
  /// It comes after the store's rename, so undoing a run leaves the store's own files.
  func replaceExternalFiles(_ identifier: String) throws(FileError) {
    try tree.replace(
      by: PathText.join(workFolder(identifier), Self.replacementsName), in: try supportFolder(),
      draft: Self.replacementDraft)
  }

  /// Gives the store external files that share no content with a kept set.
  ///
  /// Core Data never writes to an existing external file, but an older app that came back with its store may.
  func separateExternalFiles(_ identifier: String) throws(FileError) {
    try tree.separate(
      try supportFolder(),
      from: { () throws(FileError) in
        try tree.identities(in: location.previous).union(try tree.identities(in: location.incompatible))
      },
      by: PathText.join(workFolder(identifier), "external-" + identifier))
  }
}
