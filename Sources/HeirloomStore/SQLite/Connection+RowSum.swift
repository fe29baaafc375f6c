import CHeirloomSQLite

extension Connection {
  private static let rowSumName = "heirloom_row_sum"
  private static let rowBeginName = "heirloom_row_begin"
  private static let rowDigestName = "heirloom_row_digest"
  private static let digestSumName = "heirloom_digest_sum"
  /// SQLite allows 127 arguments in a standard build.
  private static let valuesPerCall = 100

  /// For a connection with ``registerRowSum()``.
  package static func rowSum(ofKey key: String, _ values: [String]) -> String {
    guard values.count > valuesPerCall else {
      return "\(rowSumName)(\(([key] + values).joined(separator: ", ")))"
    }
    // The first digest begins with the key; each other one continues the one before. That one is the first argument,
    // because SQLite's parser keeps everything before it on a stack with room for 100 tokens.
    var digest: String?
    for start in stride(from: 0, to: values.count, by: valuesPerCall) {
      let part = values[start..<min(start + valuesPerCall, values.count)].joined(separator: ", ")
      digest = digest.map { "\(rowDigestName)(\($0), \(part))" } ?? "\(rowBeginName)(\(key), \(part))"
    }
    return "\(digestSumName)(\(digest ?? "NULL"))"
  }

  package func registerRowSum() throws(SQLiteError) {
    // Only our own statements may call them, nothing in a schema.
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
    let finish: @convention(c) (OpaquePointer?) -> Void = { context in
      // Without a row, no memory is allocated.
      let value = Connection.sum(of: context, size: 0)?.pointee.value ?? 0
      sqlite3_result_int64(context, Int64(bitPattern: value))
    }
    let rowSum = sqlite3_create_function_v2(
      try openHandle(), Self.rowSumName, -1, flags, nil, nil,
      { context, count, values in
        guard let values, count > 0, let sum = Connection.sum(of: context, size: 8) else {
          return sqlite3_result_error_nomem(context)
        }
        var row = RowDigest(key: sqlite3_value_int64(values[0]))
        for index in 1..<max(1, Int(count)) { Connection.take(values[index], into: &row) }
        sum.pointee.add(row)
      }, finish, nil)
    try check(rowSum, sql: nil)
    let rowBegin = sqlite3_create_function_v2(
      try openHandle(), Self.rowBeginName, -1, flags, nil,
      { context, count, values in
        guard let values, count > 0 else { return sqlite3_result_error_nomem(context) }
        Connection.digest(RowDigest(key: sqlite3_value_int64(values[0])), values, count, context)
      }, nil, nil, nil)
    try check(rowBegin, sql: nil)
    let rowDigest = sqlite3_create_function_v2(
      try openHandle(), Self.rowDigestName, -1, flags, nil,
      { context, count, values in
        guard let values, count > 0 else { return sqlite3_result_error_nomem(context) }
        let state = UInt64(bitPattern: sqlite3_value_int64(values[0]))
        Connection.digest(RowDigest(state: state), values, count, context)
      }, nil, nil, nil)
    try check(rowDigest, sql: nil)
    let digestSum = sqlite3_create_function_v2(
      try openHandle(), Self.digestSumName, 1, flags, nil, nil,
      { context, _, values in
        guard let values, let sum = Connection.sum(of: context, size: 8) else {
          return sqlite3_result_error_nomem(context)
        }
        sum.pointee.add(RowDigest(state: UInt64(bitPattern: sqlite3_value_int64(values[0]))))
      }, finish, nil)
    try check(digestSum, sql: nil)
  }

  private static func digest(
    _ digest: RowDigest, _ values: UnsafeMutablePointer<OpaquePointer?>, _ count: Int32, _ context: OpaquePointer?
  ) {
    var row = digest
    for index in 1..<max(1, Int(count)) { take(values[index], into: &row) }
    sqlite3_result_int64(context, Int64(bitPattern: row.state))
  }

  /// SQLite fills the memory with zeros at the first row.
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
