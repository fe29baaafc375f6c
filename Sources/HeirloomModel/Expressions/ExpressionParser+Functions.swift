extension ExpressionParser {
  mutating func call(selector: String) throws(ExpressionError) -> Node {
    try expect(sign: "(")
    let (arguments, height) = try list(until: ")")
    return Node(
      content: .value(.function(operand: nil, selector: selector, arguments: arguments)),
      height: try self.height(above: height))
  }

  mutating func call(name: String) throws(ExpressionError) -> Node {
    try expect(sign: "(")
    let (arguments, height) = try list(until: ")")
    let selector = FunctionSelector.selector(name: name, argumentCount: arguments.count)
    return Node(
      content: .value(.function(operand: nil, selector: selector, arguments: arguments)),
      height: try self.height(above: height))
  }

  mutating func special(_ word: ReservedWord) throws(ExpressionError) -> Node {
    try expect(sign: "(")
    let (value, height) =
      switch word {
      case .cast: try cast()
      case .function: try functionOfReceiver()
      case .subquery: try subquery()
      case .ternary: try conditional()
      default: try fetch()
      }
    try expect(sign: ")")
    return Node(content: .value(value), height: try self.height(above: height))
  }

  private mutating func cast() throws(ExpressionError) -> (ValueExpression, Int) {
    let (operand, height) = try argument()
    try expect(sign: ",")
    let (type, typeHeight) = try argument()
    if case .constant(.value(.string(let name))) = type, let constant = ConstantValue(casting: operand, to: name) {
      return (.constant(constant), height)
    }
    return (
      .function(operand: nil, selector: FunctionSelector.cast, arguments: [operand, type]), max(height, typeHeight)
    )
  }

  private mutating func functionOfReceiver() throws(ExpressionError) -> (ValueExpression, Int) {
    var (receiver, height) = try argument()
    try expect(sign: ",")
    guard case .string(let selector) = token.kind else { throw unexpected(expected: "a selector in quotes") }
    advance()
    var arguments: [ValueExpression] = []
    while skip(sign: ",") {
      let (argument, argumentHeight) = try argument()
      arguments.append(argument)
      height = max(height, argumentHeight)
    }
    return (.function(operand: receiver, selector: selector, arguments: arguments), height)
  }

  private mutating func subquery() throws(ExpressionError) -> (ValueExpression, Int) {
    let (collection, height) = try argument()
    try expect(sign: ",")
    guard case .variable(let variable) = token.kind else { throw unexpected(expected: "a variable, such as $x") }
    advance()
    try expect(sign: ",")
    let offset = token.offset
    let (predicate, predicateHeight) = try condition(of: disjunction(), at: offset)
    return (
      .subquery(collection: collection, variable: variable, predicate: predicate), max(height, predicateHeight)
    )
  }

  private mutating func conditional() throws(ExpressionError) -> (ValueExpression, Int) {
    let offset = token.offset
    let (predicate, height) = try condition(of: disjunction(), at: offset)
    try expect(sign: ",")
    let (then, thenHeight) = try argument()
    try expect(sign: ",")
    let (otherwise, otherwiseHeight) = try argument()
    return (
      .conditional(predicate: predicate, then: then, otherwise: otherwise),
      max(height, thenHeight, otherwiseHeight)
    )
  }

  private mutating func fetch() throws(ExpressionError) -> (ValueExpression, Int) {
    let (request, height) = try argument()
    try expect(sign: ",")
    let (context, contextHeight) = try argument()
    try expect(sign: ",")
    let countOnly: Bool
    switch (token.kind, reservedWord) {
    case (.integer(1), _), (_, .yes), (_, .true): countOnly = true
    case (.integer(0), _), (_, .no), (_, .false): countOnly = false
    default: throw unexpected(expected: "YES or NO")
    }
    advance()
    return (.fetch(request: request, context: context, countOnly: countOnly), max(height, contextHeight))
  }
}
