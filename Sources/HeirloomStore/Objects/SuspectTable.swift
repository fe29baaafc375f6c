package struct Suspect: Equatable, Sendable {
  package let entity: Int
  package let primaryKey: Int64
}

/// Rows that a save would reject; many, because code may change all and correct them later.
struct SuspectTable {
  private static let table = quote("heirloom_suspects")
  private static let nobody: Int64 = -1

  private let connection: Connection
  private let statements: StatementCache
  private var hasUnclaimed = false

  init(connection: Connection, statements: StatementCache) throws(SQLiteError) {
    self.connection = connection
    self.statements = statements
    try connection.execute("DROP TABLE IF EXISTS temp.\(Self.table)")
    try connection.execute(
      "CREATE TEMP TABLE \(Self.table) (holder INTEGER, entity INTEGER, key INTEGER,"
        + " PRIMARY KEY (holder, entity, key)) WITHOUT ROWID")
  }

  mutating func note(_ suspect: Suspect) throws(SQLiteError) {
    hasUnclaimed = true
    try statements.run(
      "INSERT OR IGNORE INTO temp.\(Self.table) VALUES (?1, ?2, ?3)",
      [.integer(Self.nobody), .integer(Int64(suspect.entity)), .integer(suspect.primaryKey)])
  }

  /// Only those recorded since the last call.
  mutating func leave(to holder: Int) throws(SQLiteError) {
    guard hasUnclaimed else { return }
    hasUnclaimed = false
    try connection.execute(
      "UPDATE OR REPLACE temp.\(Self.table) SET holder = ?1 WHERE holder = ?2",
      [.integer(Int64(holder)), .integer(Self.nobody)])
  }

  func take(leftTo holder: Int) throws(SQLiteError) -> [Suspect] {
    let rows = try connection.rows(
      "SELECT entity, key FROM temp.\(Self.table) WHERE holder = ?1 ORDER BY entity, key LIMIT 1000",
      [.integer(Int64(holder))])
    guard let last = rows.last else { return [] }
    try connection.execute(
      "DELETE FROM temp.\(Self.table) WHERE holder = ?1 AND (entity, key) <= (?2, ?3)",
      [.integer(Int64(holder)), last[0], last[1]])
    return rows.compactMap { row in
      guard let entity = row[0].integer.flatMap({ Int(exactly: $0) }), let key = row[1].integer else { return nil }
      return Suspect(entity: entity, primaryKey: key)
    }
  }

  func remove() throws(SQLiteError) {
    try connection.execute("DROP TABLE IF EXISTS temp.\(Self.table)")
  }
}
