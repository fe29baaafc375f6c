/// Returns the big-endian number of four bytes, as SQLite's files store numbers; 0 if the bytes aren't there.
package func bigEndian(_ bytes: [UInt8], at offset: Int) -> Int {
  guard offset >= 0, offset + 4 <= bytes.count else { return 0 }
  return Int(bytes[offset]) << 24 | Int(bytes[offset + 1]) << 16 | Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
}
