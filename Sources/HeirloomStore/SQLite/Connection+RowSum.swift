import CHeirloomSQLite

extension Connection {
  /// The name of the aggregate that ``registerRowSum()`` makes available.
  package static let rowSum = "heirloom_row_sum"

  /// Makes an aggregate available in SQL: the ``RowSum`` of rows, given by a key and any number of values.
  ///
  /// - Throws: ``SQLiteError``.
  package func registerRowSum() throws(SQLiteError) {
    // Only our own statements may call it, nothing in a schema.
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
    let status = sqlite3_create_function_v2(
      try openHandle(), Self.rowSum, -1, flags, nil, nil,
      { context, count, values in
        guard let values, count > 0, let sum = Connection.sum(of: context, size: 8) else {
          return sqlite3_result_error_nomem(context)
        }
        var row = RowDigest(key: sqlite3_value_int64(values[0]))
        for index in 1..<max(1, Int(count)) { Connection.take(values[index], into: &row) }
        sum.pointee.add(row)
      },
      { context in
        // Without a row there is no memory.
        let value = Connection.sum(of: context, size: 0)?.pointee.value ?? 0
        sqlite3_result_int64(context, Int64(bitPattern: value))
      }, nil)
    try check(status, sql: nil)
  }

  /// Returns the memory of a statement's sum, which SQLite fills with zeros at the first row.
  private static func sum(of context: OpaquePointer?, size: Int32) -> UnsafeMutablePointer<RowSum>? {
    sqlite3_aggregate_context(context, size)?.assumingMemoryBound(to: RowSum.self)
  }

  private static func take(_ value: OpaquePointer?, into row: inout RowDigest) {
    switch sqlite3_value_type(value) {
    case SQLITE_NULL: row.takeNull()
    case SQLITE_INTEGER, SQLITE_FLOAT: row.take(sqlite3_value_double(value))
    case let type:
      let isText = type == SQLITE_TEXT
      // The length comes second: the first call may convert a text.
      let start = isText ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
      let count = start == nil ? 0 : Int(sqlite3_value_bytes(value))
      row.take(UnsafeRawBufferPointer(start: start, count: count), isText: isText)
    }
  }
}
