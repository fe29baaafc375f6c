import Foundation
import HeirloomStore
import TestSupport
import Testing

/// Expressions and compounds of more parts than SQLite takes in a row.
struct LongExpressionTests {
  @Test(arguments: [1, 2, 100, 101, 400, 401, 1_001, 2_000, 10_001])
  func `any number of terms and queries is taken, and each counts`(count: Int) throws {
    let directory = try TemporaryDirectory()
    let connection = try Connection(path: directory.file("Store.sqlite").path, mode: .createExclusively())
    try connection.execute("CREATE TABLE t (a)")
    for value in [0, count - 1, count] { try connection.execute("INSERT INTO t VALUES (\(value))") }
    let terms = (0..<count).map { "a = \($0)" }
    #expect(
      try connection.firstInteger("SELECT COUNT(*) FROM t WHERE \(terms.chained(by: "OR"))") == 2)
    let queries = (0..<min(count, 2_000)).map { "SELECT \($0) AS n" }
    #expect(
      try connection.rows("SELECT COUNT(*), SUM(n) FROM (\(queries.united()))")[0].map(\.integer)
        == [Int64(queries.count), Int64(queries.count * (queries.count - 1) / 2)])
    try connection.close()
  }
}
