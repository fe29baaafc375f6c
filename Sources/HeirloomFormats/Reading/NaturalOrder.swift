import HeirloomModel

/// `Model 2` precedes `Model 10`.
package enum NaturalOrder {
  /// Ignores case, and compares runs of digits as numbers.
  ///
  /// Names that differ only in case or in leading zeros are in the order of their UTF-16 units.
  package static func precedes(_ name: String, _ other: String) -> Bool {
    var left = Array(name.lowercased().utf16)[...]
    var right = Array(other.lowercased().utf16)[...]
    while let first = left.first, let second = right.first {
      if isDigit(first), isDigit(second) {
        let a = digits(&left)
        let b = digits(&right)
        if a.count != b.count { return a.count < b.count }
        if a != b { return a.lexicographicallyPrecedes(b) }
      } else {
        if first != second { return first < second }
        left.removeFirst()
        right.removeFirst()
      }
    }
    if left.isEmpty != right.isEmpty { return left.isEmpty }
    return name.utf16Precedes(other)
  }

  private static func isDigit(_ unit: UInt16) -> Bool {
    (0x30...0x39).contains(unit)
  }

  private static func digits(_ text: inout ArraySlice<UInt16>) -> ArraySlice<UInt16> {
    let run = text.prefix { isDigit($0) }
    text = text[run.endIndex...]
    return run.drop { $0 == 0x30 }
  }
}
