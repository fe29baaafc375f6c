/// A value of a JSON document.
package enum JSONValue: Hashable, Sendable {
  /// Null.
  case null
  /// A truth value.
  case boolean(Bool)
  /// A number without fraction and exponent.
  case integer(Int64)
  /// Any other number.
  case double(Double)
  /// Text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// Values by key.
  case object([String: JSONValue])
}
