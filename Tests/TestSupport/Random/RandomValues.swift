import HeirloomModel
import HeirloomStore

/// Values of every attribute type, including those at the edges of its range.
enum RandomValues {
  /// Returns `nil` for types whose defaults models don't have.
  static func defaultValue(of type: AttributeType, using random: inout SplitMix64) -> AttributeValue? {
    switch type {
    case .integer16, .integer32, .integer64: [.integer(0), .integer(-7), .integer(32767)][random.below(3)]
    case .boolean: .boolean(random.below(2) == 0)
    case .double, .float: [.double(0), .double(-2.5)][random.below(2)]
    case .decimal: [.decimal("12.5"), .decimal("3")][random.below(2)]
    case .date: .date([0, 600_000_000.5][random.below(2)])
    case .string: [.string(""), .string("it's\u{0} \u{1F600}"), .string("plain")][random.below(3)]
    case .binary: random.below(2) == 0 ? .binary([1, 2, 255]) : nil
    case .undefined, .uuid, .uri, .transformable, .objectID, .composite: nil
    }
  }

  /// Equal values repeat, and so do those at the edges of the type's range.
  static func stored(_ attribute: AttributeDescription, using random: inout SplitMix64) -> SQLiteValue {
    func pick(_ values: [SQLiteValue]) -> SQLiteValue { values[random.below(values.count)] }
    switch attribute.type {
    case .integer16: return pick([-32768, 32767, 0, 1, 1, 42].map { .integer($0) })
    case .integer32: return pick([-2_147_483_648, 2_147_483_647, 0, 1, 42, 42, 32768].map { .integer($0) })
    case .integer64:
      return pick([.min, .max, 0, 1, 42, 42, 1 << 53 + 1, 2_147_483_648, 70000].map { .integer($0) })
    case .boolean: return pick([.integer(0), .integer(1)])
    case .double: return pick([0, -0.5, 1, 1.5, 1.5, 1e300, 1e-300, 42, 3e38, 123_456_789.125].map { .real($0) })
    case .float: return pick([0, -0.5, 1, 1.5, 1.5, 0.25, 65536, 3e38].map { .real($0) })
    case .decimal: return pick([.real(10.11), .integer(3), .integer(3), .real(-0.5), .integer(0), .integer(70000)])
    case .date: return pick([.integer(0), .real(600_000_000.25), .real(600_000_000.25), .integer(-86400)])
    case .string:
      return pick(
        ["", "Ärger", "ärger", "İstanbul", "it's", "plain", "plain", "\u{1F600} e\u{301}", "ﬁ"].map { .text($0) })
    case .uri: return pick([.text("https://example.invalid/1"), .text("file:///tmp/%20")])
    case .uuid: return .blob((0..<16).map { UInt8(truncatingIfNeeded: $0 &* 17 &+ random.below(5)) })
    case .binary, .transformable:
      let bytes = (0..<[0, 1, 5, 40][random.below(4)]).map { _ in UInt8(random.below(256)) }
      return .blob((attribute.allowsExternalBinaryDataStorage ? [1] : []) + bytes)
    case .undefined, .objectID, .composite: return .null
    }
  }
}
