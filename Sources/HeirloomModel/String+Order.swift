extension String {
  /// Whether this name comes before another in the order of version hashes: by UTF-16 code unit, case-sensitive.
  package func utf16Precedes(_ other: String) -> Bool {
    utf16.lexicographicallyPrecedes(other.utf16)
  }

  /// Whether this name comes before another in the order in which a store numbers entities: case-insensitively.
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
