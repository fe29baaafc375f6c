import Heirloom

/// The version hashes of one model, as given in a text or on the command line.
package struct ShownHashes: Hashable, Sendable {
  package struct Entry: Hashable, Sendable {
    /// `nil` if the hash was given without one.
    package var entity: String?
    package let hash: KnownHash
  }

  package enum Owner: Hashable, Sendable {
    /// A store's metadata, under `NSStoreModelVersionHashes`.
    case store
    /// With the words before it, if any.
    case dictionary(String?)
    /// Lines without brackets, among which other text may occur.
    case lines
    case arguments
  }

  package var owner: Owner
  package var entries: [Entry] = []
  /// All entities are shown: both ends of the dictionary were found.
  package var isWhole = false
  package var identifiers: [String] = []
  /// Beside the hashes, as base64 text.
  package var checksum: String?
  /// Beside the hashes, as base64 text.
  package var digest: String?

  /// True if only checksum and digest can identify the version, because too many bytes are missing.
  var needsChecksum: Bool { !isWhole || entries.contains { $0.hash.byteCount < KnownHash.fewestBytes } }

  /// True if these hashes are a truncated copy of `whole`, of the same owner.
  func isPart(of whole: ShownHashes) -> Bool {
    guard !isWhole, owner == whole.owner, entries.count <= whole.entries.count,
      [[], whole.identifiers].contains(identifiers), [nil, whole.checksum].contains(checksum),
      [nil, whole.digest].contains(digest)
    else { return false }
    let hashes = Dictionary(whole.entries.map { ($0.entity, $0.hash) }) { first, _ in first }
    return entries.allSatisfy { entry in hashes[entry.entity].map { entry.hash.isPart(of: $0) } ?? false }
  }
}
