package import HeirloomModel

/// Compiles expressions and predicates to SQL with the same results as an evaluation.
///
/// A part that SQL computes in the same way is written as SQL. A part that it computes differently,
/// or that may fail, becomes a call of a Swift function, if it needs only single values. Everything
/// else is rejected, and the caller evaluates it row by row. Values that aren't stored as their
/// attribute's type are compared as they are.
package struct ExpressionCompiler {
  let schema: PhysicalSchema
  let database: String
  let connection: Connection
  let evaluator: ExpressionEvaluator
  /// They take precedence over the evaluator's variables.
  var objects: [String: SQLOperand]
  let evaluated: SQLOperand
  /// For statements that are shown; otherwise constants are bound.
  let writesLiterals: Bool
  /// The values of `?1`, `?2` … in the SQL compiled so far.
  package private(set) var values: [SQLiteValue] = []
  package internal(set) var columnsRead: [String] = []
  private var aliasCount = 0

  /// A parser reads fewer levels.
  static let depthLimit: Int = 100
  static let breadthLimit: Int = 400
  static let valueLimit: Int = 30_000

  /// `alias` names the entity's table; `rowVariable` refers to the object, such as `source`.
  package init(
    entity: String, alias: String, schema: PhysicalSchema, database: String, connection: Connection,
    evaluator: ExpressionEvaluator = ExpressionEvaluator(), rowVariable: String? = nil, writesLiterals: Bool = false
  ) {
    self.schema = schema
    self.database = database
    self.connection = connection
    self.evaluator = evaluator
    self.writesLiterals = writesLiterals
    evaluated = .object(ObjectTerm(entity: entity, place: .row(alias: alias)))
    objects = [:]
    if let rowVariable { objects[rowVariable] = evaluated }
  }

  /// The object's row must exist.
  package mutating func bind(_ variable: String, toObjectOf entity: String, primaryKey: Int64)
    throws(CompilationProblem)
  {
    objects[variable] = .object(
      ObjectTerm(entity: entity, place: .knownKey(try constant(.integer(primaryKey)))))
  }

  /// Returns false if SQL can't represent one of the list's elements.
  mutating func bind(_ variable: String, toObjects objects: [ManagedObject], of value: EvaluatedValue) -> Bool {
    guard !objects.isEmpty else { return true }
    guard case .list(let elements) = value, elements.count == objects.count else { return false }
    var operands: [SQLOperand] = []
    for object in objects where !object.isDeleted {
      guard !object.isNew, let key = try? constant(.integer(object.key)) else { return false }
      operands.append(.object(ObjectTerm(entity: object.entityName, place: .knownKey(key))))
    }
    self.objects[variable] = .list(operands)
    return true
  }

  mutating func sortTerm(_ keyPath: String) throws(CompilationProblem) -> String {
    guard !keyPath.contains("@"), case .scalar(let term) = try follow(keyPath, from: evaluated) else {
      throw .unsupported("A sort key that is not a value")
    }
    return term.sql
  }

  /// Values after the last one used must not be bound; some before it may belong to other parts.
  package func bindings(for parts: [String?]) -> [SQLiteValue] {
    var highest = 0
    for part in parts {
      var quote: UInt8?
      var number: Int?
      for byte in (part ?? "").utf8 {
        if let digits = number {
          if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            number = digits * 10 + Int(byte - UInt8(ascii: "0"))
            continue
          }
          highest = max(highest, digits)
          number = nil
        }
        if let current = quote {
          if byte == current { quote = nil }
        } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
          quote = byte
        } else if byte == UInt8(ascii: "?") {
          number = 0
        }
      }
      highest = max(highest, number ?? 0)
    }
    return Array(values.prefix(highest))
  }

  /// True for the objects that meet the condition, and false or `NULL` for others.
  package mutating func compile(_ predicate: PredicateDescription) throws(CompilationProblem) -> CompiledCondition {
    let condition = try condition(predicate, depth: 0)
    return CompiledCondition(sql: condition.sql, isFallible: condition.isFallible)
  }

  // MARK: Parts

  mutating func alias() -> String {
    aliasCount += 1
    return "x\(aliasCount)"
  }

  mutating func constant(_ value: SQLiteValue) throws(CompilationProblem) -> String {
    if writesLiterals || value == .null { return value.literal }
    guard values.count < Self.valueLimit else { throw .unsupported("A list of more than \(Self.valueLimit) values") }
    values.append(value)
    return "?\(values.count)"
  }

  func qualified(_ table: String) -> String { "\(quote(database)).\(quote(table))" }

  func check(_ depth: Int) throws(CompilationProblem) {
    guard depth < Self.depthLimit else { throw .unsupported("An expression of more than \(Self.depthLimit) levels") }
  }

  /// If the body fails, the values that it bound are removed.
  mutating func attempt<Value>(
    _ body: (inout ExpressionCompiler) throws(CompilationProblem) -> Value
  ) throws(CompilationProblem) -> Value {
    let count = values.count
    let columnCount = columnsRead.count
    do throws(CompilationProblem) {
      return try body(&self)
    } catch {
      values.removeSubrange(count...)
      columnsRead.removeSubrange(columnCount...)
      throw error
    }
  }

  func function(
    _ body: (ExpressionFunctions) throws(SQLiteError) -> String
  ) throws(CompilationProblem) -> String {
    do throws(SQLiteError) {
      return try body(connection.expressionFunctions)
    } catch {
      throw .unsupported("A function of its own (\(error.message))")
    }
  }
}

package struct CompiledCondition: Equatable, Sendable {
  /// May be an operand of `AND` and `OR`; `NULL` counts as false.
  package let sql: String
  /// It may fail for some rows, so it must be evaluated only for the rows in question.
  package let isFallible: Bool

  package func among(_ rows: String) -> String {
    isFallible ? "CASE WHEN \(rows) THEN \(sql) END" : "\(rows) AND \(sql)"
  }
}

// MARK: - Operands

extension ExpressionCompiler {
  /// Only expressions that never fail are compiled.
  mutating func operand(_ expression: ValueExpression, depth: Int) throws(CompilationProblem) -> SQLOperand {
    try check(depth)
    let depth = depth + 1
    switch expression {
    case .constant(let constant): return try operand(constant)
    case .evaluatedObject: return evaluated
    case .variable(let name):
      if let object = objects[name] { return object }
      switch evaluator.variables[name] {
      case .null: return .null
      case .value(let value): return try operand(ConstantValue.value(value))
      case .list(let elements):
        return .list(try elements.map { element throws(CompilationProblem) in try operand(element) })
      case .object, nil: throw .unsupported("The variable $\(name.prefix(200))")
      }
    case .keyPath(let operand, let path):
      return try follow(path, from: self.operand(operand, depth: depth))
    case .aggregate(let elements):
      guard elements.count <= Self.valueLimit else { throw .unsupported("A list of \(elements.count) elements") }
      return .list(
        try elements.map { element throws(CompilationProblem) in try self.operand(element, depth: depth) })
    case .function(let receiver, let selector, let arguments):
      return try call(selector, receiver, arguments, depth: depth)
    case .subquery(let collection, let variable, let predicate):
      return try subquery(collection, variable, predicate, depth: depth)
    case .conditional(let predicate, let then, let otherwise):
      return try conditional(predicate, then, otherwise, depth: depth)
    case .setOperation(let operation, _, _): throw .unsupported(operation.rawValue)
    case .fetch: throw .unsupported("FETCH")
    case .unparsed(let text): throw .unsupported("\"\(text.prefix(200))\"")
    }
  }

  private mutating func operand(_ constant: ConstantValue) throws(CompilationProblem) -> SQLOperand {
    switch constant {
    case .null: return .null
    case .array(let elements):
      guard elements.count <= Self.valueLimit else { throw .unsupported("A list of \(elements.count) elements") }
      return .list(try elements.map { element throws(CompilationProblem) in try operand(element) })
    case .className(let name): return try operand(ConstantValue.value(.string(name)))
    case .value(let value):
      guard let (stored, kind) = SQLTerm.stored(value) else { throw .unsupported("A number that is NaN or invalid") }
      let range = kind == .integer || kind == .boolean ? stored.integer.map { $0...$0 } : nil
      return .scalar(SQLTerm(sql: try self.constant(stored), kind: kind, range: range, text: stored.text))
    }
  }

  private mutating func operand(_ value: EvaluatedValue) throws(CompilationProblem) -> SQLOperand {
    switch value {
    case .null: return .null
    case .value(let value): return try operand(ConstantValue.value(value))
    case .list(let elements):
      return .list(try elements.map { element throws(CompilationProblem) in try operand(element) })
    case .object: throw .unsupported("An object that is not in the store")
    }
  }

  private mutating func subquery(
    _ collection: ValueExpression, _ variable: String, _ predicate: PredicateDescription, depth: Int
  ) throws(CompilationProblem) -> SQLOperand {
    switch try operand(collection, depth: depth) {
    case .null: return .list([])
    case .collection(var members) where !members.isNested:
      let outer = objects[variable]
      objects[variable] = members.element
      defer { objects[variable] = outer }
      let condition = try condition(predicate, depth: depth)
      guard !condition.isFallible else { throw .unsupported("A SUBQUERY that may fail") }
      members.conditions.append("(\(condition.sql))")
      return .collection(members)
    default: throw .unsupported("A SUBQUERY of something other than a relationship")
    }
  }

  private mutating func conditional(
    _ predicate: PredicateDescription, _ then: ValueExpression, _ otherwise: ValueExpression, depth: Int
  ) throws(CompilationProblem) -> SQLOperand {
    let condition = try condition(predicate, depth: depth)
    guard !condition.isFallible else { throw .unsupported("TERNARY with a condition that may fail") }
    func term(_ sql: (String, String), _ kind: ValueKind, _ range: ClosedRange<Int64>? = nil) -> SQLOperand {
      .scalar(SQLTerm(sql: "(CASE WHEN \(condition.sql) THEN \(sql.0) ELSE \(sql.1) END)", kind: kind, range: range))
    }
    switch (try operand(then, depth: depth), try operand(otherwise, depth: depth)) {
    case (.null, .null): return .null
    case (.scalar(let first), .null): return term((first.sql, "NULL"), first.kind, first.range)
    case (.null, .scalar(let second)): return term(("NULL", second.sql), second.kind, second.range)
    case (.scalar(let first), .scalar(let second)) where first.kind == second.kind:
      let range = first.range.flatMap { one in
        second.range.map { min(one.lowerBound, $0.lowerBound)...max(one.upperBound, $0.upperBound) }
      }
      return term((first.sql, second.sql), first.kind, range)
    case (.scalar(let first), .scalar(let second))
    where [first.kind, second.kind].allSatisfy { $0 == .integer || $0 == .double || $0 == .number }:
      return term((first.sql, second.sql), .number)
    default: throw .unsupported("TERNARY of values of different kinds")
    }
  }
}
