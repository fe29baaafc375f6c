import CHeirloomSQLite

extension Connection {
  /// Copies the main database with its `-wal`, page by page and as one state, into a new file.
  ///
  /// - Parameters:
  ///   - path: The file, which must not exist.
  ///   - isCancelled: Asked from time to time whether to stop.
  /// - Throws: ``SQLiteError``, with ``SQLiteError/isInterrupt`` when it was cancelled.
  package func backUp(to path: String, isCancelled: () -> Bool) throws(SQLiteError) {
    let source = try openHandle()
    try loadSchema()
    let copy = try Connection(path: path, mode: .createExclusively(), options: .building)
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
    try copy.close()
  }
}
