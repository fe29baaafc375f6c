import CHeirloomSQLite

extension Connection {
  /// Copies the `-wal` too, as one state; no file may be at `path`.
  package func backUp(to path: String, isCancelled: () -> Bool) throws(SQLiteError) {
    let copy = try Connection(path: path, mode: .createExclusively(), options: .building)
    try backUp(to: copy, isCancelled: isCancelled)
    try copy.close()
  }

  /// SQLite writes it to a file only when memory is short, and never if `temp_store` forbids it.
  package func backUp(isCancelled: () -> Bool) throws(SQLiteError) -> Connection {
    let isInMemory = try firstInteger("PRAGMA temp_store") == 2
    // A database without a name is temporary: https://www.sqlite.org/inmemorydb.html
    let copy = try Connection(path: "", mode: isInMemory ? .memory : .readWrite, options: .building)
    try backUp(to: copy, isCancelled: isCancelled)
    return copy
  }

  private func backUp(to copy: Connection, isCancelled: () -> Bool) throws(SQLiteError) {
    let source = try openHandle()
    try loadSchema()
    try copy.execute("PRAGMA journal_mode = OFF")
    try copy.execute("PRAGMA synchronous = OFF")
    guard let backup = sqlite3_backup_init(try copy.openHandle(), "main", source, "main") else {
      throw copy.error(SQLITE_ERROR, sql: nil)
    }
    var status = SQLITE_OK
    while status == SQLITE_OK {
      guard !isCancelled() else {
        status = SQLITE_INTERRUPT
        break
      }
      status = sqlite3_backup_step(backup, 2048)
    }
    let end = sqlite3_backup_finish(backup)
    guard status == SQLITE_DONE else { throw copy.error(status == SQLITE_OK ? end : status, sql: nil) }
  }
}
