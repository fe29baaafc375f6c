import HeirloomFormats
import HeirloomModel
import HeirloomStore

extension AttributeDescription {
  func sampleValues(using random: inout SplitMix64) -> [AttributeValue] {
    if let composite { return compositeValues(composite, using: &random) }
    let edges = Self.edges(of: self, using: &random)
    // A rule usually has a limit, whose neighbouring values are edge cases too.
    let all = edges + ruleConstants.flatMap { nearby($0) } + (validationRules.isEmpty ? [] : plainValues)
    var values: [AttributeValue] = []
    for value in all + (defaultValue.map { [$0] } ?? []) where isAllowed(value) && !values.contains(value) {
      values.append(value)
    }
    return values
  }

  /// A different value for each number and attempt; `nil` if the type or its rules allow too few.
  func numbered(_ number: Int, attempt: Int) -> AttributeValue? {
    let unique = Int64(number) &* 211 &+ Int64(attempt)
    for value in numbered(unique) where isAllowed(value) { return value }
    return nil
  }

  private func isAllowed(_ value: AttributeValue) -> Bool {
    guard (try? ValueCoding.encode(value, for: self)) != nil else { return false }
    return validationRules.allSatisfy { rule in
      (try? ExpressionEvaluator().evaluate(rule.predicate, on: .value(value))) ?? true
    }
  }

  private func compositeValues(
    _ composite: CompositeAttributeDescription, using random: inout SplitMix64
  ) -> [AttributeValue] {
    let columns = composite.elements.filter(\.isSampled).map { ($0, $0.sampleValues(using: &random)) }
    let count = columns.map(\.1.count).max() ?? 0
    guard !columns.contains(where: { !$0.0.isOptional && $0.1.isEmpty }) else { return [] }
    var values: [AttributeValue] = []
    for number in 0..<min(count, 24) {
      var elements: [String: AttributeValue] = [:]
      for (index, column) in columns.enumerated() where !column.1.isEmpty {
        if column.0.isOptional, (number + index) % 4 == 3 { continue }
        elements[column.0.name] = column.1[number % column.1.count]
      }
      if !elements.isEmpty { values.append(.composite(elements)) }
    }
    return values
  }

  // MARK: - Values of types

  private static func edges(
    of attribute: AttributeDescription, using random: inout SplitMix64
  ) -> [AttributeValue] {
    switch attribute.type {
    case .integer16: return integers([Int64(Int16.min), Int64(Int16.max)])
    case .integer32: return integers([Int64(Int32.min), Int64(Int32.max), 32_768])
    case .integer64: return integers([.min, .max, 1 << 53 + 1, 2_147_483_648])
    case .boolean: return [.boolean(false), .boolean(true)]
    case .double:
      let numbers = [0, -0.0, -2.25, 1.5, .pi, 1e-300, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 3e38]
      return numbers.map { .double($0) }
    case .float:
      let limit = Double(Float.greatestFiniteMagnitude)
      return [0, -0.0, -2.25, 1.5, 0.25, 65536, limit, -limit].map { .double($0) }
    case .decimal:
      return ["0", "-12345.678", "0.1", "99999999999999", "-0.000001", "3"].map { .decimal($0) }
    case .date:
      // 2001, 1970, the years 1 and 9999, and a day with a fraction.
      return [0, -978_307_200, -63_113_904_000, 252_423_993_599, 600_000_000.25].map { .date($0) }
    case .string: return strings
    case .uri:
      let texts = [
        "https://example.invalid/a%20b?q=1#f", "file:///tmp/%C3%A9", "urn:isbn:0451450523", "mailto:a@b.invalid",
      ]
      return texts.map { .uri($0) }
    case .uuid:
      return [
        .uuid([UInt8](repeating: 0, count: 16)), .uuid([UInt8](repeating: 255, count: 16)),
        .uuid(bytes(16, using: &random)), .uuid(bytes(16, using: &random)),
      ]
    case .binary:
      let large = attribute.allowsExternalBinaryDataStorage ? 120_000 : 5_000
      return [.binary([]), .binary([0]), .binary(bytes(40, using: &random)), .binary(bytes(large, using: &random))]
    case .transformable:
      return archives.compactMap { archive in (try? archive.encoded()).map { .binary($0) } }
    case .undefined, .objectID, .composite: return []
    }
  }

  private static func integers(_ edges: [Int64]) -> [AttributeValue] {
    ([0, 1, -1, 42] + edges).map { .integer($0) }
  }

  private static let strings: [AttributeValue] = [
    "", "plain", "it's \"quoted\"; -- 100 %_\\\t\n", "Größe, Ångström, İstanbul, ﬁ, e\u{301}",
    "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} \u{1F600}\u{1F3FD}", "مرحبا 中文 日本語", " ",
    String(repeating: "Long text. Lange Texte. \u{1F4D6} ", count: 400),
  ].map { .string($0) }

  private static let archives: [ArchivedValue] = [
    .strings(["Why?", nil, "\u{1F600}"]), .array([]), .dictionary(["name": "value", "count": 3]), .date(600_000_000.5),
    .array([.data([0, 255]), .boolean(true), .double(-2.5)]),
  ]

  private static func bytes(_ count: Int, using random: inout SplitMix64) -> [UInt8] {
    let block = (0..<min(count, 1000)).map { _ in UInt8(truncatingIfNeeded: random.next() >> 32) }
    return (0..<count).map { block[$0 % block.count] }
  }

  private func numbered(_ number: Int64) -> [AttributeValue] {
    switch type {
    case .integer16: [.integer(number % 32_768), .integer(-(number % 32_768))]
    case .integer32, .integer64: [.integer(number), .integer(-number)]
    case .double, .float: [.double(Double(number) + 0.5), .double(-Double(number)), .double(1 / Double(number + 2))]
    case .decimal: [.decimal("\(number).5"), .decimal("-\(number)")]
    case .date: [.date(600_000_000 + Double(number)), .date(Double(number)), .date(-Double(number))]
    case .string:
      ["text \(number)", "\(number)", String(repeating: "x", count: 20) + "\(number)"].map { .string($0) }
    case .uri: [.uri("https://example.invalid/\(number)")]
    case .uuid: [.uuid([UInt8](repeating: 7, count: 8) + bigEndian(number))]
    case .binary, .transformable: [.binary(bigEndian(number))]
    case .boolean, .undefined, .objectID, .composite: []
    }
  }

  private func bigEndian(_ number: Int64) -> [UInt8] {
    stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> Int64($0)) }
  }

  // MARK: - Rules

  /// The values that rules about lengths and patterns often allow.
  private var plainValues: [AttributeValue] {
    guard type == .string else { return (0..<64).flatMap { numbered($0) } }
    let lengths = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 32, 36, 64, 128, 255]
    let words = lengths.flatMap { [String(repeating: "a", count: $0), String(repeating: "7", count: $0)] }
    return (words + ["a@example.invalid", "https://example.invalid/", "2026-11-22", "+49 30 123456", "Abc1!"])
      .map { .string($0) }
  }

  private var ruleConstants: [AttributeValue] {
    validationRules.flatMap { $0.predicate.comparisons }.flatMap { comparison in
      [comparison.left, comparison.right].flatMap(\.constants)
    }
  }

  private func nearby(_ limit: AttributeValue) -> [AttributeValue] {
    let number: Double
    switch limit {
    case .integer(let value): number = Double(value)
    case .double(let value), .date(let value): number = value
    case .decimal(let text): number = Double(text) ?? 0
    case .string: return [limit]
    default: return [limit]
    }
    guard number.isFinite else { return [] }
    switch type {
    case .integer16, .integer32, .integer64:
      return [number, number + 1, number - 1].compactMap { Int64(exactly: $0.rounded()).map { .integer($0) } }
    case .double, .float: return [number, number + 0.5, number - 0.5].map { .double($0) }
    case .decimal: return [number, number + 0.5, number - 0.5].map { .decimal("\($0)") }
    case .date: return [number, number + 1, number - 1].map { .date($0) }
    case .string:
      return [0.0, 1, -1].compactMap { Int(exactly: (number + $0).rounded()) }.filter { (0...10_000).contains($0) }
        .map { .string(String(repeating: "a", count: $0)) }
    default: return []
    }
  }
}

extension PredicateDescription {
  fileprivate var comparisons: [Comparison] {
    switch self {
    case .comparison(let comparison): [comparison]
    case .and(let parts), .or(let parts): parts.flatMap(\.comparisons)
    case .not(let part): part.comparisons
    case .alwaysTrue, .alwaysFalse, .unparsed: []
    }
  }
}

extension ValueExpression {
  fileprivate var constants: [AttributeValue] {
    switch self {
    case .constant(.value(let value)): [value]
    case .aggregate(let members): members.flatMap(\.constants)
    default: []
    }
  }
}
