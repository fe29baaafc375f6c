/// A digest that identifies the stored shape of one entity.
///
/// A store's metadata contains one digest per entity, under `NSStoreModelVersionHashes`. Two entities with equal
/// digests need no migration.
public struct VersionHash: Hashable, Sendable {
  /// The digest's length, in bytes.
  public static let byteCount: Int = 32

  /// The digest, always `byteCount` bytes long.
  public let bytes: [UInt8]

  package init(_ bytes: some Collection<UInt8>) throws(VersionHashError) {
    guard bytes.count == Self.byteCount else { throw .wrongLength(found: bytes.count) }
    self.bytes = Array(bytes)
  }

  init(digesting add: (inout SHA256) -> Void) {
    var digest = SHA256()
    add(&digest)
    bytes = digest.finalize()
  }
}

extension VersionHash: CustomStringConvertible {
  /// The digest as 64 lowercase hexadecimal digits.
  public var description: String { bytes.hexadecimal }
}

package enum VersionHashError: Error, Hashable, Sendable {
  case wrongLength(found: Int)
}

extension VersionHashError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .wrongLength(let found): "A version hash has \(found) bytes; expected \(VersionHash.byteCount)."
    }
  }
}
