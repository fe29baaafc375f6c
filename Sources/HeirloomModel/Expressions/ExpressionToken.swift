struct ExpressionToken {
  enum Kind: Equatable {
    case integer(Int64)
    case double(Double)
    /// A whole number beyond 64 bits, or the digits of the least one without its sign.
    case hugeInteger(String)
    /// Without quotes, with its escapes resolved.
    case string(String)
    /// A word that is escaped with `#` can't be a keyword.
    case word(String, isEscaped: Bool)
    /// With its colons; a parenthesis follows.
    case selector(String)
    /// Without its `$`.
    case variable(String)
    case sign(String)
    case end
  }

  var kind: Kind
  /// In Unicode scalars from 0.
  var offset: Int

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
