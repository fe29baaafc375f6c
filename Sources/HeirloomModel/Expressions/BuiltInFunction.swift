/// A function that predicate text can call without a receiver.
struct BuiltInFunction: Sendable {
  /// `nil` for one list or several values.
  let argumentCount: Int?
  private let body: @Sendable (ExpressionEvaluator, [EvaluatedValue], String) throws -> EvaluatedValue

  func call(
    _ arguments: [EvaluatedValue], selector: String, evaluator: ExpressionEvaluator
  ) throws -> EvaluatedValue {
    guard let argumentCount else {
      // `max:({1, 2})` and `max:(1, 2)`.
      let values = arguments.count == 1 ? try evaluator.members(of: arguments[0], for: selector) : arguments
      return try body(evaluator, ExpressionEvaluator.flattened(values), selector)
    }
    guard arguments.count == argumentCount else {
      throw EvaluationError.wrongArgumentCount(
        selector: selector, found: arguments.count, expected: argumentCount)
    }
    return try body(evaluator, arguments, selector)
  }

  private init(
    _ argumentCount: Int?,
    _ body: @escaping @Sendable (ExpressionEvaluator, [EvaluatedValue], String) throws -> EvaluatedValue
  ) {
    self.argumentCount = argumentCount
    self.body = body
  }

  static let all: [String: BuiltInFunction] = collections.merging(numbers) { first, _ in first }
    .merging(texts) { first, _ in first }.merging(others) { first, _ in first }

  // MARK: - Collections

  private static let collections: [String: BuiltInFunction] = [
    "count:": BuiltInFunction(1) { evaluator, arguments, selector in
      .integer(Int64(try evaluator.members(of: arguments[0], for: selector).count))
    },
    "sum:": BuiltInFunction(nil) { try $0.sum(of: $1, for: $2) },
    "average:": BuiltInFunction(nil) { try $0.average(of: $1, for: $2) },
    "min:": BuiltInFunction(nil) { try $0.extreme(of: $1, sign: -1, for: $2) },
    "max:": BuiltInFunction(nil) { try $0.extreme(of: $1, sign: 1, for: $2) },
    "median:": BuiltInFunction(nil) { try $0.median(of: $1, for: $2) },
    "stddev:": BuiltInFunction(nil) { try $0.standardDeviation(of: $1, for: $2) },
    "distinct:": BuiltInFunction(1) { evaluator, arguments, selector in
      .list(ExpressionEvaluator.distinct(try evaluator.members(of: arguments[0], for: selector)))
    },
    FunctionSelector.index: BuiltInFunction(2) { evaluator, arguments, selector in
      if arguments[0].isNull { return .null }
      if case .value(.string(let key)) = arguments[1] { return try evaluator.value(forKey: key, of: arguments[0]) }
      let elements = try evaluator.members(of: arguments[0], for: selector)
      let index = try evaluator.integer(arguments[1], for: selector)
      guard index >= 0, index < elements.count else {
        throw EvaluationError.indexOutOfRange(index: index, count: elements.count)
      }
      return elements[Int(clamping: index)]
    },
  ]

  // MARK: - Numbers

  private static func arithmetic(_ operation: Arithmetic) -> BuiltInFunction {
    BuiltInFunction(2) { evaluator, arguments, _ in
      try evaluator.calculate(operation, arguments[0], arguments[1])
    }
  }

  private static func bits(_ operation: @escaping @Sendable (Int64, Int64) -> Int64) -> BuiltInFunction {
    BuiltInFunction(2) { evaluator, arguments, selector in
      if arguments[0].isNull || arguments[1].isNull { return .null }
      return .integer(
        operation(
          try evaluator.integer(arguments[0], for: selector), try evaluator.integer(arguments[1], for: selector)))
    }
  }

  private static func rounding(_ rule: FloatingPointRoundingRule) -> BuiltInFunction {
    BuiltInFunction(1) { evaluator, arguments, selector in
      if arguments[0].isNull { return .null }
      switch try evaluator.number(arguments[0], for: selector) {
      case .integer(let value): return .integer(value)
      case .double(let value): return .double(value.rounded(rule))
      }
    }
  }

  private static let numbers: [String: BuiltInFunction] = [
    "add:to:": arithmetic(.add),
    "from:subtract:": arithmetic(.subtract),
    "multiply:by:": arithmetic(.multiply),
    "divide:by:": arithmetic(.divide),
    "modulus:by:": arithmetic(.modulus),
    "raise:toPower:": arithmetic(.power),
    "bitwiseAnd:with:": bits { $0 & $1 },
    "bitwiseOr:with:": bits { $0 | $1 },
    "bitwiseXor:with:": bits { $0 ^ $1 },
    "leftshift:by:": bits { $0 << $1 },
    "rightshift:by:": bits { $0 >> $1 },
    FunctionSelector.complement: BuiltInFunction(1) { evaluator, arguments, selector in
      arguments[0].isNull ? .null : .integer(~(try evaluator.integer(arguments[0], for: selector)))
    },
    "sqrt:": BuiltInFunction(1) { evaluator, arguments, selector in
      if arguments[0].isNull { return .null }
      let value = try evaluator.number(arguments[0], for: selector).double
      guard value >= 0 else {
        throw EvaluationError.wrongKind(operation: selector, found: "a negative number", expected: "one from 0 up")
      }
      return .double(value.squareRoot())
    },
    "abs:": BuiltInFunction(1) { evaluator, arguments, selector in
      if arguments[0].isNull { return .null }
      switch try evaluator.number(arguments[0], for: selector) {
      case .integer(let value):
        guard let magnitude = Int64(exactly: value.magnitude) else {
          throw EvaluationError.overflow(operation: selector)
        }
        return .integer(magnitude)
      case .double(let value): return .double(value.magnitude)
      }
    },
    "floor:": rounding(.down),
    "ceiling:": rounding(.up),
    "trunc:": rounding(.towardZero),
    "random": BuiltInFunction(0) { _, _, _ in .double(Double.random(in: 0..<1)) },
    "random:": BuiltInFunction(1) { evaluator, arguments, selector in
      let limit = try evaluator.integer(arguments[0], for: selector)
      guard limit > 0 else {
        throw EvaluationError.wrongKind(operation: selector, found: "no positive number", expected: "one from 1 up")
      }
      return .integer(Int64.random(in: 0..<limit))
    },
  ]

  // MARK: - Text

  private static func text(_ transform: @escaping @Sendable (String) -> String) -> BuiltInFunction {
    BuiltInFunction(1) { evaluator, arguments, selector in
      arguments[0].isNull ? .null : .string(transform(try evaluator.string(arguments[0], for: selector)))
    }
  }

  private static let texts: [String: BuiltInFunction] = [
    "uppercase:": text { $0.uppercased() },
    "lowercase:": text { $0.lowercased() },
    "canonical:": text { TextFolding.canonical.folded($0) },
    "length:": BuiltInFunction(1) { evaluator, arguments, selector in
      arguments[0].isNull ? .null : try evaluator.value(forKey: "length", of: arguments[0])
    },
  ]

  // MARK: - Others

  private static let others: [String: BuiltInFunction] = [
    "now": BuiltInFunction(0) { evaluator, _, _ in
      guard let now = evaluator.now else { throw EvaluationError.unsupported("now()") }
      return .value(.date(now))
    },
    "noindex:": BuiltInFunction(1) { _, arguments, _ in arguments[0] },
    FunctionSelector.cast: BuiltInFunction(2) { evaluator, arguments, selector in
      try evaluator.cast(arguments[0], to: evaluator.string(arguments[1], for: selector))
    },
  ]
}

extension ExpressionEvaluator {
  func cast(_ value: EvaluatedValue, to type: String) throws -> EvaluatedValue {
    guard case .value(let attribute) = value else {
      if value.isNull { return .null }
      throw EvaluationError.wrongKind(operation: "CAST", found: value.kind, expected: "a single value")
    }
    let constant = ValueExpression.constant(.value(attribute))
    if type != "NSDecimalNumber", let constant = ConstantValue(casting: constant, to: type) {
      return EvaluatedValue(constant)
    }
    switch (type, attribute) {
    case (attribute.kind.className, _) where !attribute.kind.isNumeric && attribute.kind != .composite: return value
    case ("NSString", _) where attribute.kind.hasPlainText: return .string(ExpressionPrinter.hashedText(attribute))
    case ("NSNumber", .date(let seconds)): return .double(seconds)
    case ("NSNumber", .string(let text)), ("NSDecimalNumber", .string(let text)):
      guard let number = EvaluatedNumber(.decimal(text)) else { break }
      // Keep all digits; the code that stores the number rounds it.
      if case .integer = number { return number.value }
      return .value(.decimal(text))
    case ("NSNumber", _), ("NSDecimalNumber", _):
      return try number(value, for: "CAST").value
    default: break
    }
    throw EvaluationError.wrongKind(operation: "CAST", found: value.kind, expected: "a value that makes \(type)")
  }
}
