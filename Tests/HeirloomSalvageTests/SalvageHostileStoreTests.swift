import Foundation
import Heirloom
import TestSupport
import Testing
import HeirloomSalvage

/// Salvage of stores whose bytes mislead: it ends, leaves everything else alone, and reports no wrong value as right.
struct SalvageHostileStoreTests {
  static let model = Result {
    try ManagedObjectModel(entities: [
      Make.entity(
        "Record",
        [Make.attribute("name"), Make.attribute("photo", .binary), Make.attribute("note"), Make.attribute("tag")])
    ])
  }

  /// A store of records, each with a name that tells its key.
  final class Place {
    let directory: TemporaryDirectory
    let url: URL
    let output: URL
    let model: ManagedObjectModel

    init(count: Int = 40, _ sql: String = "") throws {
      directory = try TemporaryDirectory()
      url = directory.file("Diary.sqlite")
      output = directory.file("Salvaged.sqlite")
      model = try SalvageHostileStoreTests.model.get()
      let store = try PersistentStore.create(at: url, model: model)
      try store.connection.executeScript(
        """
        WITH RECURSIVE n (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < \(count))
        INSERT INTO ZRECORD (Z_PK, Z_ENT, Z_OPT, ZNAME, ZNOTE, ZTAG)
          SELECT k, 1, 1, 'record ' || k, 'note ' || k, 'tag ' || k FROM n;
        UPDATE Z_PRIMARYKEY SET Z_MAX = \(count);
        PRAGMA journal_mode = DELETE;
        """)
      try store.close()
      if !sql.isEmpty { try change(sql) }
    }

    func change(_ sql: String) throws {
      let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
      try connection.executeScript(sql)
      try connection.close()
    }

    func edit(_ body: (inout Data) throws -> Void) throws {
      var data = try Data(contentsOf: url)
      try body(&data)
      try data.write(to: url)
    }

    func salvage(models: [ManagedObjectModel]? = nil) throws -> SalvageReport {
      let before = try Data(contentsOf: url)
      defer { #expect((try? Data(contentsOf: url)) == before) }
      return try StoreSalvage(storeURL: url, models: models ?? [model]).run(to: output)
    }

    func found(_ sql: String) throws -> [[SQLiteValue]] {
      try Connection(path: url.path, mode: .immutable).rows(sql)
    }

    func rows(_ sql: String) throws -> [[SQLiteValue]] {
      try Connection(reading: output).rows(sql)
    }

    func count(_ condition: String) throws -> Int64? {
      try Connection(reading: output).firstInteger("SELECT COUNT(*) FROM ZRECORD WHERE \(condition)")
    }

    var cuts: String {
      (try? String(contentsOf: URL(fileURLWithPath: output.path + ".cuts.jsonl"), encoding: .utf8)) ?? ""
    }
  }

  @Test(arguments: [
    ["index ATTACH 'VICTIM' AS o", "index DELETE FROM o.ZRECORD"],
    ["view ATTACH 'VICTIM' AS o", "trigger DELETE FROM o.ZRECORD"],
    ["index DELETE FROM ZRECORD"], ["index DROP TABLE ZRECORD"], ["index PRAGMA user_version = 7"],
    ["index CREATE TABLE more AS WITH RECURSIVE n (k) AS (SELECT 1 UNION ALL SELECT k FROM n) SELECT k FROM n"],
    ["table CREATE TABLE more AS WITH RECURSIVE n (k) AS (SELECT 1 UNION ALL SELECT k FROM n) SELECT k FROM n"],
    ["table CREATE TABLE temp.ZRECORD (Z_PK)"], ["index CREATE INDEX more ON ZRECORD (ZNAME)"],
    ["index CREATE UNIQUE INDEX more ON app (a); DELETE FROM ZRECORD"], ["index"],
  ])
  func `a statement of the damaged file does nothing but make what it belongs to`(statements: [String]) throws {
    let place = try Place(
      "CREATE TABLE app (a INTEGER PRIMARY KEY, b); INSERT INTO app VALUES (1, 2); CREATE INDEX own ON app (b);")
    let victim = try Place()
    var script = "PRAGMA writable_schema = ON;"
    for (index, statement) in statements.enumerated() {
      let kind = statement.prefix { $0 != " " }
      let sql = statement.dropFirst(kind.count + 1).replacing("VICTIM", with: victim.url.path).replacing(
        "'", with: "''")
      let name = sql.contains("more") ? "more" : "i\(index)"
      script += "INSERT INTO sqlite_schema VALUES ('\(kind)', '\(name)', 'app', 0, '\(sql)');"
    }
    // SQLite refuses to read this, whatever the statements are.
    script += "INSERT INTO sqlite_schema VALUES ('index', 'last', 'app', 0, 'no statement');"
    try place.change(script)
    let before = try Data(contentsOf: victim.url)
    let report = try place.salvage()
    #expect(try Data(contentsOf: victim.url) == before)
    #expect(try place.count("ZNAME = 'record ' || Z_PK") == 40)
    #expect(report.objects == ["Record": 40] && !report.isComplete, "\(report.leftOut)")
    #expect(try place.rows("SELECT * FROM app") == [[.integer(1), .integer(2)]])
    #expect(
      try place.rows("SELECT name FROM sqlite_schema WHERE tbl_name = 'app' OR name = 'more' ORDER BY 1") == [
        [.text("app")], [.text("own")],
      ])
    #expect(try place.rows("PRAGMA user_version") == [[.integer(0)]])
  }
}
