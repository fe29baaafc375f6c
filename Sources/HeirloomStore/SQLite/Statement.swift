import CHeirloomSQLite

/// Parameter positions count from 1 and columns from 0, as in SQLite; values are copied.
package struct Statement: ~Copyable {
  package let sql: String
  /// Retained, because the database must not close before the statement is finalized.
  private let connection: Connection
  private let handle: OpaquePointer

  init(connection: Connection, sql: String, isPersistent: Bool) throws(SQLiteError) {
    let database = try connection.openHandle()
    try connection.loadSchema()
    var text = sql
    var prepared: OpaquePointer?
    let flags: UInt32 = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let (status, hasTail) = text.withUTF8 { bytes -> (Int32, Bool) in
      // The bytes of a Swift string are not terminated, so their count is given.
      guard let count = Int32(exactly: bytes.count), let base = bytes.baseAddress else { return (SQLITE_TOOBIG, false) }
      return base.withMemoryRebound(to: CChar.self, capacity: bytes.count) { start in
        var tail: UnsafePointer<CChar>?
        let status = sqlite3_prepare_v3(database, start, count, flags, &prepared, &tail)
        let used = tail.map { start.distance(to: $0) } ?? bytes.count
        let isBlank = bytes[min(max(0, used), bytes.count)...].allSatisfy { $0 <= 0x20 || $0 == UInt8(ascii: ";") }
        return (status, !isBlank)
      }
    }
    guard status == SQLITE_OK else { throw connection.error(status, sql: sql) }
    guard let prepared, !hasTail else {
      sqlite3_finalize(prepared)
      throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "expected exactly one statement", sql: sql)
    }
    self.sql = sql
    self.connection = connection
    handle = prepared
  }

  deinit {
    sqlite3_finalize(handle)
  }

  // MARK: Binding

  /// Their number only if no position is skipped.
  package var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  package func bind(_ value: SQLiteValue, at position: Int) throws(SQLiteError) {
    switch value {
    case .null: try bindNull(at: position)
    case .integer(let integer): try bind(integer, at: position)
    case .real(let real): try bind(real, at: position)
    case .text(let text): try bind(text, at: position)
    case .blob(let bytes): try bind(bytes, at: position)
    }
  }

  package func bind(_ values: [SQLiteValue]) throws(SQLiteError) {
    guard values.count == parameterCount else {
      throw SQLiteError(
        extendedCode: SQLITE_RANGE, message: "\(values.count) values for \(parameterCount) parameters", sql: sql)
    }
    for (index, value) in values.enumerated() { try bind(value, at: index + 1) }
  }

  package func bindNull(at position: Int) throws(SQLiteError) {
    try check(sqlite3_bind_null(handle, try parameter(position)))
  }

  package func bind(_ value: Int64, at position: Int) throws(SQLiteError) {
    try check(sqlite3_bind_int64(handle, try parameter(position), value))
  }

  package func bind(_ value: Double, at position: Int) throws(SQLiteError) {
    try check(sqlite3_bind_double(handle, try parameter(position), value))
  }

  package func bind(_ value: String, at position: Int) throws(SQLiteError) {
    let parameter = try parameter(position)
    var value = value
    let status = value.withUTF8 { bytes -> Int32 in
      // A null pointer would bind NULL.
      guard let base = bytes.baseAddress else {
        return sqlite3_bind_text(handle, parameter, "", 0, heirloom_sqlite_transient())
      }
      return base.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
        sqlite3_bind_text64(
          handle, parameter, $0, UInt64(bytes.count), heirloom_sqlite_transient(), UInt8(SQLITE_UTF8))
      }
    }
    try check(status)
  }

  package func bind(_ value: [UInt8], at position: Int) throws(SQLiteError) {
    let parameter = try parameter(position)
    let status = value.withUnsafeBytes { bytes -> Int32 in
      // A null pointer would bind NULL, and so would an empty array's.
      guard let base = bytes.baseAddress, bytes.count > 0 else { return sqlite3_bind_zeroblob(handle, parameter, 0) }
      return sqlite3_bind_blob64(handle, parameter, base, UInt64(bytes.count), heirloom_sqlite_transient())
    }
    try check(status)
  }

  /// The bytes must stay where they are until the parameter is bound again.
  func bindUnownedText(_ bytes: UnsafeRawBufferPointer, at position: Int) throws(SQLiteError) {
    let parameter = try parameter(position)
    guard let base = bytes.baseAddress, bytes.count > 0 else {
      return try check(sqlite3_bind_text(handle, parameter, "", 0, heirloom_sqlite_transient()))
    }
    let text = base.assumingMemoryBound(to: CChar.self)
    try check(sqlite3_bind_text64(handle, parameter, text, UInt64(bytes.count), nil, UInt8(SQLITE_UTF8)))
  }

  /// The bytes must stay where they are until the parameter is bound again.
  func bindUnownedBytes(_ bytes: UnsafeRawBufferPointer, at position: Int) throws(SQLiteError) {
    let parameter = try parameter(position)
    guard let base = bytes.baseAddress, bytes.count > 0 else {
      return try check(sqlite3_bind_zeroblob(handle, parameter, 0))
    }
    try check(sqlite3_bind_blob64(handle, parameter, base, UInt64(bytes.count), nil))
  }

  package func bind(copyOf column: Int, of row: borrowing Statement, at position: Int) throws(SQLiteError) {
    guard let value = sqlite3_column_value(row.handle, Int32(truncatingIfNeeded: column)) else {
      return try bindNull(at: position)
    }
    try check(sqlite3_bind_value(handle, try parameter(position), value))
  }

  package func clearBindings() {
    sqlite3_clear_bindings(handle)
  }

  private func parameter(_ position: Int) throws(SQLiteError) -> Int32 {
    guard let parameter = Int32(exactly: position), parameter > 0 else {
      throw SQLiteError(extendedCode: SQLITE_RANGE, message: "there is no parameter \(position)", sql: sql)
    }
    return parameter
  }

  // MARK: Running

  /// Returns false after the last row; then, and after an error, the statement is reset.
  package func step() throws(SQLiteError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW:
      return true
    case SQLITE_DONE:
      sqlite3_reset(handle)
      return false
    case let code:
      let error = connection.error(code, sql: sql)
      sqlite3_reset(handle)
      throw error
    }
  }

  package func run() throws(SQLiteError) {
    while try step() {}
  }

  /// Bound values stay.
  package func reset() {
    // The result repeats the error of the last step, which has been thrown already.
    sqlite3_reset(handle)
  }

  package func forEachRow(_ body: (borrowing Statement) throws(SQLiteError) -> Void) throws(SQLiteError) {
    defer { reset() }
    while try step() { try body(self) }
  }

  private func check(_ status: Int32) throws(SQLiteError) {
    guard status == SQLITE_OK else { throw connection.error(status, sql: sql) }
  }

  // MARK: Columns

  package var columnCount: Int { Int(sqlite3_column_count(handle)) }

  package func columnName(at column: Int) -> String {
    sqlite3_column_name(handle, index(column)).map { String(cString: $0) } ?? ""
  }

  /// It must be read before the value is converted.
  package func storageClass(at column: Int) -> StorageClass {
    StorageClass(rawValue: sqlite3_column_type(handle, index(column))) ?? .null
  }

  package func isNull(at column: Int) -> Bool {
    storageClass(at: column) == .null
  }

  package func integer(at column: Int) -> Int64 {
    sqlite3_column_int64(handle, index(column))
  }

  package func double(at column: Int) -> Double {
    sqlite3_column_double(handle, index(column))
  }

  /// Converted as SQLite does, with invalid bytes replaced; `nil` for `NULL`.
  package func text(at column: Int) -> String? {
    guard let text = sqlite3_column_text(handle, index(column)) else { return nil }
    // The count is read second: before the conversion it may be that of another encoding.
    let count = Int(sqlite3_column_bytes(handle, index(column)))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// A text's bytes are in the database's encoding.
  package func blob(at column: Int) -> [UInt8]? {
    guard !isNull(at: column) else { return nil }
    return withBytes(at: column) { Array($0) }
  }

  /// Valid only in the call, until the statement steps; a text is in the database's encoding.
  package func withBytes<Value, Failure: Error>(
    at column: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let start = sqlite3_column_blob(handle, index(column))
    let count = Int(sqlite3_column_bytes(handle, index(column)))
    return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  /// As `withBytes(at:_:)`, but a text is UTF-8, and reading the column otherwise doesn't move it.
  package func withStoredBytes<Value, Failure: Error>(
    at column: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    switch storageClass(at: column) {
    case .blob:
      return try withBytes(at: column, body)
    case .text:
      // A text that is read as a blob may be moved when it is read as text later.
      let start = sqlite3_column_text(handle, index(column))
      let count = Int(sqlite3_column_bytes(handle, index(column)))
      return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    default:
      return try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }

  /// In bytes; 0 for a number or `NULL`.
  func size(at column: Int) -> Int {
    switch storageClass(at: column) {
    case .text, .blob: Int(sqlite3_column_bytes(handle, index(column)))
    default: 0
    }
  }

  package func value(at column: Int) -> SQLiteValue {
    switch storageClass(at: column) {
    case .null: .null
    case .integer: .integer(integer(at: column))
    case .real: .real(double(at: column))
    case .text: .text(text(at: column) ?? "")
    case .blob: .blob(blob(at: column) ?? [])
    }
  }

  private func index(_ column: Int) -> Int32 {
    // SQLite returns NULL for a column that doesn't exist.
    Int32(exactly: column) ?? -1
  }
}
