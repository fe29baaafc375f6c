import HeirloomMapping
import HeirloomStore

struct RowDecisions {
  /// The step that finds the rows, before any are copied.
  var findSteps: [MigrationStep] = []
  /// The steps that change the candidate, after rows and links exist and before indexes do.
  var decisionSteps: [MigrationStep] = []
  /// The number of removed objects, by table.
  var removedRows: [String: Int64] = [:]
  /// The number of removed objects, by destination entity.
  var removedObjects: [String: Int64] = [:]
  /// The temporary tables of removed objects while the candidate is built.
  var removals: [RemovedObjects] = []
  /// The final number of links, by table.
  var linkRows: [String: Int64] = [:]
  var outcomes: [DecisionOutcome] = []
  /// The entries of the account that decisions make.
  var entries: [CountedEntry] = []
  var blockers: [MigrationBlocker] = []
  /// The condition that no decision affected the row with the key `pk`, by table.
  var untouched: [String: String] = [:]
  var checks: [ProofCheck] = []
  /// The query for the rows that are written to the quarantine file.
  var quarantine: QuarantineQuery?

  func concerns(_ table: String) -> Bool { untouched[table] != nil || linkRows[table] != nil }
}

/// Statements that run while a plan is made, to count, and again when the candidate is built.
struct CountedStatements {
  let connection: Connection
  private(set) var statements: [PlannedStatement] = []

  init(connection: Connection) {
    self.connection = connection
  }

  /// Creates a table or an index.
  mutating func define(_ sql: String) throws(SQLiteError) {
    try connection.execute(sql)
    statements.append(PlannedStatement(sql))
  }

  /// Changes rows of a temporary table, and keeps the statement only if it changes any.
  ///
  /// The rows of a held store don't change, so the statement has the same effect when it runs again.
  @discardableResult
  mutating func change(_ sql: String) throws(SQLiteError) -> Int64 {
    try connection.execute(sql)
    let rows = connection.changes
    if rows > 0 { statements.append(PlannedStatement(sql, expectedRows: rows)) }
    return rows
  }
}
