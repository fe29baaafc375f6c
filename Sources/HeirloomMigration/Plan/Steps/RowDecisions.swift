import HeirloomMapping
import HeirloomStore

struct RowDecisions {
  /// They run before any rows are copied.
  var findSteps: [MigrationStep] = []
  /// They run after rows and links exist and before indexes do.
  var decisionSteps: [MigrationStep] = []
  /// By table.
  var removedRows: [String: Int64] = [:]
  /// By destination entity.
  var removedObjects: [String: Int64] = [:]
  var removals: [RemovedObjects] = []
  /// Final numbers, by table.
  var linkRows: [String: Int64] = [:]
  var outcomes: [DecisionOutcome] = []
  var entries: [CountedEntry] = []
  var blockers: [MigrationBlocker] = []
  /// The condition that no decision affected the row with the key `pk`, by table.
  var untouched: [String: String] = [:]
  var checks: [ProofCheck] = []
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

  mutating func define(_ sql: String) throws(SQLiteError) {
    try connection.execute(sql)
    statements.append(PlannedStatement(sql))
  }

  /// A held store's rows don't change, so the statement has the same effect when it runs again.
  @discardableResult
  mutating func change(_ sql: String) throws(SQLiteError) -> Int64 {
    try connection.execute(sql)
    let rows = connection.changes
    if rows > 0 { statements.append(PlannedStatement(sql, expectedRows: rows)) }
    return rows
  }
}
