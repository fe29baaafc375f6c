/// A parser for the text of predicates and expressions (the format language of `NSPredicate` and `NSExpression`).
///
/// One grammar serves both: whether parentheses contain a value or a condition shows only after they are parsed.
struct ExpressionParser {
  /// The maximum nesting of parentheses in the text and of operators in the result.
  ///
  /// An optimised build can parse three times as many on a stack of 512 KiB, the smallest of any thread; a debug build
  /// needs up to 25 KiB for each.
  static let depthLimit: Int = 64

  struct Node {
    enum Content {
      case value(ValueExpression)
      case condition(PredicateDescription)
    }

    var content: Content
    var height: Int
    var isParenthesized: Bool = false
  }

  private let tokens: [ExpressionToken]
  private var index = 0
  private var depth = 0

  init(_ text: String, arguments: [EvaluatedValue]? = nil) throws(ExpressionError) {
    tokens = try ExpressionLexer.tokens(of: text, arguments: arguments)
  }

  mutating func wholeExpression() throws(ExpressionError) -> ValueExpression {
    let offset = token.offset
    let node = try disjunction()
    try expectEnd()
    return try value(of: node, at: offset).0
  }

  mutating func wholePredicate() throws(ExpressionError) -> PredicateDescription {
    let offset = token.offset
    let node = try disjunction()
    try expectEnd()
    return try condition(of: node, at: offset).0
  }

  // MARK: - Tokens

  var token: ExpressionToken { tokens[index] }

  mutating func advance() {
    if index + 1 < tokens.count { index += 1 }
  }

  mutating func skip(sign: String) -> Bool {
    guard token.kind == .sign(sign) else { return false }
    advance()
    return true
  }

  mutating func expect(sign: String) throws(ExpressionError) {
    guard skip(sign: sign) else { throw unexpected(expected: "\"\(sign)\"") }
  }

  var reservedWord: ReservedWord? {
    guard case .word(let name, isEscaped: false) = token.kind else { return nil }
    return ReservedWord(name)
  }

  func isFollowed(bySign sign: String) -> Bool {
    index + 1 < tokens.count && tokens[index + 1].kind == .sign(sign)
  }

  func unexpected(expected: String) -> ExpressionError {
    token.kind == .end
      ? .unexpectedEnd(offset: token.offset, expected: expected)
      : .unexpected(found: token.quoted, offset: token.offset, expected: expected)
  }

  private func expectEnd() throws(ExpressionError) {
    guard token.kind == .end else { throw unexpected(expected: "an operator or the end") }
  }

  // MARK: - Nesting

  mutating func enter() throws(ExpressionError) {
    depth += 1
    guard depth <= Self.depthLimit else { throw .tooDeep(offset: token.offset, limit: Self.depthLimit) }
  }

  mutating func leave() { depth -= 1 }

  func height(above height: Int) throws(ExpressionError) -> Int {
    guard height < Self.depthLimit else { throw .tooDeep(offset: token.offset, limit: Self.depthLimit) }
    return height + 1
  }

  func value(of node: Node, at offset: Int) throws(ExpressionError) -> (ValueExpression, Int) {
    guard case .value(let value) = node.content else {
      throw .unexpected(found: "a condition", offset: offset, expected: "a value")
    }
    return (value, node.height)
  }

  func condition(of node: Node, at offset: Int) throws(ExpressionError) -> (PredicateDescription, Int) {
    guard case .condition(let condition) = node.content else {
      throw .unexpected(found: "a value", offset: offset, expected: "a condition, such as a comparison")
    }
    return (condition, node.height)
  }

  // MARK: - Conditions

  /// Without an operator, the result may be a single value.
  mutating func disjunction() throws(ExpressionError) -> Node {
    try enter()
    defer { leave() }
    let offset = token.offset
    let first = try conjunction()
    guard isNext(.or, sign: "||") else { return first }
    var (condition, height) = try condition(of: first, at: offset)
    var conditions = [condition]
    while isNext(.or, sign: "||") {
      advance()
      let offset = token.offset
      let (next, nextHeight) = try self.condition(of: conjunction(), at: offset)
      conditions.append(next)
      height = max(height, nextHeight)
    }
    return Node(content: .condition(.or(conditions)), height: try self.height(above: height))
  }

  private mutating func conjunction() throws(ExpressionError) -> Node {
    let offset = token.offset
    let first = try negation()
    guard isNext(.and, sign: "&&") else { return first }
    var (condition, height) = try condition(of: first, at: offset)
    var conditions = [condition]
    while isNext(.and, sign: "&&") {
      advance()
      let offset = token.offset
      let (next, nextHeight) = try self.condition(of: negation(), at: offset)
      conditions.append(next)
      height = max(height, nextHeight)
    }
    return Node(content: .condition(.and(conditions)), height: try self.height(above: height))
  }

  private mutating func negation() throws(ExpressionError) -> Node {
    var negations = 0
    while isNext(.not, sign: "!") {
      advance()
      negations += 1
    }
    let offset = token.offset
    let node = try comparison()
    guard negations > 0 else { return node }
    var (result, height) = try condition(of: node, at: offset)
    for _ in 0..<negations {
      result = .not(result)
      height = try self.height(above: height)
    }
    return Node(content: .condition(result), height: height)
  }

  private func isNext(_ word: ReservedWord, sign: String) -> Bool {
    token.kind == .sign(sign) || reservedWord == word
  }

  private mutating func comparison() throws(ExpressionError) -> Node {
    var modifier = PredicateDescription.Modifier.direct
    var isNegated = false
    // Qualified, since `.some` and `.none` alone would be those of the optional.
    switch reservedWord {
    case ReservedWord.any?, ReservedWord.some?: modifier = .any
    case ReservedWord.all?: modifier = .all
    case ReservedWord.none?: (modifier, isNegated) = (.any, true)
    default: break
    }
    let isModified = modifier != .direct
    if isModified { advance() }

    let offset = token.offset
    let left = try expression()
    guard let (comparator, isInverse) = try comparator() else {
      guard !isModified else { throw unexpected(expected: "a comparison") }
      return left
    }
    let (leftValue, leftHeight) = try value(of: left, at: offset)
    let options = try options()
    let rightOffset = token.offset
    let (rightValue, rightHeight) = try value(of: expression(), at: rightOffset)
    var condition = PredicateDescription.comparison(
      .init(
        left: leftValue, comparator: comparator, right: rightValue, modifier: modifier,
        isCaseInsensitive: options.contains("c"), isDiacriticInsensitive: options.contains("d"),
        isNormalized: options.contains("n")))
    var height = try height(above: max(leftHeight, rightHeight))
    if isNegated != isInverse {
      condition = .not(condition)
      height = try self.height(above: height)
    }
    return Node(content: .condition(condition), height: height)
  }

  /// The flag is true if `NOT` precedes the operator.
  private mutating func comparator() throws(ExpressionError) -> (PredicateDescription.Comparator, Bool)? {
    if case .sign(let sign) = token.kind {
      guard let comparator = PredicateDescription.Comparator(sign: sign) else { return nil }
      advance()
      return (comparator, false)
    }
    var isInverse = false
    if reservedWord == .not {
      isInverse = true
      advance()
    }
    guard let word = reservedWord, let comparator = PredicateDescription.Comparator(word: word) else {
      if isInverse { throw unexpected(expected: "a comparison operator, such as IN") }
      return nil
    }
    advance()
    return (comparator, isInverse)
  }

  private mutating func options() throws(ExpressionError) -> String {
    guard skip(sign: "[") else { return "" }
    let offset = token.offset
    guard case .word(let text, isEscaped: false) = token.kind else { throw unexpected(expected: "c, d or n") }
    let options = text.utf8.count <= 16 ? text.lowercased() : text
    guard options.allSatisfy({ "cdn".contains($0) }) else {
      throw .unknownOption(text: String(text.prefix(16)), offset: offset)
    }
    advance()
    try expect(sign: "]")
    return options
  }
}

extension PredicateDescription.Comparator {
  fileprivate init?(sign: String) {
    switch sign {
    case "=", "==": self = .equal
    case "!=", "<>": self = .notEqual
    case "<": self = .lessThan
    case "<=", "=<": self = .lessThanOrEqual
    case ">": self = .greaterThan
    case ">=", "=>": self = .greaterThanOrEqual
    default: return nil
    }
  }

  fileprivate init?(word: ReservedWord) {
    switch word {
    case .beginswith: self = .beginsWith
    case .endswith: self = .endsWith
    case .contains: self = .contains
    case .like: self = .like
    case .matches: self = .matches
    case .in: self = .in
    case .between: self = .between
    case .customselector: self = .customSelector
    default: return nil
    }
  }
}

extension PredicateDescription {
  /// Parses the text of a predicate, in the format language of `NSPredicate`.
  ///
  /// - Parameter text: A condition, such as `ANY tags.name ==[cd] "x" AND SELF != nil`.
  /// - Throws: ``ExpressionError`` with the place of the first error.
  public init(parsing text: String) throws(ExpressionError) {
    var parser = try ExpressionParser(text)
    self = try parser.wholePredicate()
  }

  /// Parses the text of a predicate, or keeps it as `unparsed(_:)` if parsing fails.
  ///
  /// - Parameter text: A condition.
  public init(keeping text: String) {
    self = (try? Self(parsing: text)) ?? .unparsed(text)
  }
}

extension ValueExpression {
  /// Parses the text of an expression, in the format language of `NSExpression`.
  ///
  /// - Parameter text: An expression, such as `items.@count`, `now()` or `price * 2`.
  /// - Throws: ``ExpressionError`` with the place of the first error.
  public init(parsing text: String) throws(ExpressionError) {
    var parser = try ExpressionParser(text)
    self = try parser.wholeExpression()
  }

  /// Parses the text of an expression, or keeps it as `unparsed(_:)` if parsing fails.
  ///
  /// - Parameter text: An expression.
  public init(keeping text: String) {
    self = (try? Self(parsing: text)) ?? .unparsed(text)
  }
}
