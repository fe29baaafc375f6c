/// A word or sign of a predicate's text.
struct ExpressionToken {
  /// The kind of a token, with its content.
  enum Kind: Equatable {
    /// A whole number.
    case integer(Int64)
    /// A number with a point or an exponent.
    case double(Double)
    /// A whole number that 64 bits can't hold, or the digits of the least one without their sign.
    case hugeInteger(String)
    /// A string without its quotes, escapes resolved.
    case string(String)
    /// A name or keyword; `isEscaped` if it was written with `#` and so can't be a keyword.
    case word(String, isEscaped: Bool)
    /// A function's name with its colons, directly before a parenthesis.
    case selector(String)
    /// A variable without its `$`.
    case variable(String)
    /// An operator or bracket.
    case sign(String)
    /// The end of the text.
    case end
  }

  /// The token's kind and content.
  var kind: Kind
  /// The offset at which it begins, in Unicode scalars from 0.
  var offset: Int

  /// The token for an error message.
  var quoted: String {
    switch kind {
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .hugeInteger(let text): text
    case .string: "a string"
    case .word(let name, _): "\"\(name.prefix(80))\""
    case .selector(let name): "\"\(name.prefix(80))\""
    case .variable(let name): "$\(name.prefix(80))"
    case .sign(let sign): "\"\(sign)\""
    case .end: "the end"
    }
  }
}
