import CHeirloomSQLite
import HeirloomStore

/// A connection by SQLite's C functions, as a C program has it.
struct HandWrittenConnection {
  let handle: OpaquePointer
  private let path: String

  init(path: String) throws(BenchmarkError) {
    var opened: OpaquePointer?
    guard sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
      let handle = opened
    else { throw Self.failure(path, opened) }
    (self.handle, self.path) = (handle, path)
  }

  /// The last call.
  func close() { sqlite3_close(handle) }

  /// `settings` lack `PRAGMA`.
  func begin(_ settings: [String], _ sql: String) throws(BenchmarkError) {
    try execute(settings.map { "PRAGMA \($0);\n" }.joined() + "BEGIN IMMEDIATE;\n" + sql)
  }

  func execute(_ sql: String) throws(BenchmarkError) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
  }

  /// Writes the metadata of the new version before.
  func commit(_ propertyList: [UInt8]) throws(BenchmarkError) {
    var metadata: OpaquePointer?
    defer { sqlite3_finalize(metadata) }
    guard sqlite3_prepare_v2(handle, "UPDATE Z_METADATA SET Z_PLIST = ?1", -1, &metadata, nil) == SQLITE_OK,
      propertyList.withUnsafeBytes({
        sqlite3_bind_blob(metadata, 1, $0.baseAddress, Int32($0.count), heirloom_sqlite_transient())
      }) == SQLITE_OK, sqlite3_step(metadata) == SQLITE_DONE, sqlite3_reset(metadata) == SQLITE_OK
    else { throw failure }
    try execute("COMMIT")
  }

  func check() throws(BenchmarkError) {
    var rows: OpaquePointer?
    defer { sqlite3_finalize(rows) }
    guard sqlite3_prepare_v2(handle, "PRAGMA quick_check", -1, &rows, nil) == SQLITE_OK,
      sqlite3_step(rows) == SQLITE_ROW, let text = sqlite3_column_text(rows, 0), String(cString: text) == "ok"
    else { throw failure }
  }

  var failure: BenchmarkError { Self.failure(path, handle) }

  private static func failure(_ path: String, _ handle: OpaquePointer?) -> BenchmarkError {
    let message = handle.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? "no handle"
    return .unexpectedOutcome(expected: "\(path) changed by hand", found: message)
  }
}
