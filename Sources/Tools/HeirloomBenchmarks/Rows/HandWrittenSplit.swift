import CHeirloomSQLite

extension HandWrittenConnection {
  /// `database` has an empty verse table; returns the number of verses.
  func splitNotes(into database: String) throws -> Int64 {
    var rows: OpaquePointer?
    var insertion: OpaquePointer?
    defer {
      sqlite3_finalize(rows)
      sqlite3_finalize(insertion)
    }
    let query = "SELECT Z_PK, ZBODY FROM main.ZNOTE ORDER BY Z_PK"
    let sql =
      "INSERT INTO \(database).ZVERSE (Z_PK, Z_ENT, Z_OPT, ZPOSITION, ZNOTE, ZTEXT) VALUES (?1, 4, 1, ?2, ?3, ?4)"
    guard
      sqlite3_prepare_v3(handle, query, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &rows, nil) == SQLITE_OK,
      sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &insertion, nil) == SQLITE_OK
    else { throw failure }
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
        guard sqlite3_step(insertion) == SQLITE_DONE else { throw failure }
        sqlite3_reset(insertion)
      }
    }
    return key
  }
}
