extension PredicateDescription {
  /// Parses a predicate with placeholders: `%@` for a value, `%K` for a key path, `%d` and `%f` for numbers.
  ///
  /// Arguments become part of the tree, never of the text. In quotes, `%` is an ordinary character.
  ///
  /// - Parameters:
  ///   - format: A condition, such as `%K ==[c] %@ AND size > %d`.
  ///   - arguments: The arguments, in the order of the placeholders.
  /// - Throws: ``ExpressionError`` with the place of the first error, or for an argument that doesn't match its
  ///   placeholder.
  public init(format: String, arguments: [ConstantValue]) throws(ExpressionError) {
    self = try Self.parsed(format, arguments: arguments.map { EvaluatedValue($0) }).predicate
  }

  /// Objects among the arguments become variables, by whose names they are returned.
  package static func parsed(
    _ format: String, arguments: [EvaluatedValue]
  ) throws(ExpressionError) -> (predicate: PredicateDescription, objects: [String: EvaluatedValue]) {
    var parser = try ExpressionParser(format, arguments: arguments)
    let predicate = try parser.wholePredicate()
    var constants: [String: ValueExpression] = [:]
    var objects: [String: EvaluatedValue] = [:]
    for (index, argument) in arguments.enumerated() {
      let name = ExpressionLexer.variable(ofArgument: index)
      if let constant = ConstantValue(argument) {
        constants[name] = .constant(constant)
      } else {
        objects[name] = argument
      }
    }
    return (predicate.replacingVariables(constants), objects)
  }

  /// Returns the predicate with variables replaced by expressions.
  ///
  /// - Parameter values: Expressions by variable name, without `$`.
  /// - Returns: The predicate; variables without an expression remain.
  public func replacingVariables(_ values: [String: ValueExpression]) -> PredicateDescription {
    switch self {
    case .alwaysTrue, .alwaysFalse, .unparsed: return self
    case .and(let conditions): return .and(conditions.map { $0.replacingVariables(values) })
    case .or(let conditions): return .or(conditions.map { $0.replacingVariables(values) })
    case .not(let condition): return .not(condition.replacingVariables(values))
    case .comparison(var comparison):
      comparison.left = comparison.left.replacingVariables(values)
      comparison.right = comparison.right.replacingVariables(values)
      return .comparison(comparison)
    }
  }
}

extension ValueExpression {
  /// Returns the expression with variables replaced by expressions.
  ///
  /// - Parameter values: Expressions by variable name, without `$`.
  /// - Returns: The expression; variables without an expression remain.
  public func replacingVariables(_ values: [String: ValueExpression]) -> ValueExpression {
    switch self {
    case .constant, .evaluatedObject, .unparsed: return self
    case .variable(let name): return values[name] ?? self
    case .keyPath(let operand, let path): return .keyPath(operand: operand.replacingVariables(values), path: path)
    case .function(let operand, let selector, let arguments):
      return .function(
        operand: operand?.replacingVariables(values), selector: selector,
        arguments: arguments.map { $0.replacingVariables(values) })
    case .aggregate(let elements): return .aggregate(elements.map { $0.replacingVariables(values) })
    case .subquery(let collection, let variable, let predicate):
      var inner = values
      inner[variable] = nil
      return .subquery(
        collection: collection.replacingVariables(values), variable: variable,
        predicate: predicate.replacingVariables(inner))
    case .fetch(let request, let context, let countOnly):
      return .fetch(
        request: request.replacingVariables(values), context: context.replacingVariables(values), countOnly: countOnly)
    case .conditional(let predicate, let then, let otherwise):
      return .conditional(
        predicate: predicate.replacingVariables(values), then: then.replacingVariables(values),
        otherwise: otherwise.replacingVariables(values))
    case .setOperation(let operation, let left, let right):
      return .setOperation(operation, left.replacingVariables(values), right.replacingVariables(values))
    }
  }
}

extension ConstantValue {
  fileprivate init?(_ value: EvaluatedValue) {
    switch value {
    case .null: self = .null
    case .value(let value): self = .value(value)
    case .list(let elements):
      var constants: [ConstantValue] = []
      for element in elements {
        guard let constant = ConstantValue(element) else { return nil }
        constants.append(constant)
      }
      self = .array(constants)
    case .object: return nil
    }
  }
}
