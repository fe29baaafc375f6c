package import Heirloom

/// The known bytes of a version hash: all of them, or some from its start and end.
package struct KnownHash: Hashable, Sendable {
  /// The first bytes.
  package let prefix: [UInt8]
  /// The last bytes, if some in the middle are unknown.
  package let suffix: [UInt8]

  /// The fewest bytes to search for a hash with.
  static let fewestBytes = 4

  /// Creates a hash from its known bytes; without arguments, none are known.
  package init(prefix: [UInt8] = [], suffix: [UInt8] = []) {
    (self.prefix, self.suffix) = (prefix, suffix)
  }

  /// The number of known bytes.
  package var byteCount: Int { prefix.count + suffix.count }

  /// Returns true if a hash has the known bytes.
  package func matches(_ hash: VersionHash) -> Bool {
    hash.bytes.starts(with: prefix) && hash.bytes.suffix(suffix.count).elementsEqual(suffix)
  }

  /// True if another known hash has all known bytes of this one.
  func isPart(of other: KnownHash) -> Bool {
    self == other || suffix.isEmpty && other.prefix.starts(with: prefix)
  }

  /// The known bytes as hexadecimal digits, with an ellipsis for the others.
  var words: String {
    byteCount == VersionHash.byteCount ? prefix.hexadecimal : "\(prefix.hexadecimal)…\(suffix.hexadecimal)"
  }
}
