extension ExpressionEvaluator {
  /// Finds unknown functions and variables, so that a mapping fails before the first row.
  package func check(_ expression: ValueExpression) throws(EvaluationError) {
    try check(expression, variables: Set(variables.keys), depth: 0)
  }

  package func check(_ predicate: PredicateDescription) throws(EvaluationError) {
    try check(predicate, variables: Set(variables.keys), depth: 0)
  }

  private func check(
    _ expression: ValueExpression, variables known: Set<String>, depth: Int
  ) throws(EvaluationError) {
    guard depth < Self.depthLimit else { throw .tooDeep(limit: Self.depthLimit) }
    let depth = depth + 1
    switch expression {
    case .constant, .evaluatedObject: break
    case .variable(let name):
      guard known.contains(name) else { throw .unknownVariable(name: name, known: known.ordered()) }
    case .keyPath(let operand, _): try check(operand, variables: known, depth: depth)
    case .function(let operand, let selector, let arguments):
      guard isKnown(selector, operand: operand, argumentCount: arguments.count) else {
        throw .unknownFunction(selector: selector, known: knownFunctions)
      }
      if let operand { try check(operand, variables: known, depth: depth) }
      for argument in arguments where selector != FunctionSelector.index || !Self.isIndexSymbol(argument) {
        try check(argument, variables: known, depth: depth)
      }
    case .aggregate(let elements):
      for element in elements { try check(element, variables: known, depth: depth) }
    case .subquery(let collection, let variable, let predicate):
      try check(collection, variables: known, depth: depth)
      try check(predicate, variables: known.union([variable]), depth: depth)
    case .fetch(let request, let context, _):
      guard fetch != nil else { throw .unsupported("FETCH") }
      try check(request, variables: known, depth: depth)
      try check(context, variables: known, depth: depth)
    case .conditional(let predicate, let then, let otherwise):
      try check(predicate, variables: known, depth: depth)
      try check(then, variables: known, depth: depth)
      try check(otherwise, variables: known, depth: depth)
    case .setOperation(_, let left, let right):
      try check(left, variables: known, depth: depth)
      try check(right, variables: known, depth: depth)
    case .unparsed(let text): throw .unparsed(text)
    }
  }

  private func check(
    _ predicate: PredicateDescription, variables known: Set<String>, depth: Int
  ) throws(EvaluationError) {
    guard depth < Self.depthLimit else { throw .tooDeep(limit: Self.depthLimit) }
    let depth = depth + 1
    switch predicate {
    case .alwaysTrue, .alwaysFalse: break
    case .and(let conditions), .or(let conditions):
      for condition in conditions { try check(condition, variables: known, depth: depth) }
    case .not(let condition): try check(condition, variables: known, depth: depth)
    case .comparison(let comparison):
      try check(comparison.left, variables: known, depth: depth)
      try check(comparison.right, variables: known, depth: depth)
      if comparison.comparator == .customSelector {
        throw .unsupported("A comparison by a selector of the app's own")
      }
      if comparison.comparator == .matches, case .constant(.value(.string(let pattern))) = comparison.right {
        _ = try RegularExpression(pattern)
      }
    case .unparsed(let text): throw .unparsed(text)
    }
  }

  private func isKnown(_ selector: String, operand: ValueExpression?, argumentCount: Int) -> Bool {
    if functions[selector] != nil { return true }
    if operand == nil || operand == .constant(.className(FunctionSelector.builtInReceiver)) {
      return BuiltInFunction.all[selector] != nil
    }
    return argumentCount == 1 && Self.keyValueSelectors.contains(selector) || ReceiverFunction.all[selector] != nil
  }

  static let keyValueSelectors: Set<String> = ["valueForKey:", "valueForKeyPath:"]

  static func isIndexSymbol(_ expression: ValueExpression) -> Bool {
    guard case .function(nil, let symbol, let arguments) = expression else { return false }
    return arguments.isEmpty && FunctionSelector.indexSymbols.contains(symbol)
  }
}
