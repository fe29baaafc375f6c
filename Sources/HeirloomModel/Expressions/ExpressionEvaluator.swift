/// The rules are those of a store's SQL.
///
/// A comparison with null is false, except for `== nil` and `!=`. Arithmetic with null is null, and
/// the quotient of integers is an integer. An overflow or a meaningless operation throws.
package struct ExpressionEvaluator {
  /// The receiver is `EvaluatedValue.null` if there is none.
  package typealias Function = (_ receiver: EvaluatedValue, _ arguments: [EvaluatedValue]) throws -> EvaluatedValue

  package typealias Fetch = (_ request: EvaluatedValue, _ context: EvaluatedValue, _ countOnly: Bool) throws ->
    EvaluatedValue

  /// By names without `$`.
  package var variables: [String: EvaluatedValue]
  /// By selector.
  package var functions: [String: Function]
  /// `nil` if fetches are not allowed.
  package var fetch: Fetch?
  /// In seconds since 2001-01-01 00:00:00 UTC; `nil` if `now()` has no value.
  package var now: Double?

  static let depthLimit: Int = 200

  package init(
    variables: [String: EvaluatedValue] = [:], functions: [String: Function] = [:], now: Double? = nil,
    fetch: Fetch? = nil
  ) {
    self.variables = variables
    self.functions = functions
    self.now = now
    self.fetch = fetch
  }

  /// Throws ``EvaluationError``, or the error of a value source, function or fetch.
  package func evaluate(_ expression: ValueExpression, on object: EvaluatedValue) throws -> EvaluatedValue {
    try evaluate(expression, on: object, depth: 0)
  }

  package func evaluate(_ predicate: PredicateDescription, on object: EvaluatedValue) throws -> Bool {
    try evaluate(predicate, on: object, depth: 0)
  }

  func evaluate(_ expression: ValueExpression, on object: EvaluatedValue, depth: Int) throws -> EvaluatedValue {
    guard depth < Self.depthLimit else { throw EvaluationError.tooDeep(limit: Self.depthLimit) }
    let depth = depth + 1
    switch expression {
    case .constant(let constant): return EvaluatedValue(constant)
    case .evaluatedObject: return object
    case .variable(let name):
      guard let value = variables[name] else {
        throw EvaluationError.unknownVariable(name: name, known: variables.keys.ordered())
      }
      return value
    case .keyPath(let operand, let path):
      return try value(atPath: path, of: evaluate(operand, on: object, depth: depth))
    case .function(let operand, let selector, let arguments):
      return try call(selector, of: operand, arguments, on: object, depth: depth)
    case .aggregate(let elements):
      return .list(try elements.map { try evaluate($0, on: object, depth: depth) })
    case .subquery(let collection, let variable, let predicate):
      let elements = try evaluate(collection, on: object, depth: depth)
      var inner = self
      return .list(
        try members(of: elements, for: "SUBQUERY").filter { element in
          inner.variables[variable] = element
          return try inner.evaluate(predicate, on: object, depth: depth)
        })
    case .fetch(let request, let context, let countOnly):
      guard let fetch else { throw EvaluationError.unsupported("FETCH") }
      return try fetch(
        evaluate(request, on: object, depth: depth), evaluate(context, on: object, depth: depth), countOnly)
    case .conditional(let predicate, let then, let otherwise):
      return try evaluate(
        evaluate(predicate, on: object, depth: depth) ? then : otherwise, on: object, depth: depth)
    case .setOperation(let operation, let left, let right):
      let left = try members(of: evaluate(left, on: object, depth: depth), for: operation.rawValue)
      let right = try members(of: evaluate(right, on: object, depth: depth), for: operation.rawValue)
      return .list(Self.combine(left, right, by: operation))
    case .unparsed(let text):
      throw EvaluationError.unparsed(text)
    }
  }

  func members(of value: EvaluatedValue, for operation: String) throws -> [EvaluatedValue] {
    switch value {
    case .null: return []
    case .list(let elements): return elements
    default: throw EvaluationError.wrongKind(operation: operation, found: value.kind, expected: "a list")
    }
  }

  private static func combine(
    _ left: [EvaluatedValue], _ right: [EvaluatedValue], by operation: ValueExpression.SetOperator
  ) -> [EvaluatedValue] {
    switch operation {
    case .union: return distinct(left + right)
    case .intersect:
      let members = Set(right)
      return distinct(left).filter { members.contains($0) }
    case .minus:
      let members = Set(right)
      return distinct(left).filter { !members.contains($0) }
    }
  }

  static func distinct(_ elements: [EvaluatedValue]) -> [EvaluatedValue] {
    var seen: Set<EvaluatedValue> = []
    return elements.filter { seen.insert($0).inserted }
  }

  private func call(
    _ selector: String, of operand: ValueExpression?, _ arguments: [ValueExpression], on object: EvaluatedValue,
    depth: Int
  ) throws -> EvaluatedValue {
    if operand == nil, selector == FunctionSelector.index, arguments.count == 2,
      Self.isIndexSymbol(arguments[1]), case .function(_, let symbol, _) = arguments[1]
    {
      let list = try members(of: evaluate(arguments[0], on: object, depth: depth), for: "[\(symbol)]")
      return symbol == "SIZE" ? .integer(Int64(list.count)) : (symbol == "FIRST" ? list.first : list.last) ?? .null
    }
    let isBuiltInReceiver = operand == .constant(.className(FunctionSelector.builtInReceiver))
    var receiver = EvaluatedValue.null
    if let operand, !isBuiltInReceiver { receiver = try evaluate(operand, on: object, depth: depth) }
    let values = try arguments.map { try evaluate($0, on: object, depth: depth) }
    if let function = functions[selector] { return try function(receiver, values) }
    if operand == nil || isBuiltInReceiver, let builtIn = BuiltInFunction.all[selector] {
      return try builtIn.call(values, selector: selector, evaluator: self)
    }
    if operand != nil, values.count == 1, Self.keyValueSelectors.contains(selector),
      case .value(.string(let path)) = values[0]
    {
      return try value(atPath: path, of: receiver)
    }
    if operand != nil, !isBuiltInReceiver {
      if case .object = receiver {
      } else if let value = try ReceiverFunction.call(
        selector, of: receiver, values, evaluator: self)
      {
        return value
      }
    }
    throw EvaluationError.unknownFunction(selector: selector, known: knownFunctions)
  }

  var knownFunctions: [String] {
    Set(functions.keys).union(BuiltInFunction.all.keys).union(ReceiverFunction.all.keys).ordered()
  }
}
