/// Returns the big-endian number of four bytes, as SQLite's files store numbers; 0 if the bytes aren't there.
///
/// An `Int` of 32 bits clamps larger numbers: no page of such a system's files has them.
package func bigEndian(_ bytes: [UInt8], at offset: Int) -> Int {
  Int(clamping: bigEndianWord(bytes, at: offset))
}

/// Returns the big-endian number of four bytes with all its bits; 0 if the bytes aren't there.
package func bigEndianWord(_ bytes: [UInt8], at offset: Int) -> UInt32 {
  guard offset >= 0, offset + 4 <= bytes.count else { return 0 }
  return UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16
    | UInt32(bytes[offset + 2]) << 8 | UInt32(bytes[offset + 3])
}
