import CHeirloomZlib

/// The CRC-32 of bytes that are added in pieces, as in a gzip file.
///
/// It detects damage, not forgery: a change of a file can include its recorded checksum.
package struct ContentChecksum: Hashable, Sendable {
  /// The checksum of the bytes so far.
  package private(set) var value: UInt32 = 0

  /// Creates the checksum of no bytes.
  package init() {}

  /// Adds bytes.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    value = UInt32(truncatingIfNeeded: crc32_z(uLong(value), start, bytes.count))
  }
}
