import HeirloomMapping
import HeirloomStore

/// The changes that decisions make to the rows of a candidate.
struct RowDecisions {
  /// The step that finds the rows, before any are copied.
  var findSteps: [MigrationStep] = []
  /// The steps that change the candidate, after rows and links are there and before indexes are.
  var decisionSteps: [MigrationStep] = []
  /// The number of objects that don't stay, by table.
  var removedRows: [String: Int64] = [:]
  /// The number of objects that don't stay, by the entity of the destination.
  var removedObjects: [String: Int64] = [:]
  /// The places of removed objects while the candidate is built.
  var removals: [RemovedObjects] = []
  /// The number of links in the end, by table.
  var linkRows: [String: Int64] = [:]
  /// The outcome of each decision.
  var outcomes: [DecisionOutcome] = []
  /// The parts of the account that decisions are about.
  var entries: [CountedEntry] = []
  /// The blockers that still have to be decided.
  var blockers: [MigrationBlocker] = []
  /// The condition that no decision touched the row with the key `pk`, by table.
  var untouched: [String: String] = [:]
  /// The checks that the candidate must pass.
  var checks: [ProofCheck] = []
  /// The query of the rows for the file.
  var quarantine: QuarantineQuery?

  /// Returns true if decisions change links or rows of a table.
  func concerns(_ table: String) -> Bool { untouched[table] != nil || linkRows[table] != nil }
}

/// Statements that run while a plan is made, to count, and again when the candidate is built.
struct CountedStatements {
  let connection: Connection
  /// The statements that changed something.
  private(set) var statements: [PlannedStatement] = []

  init(connection: Connection) {
    self.connection = connection
  }

  /// Makes a table or an index.
  mutating func define(_ sql: String) throws(SQLiteError) {
    try connection.execute(sql)
    statements.append(PlannedStatement(sql))
  }

  /// Changes rows, and forgets a statement that changes none: the rows of a held store are always the same.
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
