import CHeirloomSQLite

extension Connection {
  /// Prepares exactly one statement, whose identifiers are quoted and whose values are `?1`, `?2` and so on.
  ///
  /// A persistent statement is one that is kept for many runs.
  package func prepare(_ sql: String, isPersistent: Bool = false) throws(SQLiteError) -> Statement {
    try Statement(connection: self, sql: sql, isPersistent: isPersistent)
  }

  /// Runs one statement to its end and discards its rows; the first value is bound to `?1`.
  package func execute(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) {
    let statement = try prepare(sql)
    try statement.bind(values)
    try statement.run()
  }

  /// Runs statements that are separated by semicolons; after an error, those before it are done.
  package func executeScript(_ script: String) throws(SQLiteError) {
    try loadSchema()
    try check(sqlite3_exec(try openHandle(), script, nil, nil, nil), sql: script)
  }

  /// Returns the first column of a statement's first row; `nil` if there is no row.
  package func firstValue(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> SQLiteValue? {
    let statement = try prepare(sql)
    try statement.bind(values)
    return try statement.step() ? statement.value(at: 0) : nil
  }

  /// Returns the integer in the first column of a statement's first row; `nil` if there is no row or no integer.
  package func firstInteger(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> Int64? {
    try firstValue(sql, values)?.integer
  }

  /// Returns all rows of a statement, for small results.
  package func rows(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> [[SQLiteValue]] {
    let statement = try prepare(sql)
    try statement.bind(values)
    var rows: [[SQLiteValue]] = []
    while try statement.step() {
      var row: [SQLiteValue] = []
      for column in 0..<statement.columnCount { row.append(statement.value(at: column)) }
      rows.append(row)
    }
    return rows
  }

  // MARK: Transactions

  /// Runs a body in a transaction that holds the write lock from its start.
  ///
  /// The first error is thrown: an error while rolling back is dropped. Statements that are still in the middle of
  /// their rows keep SQLite from committing. The body must not end the transaction itself.
  package func transaction<Value, Failure: Error>(
    wrapping: (SQLiteError) -> Failure, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try run("BEGIN IMMEDIATE", wrapping: wrapping)
    do {
      let value = try body()
      try run("COMMIT", wrapping: wrapping)
      return value
    } catch {
      // SQLite rolls back by itself after some errors, a full disk for one.
      if isInTransaction { try? execute("ROLLBACK") }
      throw error
    }
  }

  /// Runs a body in a transaction that holds the write lock from its start; an error rolls everything back.
  package func transaction<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
    try transaction(wrapping: { $0 }, body)
  }

  private func run<Failure: Error>(_ sql: String, wrapping: (SQLiteError) -> Failure) throws(Failure) {
    do { try execute(sql) } catch { throw wrapping(error) }
  }

  // MARK: Other databases

  /// The mode in which another file is attached.
  package enum AttachmentMode: String, Hashable, Sendable {
    /// Read access; the file must exist.
    case readOnly = "mode=ro"
    /// Read and write access; the file must exist.
    case readWrite = "mode=rw"
    /// Read access to a file that no process changes.
    case immutable = "mode=ro&immutable=1"
  }

  /// Attaches another database file under a schema name; the record notes each page that is written.
  package func attach(
    path: String, as name: String, mode: AttachmentMode = .readWrite, noting written: WrittenPages? = nil
  ) throws(SQLiteError) {
    let parameters = [mode.rawValue, written?.uriParameters].compactMap(\.self).joined(separator: "&")
    try execute("ATTACH ?1 AS \(quote(name))", [.text(databaseURI(path: path, parameters: parameters))])
  }

  /// Detaches an attached database.
  package func detach(_ name: String) throws(SQLiteError) {
    try execute("DETACH \(quote(name))")
  }

  // MARK: Cancelling

  /// Calls a closure from time to time while statements run; if it returns true, the statement fails.
  ///
  /// `steps` is the number of SQLite's virtual machine steps between two calls; 1000 take a few microseconds. The
  /// statement's error has ``SQLiteError/isInterrupt``.
  package func interrupt(
    every steps: Int32, if shouldInterrupt: @escaping () -> Bool
  ) throws(SQLiteError) {
    _ = try openHandle()
    (interruption, interruptionSteps) = (shouldInterrupt, max(1, steps))
    // While the schema is unread, `loadSchema()` has yet to install the handler.
    if !needsSchema { installInterruption() }
  }

  /// The number of rows that the running statement has read in full table scans.
  ///
  /// See https://www.sqlite.org/c3ref/c_stmtstatus_counter.html
  package var scannedRows: Int64 {
    var statement = sqlite3_next_stmt(handle, nil)
    while let candidate = statement, sqlite3_stmt_busy(candidate) == 0 {
      statement = sqlite3_next_stmt(handle, candidate)
    }
    return statement.map { Int64(sqlite3_stmt_status($0, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0)) } ?? 0
  }

  /// Removes the closure that is called while statements run.
  package func removeInterruption() throws(SQLiteError) {
    _ = try openHandle()
    interruption = nil
    if !needsSchema { installInterruption() }
  }
}
