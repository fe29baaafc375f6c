import CHeirloomSQLite
import Foundation
import Heirloom

/// Uses SQLite's C functions, as a C program would.
enum HandWrittenSplit {
  /// `path` has an empty verse table; returns the number of verses.
  static func run(storePath: String, path: String) throws -> Int64 {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    guard sqlite3_open_v2(storePath, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
      let handle
    else { throw failure("open", handle) }
    let cache = HandWrittenSettings.cache
    let settings = """
      PRAGMA \(cache); ATTACH '\(path)' AS candidate; PRAGMA candidate.\(cache);
      PRAGMA candidate.journal_mode = OFF; PRAGMA candidate.synchronous = OFF; BEGIN IMMEDIATE
      """
    guard sqlite3_exec(handle, settings, nil, nil, nil) == SQLITE_OK else { throw failure("attach", handle) }
    let count = try split(
      handle, from: "main.ZNOTE",
      into:
        "INSERT INTO candidate.ZVERSE (Z_PK, Z_ENT, Z_OPT, ZPOSITION, ZNOTE, ZTEXT) VALUES (?1, 4, 1, ?2, ?3, ?4)")
    guard sqlite3_exec(handle, "COMMIT", nil, nil, nil) == SQLITE_OK else { throw failure("commit", handle) }
    return count
  }

  /// `settings` lack `PRAGMA`; `before` and `after` run around the split, in its transaction.
  static func alter(
    path: String, settings: [String], before: String, after: String, propertyList: [UInt8]
  ) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK, let handle
    else { throw failure("open", handle) }
    let beginning = settings.map { "PRAGMA \($0);\n" }.joined() + "BEGIN IMMEDIATE;\n" + before
    guard sqlite3_exec(handle, beginning, nil, nil, nil) == SQLITE_OK else { throw failure("prepare", handle) }
    _ = try split(
      handle, from: "main.ZNOTE",
      into: "INSERT INTO main.ZVERSE (Z_PK, Z_ENT, Z_OPT, ZPOSITION, ZNOTE, ZTEXT) VALUES (?1, 4, 1, ?2, ?3, ?4)")
    guard sqlite3_exec(handle, after, nil, nil, nil) == SQLITE_OK else { throw failure("finish", handle) }
    var metadata: OpaquePointer?
    defer { sqlite3_finalize(metadata) }
    guard sqlite3_prepare_v2(handle, "UPDATE Z_METADATA SET Z_PLIST = ?1", -1, &metadata, nil) == SQLITE_OK,
      propertyList.withUnsafeBytes({
        sqlite3_bind_blob(metadata, 1, $0.baseAddress, Int32($0.count), heirloom_sqlite_transient())
      }) == SQLITE_OK, sqlite3_step(metadata) == SQLITE_DONE, sqlite3_reset(metadata) == SQLITE_OK,
      sqlite3_exec(handle, "COMMIT", nil, nil, nil) == SQLITE_OK
    else { throw failure("commit", handle) }
  }

  static func split(_ handle: OpaquePointer, from table: String, into sql: String) throws -> Int64 {
    var rows: OpaquePointer?
    var insertion: OpaquePointer?
    defer {
      sqlite3_finalize(rows)
      sqlite3_finalize(insertion)
    }
    let query = "SELECT Z_PK, ZBODY FROM \(table) ORDER BY Z_PK"
    guard
      sqlite3_prepare_v3(handle, query, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &rows, nil) == SQLITE_OK,
      sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &insertion, nil) == SQLITE_OK
    else { throw failure("prepare", handle) }
    var key: Int64 = 0
    while sqlite3_step(rows) == SQLITE_ROW {
      let note = sqlite3_column_int64(rows, 0)
      guard let text = sqlite3_column_text(rows, 1) else { continue }
      let bytes = UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(rows, 1)))
      try NoteBody.forEachSentence(of: bytes) { place, sentence in
        key += 1
        sqlite3_bind_int64(insertion, 1, key)
        sqlite3_bind_int64(insertion, 2, Int64(place))
        sqlite3_bind_int64(insertion, 3, note)
        sqlite3_bind_text(
          insertion, 4, sentence.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(sentence.count), nil)
        guard sqlite3_step(insertion) == SQLITE_DONE else { throw failure("insert", handle) }
        sqlite3_reset(insertion)
      }
    }
    return key
  }

  private static func failure(_ step: String, _ handle: OpaquePointer?) -> BenchmarkError {
    let message = handle.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? "no handle"
    return .unexpectedOutcome(expected: "the step \(step) of the hand-written split", found: message)
  }
}
