package enum SQLiteValue: Hashable, Sendable {
  case null
  case integer(Int64)
  /// SQLite stores NaN as `NULL`.
  case real(Double)
  case text(String)
  case blob([UInt8])
}

extension SQLiteValue {
  package var integer: Int64? {
    guard case .integer(let value) = self else { return nil }
    return value
  }

  package var text: String? {
    guard case .text(let value) = self else { return nil }
    return value
  }

  package var blob: [UInt8]? {
    guard case .blob(let value) = self else { return nil }
    return value
  }
}

/// Raw values are SQLite's codes.
package enum StorageClass: Int32, Hashable, Sendable {
  case integer = 1
  case real = 2
  case text = 3
  case blob = 4
  case null = 5
}
