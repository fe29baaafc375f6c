extension ValueExpression {
  /// `nil` if the expression uses the object itself, since any property may be read then.
  ///
  /// The variable is named without `$`; `SELF` is the same object. A path may contain
  /// relationships, elements of composite attributes and operators.
  package func pathsRead(of variable: String) -> Set<String>? {
    var reading = PropertyReading(variable: variable)
    reading.read(self)
    return reading.paths
  }
}

extension PredicateDescription {
  /// `nil` if the condition uses the object itself.
  package var pathsRead: Set<String>? {
    // No variable has an empty name.
    var reading = PropertyReading(variable: "")
    reading.read(self)
    return reading.paths
  }
}

private struct PropertyReading {
  let variable: String
  var paths: Set<String>? = []

  mutating func read(_ expression: ValueExpression) {
    switch expression {
    case .constant: break
    // In the condition of a `SUBQUERY`, `SELF` still refers to the object.
    case .evaluatedObject: paths = nil
    case .variable(let name): if name == variable { paths = nil }
    case .keyPath(let operand, let path):
      if isObject(operand) { add(path) } else { read(operand) }
    case .function(let operand, let selector, let arguments):
      if let operand, isObject(operand), ["valueForKey:", "valueForKeyPath:"].contains(selector), arguments.count == 1,
        case .constant(.value(.string(let path))) = arguments[0]
      {
        add(path)
        return
      }
      if let operand { read(operand) }
      for argument in arguments { read(argument) }
    case .aggregate(let elements): for element in elements { read(element) }
    case .subquery(let collection, _, let predicate):
      read(collection)
      read(predicate)
    case .fetch(let request, let context, _):
      read(request)
      read(context)
    case .conditional(let predicate, let then, let otherwise):
      read(predicate)
      read(then)
      read(otherwise)
    case .setOperation(_, let left, let right):
      read(left)
      read(right)
    case .unparsed: paths = nil
    }
  }

  mutating func read(_ predicate: PredicateDescription) {
    switch predicate {
    case .alwaysTrue, .alwaysFalse: break
    case .and(let conditions), .or(let conditions): for condition in conditions { read(condition) }
    case .not(let condition): read(condition)
    case .comparison(let comparison):
      read(comparison.left)
      read(comparison.right)
    case .unparsed: paths = nil
    }
  }

  private func isObject(_ expression: ValueExpression) -> Bool {
    expression == .variable(variable) || expression == .evaluatedObject
  }

  private mutating func add(_ path: String) {
    guard let first = path.names(separatedBy: ".", omittingEmptySubsequences: true).first, !first.hasPrefix("@"),
      first != "self"
    else {
      paths = nil
      return
    }
    paths?.insert(path)
  }
}
