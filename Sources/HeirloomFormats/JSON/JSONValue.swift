package enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  /// Without fraction and exponent.
  case integer(Int64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])
}
