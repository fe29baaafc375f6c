import HeirloomMapping
import HeirloomStore

/// What decisions do to the rows of a candidate.
struct RowSettlement {
  /// The step that finds the rows, before any are copied.
  var findSteps: [MigrationStep] = []
  /// The steps that change the candidate, after rows and links are there and before indexes are.
  var settleSteps: [MigrationStep] = []
  /// Objects that don't stay, by table.
  var removedRows: [String: Int64] = [:]
  /// The same by the entity of the destination.
  var removedObjects: [String: Int64] = [:]
  /// Where removed objects are found while the candidate is built.
  var removals: [RemovedObjects] = []
  /// The links that there are in the end, by table.
  var linkRows: [String: Int64] = [:]
  /// What became of each decision.
  var outcomes: [DecisionOutcome] = []
  /// What decisions take away.
  var losses: [MigrationLoss] = []
  /// What still has to be decided.
  var blockers: [MigrationBlocker] = []
  /// The condition that no decision touched the row with the key `pk`, by table.
  var untouched: [String: String] = [:]
  /// What the candidate must come to.
  var checks: [ProofCheck] = []
  /// The rows for the file.
  var quarantine: QuarantineQuery?

  /// Whether decisions change links or rows of a table.
  func concerns(_ table: String) -> Bool { untouched[table] != nil || linkRows[table] != nil }
}

/// Statements that are carried out while a plan is made, to count, and again when the candidate is built.
struct CountedStatements {
  let connection: Connection
  /// The statements that did something.
  private(set) var statements: [PlannedStatement] = []

  init(connection: Connection) {
    self.connection = connection
  }

  /// Makes a table or an index.
  mutating func define(_ sql: String) throws(SQLiteError) {
    try connection.execute(sql)
    statements.append(PlannedStatement(sql))
  }

  /// Changes rows; a statement that changes none is forgotten, since the rows of a store that is held are always the same.
  ///
  /// - Parameter sql: An `INSERT`, `UPDATE` or `DELETE` on a temporary table.
  /// - Returns: The number of rows.
  /// - Throws: SQLite's error.
  @discardableResult
  mutating func change(_ sql: String) throws(SQLiteError) -> Int64 {
    try connection.execute(sql)
    let rows = connection.changes
    if rows > 0 { statements.append(PlannedStatement(sql, expectedRows: rows)) }
    return rows
  }
}
