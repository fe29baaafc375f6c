import HeirloomStore
import TestSupport
import Testing

struct RowSumTests {
  private func sum(_ rows: String...) throws -> Int64 {
    let connection = try Connection(path: ":memory:", mode: .readWrite)
    try connection.registerRowSum()
    let values = rows.isEmpty ? "SELECT 1, 1 WHERE 0" : "VALUES \(rows.map { "(\($0))" }.joined(separator: ", "))"
    let columns = rows.first.map { $0.split(separator: ",").count } ?? 2
    let names = rows.isEmpty ? ["1"] : (2...columns).map { "column\($0)" }
    return try #require(
      try connection.firstInteger(
        "SELECT \(Connection.rowSum(ofKey: rows.isEmpty ? "1" : "column1", names)) FROM (\(values))"))
  }

  @Test(arguments: [
    ["1, 2", "2, 2"], ["1, 2", "1, 3"], ["1, 2", "1, NULL"], ["1, NULL", "1, 0"], ["1, NULL", "1, ''"],
    ["1, ''", "1, x''"],
    ["1, 'a'", "1, x'61'"], ["1, '1'", "1, 1"], ["1, 'ab', 'c'", "1, 'a', 'bc'"], ["1, '', 'a'", "1, 'a', ''"],
    ["1, 'aaaaaaaa'", "1, 'aaaaaaaaaaaaaaaa'"], ["1, x'00'", "1, x'0000'"], ["1, x''", "1, x'0000000000000000'"],
    ["1, 1, 2", "1, 2, 1"], ["1, 0.5", "1, -0.5"], ["1, 1", "1, -1"], ["1, 'abcdefgh'", "1, 'abcdefgi'"],
    ["-1, 0", "1, 0"], ["1, NULL, 5", "1, 5, NULL"],
  ])
  func `another key, value, length, kind or place gives another sum`(pair: [String]) throws {
    #expect(try sum(pair[0]) != sum(pair[1]))
    // Beside other rows as well.
    #expect(try sum(pair[0], pair[0]) != sum(pair[0], pair[1]))
  }

  @Test func `the order of the rows is none of its business, their number is`() throws {
    #expect(try sum("1, 'a'", "2, 'b'", "3, NULL") == sum("3, NULL", "1, 'a'", "2, 'b'"))
    #expect(try sum("1, 'a'", "2, 'b'") != sum("1, 'b'", "2, 'a'"))
    #expect(try sum("1, 'a'", "1, 'a'") != sum("1, 'a'"))
    #expect(try sum("1, 'a'") != sum())
    #expect(try sum() == 0)
  }

  @Test(arguments: [["1, 3", "1, 3.0"], ["1, 0", "1, -0.0"], ["1, -7", "1, -7.0"]])
  func `a number is the same whichever way it is stored`(pair: [String]) throws {
    #expect(try sum(pair[0]) == sum(pair[1]))
  }

  @Test func `of a million close rows none has the digest of another`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWrite)
    try connection.registerRowSum()
    let rows: Int64 = LongTests.areOn ? 1_000_000 : 20_000
    let sums = try connection.firstInteger(
      "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))"
        + " SELECT COUNT(DISTINCT d) FROM (SELECT \(Connection.rowSum(ofKey: "i / 1000", ["i % 1000"])) AS d FROM n GROUP BY i)"
    )
    #expect(sums == rows)
  }

  private func wide(_ count: Int, _ changes: [Int: String] = [:]) -> String {
    "7, " + (0..<count).map { changes[$0] ?? "\($0)" }.joined(separator: ", ")
  }

  @Test(arguments: [99, 100, 101, 126, 127, 200, 1_999])
  func `a row of any width has a sum that each of its values changes, in its place`(count: Int) throws {
    let whole = try sum(wide(count))
    for place in Set([0, 1, 98, 99, 100, 101, 126, 199, 200, count - 2, count - 1]).filter({ $0 < count }) {
      #expect(try sum(wide(count, [place: "NULL"])) != whole)
      #expect(try sum(wide(count, [place: "'\(place)'"])) != whole)
      // Two values that change their places, within one call and from the first to the last.
      for other in [0, 99, 100, count - 1] where other != place && other < count {
        #expect(try sum(wide(count, [place: "\(other)", other: "\(place)"])) != whole)
      }
    }
    #expect(try sum(wide(count), wide(count)) != whole)
  }

  @Test func `nothing in a schema can call it`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWrite)
    try connection.registerRowSum()
    try connection.execute("CREATE TABLE t (a)")
    try connection.execute("CREATE VIEW v AS SELECT \(Connection.rowSum(ofKey: "1", ["a"])) FROM t")
    #expect(throws: SQLiteError.self) { try connection.rows("SELECT * FROM v") }
  }
}
