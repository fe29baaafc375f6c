extension ExpressionEvaluator {
  func evaluate(_ predicate: PredicateDescription, on object: EvaluatedValue, depth: Int) throws -> Bool {
    guard depth < Self.depthLimit else { throw EvaluationError.tooDeep(limit: Self.depthLimit) }
    let depth = depth + 1
    switch predicate {
    case .alwaysTrue: return true
    case .alwaysFalse: return false
    case .and(let conditions):
      for condition in conditions where try !evaluate(condition, on: object, depth: depth) { return false }
      return true
    case .or(let conditions):
      for condition in conditions where try evaluate(condition, on: object, depth: depth) { return true }
      return false
    case .not(let condition):
      return try !evaluate(condition, on: object, depth: depth)
    case .comparison(let comparison):
      return try evaluate(comparison, on: object, depth: depth)
    case .unparsed(let text):
      throw EvaluationError.unparsed(text)
    }
  }

  private func evaluate(
    _ comparison: PredicateDescription.Comparison, on object: EvaluatedValue, depth: Int
  ) throws -> Bool {
    let left = try evaluate(comparison.left, on: object, depth: depth)
    let right = try evaluate(comparison.right, on: object, depth: depth)
    switch comparison.modifier {
    case .direct: return try compare(left, right, by: comparison)
    case .any:
      for element in Self.candidates(left) where try compare(element, right, by: comparison) { return true }
      return false
    case .all:
      for element in Self.candidates(left) where try !compare(element, right, by: comparison) { return false }
      return true
    }
  }

  /// The values that `ANY` and `ALL` test.
  private static func candidates(_ value: EvaluatedValue) -> [EvaluatedValue] {
    switch value {
    case .null: []
    case .list(let elements): flattened(elements)
    default: [value]
    }
  }

  /// The comparison's modifier and expressions are ignored.
  package func compare(
    _ left: EvaluatedValue, _ right: EvaluatedValue, by comparison: PredicateDescription.Comparison
  ) throws -> Bool {
    let folding = TextFolding(comparison)
    let operation = comparison.comparator.text
    switch comparison.comparator {
    case .equal: return isEqual(left, right, folding: folding)
    case .notEqual: return !isEqual(left, right, folding: folding)
    case .lessThan: return try order(of: left, to: right, folding: folding, operation: operation) == -1
    case .greaterThan: return try order(of: left, to: right, folding: folding, operation: operation) == 1
    case .lessThanOrEqual:
      return try order(of: left, to: right, folding: folding, operation: operation).map { $0 <= 0 } ?? false
    case .greaterThanOrEqual:
      return try order(of: left, to: right, folding: folding, operation: operation).map { $0 >= 0 } ?? false
    case .between:
      let bounds = try members(of: right, for: operation)
      guard bounds.count == 2 else {
        throw EvaluationError.wrongKind(operation: operation, found: "\(bounds.count) values", expected: "two bounds")
      }
      let toLower = try order(of: left, to: bounds[0], folding: folding, operation: operation)
      let toUpper = try order(of: left, to: bounds[1], folding: folding, operation: operation)
      guard let toLower, let toUpper else { return false }
      return toLower >= 0 && toUpper <= 0
    case .in: return try contains(right, left, folding: folding, operation: operation)
    case .contains: return try contains(left, right, folding: folding, operation: operation)
    case .beginsWith, .endsWith, .like, .matches:
      if left.isNull || right.isNull { return false }
      let text = try string(left, for: operation)
      let pattern = try string(right, for: operation)
      return try matches(text, pattern, by: comparison.comparator, folding: folding)
    case .customSelector:
      throw EvaluationError.unsupported("A comparison by a selector of the app's own")
    }
  }

  private func matches(
    _ text: String, _ pattern: String, by comparator: PredicateDescription.Comparator, folding: TextFolding
  ) throws -> Bool {
    switch comparator {
    case .beginsWith: return folding.scalars(of: text).starts(with: folding.scalars(of: pattern))
    case .endsWith:
      return folding.scalars(of: text).reversed().starts(with: folding.scalars(of: pattern).reversed())
    case .like: return WildcardPattern(folding.folded(pattern)).matches(folding.folded(text))
    default:
      // Folding a pattern would turn \S into \s, so the matcher handles case.
      let expression = try RegularExpression(
        folding.ignoresDiacritics ? TextFolding.diacritics.folded(pattern) : pattern,
        isCaseInsensitive: folding.ignoresCase)
      return expression.matches(folding.ignoresDiacritics ? TextFolding.diacritics.folded(text) : text)
    }
  }

  // MARK: - Equality and order

  private func isEqual(_ left: EvaluatedValue, _ right: EvaluatedValue, folding: TextFolding) -> Bool {
    switch (left, right) {
    case (.value(.string(let left)), .value(.string(let right))): return folding.isEqual(left, right)
    case (.value(let leftValue), .value(let rightValue)):
      guard let leftText = leftValue.text, let rightText = rightValue.text, leftValue.kind == rightValue.kind else {
        return left == right
      }
      return TextFolding.none.isEqual(leftText, rightText)
    default: return left == right
    }
  }

  private func contains(
    _ whole: EvaluatedValue, _ part: EvaluatedValue, folding: TextFolding, operation: String
  ) throws -> Bool {
    switch (whole, part) {
    case (.list(let elements), _): return elements.contains { isEqual($0, part, folding: folding) }
    case (.null, _), (_, .null): return false
    default:
      let text = try folding.scalars(of: string(whole, for: operation))
      let wanted = try folding.scalars(of: string(part, for: operation))
      guard wanted.count <= text.count else { return false }
      return (0...(text.count - wanted.count)).contains { text[$0...].starts(with: wanted) }
    }
  }

  /// Returns -1, 0 or 1; `nil` if a value is null or NaN.
  func order(
    of left: EvaluatedValue, to right: EvaluatedValue, folding: TextFolding, operation: String
  ) throws -> Int? {
    if left.isNull || right.isNull { return nil }
    if case .value(let leftValue) = left, case .value(let rightValue) = right {
      if let leftNumber = EvaluatedNumber(leftValue), let rightNumber = EvaluatedNumber(rightValue) {
        return leftNumber.order(to: rightNumber)
      }
      switch (leftValue, rightValue) {
      case (.string(let left), .string(let right)): return folding.order(of: left, to: right)
      case (.date(let left), .date(let right)):
        return EvaluatedNumber.double(left).order(to: .double(right))
      case (.uuid(let left), .uuid(let right)), (.binary(let left), .binary(let right)):
        return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
      default:
        if let left = leftValue.text, let right = rightValue.text, leftValue.kind == rightValue.kind {
          return TextFolding.none.order(of: left, to: right)
        }
      }
    }
    throw EvaluationError.wrongKind(
      operation: operation, found: "\(left.kind) and \(right.kind)", expected: "two values of one kind")
  }

  /// Returns -1, 0 or 1, null first; throws for values without an order.
  package func sortOrder(of left: EvaluatedValue, to right: EvaluatedValue) throws -> Int {
    if left.isNull || right.isNull { return left.isNull ? (right.isNull ? 0 : -1) : 1 }
    return try order(of: left, to: right, folding: .none, operation: "sorting") ?? 0
  }

  func string(_ value: EvaluatedValue, for operation: String) throws -> String {
    guard case .value(let attribute) = value, let text = attribute.text else {
      throw EvaluationError.wrongKind(operation: operation, found: value.kind, expected: "a string")
    }
    return text
  }
}
