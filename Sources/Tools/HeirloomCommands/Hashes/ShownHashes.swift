import Heirloom

/// The version hashes of one model, as given in a text or on the command line.
package struct ShownHashes: Hashable, Sendable {
  /// The hash of an entity.
  package struct Entry: Hashable, Sendable {
    /// The entity's name; `nil` if the hash was given without one.
    package var entity: String?
    /// The known bytes.
    package let hash: KnownHash
  }

  /// The place where the hashes were found.
  package enum Owner: Hashable, Sendable {
    /// A store's metadata, under `NSStoreModelVersionHashes`.
    case store
    /// A dictionary, with the words before it, if any.
    case dictionary(String?)
    /// Lines without brackets, among which other text may occur.
    case lines
    /// The command line.
    case arguments
  }

  /// The place where the hashes were found.
  package var owner: Owner
  /// The hashes in text order.
  package var entries: [Entry] = []
  /// True if the text shows all entities: both ends of the dictionary were found.
  package var isWhole = false
  /// The version identifiers beside the hashes.
  package var identifiers: [String] = []
  /// The version checksum beside the hashes, as base64 text.
  package var checksum: String?
  /// The digest of the hashes beside them, as base64 text.
  package var digest: String?

  /// True if only checksum and digest can identify the version, because too many bytes are missing.
  var needsChecksum: Bool { !isWhole || entries.contains { $0.hash.byteCount < KnownHash.fewestBytes } }

  /// True if these hashes are a truncated copy of others of the same owner.
  func isPart(of whole: ShownHashes) -> Bool {
    guard !isWhole, owner == whole.owner, entries.count <= whole.entries.count,
      [[], whole.identifiers].contains(identifiers), [nil, whole.checksum].contains(checksum),
      [nil, whole.digest].contains(digest)
    else { return false }
    let hashes = Dictionary(whole.entries.map { ($0.entity, $0.hash) }) { first, _ in first }
    return entries.allSatisfy { entry in hashes[entry.entity].map { entry.hash.isPart(of: $0) } ?? false }
  }
}
