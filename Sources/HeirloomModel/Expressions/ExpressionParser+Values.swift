extension ExpressionParser {
  // MARK: - Operators

  /// The result may be a condition in parentheses.
  mutating func expression(minimum: Int = 0) throws(ExpressionError) -> Node {
    let offset = token.offset
    var left = try prefixed()
    while let (operation, precedence) = infix(), precedence >= minimum {
      let (leftValue, leftHeight) = try value(of: left, at: offset)
      advance()
      let rightOffset = token.offset
      var next = precedence + 1
      if case .function(let infix) = operation, infix.isRightAssociative { next = precedence }
      try enter()
      let (rightValue, rightHeight) = try value(of: expression(minimum: next), at: rightOffset)
      leave()
      let result: ValueExpression =
        switch operation {
        case .function(let infix):
          .function(operand: nil, selector: infix.selector, arguments: [leftValue, rightValue])
        case .set(let set): .setOperation(set, leftValue, rightValue)
        }
      left = Node(content: .value(result), height: try height(above: max(leftHeight, rightHeight)))
    }
    return left
  }

  private enum Operation {
    case function(FunctionSelector.Infix)
    case set(ValueExpression.SetOperator)
  }

  private func infix() -> (Operation, Int)? {
    if case .sign(let sign) = token.kind {
      guard let infix = FunctionSelector.infixes.first(where: { $0.sign == sign }) else { return nil }
      return (.function(infix), infix.precedence)
    }
    switch reservedWord {
    case .union: return (.set(.union), FunctionSelector.setOperationPrecedence)
    case .intersect: return (.set(.intersect), FunctionSelector.setOperationPrecedence)
    case .minus: return (.set(.minus), FunctionSelector.setOperationPrecedence)
    default: return nil
    }
  }

  private mutating func prefixed() throws(ExpressionError) -> Node {
    if skip(sign: "-") {
      if let number = negatedNumber() {
        advance()
        return try postfixed(Node(content: .value(.constant(.value(number))), height: 1))
      }
      let (operand, height) = try nestedPrefixed()
      let zero = ValueExpression.constant(.value(.integer(0)))
      return try function("from:subtract:", [zero, operand], above: height)
    }
    if skip(sign: "+") {
      let (operand, height) = try nestedPrefixed()
      return Node(content: .value(operand), height: height)
    }
    if skip(sign: "~") {
      let (operand, height) = try nestedPrefixed()
      return try function(FunctionSelector.complement, [operand], above: height)
    }
    return try postfixed(primary())
  }

  private mutating func nestedPrefixed() throws(ExpressionError) -> (ValueExpression, Int) {
    try enter()
    defer { leave() }
    let offset = token.offset
    return try value(of: prefixed(), at: offset)
  }

  private func negatedNumber() -> AttributeValue? {
    switch token.kind {
    case .integer(let value): .integer(-value)
    case .double(let value): .double(-value)
    case .hugeInteger(let digits): Int64("-" + digits).map(AttributeValue.integer) ?? .decimal("-" + digits)
    default: nil
    }
  }

  private func function(
    _ selector: String, _ arguments: [ValueExpression], above height: Int
  ) throws(ExpressionError) -> Node {
    Node(
      content: .value(.function(operand: nil, selector: selector, arguments: arguments)),
      height: try self.height(above: height))
  }

  // MARK: - Key paths and indexes

  private mutating func postfixed(_ node: Node) throws(ExpressionError) -> Node {
    var node = node
    let offset = token.offset
    while true {
      if skip(sign: ".") {
        let (operand, height) = try value(of: node, at: offset)
        let path = try keyPath()
        // `(a).b` stays two key paths, so that an expression of this shape is preserved.
        if case .keyPath(let inner, let start) = operand, !node.isParenthesized {
          node = Node(content: .value(.keyPath(operand: inner, path: start + "." + path)), height: height)
        } else {
          node = Node(
            content: .value(.keyPath(operand: operand, path: path)), height: try self.height(above: height))
        }
      } else if skip(sign: "[") {
        let (operand, height) = try value(of: node, at: offset)
        let (position, positionHeight) = try position()
        try expect(sign: "]")
        node = try function(FunctionSelector.index, [operand, position], above: max(height, positionHeight))
      } else {
        return node
      }
    }
  }

  private mutating func keyPath() throws(ExpressionError) -> String {
    var path = ""
    repeat {
      guard case .word(let name, _) = token.kind else { throw unexpected(expected: "the name of a property") }
      path += path.isEmpty ? name : "." + name
      advance()
    } while skip(sign: ".")
    return path
  }

  private mutating func position() throws(ExpressionError) -> (ValueExpression, Int) {
    if isFollowed(bySign: "]"), let word = reservedWord, [.first, .last, .size].contains(word) {
      advance()
      return (.function(operand: nil, selector: word.rawValue.uppercased(), arguments: []), 1)
    }
    return try argument()
  }

  // MARK: - Single values

  private mutating func primary() throws(ExpressionError) -> Node {
    switch token.kind {
    case .integer(let value): return leaf(.constant(.value(.integer(value))))
    case .double(let value): return leaf(.constant(.value(.double(value))))
    case .hugeInteger(let digits): return leaf(.constant(.value(.decimal(digits))))
    case .string(let text): return leaf(.constant(.value(.string(text))))
    case .variable(let name): return leaf(.variable(name))
    case .selector(let name):
      advance()
      return try call(selector: name)
    case .word(let name, let isEscaped):
      if !isEscaped, let word = ReservedWord(name), let node = try reserved(word, name: name) { return node }
      if isFollowed(bySign: "(") {
        // A collection operator is only valid in a key path.
        if name.hasPrefix("@") { throw unexpected(expected: "the name of a function") }
        advance()
        return try call(name: name)
      }
      advance()
      return Node(content: .value(.keyPath(name)), height: 2)
    case .sign("("):
      return try parenthesized()
    case .sign("{"):
      advance()
      let (elements, height) = try list(until: "}")
      return Node(content: .value(.aggregate(elements)), height: try self.height(above: height))
    default:
      throw unexpected(expected: "a value")
    }
  }

  private mutating func leaf(_ value: ValueExpression) -> Node {
    advance()
    return Node(content: .value(value), height: 1)
  }

  /// `nil` if the word is only a name in this place.
  private mutating func reserved(_ word: ReservedWord, name: String) throws(ExpressionError) -> Node? {
    switch word {
    case .true, .yes: return leaf(.constant(.value(.boolean(true))))
    case .false, .no: return leaf(.constant(.value(.boolean(false))))
    case .null, .nil: return leaf(.constant(.null))
    case .self: return leaf(.evaluatedObject)
    case .truepredicate:
      advance()
      return Node(content: .condition(.alwaysTrue), height: 1)
    case .falsepredicate:
      advance()
      return Node(content: .condition(.alwaysFalse), height: 1)
    case .subquery, .fetch, .cast, .function, .ternary:
      guard isFollowed(bySign: "(") else { return nil }
      advance()
      return try special(word)
    default:
      guard word.isNeverName else { return nil }
      throw .reservedWord(word: String(name.prefix(80)), offset: token.offset)
    }
  }

  private mutating func parenthesized() throws(ExpressionError) -> Node {
    advance()
    let offset = token.offset
    var node = try disjunction()
    if token.kind == .sign(",") {
      // `IN ("a", "b")`, as in SQL.
      let (first, firstHeight) = try value(of: node, at: offset)
      advance()
      let (rest, height) = try list(until: ")")
      return Node(
        content: .value(.aggregate([first] + rest)), height: try self.height(above: max(firstHeight, height)))
    }
    try expect(sign: ")")
    node.isParenthesized = true
    return node
  }

  mutating func argument() throws(ExpressionError) -> (ValueExpression, Int) {
    let offset = token.offset
    return try value(of: disjunction(), at: offset)
  }

  mutating func list(until end: String) throws(ExpressionError) -> ([ValueExpression], Int) {
    var values: [ValueExpression] = []
    var height = 0
    if skip(sign: end) { return (values, height) }
    repeat {
      let (value, valueHeight) = try argument()
      values.append(value)
      height = max(height, valueHeight)
    } while skip(sign: ",")
    try expect(sign: end)
    return (values, height)
  }
}
