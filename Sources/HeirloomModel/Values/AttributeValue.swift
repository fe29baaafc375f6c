/// A value of an attribute: a default in a model, or the value in a row.
public enum AttributeValue: Hashable, Sendable {
  /// A whole number of any of the integer types.
  case integer(Int64)
  /// A floating-point number of type Double or Float.
  case double(Double)
  /// A decimal number as text, such as `-12.50`: digits, at most one decimal point, optionally an exponent.
  case decimal(String)
  /// Text.
  case string(String)
  /// A truth value.
  case boolean(Bool)
  /// Seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  /// Bytes of a binary or transformable attribute.
  case binary([UInt8])
  /// The 16 bytes of a UUID, in the order of its text.
  case uuid([UInt8])
  /// A URI's absolute string.
  case uri(String)
  /// The elements of a composite attribute by name; one without a value is omitted.
  ///
  /// A nested composite is such a value itself.
  case composite([String: AttributeValue])
}

extension AttributeValue {
  /// The elements of a composite value; `nil` for any other.
  public var elements: [String: AttributeValue]? {
    if case .composite(let elements) = self { elements } else { nil }
  }
}

extension AttributeValue: CustomStringConvertible {
  /// The value as text for display; bytes are given by their count.
  public var description: String {
    switch self {
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let text): text
    case .string(let text): "\"\(text)\""
    case .boolean(let value): value ? "YES" : "NO"
    case .date(let seconds): "\(seconds) s since 2001"
    case .binary(let bytes): "\(bytes.count) bytes"
    case .uuid(let bytes): bytes.hexadecimal
    case .uri(let text): text
    case .composite(let elements):
      "{"
        + elements.ordered { $0.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        + "}"
    }
  }
}
