import TestSupport

enum SeededValues {
  /// As Core Data stores it; `number` is one that no other object has, where values have to differ.
  static func value(of attribute: XMLModel.Attribute, number: Int64?, using random: inout SplitMix64) -> Cell {
    func pick<Value>(_ values: [Value]) -> Value { values[random.below(values.count)] }
    // Few are large, since a number that doesn't fit its new type stops the migration.
    let isLarge = number == nil && random.below(12) == 0
    switch attribute.type {
    case "Integer 16": return .integer(number ?? pick(isLarge ? [-32768, 32767] : [0, 1, 2, 100, -5]))
    case "Integer 32": return .integer(number ?? pick(isLarge ? [70000, -2_147_483_648] : [0, 1, 2, 300, -5]))
    case "Integer 64":
      return .integer(number ?? pick(isLarge ? [9_007_199_254_740_993, 16_777_217, .min] : [0, 1, 2, 300, -5]))
    case "Boolean": return .integer(Int64(random.below(2)))
    case "Double", "Float":
      if let number { return .real(Double(number) + 0.5) }
      return .real(pick(isLarge ? [1e20, 9_007_199_254_740_992, -40000.5] : [0.5, 3.999, 4, -1, 0]))
    case "Decimal":
      if let number { return .real(Double(number) + 0.25) }
      return pick(isLarge ? [.real(1e20), .integer(70000)] : [.real(99.99), .integer(100), .integer(0)])
    case "Date":
      return number.map { .real(Double($0) + 0.5) } ?? pick([.real(600_000_000.25), .integer(5), .real(-0.5)])
    case "String":
      if let number { return .text("text \(number)") }
      return .text(pick(["", "é", "e\u{301}", "it's", "12", "0.5", "\u{1F600}", "a\u{0}b"]))
    case "URI": return .text("https://example.invalid/\(number ?? Int64(random.below(9)))")
    case "UUID": return .blob((0..<16).map { _ in UInt8(random.below(256)) })
    default:
      let bytes = (0..<(number == nil ? random.below(6) : 9)).map { _ in UInt8(random.below(256)) }
      return .blob(attribute.isExternal ? [1] + bytes : bytes)
    }
  }

  /// Of another type than the attribute's, as other programs write it.
  static func strange(using random: inout SplitMix64) -> Cell {
    let values: [Cell] = [
      .text("twelve"), .text(""), .text("12 "), .blob([0x31]), .blob([]), .real(0.25), .real(-7.5), .integer(41),
    ]
    return values[random.below(values.count)]
  }

  /// For a column that no model knows.
  static func unknown(using random: inout SplitMix64) -> Cell {
    let values: [Cell] = [.text("kept"), .text("7"), .integer(7), .real(7.5), .real(8), .blob([0, 255]), .text("")]
    return values[random.below(values.count)]
  }
}
