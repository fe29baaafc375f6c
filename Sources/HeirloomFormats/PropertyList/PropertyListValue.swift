/// A value of a property list.
package enum PropertyListValue: Hashable, Sendable {
  /// Null, which archives contain for missing objects.
  case null
  /// A truth value.
  case boolean(Bool)
  /// A whole number.
  case integer(Int64)
  /// A whole number of more than 64 signed bits, such as a large unsigned one: two's complement in two halves.
  case wideInteger(high: Int64, low: UInt64)
  /// A floating-point number.
  case real(Double)
  /// Text.
  case string(String)
  /// Seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  /// Bytes.
  case data([UInt8])
  /// A reference in a keyed archive: a position in its table of objects.
  case uid(Int)
  /// A list.
  case array([PropertyListValue])
  /// Values by key.
  case dictionary([String: PropertyListValue])
}

extension PropertyListValue {
  /// The value for a key; `nil` if there is none or this is not a dictionary.
  package subscript(_ key: String) -> PropertyListValue? {
    guard case .dictionary(let values) = self else { return nil }
    return values[key]
  }

  /// The text; `nil` for another value.
  package var stringValue: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }

  /// The whole number; `nil` for another value, and for one of more than 64 signed bits.
  package var integerValue: Int64? {
    guard case .integer(let value) = self else { return nil }
    return value
  }

  /// The bytes; `nil` for another value.
  package var dataValue: [UInt8]? {
    guard case .data(let value) = self else { return nil }
    return value
  }

  /// The elements; `nil` for another value.
  package var arrayValue: [PropertyListValue]? {
    guard case .array(let value) = self else { return nil }
    return value
  }

  /// The values by key; `nil` for another value.
  package var dictionaryValue: [String: PropertyListValue]? {
    guard case .dictionary(let value) = self else { return nil }
    return value
  }
}
