import Heirloom

/// The relevant comparisons of the standard proof for one migration, written by hand.
struct HandWrittenProof {
  let path: String
  /// Before the migration; `nil` if it no longer exists, and only the new store is checked.
  let oldPath: String?
  let workload: MigrationWorkload

  func run() throws {
    let connection = try Connection(path: path, mode: .readOnly)
    try connection.execute("PRAGMA \(HandWrittenSettings.cache)")
    if let oldPath { try connection.attach(path: oldPath, as: "old", mode: .immutable) }
    try require("quick_check", try connection.firstValue("PRAGMA main.quick_check"), .text("ok"))
    for (before, after) in workload.tables {
      let rows = try connection.firstValue("SELECT COUNT(*) FROM main.\(after)")
      guard oldPath != nil else { continue }
      let expected = try connection.firstValue("SELECT COUNT(*) FROM old.\(before)")
      try require("the rows of \(after)", rows, expected)
    }
    for sql in workload.zeroes { try require(sql, try connection.firstValue(sql), .integer(0)) }
    for (before, after) in workload.sums where oldPath != nil {
      let rows = try connection.rows(after)
      let expected = try connection.rows(before)
      try BenchmarkError.require(rows == expected, after, expected: "\(expected)", found: "\(rows)")
    }
    let tables = try connection.rows("SELECT name, sql FROM main.sqlite_schema ORDER BY rowid")
    try BenchmarkError.require(tables.count > 8, "the schema", expected: "more than 8 rows", found: "\(tables.count)")
    try connection.close()
  }

  private func require(_ subject: String, _ found: SQLiteValue?, _ expected: SQLiteValue?) throws(BenchmarkError) {
    try BenchmarkError.require(
      found == expected, subject, expected: String(describing: expected), found: String(describing: found))
  }
}
