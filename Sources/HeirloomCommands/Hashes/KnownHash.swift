package import Heirloom

/// The bytes of a version hash that a text shows: all, or some at its start and its end.
package struct KnownHash: Hashable, Sendable {
  /// The first bytes.
  package let prefix: [UInt8]
  /// The last bytes, where some in the middle are left out.
  package let suffix: [UInt8]

  /// The fewest bytes that are enough to look for a hash.
  static let fewestBytes = 4

  /// Creates a hash of which some bytes are known; by default none.
  package init(prefix: [UInt8] = [], suffix: [UInt8] = []) {
    (self.prefix, self.suffix) = (prefix, suffix)
  }

  /// The number of bytes that are known.
  package var byteCount: Int { prefix.count + suffix.count }

  /// Returns true if a hash has the known bytes.
  package func matches(_ hash: VersionHash) -> Bool {
    hash.bytes.starts(with: prefix) && hash.bytes.suffix(suffix.count).elementsEqual(suffix)
  }

  /// Returns true if another hash has the bytes that are known of this one.
  func isPart(of other: KnownHash) -> Bool {
    self == other || suffix.isEmpty && other.prefix.starts(with: prefix)
  }

  /// The known bytes as hexadecimal digits, with an ellipsis for the others.
  var words: String {
    byteCount == VersionHash.byteCount ? prefix.hexadecimal : "\(prefix.hexadecimal)…\(suffix.hexadecimal)"
  }
}
