package import Heirloom

/// The known bytes of a version hash: all of them, or some from its start and end.
package struct KnownHash: Hashable, Sendable {
  package let prefix: [UInt8]
  /// The last bytes, if some in the middle are unknown.
  package let suffix: [UInt8]

  static let fewestBytes = 4

  package init(prefix: [UInt8] = [], suffix: [UInt8] = []) {
    (self.prefix, self.suffix) = (prefix, suffix)
  }

  package var byteCount: Int { prefix.count + suffix.count }

  package func matches(_ hash: VersionHash) -> Bool {
    hash.bytes.starts(with: prefix) && hash.bytes.suffix(suffix.count).elementsEqual(suffix)
  }

  /// True if `other` has all known bytes of this hash.
  func isPart(of other: KnownHash) -> Bool {
    self == other || suffix.isEmpty && other.prefix.starts(with: prefix)
  }

  var words: String {
    byteCount == VersionHash.byteCount ? prefix.hexadecimal : "\(prefix.hexadecimal)…\(suffix.hexadecimal)"
  }
}
