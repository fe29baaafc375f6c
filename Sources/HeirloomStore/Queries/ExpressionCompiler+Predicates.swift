import HeirloomModel

extension ExpressionCompiler {
  /// Throws for a part that is neither SQL nor a function of single values.
  mutating func condition(
    _ predicate: PredicateDescription, depth: Int
  ) throws(CompilationProblem) -> SQLCondition {
    try check(depth)
    let depth = depth + 1
    switch predicate {
    case .alwaysTrue: return .alwaysTrue
    case .alwaysFalse: return .alwaysFalse
    case .and(let conditions): return try join(conditions, isAnd: true, depth: depth)
    case .or(let conditions): return try join(conditions, isAnd: false, depth: depth)
    case .not(let condition):
      let inner = try self.condition(condition, depth: depth)
      return SQLCondition(sql: "(\(inner.sql) IS NOT TRUE)", isFallible: inner.isFallible)
    case .comparison(let comparison):
      do throws(CompilationProblem) {
        return try attempt { compiler throws(CompilationProblem) in try compiler.compare(comparison, depth: depth) }
      } catch {
        guard comparison.modifier == .direct, case .unsupported = error else { throw error }
        return try evaluation(of: comparison, depth: depth)
      }
    case .unparsed(let text): throw .unsupported("\"\(text.prefix(200))\"")
    }
  }

  private mutating func join(
    _ conditions: [PredicateDescription], isAnd: Bool, depth: Int
  ) throws(CompilationProblem) -> SQLCondition {
    guard conditions.count <= Self.breadthLimit else { throw .unsupported("A list of \(conditions.count) conditions") }
    var joined: [SQLCondition] = []
    for condition in conditions { joined.append(try self.condition(condition, depth: depth)) }
    guard var last = joined.popLast() else { return isAnd ? .alwaysTrue : .alwaysFalse }
    if joined.isEmpty { return last }
    guard last.isFallible || joined.contains(where: \.isFallible) else {
      let sql = (joined + [last]).map(\.sql).joined(separator: isAnd ? " AND " : " OR ")
      return SQLCondition(sql: "(\(sql))")
    }
    // The order of evaluation decides what fails, and only `CASE` keeps SQLite to it.
    for condition in joined.reversed() {
      let sql =
        isAnd
        ? "(CASE WHEN \(condition.sql) THEN \(last.sql) ELSE 0 END)"
        : "(CASE WHEN \(condition.sql) THEN 1 ELSE \(last.sql) END)"
      last = SQLCondition(sql: sql, isFallible: true)
    }
    return last
  }

  // MARK: Comparisons

  mutating func compare(
    _ comparison: PredicateDescription.Comparison, depth: Int
  ) throws(CompilationProblem) -> SQLCondition {
    let left = try operand(comparison.left, depth: depth)
    let right = try operand(comparison.right, depth: depth)
    guard comparison.modifier != .direct else { return try compare(left, right, by: comparison) }
    if case .collection = right { throw .unsupported("A comparison of two lists") }
    let isAll = comparison.modifier == .all
    switch left {
    case .null: return isAll ? .alwaysTrue : .alwaysFalse
    case .collection(let members):
      let element = try compare(members.element, right, by: comparison)
      // The evaluator stops at the member that decides, so the members after it can't fail.
      guard !element.isFallible else { throw .unsupported("A comparison of members that may fail") }
      let wanted = isAll ? "\(element.sql) IS NOT TRUE" : element.sql
      let found = "EXISTS (SELECT 1 FROM \(members.tail) AND \(wanted))"
      return SQLCondition(sql: isAll ? "(NOT \(found))" : found)
    case .list(let elements):
      // Lists in lists are looked through, but a comparison with a list doesn't do that.
      var conditions: [SQLCondition] = []
      for element in elements {
        if case .list = element { throw .unsupported("A list of lists") }
        if case .collection = element { throw .unsupported("A list of lists") }
        conditions.append(try compare(element, right, by: comparison))
      }
      guard !conditions.contains(where: \.isFallible), conditions.count <= Self.breadthLimit else {
        throw .unsupported("A long list of comparisons")
      }
      guard !conditions.isEmpty else { return isAll ? .alwaysTrue : .alwaysFalse }
      let sql = conditions.map { isAll ? "(\($0.sql) IS TRUE)" : $0.sql }
      return SQLCondition(sql: "(\(sql.joined(separator: isAll ? " AND " : " OR ")))")
    case .scalar, .object, .composite: throw .unsupported("ANY and ALL of something other than a list")
    }
  }

  private mutating func compare(
    _ left: SQLOperand, _ right: SQLOperand, by comparison: PredicateDescription.Comparison
  ) throws(CompilationProblem) -> SQLCondition {
    let isFolding =
      comparison.isCaseInsensitive || comparison.isDiacriticInsensitive || comparison.isNormalized
    switch comparison.comparator {
    case .equal:
      if let condition = try equality(left, right, isFolding: isFolding) { return condition }
    case .notEqual:
      if let condition = try equality(left, right, isFolding: isFolding) {
        return SQLCondition(sql: "(\(condition.sql) IS NOT TRUE)")
      }
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      if let condition = order(left, right, comparison.comparator, isFolding: isFolding) { return condition }
    case .between:
      if case .list(let bounds) = right, bounds.count == 2,
        let lower = order(left, bounds[0], .greaterThanOrEqual, isFolding: isFolding),
        let upper = order(left, bounds[1], .lessThanOrEqual, isFolding: isFolding)
      {
        return SQLCondition(sql: "(\(lower.sql) AND \(upper.sql))")
      }
    case .in:
      if let condition = try membership(of: left, in: right, isFolding: isFolding) { return condition }
    case .contains:
      if let condition = try membership(of: right, in: left, isFolding: isFolding) { return condition }
    case .beginsWith where !isFolding:
      if case .scalar(let text) = left, text.kind == .string, let condition = try beginning(of: text, right) {
        return condition
      }
    case .beginsWith, .endsWith, .like, .matches, .customSelector: break
    }
    return try evaluation(of: left, right, by: comparison)
  }

  /// Returns `nil` if SQL can't decide it.
  private mutating func equality(
    _ left: SQLOperand, _ right: SQLOperand, isFolding: Bool
  ) throws(CompilationProblem) -> SQLCondition? {
    switch (left, right) {
    case (.null, .null): return .alwaysTrue
    case (.scalar(let first), .scalar(let second)):
      if isFolding, first.kind == .string, second.kind == .string { return nil }
      return Self.equality(first, second)
    case (.object(let first), .object(let second)):
      return try identity(first, second)
    case (.scalar, .null), (.null, .scalar), (.object, .null), (.null, .object), (.scalar, .object), (.object, .scalar):
      var conditions: [String] = []
      for side in [left, right] {
        if let sql = try absence(of: side) { conditions.append(sql) }
      }
      return SQLCondition(sql: "(\(conditions.chained(by: "AND")))")
    case (.composite(let object, let path), .null), (.null, .composite(let object, let path)):
      return try absence(ofComposite: path, of: object)
    case (.collection, .null), (.null, .collection), (.list, .null),
      (.null, .list), (.list, .scalar), (.scalar, .list), (.collection, .scalar), (.scalar, .collection):
      return .alwaysFalse
    default: throw .unsupported("A comparison of lists or composite values")
    }
  }

  private static func equality(_ first: SQLTerm, _ second: SQLTerm) -> SQLCondition {
    guard first.kind.isComparable(to: second.kind) else {
      return SQLCondition(sql: "(\(first.sql) IS NULL AND \(second.sql) IS NULL)")
    }
    return SQLCondition(sql: "(\(first.sql) IS \(second.sql))")
  }

  private mutating func absence(
    ofComposite path: [String], of object: ObjectTerm
  ) throws(CompilationProblem) -> SQLCondition {
    let leaves = try leaves(ofComposite: path, of: object)
    guard leaves.count <= Self.breadthLimit else { throw .unsupported("A composite of \(leaves.count) columns") }
    guard !leaves.isEmpty else { return .alwaysTrue }
    return SQLCondition(sql: "(\(leaves.map { "\($0) IS NULL" }.chained(by: "AND")))")
  }

  private mutating func absence(of operand: SQLOperand) throws(CompilationProblem) -> String? {
    switch operand {
    case .scalar(let term): return "\(term.sql) IS NULL"
    case .object(let object): return "\(try key(of: object)) IS NULL"
    default: return nil
    }
  }

  private mutating func identity(
    _ first: ObjectTerm, _ second: ObjectTerm
  ) throws(CompilationProblem) -> SQLCondition {
    if try physical(first.entity).table != physical(second.entity).table {
      return SQLCondition(sql: "(\(try key(of: first)) IS NULL AND \(try key(of: second)) IS NULL)")
    }
    // A key whose row is known to exist can be compared without reading the row.
    switch (first.place, second.place) {
    case (.key(let key), .knownKey(let known)) where try isWithin(second, first.entity),
      (.knownKey(let known), .key(let key)) where try isWithin(first, second.entity):
      return SQLCondition(sql: "(\(key) IS \(known))")
    default:
      return SQLCondition(sql: "(\(try key(of: first)) IS \(try key(of: second)))")
    }
  }

  private func isWithin(_ object: ObjectTerm, _ entity: String) throws(CompilationProblem) -> Bool {
    schema.model.isEntity(object.entity, kindOf: entity)
  }

  /// Returns `nil` if SQL can't decide it.
  private func order(
    _ left: SQLOperand, _ right: SQLOperand, _ comparator: PredicateDescription.Comparator, isFolding: Bool
  ) -> SQLCondition? {
    switch (left, right) {
    case (.null, .scalar), (.scalar, .null), (.null, .null), (.null, .object), (.object, .null): return .alwaysFalse
    case (.scalar(let first), .scalar(let second)):
      guard first.kind.isComparable(to: second.kind), !isFolding || first.kind != .string else { return nil }
      let sign =
        switch comparator {
        case .lessThan: "<"
        case .lessThanOrEqual: "<="
        case .greaterThan: ">"
        default: ">="
        }
      return SQLCondition(sql: "(\(first.sql) \(sign) \(second.sql))")
    default: return nil
    }
  }

  /// Of an element in a list, or of a text in another; `nil` if SQL can't decide it.
  private mutating func membership(
    of element: SQLOperand, in whole: SQLOperand, isFolding: Bool
  ) throws(CompilationProblem) -> SQLCondition? {
    switch (whole, element) {
    case (.null, _): return .alwaysFalse
    case (.scalar(let text), .scalar(let part)):
      guard text.kind == .string, part.kind == .string, !isFolding else { return nil }
      return SQLCondition(sql: "(instr(\(text.sql), \(part.sql)) > 0)")
    case (.scalar, .null): return .alwaysFalse
    case (.collection(let members), .scalar), (.collection(let members), .object), (.collection(let members), .null):
      guard !members.isNested, let equal = try equality(members.element, element, isFolding: isFolding) else {
        return nil
      }
      return SQLCondition(sql: "EXISTS (SELECT 1 FROM \(members.tail) AND \(equal.sql))")
    case (.list(let elements), .scalar(let value)):
      return try membership(of: value, in: elements, isFolding: isFolding)
    case (.list(let elements), .object), (.list(let elements), .null):
      guard elements.count <= Self.breadthLimit else { throw .unsupported("A list of \(elements.count) objects") }
      var conditions: [String] = []
      for other in elements {
        guard let equal = try equality(element, other, isFolding: isFolding) else { return nil }
        conditions.append(equal.sql)
      }
      return conditions.isEmpty ? .alwaysFalse : SQLCondition(sql: "(\(conditions.chained(by: "OR")))")
    default: return nil
    }
  }

  private func membership(
    of value: SQLTerm, in elements: [SQLOperand], isFolding: Bool
  ) throws(CompilationProblem) -> SQLCondition? {
    var wanted: [String] = []
    var conditions: [String] = []
    for element in elements {
      switch element {
      case .null: conditions.append("\(value.sql) IS NULL")
      case .scalar(let term):
        if isFolding, value.kind == .string, term.kind == .string { return nil }
        if term.kind.isComparable(to: value.kind) {
          wanted.append(term.sql)
          // SQL's `IN` is never true for a row without a value, although an element without one equals it.
          if !term.isConstant { conditions.append("(\(value.sql) IS NULL AND \(term.sql) IS NULL)") }
        } else {
          conditions.append(Self.equality(value, term).sql)
        }
      case .list, .collection: continue
      case .object, .composite: return nil
      }
    }
    if !wanted.isEmpty { conditions.insert("\(value.sql) IN (\(wanted.joined(separator: ", ")))", at: 0) }
    guard conditions.count <= Self.breadthLimit else { throw .unsupported("A long list of values") }
    return conditions.isEmpty ? .alwaysFalse : SQLCondition(sql: "(\(conditions.chained(by: "OR")))")
  }

  /// Begins with a constant: a range that ends at the first greater text that doesn't.
  private mutating func beginning(
    of text: SQLTerm, _ part: SQLOperand
  ) throws(CompilationProblem) -> SQLCondition? {
    guard case .scalar(let term) = part, let prefix = term.text else { return nil }
    if prefix.isEmpty { return SQLCondition(sql: "(\(text.sql) IS NOT NULL)") }
    let lower = "\(text.sql) >= \(term.sql)"
    guard let next = prefix.nextText else { return SQLCondition(sql: "(\(lower))") }
    return SQLCondition(sql: "(\(lower) AND \(text.sql) < \(try constant(.text(next))))")
  }
}

extension SQLTerm {
  fileprivate var isConstant: Bool {
    guard let first = sql.utf8.first else { return false }
    return first == UInt8(ascii: "?") || first == UInt8(ascii: "'") || first == UInt8(ascii: "-")
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
  }
}

extension String {
  /// The least text greater than all that begin with this one, by Unicode scalars.
  fileprivate var nextText: String? {
    var scalars = Array(unicodeScalars)
    while let last = scalars.popLast() {
      // Between U+D7FF and U+E000 there are no scalars.
      guard let next = Unicode.Scalar(last.value == 0xd7ff ? 0xe000 : last.value + 1) else { continue }
      scalars.append(next)
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      return String(text)
    }
    return nil
  }
}
