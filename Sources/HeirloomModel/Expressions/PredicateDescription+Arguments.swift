extension PredicateDescription {
  /// Parses a predicate with places for arguments: `%@` for a value, `%K` for a key path, `%d` and `%f` for numbers.
  ///
  /// Arguments become part of the tree, never of the text. In quotes a `%` is a `%`.
  ///
  /// - Parameters:
  ///   - format: A condition, such as `%K ==[c] %@ AND size > %d`.
  ///   - arguments: The arguments, in the order of their places.
  /// - Throws: ``ExpressionError`` with the place where the text stops being a predicate, or for an argument that does
  ///   not fit.
  public init(format: String, arguments: [ConstantValue]) throws(ExpressionError) {
    self = try Self.parsed(format, arguments: arguments.map { EvaluatedValue($0) }).predicate
  }

  /// Parses a predicate with places for arguments; objects stay variables.
  ///
  /// - Parameters:
  ///   - format: A condition.
  ///   - arguments: The arguments, in the order of their places.
  /// - Returns: The predicate, and the objects by the names of the variables in it.
  /// - Throws: ``ExpressionError``, as for constants.
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

  /// Returns the predicate with the given expressions in place of variables.
  ///
  /// - Parameter values: Expressions by the names of variables, without `$`.
  /// - Returns: The predicate; variables that have no expression stay.
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
  /// Returns the expression with the given expressions in place of variables.
  ///
  /// - Parameter values: Expressions by the names of variables, without `$`.
  /// - Returns: The expression; variables that have no expression stay.
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
  /// Creates the constant of a value; `nil` for an object, or a list with one.
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
