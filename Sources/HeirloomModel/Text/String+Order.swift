extension String {
  /// Tells whether this name comes before another in the order of version hashes: by UTF-16 code unit, case-sensitive.
  package func utf16Precedes(_ other: String) -> Bool {
    // Strings hold UTF-8. Its order differs in one thing: UTF-16 writes characters beyond U+FFFF with surrogates,
    // which come before U+E000.
    var others = other.utf8.makeIterator()
    for byte in utf8 {
      guard let otherByte = others.next() else { return false }
      guard byte != otherByte else { continue }
      let isBeyond = byte >= 0xF0
      let isOtherBeyond = otherByte >= 0xF0
      if isBeyond != isOtherBeyond, min(byte, otherByte) >= 0xEE { return isBeyond }
      return byte < otherByte
    }
    return others.next() != nil
  }

  /// Tells whether this name comes before another in the order in which a store numbers entities: case-insensitively.
  package func precedesInEntityOrder(_ other: String) -> Bool {
    let folded = lowercased()
    let otherFolded = other.lowercased()
    return folded == otherFolded ? utf16Precedes(other) : folded.utf16Precedes(otherFolded)
  }
}

extension Sequence<UInt8> {
  /// The bytes as lowercase hexadecimal digits, two for each.
  package var hexadecimal: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
