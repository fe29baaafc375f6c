import CHeirloomSQLite

/// A database file, read and written through SQLite's C interface alone.
final class Database {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private var handle: OpaquePointer?

  init(_ path: String, isWritable: Bool = false) throws {
    let flags = isWritable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK else {
      let failure = failure("open \(path)")
      sqlite3_close_v2(handle)
      handle = nil
      throw failure
    }
    // A misspelt column is an error and no text.
    _ = heirloom_sqlite_db_config_switch(handle, SQLITE_DBCONFIG_DQS_DML, 0)
    // Those of derived attributes call functions of Core Data's.
    _ = heirloom_sqlite_db_config_switch(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    // The tests write into `sqlite_schema`.
    _ = heirloom_sqlite_db_config_switch(handle, SQLITE_DBCONFIG_DEFENSIVE, 0)
  }

  deinit { sqlite3_close_v2(handle) }

  private func failure(_ sql: String) -> Failure {
    Failure(description: "\(String(cString: sqlite3_errmsg(handle))): \(sql.prefix(300))")
  }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
  }

  func execute(_ statements: [String]) throws {
    try execute((["BEGIN"] + statements + ["COMMIT"]).joined(separator: ";\n"))
  }

  func query(_ sql: String) throws -> (columns: [String], rows: [[Cell]]) {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure(sql) }
    defer { sqlite3_finalize(statement) }
    let places = 0..<sqlite3_column_count(statement)
    let columns = places.map { sqlite3_column_name(statement, $0).map { String(cString: $0) } ?? "" }
    var rows: [[Cell]] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: rows.append(places.map { Self.cell(statement, $0) })
      case SQLITE_DONE: return (columns, rows)
      default: throw failure(sql)
      }
    }
  }

  private static func cell(_ statement: OpaquePointer?, _ place: Int32) -> Cell {
    func bytes(_ start: UnsafeRawPointer?) -> [UInt8] {
      guard let start else { return [] }
      return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, place))))
    }
    return switch sqlite3_column_type(statement, place) {
    case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, place))
    case SQLITE_FLOAT: .real(sqlite3_column_double(statement, place))
    case SQLITE_TEXT: .text(bytes(sqlite3_column_text(statement, place)))
    case SQLITE_BLOB: .blob(bytes(sqlite3_column_blob(statement, place)))
    default: .null
    }
  }
}
