enum Arithmetic: String {
  case add, subtract, multiply, divide, modulus, power
}

extension ExpressionEvaluator {
  func calculate(_ operation: Arithmetic, _ left: EvaluatedValue, _ right: EvaluatedValue) throws -> EvaluatedValue {
    if left.isNull || right.isNull { return .null }
    switch (operation, left, right) {
    case (.subtract, .value(.date(let left)), .value(.date(let right))):
      return .double(try finite(left - right, operation.rawValue))
    case (.add, .value(.date(let seconds)), _):
      return .value(.date(try finite(seconds + number(right, for: operation.rawValue).double, operation.rawValue)))
    case (.add, _, .value(.date(let seconds))):
      return .value(.date(try finite(seconds + number(left, for: operation.rawValue).double, operation.rawValue)))
    case (.subtract, .value(.date(let seconds)), _):
      return .value(.date(try finite(seconds - number(right, for: operation.rawValue).double, operation.rawValue)))
    default:
      let result = try calculate(
        operation, number(left, for: operation.rawValue), number(right, for: operation.rawValue))
      return result.value
    }
  }

  private func calculate(
    _ operation: Arithmetic, _ left: EvaluatedNumber, _ right: EvaluatedNumber
  ) throws -> EvaluatedNumber {
    if operation == .power { return try power(left, right) }
    guard case .integer(let first) = left, case .integer(let second) = right else {
      return .double(try calculate(operation, left.double, right.double))
    }
    if second == 0, operation == .divide || operation == .modulus { throw EvaluationError.divisionByZero }
    let (result, overflows) =
      switch operation {
      case .add: first.addingReportingOverflow(second)
      case .subtract: first.subtractingReportingOverflow(second)
      case .multiply: first.multipliedReportingOverflow(by: second)
      case .divide: first.dividedReportingOverflow(by: second)
      case .modulus, .power: first.remainderReportingOverflow(dividingBy: second)
      }
    guard !overflows else { throw EvaluationError.overflow(operation: operation.rawValue) }
    return .integer(result)
  }

  private func calculate(_ operation: Arithmetic, _ left: Double, _ right: Double) throws -> Double {
    if right == 0, operation == .divide || operation == .modulus { throw EvaluationError.divisionByZero }
    let result =
      switch operation {
      case .add: left + right
      case .subtract: left - right
      case .multiply: left * right
      case .divide: left / right
      case .modulus, .power: left.truncatingRemainder(dividingBy: right)
      }
    return try finite(result, operation.rawValue)
  }

  /// Powers other than whole ones and one half would require a mathematics library.
  private func power(_ base: EvaluatedNumber, _ exponent: EvaluatedNumber) throws -> EvaluatedNumber {
    if exponent.double == 0.5, base.double >= 0 { return .double(base.double.squareRoot()) }
    guard let whole = Int64(exactly: exponent.double), whole.magnitude <= 4096 else {
      throw EvaluationError.unsupported("A power other than a whole number up to 4096")
    }
    if case .integer(let integer) = base, whole >= 0 {
      var result: Int64 = 1
      for _ in 0..<whole {
        let (product, overflows) = result.multipliedReportingOverflow(by: integer)
        guard !overflows else { throw EvaluationError.overflow(operation: "power") }
        result = product
      }
      return .integer(result)
    }
    if whole < 0, base.double == 0 { throw EvaluationError.divisionByZero }
    var result = 1.0
    for _ in 0..<whole.magnitude { result *= base.double }
    return .double(try finite(whole < 0 ? 1 / result : result, "power"))
  }

  private func finite(_ value: Double, _ operation: String) throws -> Double {
    guard value.isFinite else { throw EvaluationError.overflow(operation: operation) }
    return value
  }

  func number(_ value: EvaluatedValue, for operation: String) throws -> EvaluatedNumber {
    guard case .value(let attribute) = value, let number = EvaluatedNumber(attribute) else {
      throw EvaluationError.wrongKind(operation: operation, found: value.kind, expected: "a number")
    }
    return number
  }

  func integer(_ value: EvaluatedValue, for operation: String) throws -> Int64 {
    guard case .integer(let integer) = try number(value, for: operation) else {
      throw EvaluationError.wrongKind(operation: operation, found: value.kind, expected: "an integer")
    }
    return integer
  }

  func sum(of values: [EvaluatedValue], for operation: String) throws -> EvaluatedValue {
    var sum = EvaluatedNumber.integer(0)
    for value in values where !value.isNull {
      sum = try calculate(.add, sum, number(value, for: operation))
    }
    return sum.value
  }

  func average(of values: [EvaluatedValue], for operation: String) throws -> EvaluatedValue {
    let numbers = try values.filter { !$0.isNull }.map { try number($0, for: operation).double }
    guard !numbers.isEmpty else { return .null }
    return .double(try finite(numbers.reduce(0, +) / Double(numbers.count), operation))
  }

  /// The sign is 1 for the greatest value, -1 for the least.
  func extreme(of values: [EvaluatedValue], sign: Int, for operation: String) throws -> EvaluatedValue {
    var best = EvaluatedValue.null
    for value in values where !value.isNull {
      let order = best.isNull ? sign : try order(of: value, to: best, folding: .none, operation: operation)
      if order == sign { best = value }
    }
    return best
  }

  func median(of values: [EvaluatedValue], for operation: String) throws -> EvaluatedValue {
    let numbers = try values.filter { !$0.isNull }.map { try number($0, for: operation).double }.sorted()
    guard !numbers.isEmpty else { return .null }
    let middle = numbers.count / 2
    return .double(numbers.count % 2 == 1 ? numbers[middle] : numbers[middle - 1] / 2 + numbers[middle] / 2)
  }

  /// The numbers are a whole population, not a sample.
  func standardDeviation(of values: [EvaluatedValue], for operation: String) throws -> EvaluatedValue {
    let numbers = try values.filter { !$0.isNull }.map { try number($0, for: operation).double }
    guard !numbers.isEmpty else { return .null }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return .double(try finite((squares / Double(numbers.count)).squareRoot(), operation))
  }
}
