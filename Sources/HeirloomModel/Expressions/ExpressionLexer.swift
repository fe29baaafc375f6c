struct ExpressionLexer {
  /// In Unicode scalars.
  static let lengthLimit: Int = 1 << 20

  private let scalars: [Unicode.Scalar]
  private var position = 0
  /// For `%@` and other placeholders; `nil` if none are allowed.
  private let arguments: [EvaluatedValue]?
  private var usedArguments = 0
  /// The tokens of a key path argument that follow the last token.
  private var pending: [ExpressionToken] = []

  /// No text can contain this name.
  static func variable(ofArgument index: Int) -> String { " \(index)" }

  private init(_ text: String, arguments: [EvaluatedValue]?) throws(ExpressionError) {
    self.arguments = arguments
    // UTF-8 has at most four bytes per scalar, so a huge text is rejected before it is copied.
    guard text.utf8.count <= Self.lengthLimit * 4 else { throw .tooLong(limit: Self.lengthLimit) }
    scalars = Array(text.unicodeScalars)
    guard scalars.count <= Self.lengthLimit else { throw .tooLong(limit: Self.lengthLimit) }
  }

  static func tokens(
    of text: String, arguments: [EvaluatedValue]? = nil
  ) throws(ExpressionError) -> [ExpressionToken] {
    var lexer = try ExpressionLexer(text, arguments: arguments)
    var tokens: [ExpressionToken] = []
    while true {
      let token = try lexer.next()
      tokens.append(token)
      tokens += lexer.pending
      lexer.pending = []
      if token.kind == .end { break }
    }
    if let arguments, lexer.usedArguments < arguments.count {
      throw .argumentCount(found: arguments.count, expected: lexer.usedArguments)
    }
    return tokens
  }

  private func peek(_ distance: Int = 0) -> Unicode.Scalar? {
    let index = position + distance
    return index < scalars.count ? scalars[index] : nil
  }

  private mutating func next() throws(ExpressionError) -> ExpressionToken {
    while let scalar = peek(), scalar.properties.isWhitespace { position += 1 }
    let offset = position
    guard let scalar = peek() else { return ExpressionToken(kind: .end, offset: offset) }
    switch scalar {
    case "\"", "'":
      return ExpressionToken(kind: .string(try string()), offset: offset)
    case "0"..."9":
      return ExpressionToken(kind: try number(), offset: offset)
    case "." where peek(1)?.isDecimalDigit == true:
      return ExpressionToken(kind: try number(), offset: offset)
    case "$":
      position += 1
      guard let first = peek(), first.beginsName else { throw unexpected(expected: "the name of a variable") }
      return ExpressionToken(kind: .variable(name()), offset: offset)
    case "#":
      position += 1
      guard let first = peek(), first.beginsName || first == "@" else { throw unexpected(expected: "a name") }
      return ExpressionToken(kind: .word(name(), isEscaped: true), offset: offset)
    case "@":
      guard let first = peek(1), first.beginsName else { throw unexpected(expected: "a collection operator") }
      return ExpressionToken(kind: .word(name(), isEscaped: true), offset: offset)
    case "%":
      return try argument(at: offset)
    case _ where scalar.beginsName:
      return ExpressionToken(kind: wordOrSelector(), offset: offset)
    default:
      return ExpressionToken(kind: .sign(try sign()), offset: offset)
    }
  }

  private func unexpected(expected: String) -> ExpressionError {
    guard let scalar = peek() else { return .unexpectedEnd(offset: position, expected: expected) }
    return .unexpected(found: "\"\(scalar)\"", offset: position, expected: expected)
  }

  // MARK: - Arguments

  private mutating func argument(at offset: Int) throws(ExpressionError) -> ExpressionToken {
    guard let arguments else { throw .formatArgument(offset: offset) }
    position += 1
    var conversion = ""
    while let scalar = peek(), conversion.isEmpty || conversion.unicodeScalars.allSatisfy({ $0 == "l" }) {
      guard scalar == "@" || scalar.isASCII && scalar.properties.isAlphabetic else { break }
      conversion.unicodeScalars.append(scalar)
      position += 1
    }
    guard usedArguments < arguments.count else {
      throw .argumentCount(found: arguments.count, expected: usedArguments + 1)
    }
    let argument = arguments[usedArguments]
    let variable = ExpressionToken(kind: .variable(Self.variable(ofArgument: usedArguments)), offset: offset)
    usedArguments += 1
    switch conversion {
    case "@": return variable
    case "K":
      guard case .value(.string(let path)) = argument else {
        throw .argumentKind(offset: offset, found: argument.kind, expected: "a key path")
      }
      return try keyPath(path, at: offset)
    case "d", "i", "u", "ld", "lu", "lld", "llu", "f", "lf", "e", "g":
      guard case .value(let value) = argument, EvaluatedNumber(value) != nil else {
        throw .argumentKind(offset: offset, found: argument.kind, expected: "a number")
      }
      return variable
    default: throw .unexpected(found: "\"%\(conversion)\"", offset: offset, expected: "%@, %K, %d or %f")
    }
  }

  private mutating func keyPath(_ path: String, at offset: Int) throws(ExpressionError) -> ExpressionToken {
    var tokens: [ExpressionToken] = []
    for name in path.names(separatedBy: ".") {
      guard !name.isEmpty else {
        throw .argumentKind(offset: offset, found: "a text with an empty name", expected: "a key path")
      }
      if !tokens.isEmpty { tokens.append(ExpressionToken(kind: .sign("."), offset: offset)) }
      tokens.append(ExpressionToken(kind: .word(String(name), isEscaped: true), offset: offset))
    }
    pending = Array(tokens.dropFirst())
    return tokens[0]
  }

  // MARK: - Names

  /// The first scalar is known to be valid, or is `@`.
  private mutating func name() -> String {
    var text = String.UnicodeScalarView()
    repeat {
      text.append(scalars[position])
      position += 1
    } while peek()?.continuesName == true
    return String(text)
  }

  private mutating func wordOrSelector() -> ExpressionToken.Kind {
    let first = name()
    guard peek() == ":" else { return .word(first, isEscaped: false) }
    // A colon is part of a function's name only if the whole name precedes a parenthesis: `add:to:(a, b)`.
    let start = position
    var selector = first
    while peek() == ":" {
      selector += ":"
      position += 1
      if let scalar = peek(), scalar.beginsName { selector += name() }
    }
    var distance = 0
    while let scalar = peek(distance), scalar.properties.isWhitespace { distance += 1 }
    if peek(distance) == "(" { return .selector(selector) }
    position = start
    return .word(first, isEscaped: false)
  }

  // MARK: - Signs

  private mutating func sign() throws(ExpressionError) -> String {
    guard let first = peek() else { throw unexpected(expected: "a value or an operator") }
    let both = peek(1).map { String(String.UnicodeScalarView([first, $0])) } ?? ""
    switch both {
    case "=<", "=>", "==", "<=", "<>", "<<", ">=", ">>", "!=", "&&", "||", "**":
      position += 2
      return both
    default: break
    }
    switch first {
    case "=", "<", ">", "!", "&", "|", "^", "~", "+", "-", "*", "/", "(", ")", "{", "}", "[", "]", ",", ".":
      position += 1
      return String(first)
    default:
      throw unexpected(expected: "a value or an operator")
    }
  }

  // MARK: - Numbers

  private mutating func number() throws(ExpressionError) -> ExpressionToken.Kind {
    let start = position
    if peek() == "0", peek(1) == "x" || peek(1) == "X" {
      position += 2
      let digits = run(while: \.properties.isASCIIHexDigit)
      guard peek()?.continuesName != true, let value = Int64(digits, radix: 16) else {
        throw invalidNumber(from: start)
      }
      return .integer(value)
    }
    var text = run(while: \.isDecimalDigit)
    var isWhole = true
    if peek() == ".", peek(1)?.isDecimalDigit == true {
      isWhole = false
      position += 1
      text = (text.isEmpty ? "0" : text) + "." + run(while: \.isDecimalDigit)
    }
    if peek() == "e" || peek() == "E" {
      isWhole = false
      position += 1
      text += "e"
      if let sign = peek(), sign == "+" || sign == "-" {
        text.unicodeScalars.append(sign)
        position += 1
      }
      text += run(while: \.isDecimalDigit)
    }
    guard peek()?.continuesName != true else { throw invalidNumber(from: start) }
    if isWhole {
      if let value = Int64(text) { return .integer(value) }
      return .hugeInteger(String(text.drop { $0 == "0" }))
    }
    guard let value = Double(text), value.isFinite else { throw invalidNumber(from: start) }
    return .double(value)
  }

  private mutating func run(while matches: (Unicode.Scalar) -> Bool) -> String {
    var text = String.UnicodeScalarView()
    while let scalar = peek(), matches(scalar) {
      text.append(scalar)
      position += 1
    }
    return String(text)
  }

  private func invalidNumber(from start: Int) -> ExpressionError {
    let end = min(scalars.count, start + 40)
    var text = String.UnicodeScalarView()
    for scalar in scalars[start..<end] {
      guard scalar.continuesName || scalar == "." || scalar == "+" || scalar == "-" else { break }
      text.append(scalar)
    }
    return .invalidNumber(text: String(text), offset: start)
  }

  // MARK: - Strings

  private mutating func string() throws(ExpressionError) -> String {
    let start = position
    let quote = scalars[position]
    position += 1
    var text = String.UnicodeScalarView()
    while let scalar = peek() {
      position += 1
      if scalar == quote { return String(text) }
      text.append(scalar == "\\" ? try escape() : scalar)
    }
    throw .unterminatedString(offset: start)
  }

  private mutating func escape() throws(ExpressionError) -> Unicode.Scalar {
    let backslash = position - 1
    guard let scalar = peek() else { throw .invalidEscape(offset: backslash) }
    position += 1
    switch scalar {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u":
      let high = try hexadecimal(count: 4, backslash: backslash)
      guard (0xD800..<0xDC00).contains(high) else { return try character(high, backslash: backslash) }
      // A character beyond U+FFFF is escaped as two UTF-16 code units.
      guard peek() == "\\", peek(1) == "u" else { throw .invalidEscape(offset: backslash) }
      position += 2
      let low = try hexadecimal(count: 4, backslash: backslash)
      guard (0xDC00..<0xE000).contains(low) else { throw .invalidEscape(offset: backslash) }
      return try character(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00), backslash: backslash)
    case "U":
      return try character(hexadecimal(count: 8, backslash: backslash), backslash: backslash)
    default:
      return scalar
    }
  }

  private mutating func hexadecimal(count: Int, backslash: Int) throws(ExpressionError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<count {
      guard let scalar = peek(), let digit = Character(scalar).hexDigitValue, scalar.isASCII else {
        throw .invalidEscape(offset: backslash)
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }

  private func character(_ value: UInt32, backslash: Int) throws(ExpressionError) -> Unicode.Scalar {
    guard let scalar = Unicode.Scalar(value) else { throw .invalidEscape(offset: backslash) }
    return scalar
  }
}

extension Unicode.Scalar {
  fileprivate var isDecimalDigit: Bool { ("0"..."9").contains(self) }

  var beginsName: Bool { self == "_" || properties.isXIDStart }

  var continuesName: Bool { self == "_" || properties.isXIDContinue }
}
