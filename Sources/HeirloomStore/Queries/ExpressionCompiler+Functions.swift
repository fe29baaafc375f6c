import HeirloomModel

extension ExpressionCompiler {
  /// Only calls that never fail are compiled.
  mutating func call(
    _ selector: String, _ receiver: ValueExpression?, _ arguments: [ValueExpression], depth: Int
  ) throws(CompilationProblem) -> SQLOperand {
    guard evaluator.functions[selector] == nil else { throw .unsupported("The function \"\(selector.prefix(200))\"") }
    if let receiver, receiver != .constant(.className("_NSPredicateUtilities")) {
      return try message(selector, to: receiver, arguments, depth: depth)
    }
    if selector == "objectFrom:withIndex:", let part = try textPart(arguments, depth: depth) { return part }
    switch (selector, arguments.count) {
    case ("noindex:", 1): return try operand(arguments[0], depth: depth)
    case ("now", 0):
      guard let now = evaluator.now else { throw .unsupported("now()") }
      return try operand(.constant(.value(.date(now))), depth: depth)
    case ("count:", 1), ("sum:", 1), ("average:", 1), ("min:", 1), ("max:", 1):
      return try aggregate(selector, of: operand(arguments[0], depth: depth))
    case ("add:to:", 2): return try arithmetic("+", arguments, depth: depth)
    case ("from:subtract:", 2): return try arithmetic("-", arguments, depth: depth)
    case ("multiply:by:", 2): return try arithmetic("*", arguments, depth: depth)
    case ("divide:by:", 2): return try arithmetic("/", arguments, depth: depth)
    case ("modulus:by:", 2): return try arithmetic("%", arguments, depth: depth)
    default: break
    }
    guard arguments.count == 1, let function = TextFunctionOnBytes(selector: selector) else {
      throw .unsupported("The function \"\(selector.prefix(200))\"")
    }
    switch try operand(arguments[0], depth: depth) {
    case .null: return .null
    case .scalar(let term) where term.kind == .string: return try textFunction(function, of: term)
    default: throw .unsupported("\(selector) of a value that is not text")
    }
  }

  /// Without a function of that name, a message that every object understands.
  private mutating func message(
    _ selector: String, to receiver: ValueExpression, _ arguments: [ValueExpression], depth: Int
  ) throws(CompilationProblem) -> SQLOperand {
    guard selector == "valueForKey:" || selector == "valueForKeyPath:", arguments.count == 1,
      case .constant(.value(.string(let path))) = arguments[0]
    else { throw .unsupported("The function \"\(selector.prefix(200))\"") }
    return try follow(path, from: operand(receiver, depth: depth))
  }

  func textFunction(_ function: TextFunctionOnBytes, of term: SQLTerm) throws(CompilationProblem) -> SQLOperand {
    let name = try self.function { functions throws(SQLiteError) in try functions.textFunction(function) }
    let range: ClosedRange<Int64>? = function == .length ? 0...Int64(Int32.max) : nil
    return .scalar(SQLTerm(sql: "\(name)(\(term.sql))", kind: function.kind, range: range))
  }

  /// Only of whole numbers that can't overflow.
  private mutating func arithmetic(
    _ sign: String, _ arguments: [ValueExpression], depth: Int
  ) throws(CompilationProblem) -> SQLOperand {
    let left = try operand(arguments[0], depth: depth)
    let right = try operand(arguments[1], depth: depth)
    guard case .scalar(let first) = left, case .scalar(let second) = right, let one = first.range,
      let two = second.range, let range = Self.range(sign, one, two)
    else { throw .unsupported("Arithmetic that may fail") }
    return .scalar(SQLTerm(sql: "(\(first.sql) \(sign) \(second.sql))", kind: .integer, range: range))
  }

  private static func range(
    _ sign: String, _ left: ClosedRange<Int64>, _ right: ClosedRange<Int64>
  ) -> ClosedRange<Int64>? {
    var bounds: [Int64] = []
    // Numbers slightly out of their type's range don't matter; those at the limit of 64 bits would.
    let limit = Int64.max / 4
    for one in [left.lowerBound, left.upperBound] {
      for two in [right.lowerBound, right.upperBound] {
        let (result, overflows): (Int64, Bool)
        switch sign {
        case "+": (result, overflows) = one.addingReportingOverflow(two)
        case "-": (result, overflows) = one.subtractingReportingOverflow(two)
        case "*": (result, overflows) = one.multipliedReportingOverflow(by: two)
        // A divisor must be the same in all rows, and above 0.
        case "/", "%":
          guard right.lowerBound == right.upperBound, two > 0 else { return nil }
          (result, overflows) = sign == "/" ? (one / two, false) : (one < 0 ? 1 - two : two - 1, false)
        default: return nil
        }
        guard !overflows, result.magnitude < limit else { return nil }
        bounds.append(result)
      }
    }
    guard let least = bounds.min(), let greatest = bounds.max() else { return nil }
    return sign == "%" ? min(least, 0)...max(greatest, 0) : least...greatest
  }
}
