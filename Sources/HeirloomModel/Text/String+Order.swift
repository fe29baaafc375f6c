extension String {
  /// The order of version hashes: by UTF-16 code unit, case-sensitive.
  package func utf16Precedes(_ other: String) -> Bool {
    // Strings are UTF-8, whose order differs only in one case: UTF-16 encodes characters beyond U+FFFF as surrogates,
    // which precede U+E000.
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

  /// The order in which a store numbers entities: case-insensitive.
  package func precedesInEntityOrder(_ other: String) -> Bool {
    let folded = lowercased()
    let otherFolded = other.lowercased()
    return folded == otherFolded ? utf16Precedes(other) : folded.utf16Precedes(otherFolded)
  }
}

extension Sequence<UInt8> {
  package var hexadecimal: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

extension [UInt8] {
  /// Of 16 bytes, in groups of hexadecimal digits; of other bytes, the digits.
  package var uuidText: String {
    let digits = hexadecimal.uppercased()
    guard count == 16 else { return digits }
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { digits.dropFirst($0.lowerBound).prefix($0.count) }
      .joined(separator: "-")
  }
}

extension [String] {
  package func utf16Precedes(_ other: [String]) -> Bool {
    lexicographicallyPrecedes(other) { $0.utf16Precedes($1) }
  }
}

@inline(never)
private func positions(_ count: Int, _ precedes: (Int, Int) -> Bool) -> [Int] { (0..<count).sorted(by: precedes) }

// The compiler specializes the library's sorting for each sorted element type: kilobytes each. These functions sort
// indexes, which are of one type. The order of equal elements is kept. (Loops over objects are specialized too.)
extension Sequence {
  package func ordered(by precedes: (Element, Element) -> Bool) -> [Element] {
    let elements = Array(self)
    return positions(elements.count) { precedes(elements[$0], elements[$1]) }.map { elements[$0] }
  }

  /// In the order of version hashes.
  package func ordered(by text: (Element) -> String) -> [Element] {
    map { ($0, text($0)) }.ordered { $0.1.utf16Precedes($1.1) }.map(\.0)
  }

  package func ordered(by texts: (Element) -> [String]) -> [Element] {
    map { ($0, texts($0)) }.ordered { $0.1.utf16Precedes($1.1) }.map(\.0)
  }
}

extension Sequence<String> {
  package func ordered() -> [String] { ordered { $0.utf16Precedes($1) } }
}
