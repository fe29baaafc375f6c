package import HeirloomModel

extension ExpressionCompiler {
  /// The name begins with a space, as no parsed name does.
  private static func variable(_ index: Int) -> String { " \(index)" }

  /// If the expression has to be evaluated for a row, `adapt` evaluates and converts it.
  ///
  /// An error of `adapt` makes the statement fail. The attribute may be a composite's leaf.
  package mutating func compile(
    _ expression: ValueExpression, for attribute: AttributeDescription,
    adapt: @escaping (_ value: () throws -> EvaluatedValue, _ primaryKey: Int64) throws -> SQLiteValue
  ) throws(CompilationProblem) -> CompiledValue {
    let direct = try? attempt { compiler throws(CompilationProblem) in try compiler.operand(expression, depth: 0) }
    switch direct {
    case .null: return CompiledValue(sql: "NULL", isEvaluated: false)
    case .scalar(let term) where Self.fits(term, attribute):
      return CompiledValue(sql: term.sql, isEvaluated: false)
    default: break
    }
    if attribute.type == .string,
      let part = substring(expression, failing: { error, key in try adapt({ throw error }, key) })
    {
      return part
    }
    guard case .object(let object) = evaluated, case .row(let alias) = object.place else {
      throw .unsupported("An expression without a row")
    }
    var terms: [SQLTerm] = []
    let template = try template(of: expression, terms: &terms, depth: 0)
    let kinds = terms.map(\.kind)
    let evaluator = evaluator
    let name = try function { functions throws(SQLiteError) in
      try functions.name("value", key: nil, argumentCount: terms.count + 1) { arguments in
        let key = arguments.integer(at: 0)
        let values = Self.values(of: arguments, kinds, startingAt: 1)
        return try adapt({ try Self.filled(evaluator, with: values.get()).evaluate(template, on: .null) }, key)
      }
    }
    let key = "\(alias).\(quote(PhysicalName.primaryKey))"
    return CompiledValue(
      sql: "\(name)(\(([key] + terms.map(\.sql)).joined(separator: ", ")))", isEvaluated: true)
  }

  /// The result is never `NULL`: for a missing value the statement fails with `failure`'s error.
  package mutating func requiring(
    _ value: CompiledValue, otherwise failure: @escaping (_ primaryKey: Int64) -> any Error
  ) throws(CompilationProblem) -> CompiledValue {
    guard case .object(let object) = evaluated, case .row(let alias) = object.place else { return value }
    let name = try function { functions throws(SQLiteError) in
      try functions.name("missing", key: nil, argumentCount: 1) { arguments in
        throw failure(arguments.integer(at: 0))
      }
    }
    return CompiledValue(
      sql: "COALESCE(\(value.sql), \(name)(\(alias).\(quote(PhysicalName.primaryKey))))", isEvaluated: true)
  }

  /// The attribute's column can store every value of the term unchanged.
  private static func fits(_ term: SQLTerm, _ attribute: AttributeDescription) -> Bool {
    switch (term.kind, attribute.type) {
    case (.integer, .integer64): return true
    case (.integer, .integer16), (.integer, .integer32), (.boolean, .integer16), (.boolean, .integer32):
      guard let range = term.range else { return false }
      let bounds =
        attribute.type == .integer16
        ? Int64(Int16.min)...Int64(Int16.max) : Int64(Int32.min)...Int64(Int32.max)
      // The known range of a stored number is only that of its type.
      return bounds.lowerBound <= range.lowerBound && range.upperBound <= bounds.upperBound && term.kind == .boolean
    case (.boolean, .integer64): return true
    case (.decimal, _): return false
    case (let kind, let type):
      return kind == ValueKind(type) && !(kind == .binary && attribute.allowsExternalBinaryDataStorage)
    }
  }

  // MARK: Conditions

  mutating func evaluation(
    of left: SQLOperand, _ right: SQLOperand, by comparison: PredicateDescription.Comparison
  ) throws(CompilationProblem) -> SQLCondition {
    guard comparison.comparator != .customSelector else { throw .unsupported("A selector of the app's own") }
    let first = try Self.shape(left)
    let second = try Self.shape(right)
    let terms = first.terms + second.terms
    guard terms.count <= 100 else { throw .unsupported("A long list of values") }
    let kinds = terms.map(\.kind)
    let options = [
      comparison.isCaseInsensitive ? "c" : "", comparison.isDiacriticInsensitive ? "d" : "",
      comparison.isNormalized ? "n" : "",
    ].joined()
    let key = "\(options) \(first.text) \(second.text) \(kinds.map(\.rawValue))"
    let evaluator = ExpressionEvaluator()
    let name = try function { functions throws(SQLiteError) in
      try functions.name("\(comparison.comparator)".lowercased(), key: key, argumentCount: terms.count) { arguments in
        var values: [EvaluatedValue] = []
        for (position, kind) in kinds.enumerated() { values.append(try Self.value(arguments, position, kind)) }
        let whole = try evaluator.compare(
          first.value(values[..<first.terms.count]), second.value(values[first.terms.count...]), by: comparison)
        return .integer(whole ? 1 : 0)
      }
    }
    return SQLCondition(
      sql: "\(name)(\(terms.map(\.sql).joined(separator: ", ")))", isFallible: Self.isFallible(terms, comparison))
  }

  private static func isFallible(_ terms: [SQLTerm], _ comparison: PredicateDescription.Comparison) -> Bool {
    guard terms.allSatisfy({ $0.kind == .string }) else { return true }
    guard comparison.comparator == .matches, terms.count == 2 else { return comparison.comparator == .between }
    guard let pattern = terms[1].text else { return true }
    var probe = comparison
    probe.left = .constant(.value(.string("")))
    probe.right = .constant(.value(.string(pattern)))
    return (try? ExpressionEvaluator().evaluate(.comparison(probe), on: .null)) == nil
  }

  mutating func evaluation(
    of comparison: PredicateDescription.Comparison, depth: Int
  ) throws(CompilationProblem) -> SQLCondition {
    var terms: [SQLTerm] = []
    let template = try template(of: .comparison(comparison), terms: &terms, depth: depth)
    guard terms.count <= 100 else { throw .unsupported("A long list of values") }
    let kinds = terms.map(\.kind)
    let evaluator = evaluator
    let key = evaluator.functions.isEmpty && evaluator.variables.isEmpty ? "\(template.predicateFormat) \(kinds)" : nil
    let name = try function { functions throws(SQLiteError) in
      try functions.name("condition", key: key, argumentCount: terms.count) { arguments in
        let inner = Self.filled(evaluator, with: try Self.values(of: arguments, kinds, startingAt: 0).get())
        return .integer(try inner.evaluate(template, on: .null) ? 1 : 0)
      }
    }
    return SQLCondition(sql: "\(name)(\(terms.map(\.sql).joined(separator: ", ")))", isFallible: true)
  }

  private struct Shape {
    var terms: [SQLTerm]
    var isList: Bool
    /// An element without a term is null.
    var hasTerm: [Bool]

    var text: String { (isList ? "L" : "V") + hasTerm.map { $0 ? "1" : "0" }.joined() }

    func value(_ values: ArraySlice<EvaluatedValue>) -> EvaluatedValue {
      var rest = values
      let elements = hasTerm.map { $0 ? rest.popFirst() ?? .null : .null }
      return isList ? .list(elements) : elements.first ?? .null
    }
  }

  private static func shape(_ operand: SQLOperand) throws(CompilationProblem) -> Shape {
    switch operand {
    case .null: return Shape(terms: [], isList: false, hasTerm: [false])
    case .scalar(let term): return Shape(terms: [term], isList: false, hasTerm: [true])
    case .list(let elements):
      var shape = Shape(terms: [], isList: true, hasTerm: [])
      for element in elements {
        switch element {
        case .null: shape.hasTerm.append(false)
        case .scalar(let term):
          shape.terms.append(term)
          shape.hasTerm.append(true)
        default: throw .unsupported("A list with elements that are not values")
        }
      }
      return shape
    case .object, .composite, .collection: throw .unsupported("A comparison of objects")
    }
  }

  private static func value(
    _ arguments: borrowing FunctionArguments, _ position: Int, _ kind: ValueKind
  ) throws -> EvaluatedValue {
    guard let value = kind.value(of: arguments.value(at: position)) else {
      throw EvaluationError.wrongKind(
        operation: "An expression", found: "a value that is not stored in the form of its type", expected: "one that is"
      )
    }
    return value
  }

  private static func values(
    of arguments: borrowing FunctionArguments, _ kinds: [ValueKind], startingAt start: Int
  ) -> Result<[EvaluatedValue], any Error> {
    var values: [EvaluatedValue] = []
    for (index, kind) in kinds.enumerated() {
      do {
        values.append(try value(arguments, start + index, kind))
      } catch {
        return .failure(error)
      }
    }
    return .success(values)
  }

  private static func filled(
    _ evaluator: ExpressionEvaluator, with values: [EvaluatedValue]
  ) -> ExpressionEvaluator {
    var evaluator = evaluator
    for (index, value) in values.enumerated() { evaluator.variables[variable(index)] = value }
    return evaluator
  }

  // MARK: Templates

  private mutating func template(
    of expression: ValueExpression, terms: inout [SQLTerm], depth: Int
  ) throws(CompilationProblem) -> ValueExpression {
    try check(depth)
    let depth = depth + 1
    switch expression {
    case .constant(.value(.decimal)), .constant(.array), .constant(.className), .constant(.null): return expression
    case .constant(.value(let value)) where SQLTerm.stored(value) == nil: return expression
    default: break
    }
    let direct = try? attempt { compiler throws(CompilationProblem) in try compiler.operand(expression, depth: depth) }
    switch direct {
    case .null: return .constant(.null)
    case .scalar(let term): return place(term, in: &terms)
    default: break
    }
    switch expression {
    case .constant: return expression
    case .variable(let name):
      guard objects[name] == nil, evaluator.variables[name] != nil else {
        throw .unsupported("The variable $\(name.prefix(200))")
      }
      return expression
    case .evaluatedObject: throw .unsupported("SELF as a value")
    case .aggregate(let elements):
      return .aggregate(try templates(of: elements, terms: &terms, depth: depth))
    case .function(let receiver, let selector, let arguments):
      var inner: ValueExpression?
      if let receiver {
        inner =
          if case .constant = receiver { receiver } else { try template(of: receiver, terms: &terms, depth: depth) }
      }
      return .function(
        operand: inner, selector: selector, arguments: try templates(of: arguments, terms: &terms, depth: depth))
    case .keyPath(let operand, let path):
      return try template(ofPath: path, operand, terms: &terms, depth: depth)
    case .conditional(let predicate, let then, let otherwise):
      let condition = try template(of: predicate, terms: &terms, depth: depth)
      return .conditional(
        predicate: condition, then: try template(of: then, terms: &terms, depth: depth),
        otherwise: try template(of: otherwise, terms: &terms, depth: depth))
    case .setOperation(let operation, let left, let right):
      return .setOperation(
        operation, try template(of: left, terms: &terms, depth: depth),
        try template(of: right, terms: &terms, depth: depth))
    case .subquery: throw .unsupported("SUBQUERY as a list")
    case .fetch: throw .unsupported("FETCH")
    case .unparsed(let text): throw .unsupported("\"\(text.prefix(200))\"")
    }
  }

  private mutating func templates(
    of expressions: [ValueExpression], terms: inout [SQLTerm], depth: Int
  ) throws(CompilationProblem) -> [ValueExpression] {
    var templates: [ValueExpression] = []
    for expression in expressions {
      // These are the words of `a[FIRST]`.
      if case .function(nil, let word, let arguments) = expression, arguments.isEmpty,
        ["FIRST", "LAST", "SIZE"].contains(word)
      {
        templates.append(expression)
      } else {
        templates.append(try template(of: expression, terms: &terms, depth: depth))
      }
    }
    return templates
  }

  private mutating func template(
    ofPath path: String, _ operand: ValueExpression, terms: inout [SQLTerm], depth: Int
  ) throws(CompilationProblem) -> ValueExpression {
    let names = path.names(separatedBy: ".")
    for count in stride(from: names.count - 1, to: 0, by: -1) {
      let start = ValueExpression.keyPath(operand: operand, path: names[..<count].joined(separator: "."))
      let direct = try? attempt { compiler throws(CompilationProblem) in try compiler.operand(start, depth: depth) }
      guard case .scalar(let term)? = direct else { continue }
      return .keyPath(operand: place(term, in: &terms), path: names[count...].joined(separator: "."))
    }
    if case .evaluatedObject = operand { throw .unsupported("The path \"\(path.prefix(200))\"") }
    return .keyPath(operand: try template(of: operand, terms: &terms, depth: depth), path: path)
  }

  private mutating func template(
    of predicate: PredicateDescription, terms: inout [SQLTerm], depth: Int
  ) throws(CompilationProblem) -> PredicateDescription {
    try check(depth)
    let depth = depth + 1
    switch predicate {
    case .alwaysTrue, .alwaysFalse: return predicate
    case .and(let conditions): return .and(try templates(of: conditions, terms: &terms, depth: depth))
    case .or(let conditions): return .or(try templates(of: conditions, terms: &terms, depth: depth))
    case .not(let condition): return .not(try template(of: condition, terms: &terms, depth: depth))
    case .comparison(var comparison):
      let direct = try? attempt { compiler throws(CompilationProblem) in
        let condition = try compiler.compare(comparison, depth: depth)
        guard !condition.isFallible else { throw .unsupported("A condition that may fail") }
        return condition
      }
      if let direct {
        let term = SQLTerm(sql: "(\(direct.sql) IS TRUE)", kind: .boolean)
        return .comparison(
          .init(left: place(term, in: &terms), comparator: .equal, right: .constant(.value(.boolean(true)))))
      }
      guard comparison.comparator != .customSelector else { throw .unsupported("A selector of the app's own") }
      comparison.left = try template(of: comparison.left, terms: &terms, depth: depth)
      comparison.right = try template(of: comparison.right, terms: &terms, depth: depth)
      return .comparison(comparison)
    case .unparsed(let text): throw .unsupported("\"\(text.prefix(200))\"")
    }
  }

  private mutating func templates(
    of predicates: [PredicateDescription], terms: inout [SQLTerm], depth: Int
  ) throws(CompilationProblem) -> [PredicateDescription] {
    var templates: [PredicateDescription] = []
    for predicate in predicates { templates.append(try template(of: predicate, terms: &terms, depth: depth)) }
    return templates
  }

  private func place(_ term: SQLTerm, in terms: inout [SQLTerm]) -> ValueExpression {
    let index = terms.firstIndex(of: term) ?? terms.count
    if index == terms.count { terms.append(term) }
    return .variable(Self.variable(index))
  }
}

extension Connection {
  package func takeFunctionFailure() -> (any Error)? { expressionFunctions.takeFailure() }
}

package struct CompiledValue: Equatable, Sendable {
  package let sql: String
  package let isEvaluated: Bool
}
