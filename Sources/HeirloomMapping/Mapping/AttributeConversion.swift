package import HeirloomModel

package struct AttributeConversion: Hashable, Sendable {
  package let source: AttributeType
  package let destination: AttributeType

  package init(from source: AttributeType, to destination: AttributeType) {
    self.source = source
    self.destination = destination
  }

  package var isIdentity: Bool { source == destination }

  /// Inference converts between numbers, and between truth values and integers.
  package var isPossible: Bool {
    isIdentity || source.isNumeric && destination.isNumeric || source == .boolean && destination.isInteger
      || source.isInteger && destination == .boolean
  }

  /// `nil` where inference converts, or where no expression is simple enough to suggest.
  package func expression(reading name: String) -> String? {
    guard !isPossible, let type = castName else { return nil }
    // The name may be a keyword, which must be escaped.
    let path = ValueExpression.keyPath(operand: .evaluatedObject, path: name)
    return "CAST(\(path.predicateFormat), \"\(type)\")"
  }

  /// `CAST` to this type converts most values of the source's type.
  private var castName: String? {
    switch (source, destination) {
    case (.string, .decimal): "NSDecimalNumber"
    case (.string, let type) where type.isNumeric || type == .boolean: "NSNumber"
    case (.date, .double), (.date, .decimal), (.boolean, .double), (.boolean, .decimal): "NSNumber"
    case (let type, .string) where ValueKind(type)?.hasPlainText == true: "NSString"
    case (.integer64, .date), (.double, .date): "NSDate"
    case (.string, .uuid): "NSUUID"
    default: nil
    }
  }

  package var mayOverflow: Bool {
    guard isPossible, !isIdentity, let limits = destination.magnitude, let given = source.magnitude else {
      return false
    }
    return given > limits
  }

  /// Concerns only values within the destination's range.
  ///
  /// A store keeps Float and Decimal as doubles, and whole numbers in a decimal's column unchanged.
  package var mayChangeValues: Bool {
    guard isPossible, !isIdentity else { return false }
    if destination.isInteger { return !source.isInteger && source != .boolean }
    return source.isInteger && destination == .boolean
      || source == .integer64 && (destination == .double || destination == .float)
  }
}

extension AttributeType {
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
