/// A source of pseudo-random choices of mutations that is the same on every platform.
package struct FuzzRandom {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }

  /// A number below the bound; 0 for a bound that leaves no choice.
  package mutating func below(_ bound: Int) -> Int {
    Int(next() % UInt64(max(1, bound)))
  }

  /// True once in `count` times, on average.
  package mutating func once(in count: Int) -> Bool { below(count) == 0 }

  /// There must be an element.
  package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  /// Returns a whole number over which programs stumble, or any.
  package mutating func number() -> Int64 {
    let odd: [Int64] = [
      0, 1, -1, 2, 7, 15, 16, 127, 128, 255, 256, 32_767, 65_535, 65_536, 2_147_483_647, -2_147_483_648,
      4_294_967_295, 4_294_967_296, 1 << 40, 1 << 53, .max, .max - 1, .min, .min + 1,
    ]
    return once(in: 4) ? Int64(bitPattern: next()) : pick(odd)
  }

  /// Returns a text over which programs stumble.
  package mutating func text() -> String {
    if once(in: 200) { return String(repeating: pick(["A", "\"", "é", "[", "\u{1F600}"]), count: 100_000) }
    return pick([
      "", " ", "\0", "a\0b", "\"", "'", "`", "[", "]", "a\"b'c]d[e`f", ";", "--", "/*", "'; DROP TABLE ZITEM; --", "%@",
      "%K", "%n", "$x", "SELF", "@count", "a.b.c", ".", "..", "../../../etc/passwd", "/", "\n", "\r\n", "\t",
      "\u{1B}[2J\u{1B}]0;x\u{7}", "\u{202E}abc", "\u{FEFF}", "e\u{301}", "\u{e9}", "\u{1F468}\u{200D}\u{1F469}",
      "Z_PK", "Z_ENT", "Z_OPT", "Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "sqlite_schema", "ITEM", "item", "Item",
      "NSManagedObject", "NSString", "YES", "NO", "true", "-1", "0", "1", "9223372036854775808", "1e999", "nan", "inf",
      "0x", "0x10", "1.5", "2001-01-01T00:00:00Z", "String", "Integer 64", "Binary", "Transformable", "Composite",
      "Undefined", "Cascade", "Deny", "items.@count", "now()", "canonical:(name)", "id", "description", "entity",
      "self",
      "hash", "class", "AAAA", "====", "bplist00", "<?xml", "]]>", "&lt;", "&#0;", String(repeating: "x", count: 300),
      String(repeating: "(", count: 300),
    ])
  }
}

extension FuzzRandom {
  package mutating func damage(_ bytes: inout [UInt8]) {
    for _ in 0...below(4) {
      guard !bytes.isEmpty else { return bytes.append(UInt8(below(256))) }
      let place = below(bytes.count)
      switch below(8) {
      case 0: bytes[place] ^= 1 << UInt8(below(8))
      case 1: bytes[place] = UInt8(below(256))
      case 2: bytes[place] = pick([0, 1, 0x7F, 0x80, 0xFF])
      case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + below(16)))
      case 4: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 1 + below(32))], at: below(bytes.count))
      case 5: bytes.removeLast(min(bytes.count, 1 + below(once(in: 4) ? bytes.count : 40)))
      case 6: for index in place..<min(bytes.count, place + 8) { bytes[index] = UInt8(below(256)) }
      default: bytes.insert(UInt8(below(256)), at: place)
      }
    }
  }
}
