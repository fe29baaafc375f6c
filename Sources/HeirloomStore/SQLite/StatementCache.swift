/// It keeps the connection from closing until it is emptied.
package final class StatementCache {
  /// A dictionary can't hold a statement, which can't be copied.
  private final class Entry {
    let statement: Statement

    init(_ statement: consuming Statement) {
      self.statement = statement
    }
  }

  private let connection: Connection
  private let limit: Int
  private var entries: [String: Entry] = [:]

  package init(connection: Connection, limit: Int = 200) {
    self.connection = connection
    self.limit = limit
  }

  package func withStatement<Value>(
    _ sql: String, _ values: [SQLiteValue] = [], _ body: (borrowing Statement) throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    // An entry is removed while in use, because a nested use of the same text needs a statement of its own.
    let entry: Entry
    if let kept = entries.removeValue(forKey: sql) {
      entry = kept
    } else {
      entry = Entry(try connection.prepare(sql, isPersistent: true))
    }
    defer {
      entry.statement.reset()
      entry.statement.clearBindings()
      if entries.count >= limit { entries.removeAll() }
      entries[sql] = entry
    }
    try entry.statement.bind(values)
    return try body(entry.statement)
  }

  package func run(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) {
    try withStatement(sql, values) { statement throws(SQLiteError) in try statement.run() }
  }

  package func removeAll() {
    entries.removeAll()
  }
}
