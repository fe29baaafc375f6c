import Foundation
import HeirloomFuzzing
import HeirloomStore
import TestSupport
import Testing

/// An oddity of a store that a plan, a rehearsal and a migration must judge alike.
private struct Oddity: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let isRefused: Bool
  let change: @Sendable (URL) throws -> Void

  /// The statements may write the schema.
  static func sql(_ name: String, isRefused: Bool = true, _ script: String) -> Oddity {
    Oddity(testDescription: name, isRefused: isRefused) { url in
      let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
      try connection.executeScript(script)
      try connection.close()
    }
  }

  private static func schema(_ change: String) -> String {
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET \(change); PRAGMA writable_schema = OFF"
  }

  static let all: [Oddity] = [
    .sql("an app's table and index", isRefused: false, "CREATE TABLE app(a, b); CREATE INDEX i ON app(a, lower(b))"),
    .sql(
      "an app's check that its rows don't meet", isRefused: false,
      "CREATE TABLE app(a CHECK(a > 3)); PRAGMA ignore_check_constraints = ON; INSERT INTO app VALUES (1)"),
    .sql(
      "a collation of the app in a column of the model",
      schema("sql = replace(sql, 'ZNAME VARCHAR', 'ZNAME VARCHAR COLLATE own') WHERE name = 'ZITEM'")),
    .sql(
      "a collation of the app in its own table",
      "CREATE TABLE app(a, b PRIMARY KEY); INSERT INTO app VALUES (1, 2), (3, 4);"
        + schema("sql = 'CREATE TABLE app(a, b PRIMARY KEY COLLATE own)' WHERE name = 'app'")),
    .sql(
      "a collation of the app in an index",
      "CREATE INDEX app ON ZITEM(ZNAME);"
        + schema("sql = 'CREATE INDEX app ON ZITEM(ZNAME COLLATE own)' WHERE name = 'app'")),
    .sql(
      "a function of the app in an index", isRefused: false,
      "CREATE INDEX app ON ZITEM(ZNAME);"
        + schema("sql = 'CREATE INDEX app ON ZITEM(own(ZNAME))' WHERE name = 'app'")),
    .sql(
      "a function of the app in a trigger", isRefused: false,
      "CREATE TRIGGER app AFTER UPDATE ON ZITEM BEGIN SELECT own(1); END"),
    .sql(
      "a function of the app in a default", isRefused: false,
      "CREATE TABLE app(a DEFAULT (1)); INSERT INTO app VALUES (1);"
        + schema("sql = 'CREATE TABLE app(a DEFAULT (own(1)))' WHERE name = 'app'")),
    .sql("a function that takes any time", "CREATE TABLE app(a, b AS (hex(a)))"),
    .sql(
      "a view in the place of the model", "DROP TABLE Z_MODELCACHE; CREATE VIEW Z_MODELCACHE AS SELECT 1 AS Z_CONTENT"),
    .sql("a view in the place of the items", "DROP TABLE ZITEM; CREATE VIEW ZITEM AS SELECT 1 AS Z_PK, 1 AS Z_ENT"),
    .sql(
      "a view in the place of the entities",
      "DROP TABLE Z_PRIMARYKEY; CREATE VIEW Z_PRIMARYKEY AS SELECT 1 AS Z_ENT, 'Item' AS Z_NAME, 0 AS Z_SUPER, 9 AS Z_MAX"
    ),
    .sql("a view with the name of a new table", "CREATE VIEW ZLIST AS SELECT 1"),
    .sql("a number of no entity", isRefused: false, "UPDATE ZITEM SET Z_ENT = 77 WHERE Z_PK = 3"),
    .sql("a number that is none", isRefused: false, "UPDATE ZITEM SET Z_ENT = 'x' WHERE Z_PK = 3"),
    .sql("no number", isRefused: false, "UPDATE ZITEM SET Z_ENT = NULL WHERE Z_PK = 3"),
    Oddity(testDescription: "a list of free pages that is damaged", isRefused: false) { url in
      try Oddity.sql("", "CREATE TABLE app(a); INSERT INTO app VALUES (zeroblob(60000)); DROP TABLE app").change(url)
      var bytes = Array(try Data(contentsOf: url))
      // These bytes hold the number of free pages: https://www.sqlite.org/fileformat2.html#the_freelist
      bytes[39] &+= 3
      try Data(bytes).write(to: url)
    },
    Oddity(testDescription: "a list of free pages that leads nowhere", isRefused: false) { url in
      try Oddity.sql("", "CREATE TABLE app(a); INSERT INTO app VALUES (zeroblob(60000)); DROP TABLE app").change(url)
      var bytes = Array(try Data(contentsOf: url))
      bytes.replaceSubrange(32..<36, with: [0, 0, 0x7F, 1])
      try Data(bytes).write(to: url)
    },
  ]
}

struct RefusalAgreementTests {
  /// Apart from the command's own words.
  private struct Answer: Equatable {
    let code: Int32
    let error: String
    let message: String
  }

  @Test(arguments: Oddity.all)
  private func `plan, rehearsal and migration refuse the same, in the same words`(oddity: Oddity) throws {
    let directory = try TemporaryDirectory()
    let models = Tool.snapshots.appendingPathComponent("Done").path
    var answers: [String: Answer] = [:]
    for command in ["plan", "rehearse", "migrate"] {
      let folder = directory.file(command)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let url = folder.appendingPathComponent("Done.sqlite")
      try HostileSchema.makeStore(at: url)
      try oddity.change(url)
      let outcome = Tool(directory: folder).run([command, url.path, "--to", models, "--json"])
      let failure = try outcome.json()["error"] as? [String: Any]
      answers[command] = Answer(
        code: outcome.code, error: failure?["code"] as? String ?? "",
        message: (failure?["message"] as? String ?? "").replacing(folder.path, with: ""))
    }
    #expect(answers["rehearse"] == answers["migrate"])
    #expect(answers["plan"] == answers["migrate"])
    #expect((answers["migrate"]?.code != 0) == oddity.isRefused, "\(answers)")
  }

  @Test(.enabled(if: geteuid() == 0, "the superuser alone gives files away"))
  func `a place that a migration refuses is a warning of plan and rehearsal`() throws {
    let directory = try TemporaryDirectory()
    let models = Tool.snapshots.appendingPathComponent("Done").path
    let url = directory.file("Done.sqlite")
    try HostileSchema.makeStore(at: url)
    let companion = url.path + ".heirloom"
    try FileManager.default.createDirectory(atPath: companion, withIntermediateDirectories: false)
    let tool = Tool(directory: directory.url)
    for (owner, isRefused) in [(UInt32(0), false), (54_321, true)] {
      #expect(chown(companion, owner, owner) == 0)
      for command in ["plan", "rehearse"] {
        let outcome = tool.run([command, url.path, "--to", models, "--json"])
        #expect(outcome.code == 0)
        let warnings = try outcome.json()["warnings"] as? [String] ?? []
        #expect(
          warnings.contains { $0.contains("fail at the store's location") && $0.contains("54321") } == isRefused,
          "\(command): \(warnings)")
      }
    }
    let outcome = tool.run(["migrate", url.path, "--to", models, "--json"])
    #expect(outcome.code == 1)
  }
}
