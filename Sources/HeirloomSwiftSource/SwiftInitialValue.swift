import HeirloomModel

/// An initial value as source writes it, as far as it is plain.
struct SwiftInitialValue {
  private let range: Range<Int>
  private let tokens: SwiftTokens

  init(_ range: Range<Int>, _ tokens: SwiftTokens) {
    (self.range, self.tokens) = (range, tokens)
  }

  /// The type that follows from it; `nil` where only the compiler knows.
  var type: SwiftTypeName? {
    let first = range.lowerBound
    if range.count == 1 || range.count == 2 && tokens.has("-", at: first) {
      let last = range.upperBound - 1
      if tokens.tokens[last].kind == .string { return .named(["String"]) }
      if tokens.tokens[last].kind == .number { return .named([isWhole ? "Int" : "Double"]) }
      if tokens.has("true", at: last) || tokens.has("false", at: last) { return .named(["Bool"]) }
    }
    // `UUID()`, `Tags(a: 1)`: a call of an initializer, told by the capital.
    var reader = SwiftTypeReader(tokens, at: first)
    guard let type = reader.type(), tokens.has("(", at: reader.position),
      tokens.partner(reader.position) == range.upperBound - 1
    else { return nil }
    switch type {
    case .named(let names): return names.last?.first?.isUppercase == true ? type : nil
    case .array: return type
    default: return nil
    }
  }

  private var number: String { tokens.text(range).filter { $0 != "_" && $0 != " " } }

  private var isWhole: Bool { !number.contains(".") && (Int64(number) != nil || number.contains("0x")) }

  /// Returns the value of an attribute; `nil` for one that is evaluated when the app runs.
  func value(as type: AttributeType) -> AttributeValue? {
    guard range.count == 1 || range.count == 2 && tokens.has("-", at: range.lowerBound) else { return nil }
    let last = range.upperBound - 1
    switch type {
    case .string: return tokens.plainString(last).map(AttributeValue.string)
    case .boolean:
      if tokens.has("true", at: last) { return .boolean(true) }
      return tokens.has("false", at: last) ? .boolean(false) : nil
    case .integer16, .integer32, .integer64: return Int64(number).map(AttributeValue.integer)
    case .double, .float: return Double(number).map(AttributeValue.double)
    case .decimal: return Double(number) == nil ? nil : .decimal(number)
    default: return nil
    }
  }
}
