/// A value as SQLite stores it.
package enum SQLiteValue: Hashable, Sendable {
  /// No value.
  case null
  /// A 64-bit integer.
  case integer(Int64)
  /// A floating-point number; SQLite stores NaN as `NULL`.
  case real(Double)
  /// Text.
  case text(String)
  /// Bytes.
  case blob([UInt8])
}

extension SQLiteValue {
  /// The integer, if this is one.
  package var integer: Int64? {
    guard case .integer(let value) = self else { return nil }
    return value
  }

  /// The text, if this is text.
  package var text: String? {
    guard case .text(let value) = self else { return nil }
    return value
  }

  /// The bytes, if this is a blob.
  package var blob: [UInt8]? {
    guard case .blob(let value) = self else { return nil }
    return value
  }
}

/// The way in which a value is stored.
///
/// Raw values are SQLite's codes.
package enum StorageClass: Int32, Hashable, Sendable {
  /// A 64-bit integer.
  case integer = 1
  /// A floating-point number.
  case real = 2
  /// Text.
  case text = 3
  /// Bytes.
  case blob = 4
  /// No value.
  case null = 5
}
