/// The result of an expression: nothing, a value, a list or an object.
public enum EvaluatedValue {
  /// No value.
  case null
  /// A value of one of the attribute types.
  case value(AttributeValue)
  /// Several values: the members of a to-many relationship, or a list in the expression.
  case list([EvaluatedValue])
  /// An object, or a composite value.
  case object(any ValueSource)
}

/// An object whose values expressions can read.
public protocol ValueSource {
  /// The identity by which objects are compared; for a composite value, its elements by name.
  var valueIdentity: AnyHashable { get }

  /// Returns the value of a property; `nil` if there is no property of that name.
  ///
  /// - Parameter key: A single name without dots.
  /// - Returns: An attribute's value, an object for a to-one relationship or a composite attribute, a list for a
  ///   to-many relationship, or ``EvaluatedValue/null``.
  /// - Throws: Any error while reading the value.
  func value(forKey key: String) throws -> EvaluatedValue?
}

extension EvaluatedValue {
  /// Returns a whole number.
  public static func integer(_ value: Int64) -> EvaluatedValue { .value(.integer(value)) }
  /// Returns a floating-point number.
  public static func double(_ value: Double) -> EvaluatedValue { .value(.double(value)) }
  /// Returns a text.
  public static func string(_ value: String) -> EvaluatedValue { .value(.string(value)) }
  /// Returns a truth value.
  public static func boolean(_ value: Bool) -> EvaluatedValue { .value(.boolean(value)) }

  package init(_ constant: ConstantValue) {
    switch constant {
    case .null: self = .null
    case .value(let value): self = .value(value)
    case .array(let elements): self = .list(elements.map { EvaluatedValue($0) })
    case .className(let name): self = .value(.string(name))
    }
  }

  package var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// For messages, which must not contain the value itself: it is user data.
  package var kind: String {
    switch self {
    case .null: "no value"
    case .list: "a list"
    case .object: "an object"
    case .value(let value): value.kind.phrase
    }
  }
}

extension EvaluatedValue: Hashable {
  /// Returns true if two values are equal: numbers of different kinds by amount, objects by identity.
  public static func == (left: EvaluatedValue, right: EvaluatedValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.list(let left), .list(let right)): left == right
    case (.object(let left), .object(let right)): left.valueIdentity == right.valueIdentity
    case (.object(let source), .value(.composite(let elements))),
      (.value(.composite(let elements)), .object(let source)):
      source.valueIdentity == AnyHashable(elements)
    case (.value(let leftValue), .value(let rightValue)):
      if let leftNumber = EvaluatedNumber(leftValue), let rightNumber = EvaluatedNumber(rightValue) {
        leftNumber.order(to: rightNumber) == 0
      } else {
        leftValue == rightValue
      }
    default: false
    }
  }

  /// Hashes the value so that equal numbers of different kinds have equal hashes.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .list(let elements): hasher.combine(elements)
    case .object(let source): hasher.combine(source.valueIdentity)
    // An object whose identity is these elements is equal, so it has the same hash.
    case .value(.composite(let elements)): hasher.combine(AnyHashable(elements))
    case .value(let value):
      if let number = EvaluatedNumber(value) { hasher.combine(number.double) } else { hasher.combine(value) }
    }
  }
}

enum EvaluatedNumber {
  case integer(Int64)
  case double(Double)

  init?(_ value: AttributeValue) {
    switch value {
    case .integer(let value): self = .integer(value)
    case .boolean(let value): self = .integer(value ? 1 : 0)
    case .double(let value): self = .double(value)
    case .decimal(let text):
      if let whole = Int64(text) {
        self = .integer(whole)
      } else {
        // `Double` also parses hexadecimal digits and infinities.
        guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let value = Double(text) else {
          return nil
        }
        self = .double(value)
      }
    default: return nil
    }
  }

  /// Rounded if the number has more than 53 bits.
  var double: Double {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    }
  }

  var value: EvaluatedValue {
    switch self {
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    }
  }

  /// Returns -1, 0 or 1, without rounding; `nil` if a number is NaN.
  func order(to other: EvaluatedNumber) -> Int? {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left < right ? -1 : left > right ? 1 : 0
    case (.integer(let left), .double(let right)): Self.order(of: left, to: right)
    case (.double(let left), .integer(let right)): Self.order(of: right, to: left).map { -$0 }
    case (.double(let left), .double(let right)):
      left < right ? -1 : left > right ? 1 : left == right ? 0 : nil
    }
  }

  private static func order(of integer: Int64, to double: Double) -> Int? {
    guard !double.isNaN else { return nil }
    // Both bounds are powers of two, which a double represents exactly.
    guard double < 0x1p63 else { return -1 }
    guard double >= -0x1p63, let whole = Int64(exactly: double.rounded(.towardZero)) else { return 1 }
    if integer != whole { return integer < whole ? -1 : 1 }
    let fraction = double - double.rounded(.towardZero)
    return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
  }
}
