import CHeirloomZlib

/// CRC-32, as in a gzip file.
///
/// It detects damage, not forgery: a change of a file can include its recorded checksum.
package struct ContentChecksum: Hashable, Sendable {
  package private(set) var value: UInt32 = 0

  package init() {}

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    value = UInt32(truncatingIfNeeded: crc32_z(uLong(value), start, bytes.count))
  }
}
