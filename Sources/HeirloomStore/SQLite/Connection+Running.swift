import CHeirloomSQLite

extension Connection {
  /// A persistent statement is kept for many runs.
  package func prepare(_ sql: String, isPersistent: Bool = false) throws(SQLiteError) -> Statement {
    try Statement(connection: self, sql: sql, isPersistent: isPersistent)
  }

  package func execute(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) {
    let statement = try prepare(sql)
    try statement.bind(values)
    try statement.run()
  }

  /// After an error, the statements before it are done.
  package func executeScript(_ script: String) throws(SQLiteError) {
    try loadSchema()
    try check(sqlite3_exec(try openHandle(), script, nil, nil, nil), sql: script)
  }

  package func firstValue(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> SQLiteValue? {
    let statement = try prepare(sql)
    try statement.bind(values)
    return try statement.step() ? statement.value(at: 0) : nil
  }

  package func firstInteger(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> Int64? {
    try firstValue(sql, values)?.integer
  }

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

  /// The transaction holds the write lock from its start; the body must not end it.
  ///
  /// An error while rolling back is dropped. Statements in the middle of their rows keep SQLite
  /// from committing.
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

  package func transaction<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
    try transaction(wrapping: { $0 }, body)
  }

  private func run<Failure: Error>(_ sql: String, wrapping: (SQLiteError) -> Failure) throws(Failure) {
    do { try execute(sql) } catch { throw wrapping(error) }
  }

  package enum AttachmentMode: String, Hashable, Sendable {
    case readOnly = "mode=ro"
    case readWrite = "mode=rw"
    /// No process may change the file.
    case immutable = "mode=ro&immutable=1"
  }

  package func attach(
    path: String, as name: String, mode: AttachmentMode = .readWrite, noting written: WrittenPages? = nil
  ) throws(SQLiteError) {
    let parameters = [mode.rawValue, written?.uriParameters].compactMap(\.self).joined(separator: "&")
    try execute("ATTACH ?1 AS \(quote(name))", [.text(databaseURI(path: path, parameters: parameters))])
  }

  package func detach(_ name: String) throws(SQLiteError) {
    try execute("DETACH \(quote(name))")
  }

  /// If the closure returns true, the statement fails with ``SQLiteError/isInterrupt``.
  ///
  /// `steps` are SQLite's virtual machine steps between two calls; 1000 take a few microseconds.
  package func interrupt(
    every steps: Int32, if shouldInterrupt: @escaping () -> Bool
  ) throws(SQLiteError) {
    _ = try openHandle()
    (interruption, interruptionSteps) = (shouldInterrupt, max(1, steps))
    // While the schema is unread, `loadSchema()` has yet to install the handler.
    if !needsSchema { installInterruption() }
  }

  /// Rows read in full table scans (https://www.sqlite.org/c3ref/c_stmtstatus_counter.html).
  package var scannedRows: Int64 {
    var statement = sqlite3_next_stmt(handle, nil)
    while let candidate = statement, sqlite3_stmt_busy(candidate) == 0 {
      statement = sqlite3_next_stmt(handle, candidate)
    }
    return statement.map { Int64(sqlite3_stmt_status($0, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0)) } ?? 0
  }

  package func removeInterruption() throws(SQLiteError) {
    _ = try openHandle()
    interruption = nil
    if !needsSchema { installInterruption() }
  }
}
