/// 0 if the bytes aren't there; a 32-bit `Int` clamps larger numbers, which its files don't have.
package func bigEndian(_ bytes: [UInt8], at offset: Int) -> Int {
  Int(clamping: bigEndianWord(bytes, at: offset))
}

package func bigEndianWord(_ bytes: [UInt8], at offset: Int) -> UInt32 {
  guard offset >= 0, offset + 4 <= bytes.count else { return 0 }
  return UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16
    | UInt32(bytes[offset + 2]) << 8 | UInt32(bytes[offset + 3])
}
