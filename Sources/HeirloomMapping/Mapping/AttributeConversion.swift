package import HeirloomModel

/// A conversion of stored values from one attribute type to another.
package struct AttributeConversion: Hashable, Sendable {
  /// The type in the source.
  package let source: AttributeType
  /// The type in the destination.
  package let destination: AttributeType

  /// Creates a conversion, possible or not.
  package init(from source: AttributeType, to destination: AttributeType) {
    self.source = source
    self.destination = destination
  }

  /// True when the types are the same.
  package var isIdentity: Bool { source == destination }

  /// True when inference converts: between numbers, and between truth values and integers.
  package var isPossible: Bool {
    isIdentity || source.isNumeric && destination.isNumeric || source == .boolean && destination.isInteger
      || source.isInteger && destination == .boolean
  }

  /// Returns an expression that converts a value of the named source attribute where inference doesn't.
  ///
  /// It is `nil` where inference converts, or where no expression is simple enough to suggest.
  package func expression(reading name: String) -> String? {
    guard !isPossible, let type = castName else { return nil }
    // The name may be a keyword, which must be escaped.
    let path = ValueExpression.keyPath(operand: .evaluatedObject, path: name)
    return "CAST(\(path.predicateFormat), \"\(type)\")"
  }

  /// The type for `CAST` that converts most values of the source's type to the destination's.
  private var castName: String? {
    switch (source, destination) {
    case (.string, .decimal): "NSDecimalNumber"
    case (.string, let type) where type.isNumeric || type == .boolean: "NSNumber"
    case (.date, .double), (.date, .decimal), (.boolean, .double), (.boolean, .decimal): "NSNumber"
    case (let type, .string) where type.isNumeric || [.boolean, .uuid, .uri].contains(type): "NSString"
    case (.integer64, .date), (.double, .date): "NSDate"
    case (.string, .uuid): "NSUUID"
    default: nil
    }
  }

  /// True when a value may lie outside the destination's range.
  package var mayOverflow: Bool {
    guard isPossible, !isIdentity, let limits = destination.magnitude, let given = source.magnitude else {
      return false
    }
    return given > limits
  }

  /// True when converting a value within the destination's range may change it.
  ///
  /// A fraction or a large whole number may change, and so may a number other than 0 and 1 that becomes a truth value.
  /// A store keeps Float and Decimal as doubles, and whole numbers in a decimal's column unchanged.
  package var mayChangeValues: Bool {
    guard isPossible, !isIdentity else { return false }
    if destination.isInteger { return !source.isInteger && source != .boolean }
    return source.isInteger && destination == .boolean
      || source == .integer64 && (destination == .double || destination == .float)
  }
}

extension AttributeType {
  /// The rank of the type's range: a larger range has a higher rank.
  fileprivate var magnitude: Int? {
    switch self {
    case .integer16: 16
    case .integer32: 32
    case .integer64: 64
    case .float: 128
    // A store keeps a decimal as a double.
    case .double, .decimal: 1024
    default: nil
    }
  }
}
