import Heirloom

/// The version hashes of one model as a text or a command line shows them.
package struct ShownHashes: Hashable, Sendable {
  /// The hash of an entity.
  package struct Entry: Hashable, Sendable {
    /// The entity's name; `nil` for a hash that is given without one.
    package var entity: String?
    /// The bytes that are shown.
    package let hash: KnownHash
  }

  /// The thing that has the hashes.
  package enum Owner: Hashable, Sendable {
    /// A store: they stand under `NSStoreModelVersionHashes`.
    case store
    /// A dictionary, with the words before it, if there are some.
    case dictionary(String?)
    /// Lines without a bracket around them, in which other things may stand too.
    case lines
    /// The command line.
    case arguments
  }

  /// The thing that has the hashes.
  package var owner: Owner
  /// The hashes in the order of the text.
  package var entries: [Entry] = []
  /// True if the text shows all entities: the dictionary's beginning and end are there.
  package var isWhole = false
  /// The version identifiers beside the hashes.
  package var identifiers: [String] = []
  /// The version checksum beside the hashes, as base64 text.
  package var checksum: String?
  /// The digest of the hashes beside them, as base64 text.
  package var digest: String?

  /// True if so much of the hashes is missing that only checksum and digest can tell the version.
  var needsChecksum: Bool { !isWhole || entries.contains { $0.hash.byteCount < KnownHash.fewestBytes } }

  /// Returns true if these hashes are what remains of others of the same owner in a text that is cut off.
  func isPart(of whole: ShownHashes) -> Bool {
    guard !isWhole, owner == whole.owner, entries.count <= whole.entries.count,
      [[], whole.identifiers].contains(identifiers), [nil, whole.checksum].contains(checksum),
      [nil, whole.digest].contains(digest)
    else { return false }
    let hashes = Dictionary(whole.entries.map { ($0.entity, $0.hash) }) { first, _ in first }
    return entries.allSatisfy { entry in hashes[entry.entity].map { entry.hash.isPart(of: $0) } ?? false }
  }
}
