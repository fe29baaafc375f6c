package enum PropertyListValue: Hashable, Sendable {
  /// Archives contain it for missing objects.
  case null
  case boolean(Bool)
  case integer(Int64)
  /// More than 64 signed bits, such as a large unsigned number: two's complement in two halves.
  case wideInteger(high: Int64, low: UInt64)
  case real(Double)
  case string(String)
  /// Seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  case data([UInt8])
  /// A reference in a keyed archive: a position in its table of objects.
  case uid(Int)
  case array([PropertyListValue])
  case dictionary([String: PropertyListValue])
}

extension PropertyListValue {
  package subscript(_ key: String) -> PropertyListValue? {
    guard case .dictionary(let values) = self else { return nil }
    return values[key]
  }

  package var stringValue: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }

  /// Also `nil` for a number of more than 64 signed bits.
  package var integerValue: Int64? {
    guard case .integer(let value) = self else { return nil }
    return value
  }

  package var dataValue: [UInt8]? {
    guard case .data(let value) = self else { return nil }
    return value
  }

  package var arrayValue: [PropertyListValue]? {
    guard case .array(let value) = self else { return nil }
    return value
  }

  package var dictionaryValue: [String: PropertyListValue]? {
    guard case .dictionary(let value) = self else { return nil }
    return value
  }
}
