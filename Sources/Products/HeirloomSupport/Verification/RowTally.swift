import HeirloomStore

/// Conditions on the rows of a table that are counted together in few passes.
struct RowTally {
  struct Check {
    /// An SQL condition on a row, called `t`.
    let condition: String
    let finding: (_ count: Int64, _ example: String) -> StoreFinding
  }

  let table: String
  /// The column whose lowest value is the example.
  let key: String
  private(set) var checks: [Check] = []

  init(table: String, key: String) {
    self.table = table
    self.key = key
  }

  mutating func add(_ condition: String, _ finding: @escaping (_ count: Int64, _ example: String) -> StoreFinding) {
    checks.append(Check(condition: condition, finding: finding))
  }

  func findings(_ connection: Connection) throws(SQLiteError) -> [StoreFinding] {
    var findings: [StoreFinding] = []
    // Far below SQLite's limit of 2000 results.
    let chunkLength = 100
    for start in stride(from: 0, to: checks.count, by: chunkLength) {
      let chunk = checks[start..<min(start + chunkLength, checks.count)]
      let terms = chunk.map { "COUNT(CASE WHEN \($0.condition) THEN 1 END)" }
      let rows = try connection.rows("SELECT \(terms.joined(separator: ", ")) FROM \(quote(table)) AS t")
      guard let row = rows.first else { continue }
      for (count, check) in zip(row, chunk) {
        guard let count = count.integer, count > 0 else { continue }
        // Nearly every count is 0, so an example is looked for only where there is one.
        let lowest = try connection.firstInteger(
          "SELECT MIN(t.\(quote(key))) FROM \(quote(table)) AS t WHERE \(check.condition)")
        findings.append(check.finding(count, lowest.map { "first: \(key) \($0)" } ?? "without a key"))
      }
    }
    return findings
  }
}
