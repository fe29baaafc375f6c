import Heirloom

/// The relevant comparisons of the standard proof for one migration, written by hand.
struct HandWrittenProof {
  /// After the migration.
  let path: String
  /// Before the migration; `nil` if it no longer exists, and only the new store is checked.
  let oldPath: String?
  let workload: MigrationWorkload

  func run() throws {
    let connection = try Connection(path: path, mode: .readOnly)
    try connection.execute("PRAGMA \(HandWrittenSettings.cache)")
    if let oldPath { try connection.attach(path: oldPath, as: "old", mode: .immutable) }
    let structure = try connection.firstValue("PRAGMA main.quick_check")
    guard structure == .text("ok") else { throw difference("quick_check", .text("ok"), structure) }
    for (before, after) in workload.tables {
      let rows = try connection.firstValue("SELECT COUNT(*) FROM main.\(after)")
      guard oldPath != nil else { continue }
      let expected = try connection.firstValue("SELECT COUNT(*) FROM old.\(before)")
      guard rows == expected else { throw difference("the rows of \(after)", expected, rows) }
    }
    for sql in workload.zeroes {
      let found = try connection.firstValue(sql)
      guard found == .integer(0) else { throw difference(sql, .integer(0), found) }
    }
    for (before, after) in workload.sums where oldPath != nil {
      let rows = try connection.rows(after)
      let expected = try connection.rows(before)
      guard rows == expected else { throw difference(after, expected.first?.first, rows.first?.first) }
    }
    let tables = try connection.rows("SELECT name, sql FROM main.sqlite_schema ORDER BY rowid")
    guard tables.count > 8 else { throw difference("the schema", .integer(9), .integer(Int64(tables.count))) }
    try connection.close()
  }

  private func difference(_ subject: String, _ expected: SQLiteValue?, _ found: SQLiteValue?) -> BenchmarkError {
    .differentContents(
      subject: subject, expected: expected.map { "\($0)" } ?? "nothing", found: found.map { "\($0)" } ?? "nothing")
  }
}
