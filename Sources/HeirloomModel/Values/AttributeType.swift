/// The type of an attribute's value.
///
/// Raw values are the codes that model archives and version hashes use (`NSAttributeType`).
public enum AttributeType: Int, Hashable, Sendable, CaseIterable {
  /// No stored type; only a transient attribute may have it.
  case undefined = 0
  /// A signed 16-bit integer.
  case integer16 = 100
  /// A signed 32-bit integer.
  case integer32 = 200
  /// A signed 64-bit integer.
  case integer64 = 300
  /// A decimal number, which a store keeps as a double.
  case decimal = 400
  /// A 64-bit floating-point number.
  case double = 500
  /// A 32-bit floating-point number.
  case float = 600
  /// Text.
  case string = 700
  /// A truth value, stored as 0 or 1.
  case boolean = 800
  /// A point in time, stored as seconds since 2001-01-01 00:00:00 UTC.
  case date = 900
  /// Bytes.
  case binary = 1000
  /// A UUID, stored as 16 bytes.
  case uuid = 1100
  /// A URI, stored as its absolute string.
  case uri = 1200
  /// Bytes that a value transformer produces.
  case transformable = 1800
  /// An object identifier, which no model file contains.
  case objectID = 2000
  /// Several attributes under one name, stored as one column for each leaf.
  case composite = 2100
}

extension AttributeType {
  /// The name in model files and messages, such as `Integer 16`.
  public var name: String {
    switch self {
    case .undefined: "Undefined"
    case .integer16: "Integer 16"
    case .integer32: "Integer 32"
    case .integer64: "Integer 64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .boolean: "Boolean"
    case .date: "Date"
    case .binary: "Binary"
    case .uuid: "UUID"
    case .uri: "URI"
    case .transformable: "Transformable"
    case .objectID: "Object ID"
    case .composite: "Composite"
    }
  }

  /// Creates a type from its name in model files; `nil` for an unknown one.
  ///
  /// - Parameter name: A name as in ``name``.
  public init?(name: String) {
    guard let type = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = type
  }

  /// True for types of numbers that convert into each other, Boolean excluded.
  public var isNumeric: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float: true
    default: false
    }
  }

  /// True for types of whole numbers, Boolean excluded.
  public var isInteger: Bool {
    switch self {
    case .integer16, .integer32, .integer64: true
    default: false
    }
  }
}
