import HeirloomModel

/// An initial value in source, as far as it is plain.
struct SwiftInitialValue {
  private let range: Range<Int>
  private let tokens: SwiftTokens

  init(_ range: Range<Int>, _ tokens: SwiftTokens) {
    (self.range, self.tokens) = (range, tokens)
  }

  private var isLiteral: Bool { range.count == 1 || range.count == 2 && tokens.has("-", at: range.lowerBound) }

  var literalType: String? {
    guard isLiteral else { return nil }
    let last = range.upperBound - 1
    if tokens.has("true", at: last) || tokens.has("false", at: last) { return "Bool" }
    switch tokens.tokens[last].kind {
    case .string: return "String"
    case .number: return isWhole ? "Int" : "Double"
    default: return nil
    }
  }

  /// As in `UUID()` or `Tags(a: 1)`; a capital distinguishes an initializer from a function.
  var call: (type: SwiftTypeName, hasArguments: Bool)? {
    var reader = SwiftTypeReader(tokens, at: range.lowerBound)
    guard let type = reader.type(), tokens.has("(", at: reader.position),
      tokens.partner(reader.position) == range.upperBound - 1
    else { return nil }
    switch type {
    case .named(let names) where names.last?.first?.isUppercase == true: break
    case .array: break
    default: return nil
    }
    return (type, !tokens.inside(reader.position).isEmpty)
  }

  private var number: String { tokens.text(range).filter { $0 != "_" && $0 != " " } }

  private var isNegative: Bool { tokens.has("-", at: range.lowerBound) }

  /// The letter after a leading zero; `nil` for a decimal number.
  private var radix: Character? {
    let digits = number.drop { $0 == "-" }
    guard digits.first == "0", let letter = digits.dropFirst().first else { return nil }
    return letter.isLetter && letter != "e" && letter != "E" ? letter : nil
  }

  private var isWhole: Bool {
    let fraction: Set<Character> = radix == nil ? [".", "e", "E"] : [".", "p", "P"]
    return !number.contains(where: fraction.contains)
  }

  private var whole: Int64? {
    let base =
      switch radix {
      case "x": 16
      case "o": 8
      case "b": 2
      default: 10
      }
    let digits = number.drop { $0 == "-" }.dropFirst(radix == nil ? 0 : 2)
    return Int64((isNegative ? "-" : "") + digits, radix: base)
  }

  /// `nil` for a value that is evaluated at run time.
  func value(as type: AttributeType) -> AttributeValue? {
    guard isLiteral else { return nil }
    let last = range.upperBound - 1
    switch type {
    case .string: return tokens.plainString(last).map(AttributeValue.string)
    case .boolean:
      if tokens.has("true", at: last) { return .boolean(true) }
      return tokens.has("false", at: last) ? .boolean(false) : nil
    case .integer16, .integer32, .integer64: return whole.map(AttributeValue.integer)
    case .double, .float: return (Double(number) ?? whole.map(Double.init)).map(AttributeValue.double)
    case .decimal: return radix != nil || Double(number) == nil ? nil : .decimal(number)
    default: return nil
    }
  }
}
