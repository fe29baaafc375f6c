import Foundation
import Heirloom
import TestSupport
import Testing

/// The findings and repairs of entity numbers and highest keys that another program wrote wrong.
///
/// Every command that is printed is run word for word.
struct NumberRepairTests {
  struct Damage: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let sql: String
    /// A repair removes the findings of these kinds.
    let kinds: Set<String>

    init(_ name: String, _ sql: String, _ kinds: String...) {
      (testDescription, self.sql, self.kinds) = (name, sql, Set(kinds))
    }
  }

  private static let damages =
    NumberedStore.wrongNumbers.flatMap { literal in
      [
        Damage("a row has \(literal)", NumberedStore.changeRows(to: literal), "unknownEntityNumber"),
        Damage("a key has \(literal)", NumberedStore.changeLinks(to: literal), "wrongDestination"),
        // Nothing else in the store makes a plan ask about this table.
        Damage(
          "a row of a table that stays has \(literal)",
          "UPDATE ZNOTE SET Z_ENT = \(literal) WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZNOTE)", "unknownEntityNumber"),
      ]
    }
    + NumberedStore.wrongMaxima.map { literal in
      Damage("the highest key is \(literal)", "UPDATE Z_PRIMARYKEY SET Z_MAX = \(literal)", "keysBehind")
    }
    + [
      Damage("entities are missing", "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME IN ('Note', 'Cat')", "missingEntityRow"),
      Damage(
        "all at once",
        "\(NumberedStore.changeRows(to: "NULL")); \(NumberedStore.changeLinks(to: "-1")); UPDATE Z_PRIMARYKEY SET Z_MAX = 0;"
          + "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Visit'", "unknownEntityNumber", "wrongDestination", "keysBehind",
        "missingEntityRow"),
    ]

  private static func findings(_ tool: Tool, _ store: URL, _ more: String...) throws -> [(
    kind: String, message: String
  )] {
    let json = try tool.run(["verify", store.path, "--json"] + more).json()
    return try #require(json["findings"] as? [[String: Any]]).map {
      ($0["kind"] as? String ?? "", $0["message"] as? String ?? "")
    }
  }

  private static func run(_ tool: Tool, _ command: String) throws -> Tool.Outcome {
    let words = command.split(separator: " ").map(String.init)
    #expect(words.first == "heirloom" && !words.contains { ["MODEL", "FILE", "STORE"].contains($0) }, "\(command)")
    return tool.run(Array(words.dropFirst()))
  }

  private static func command(in message: String) throws -> String {
    let match = try #require(message.firstMatch(of: #/heirloom repair( --model)?( [^ ]+)+? does it\./#), "\(message)")
    return String(match.output.0.dropLast(" does it.".count))
  }

  /// Migrates to a version in which all entities have other numbers, and compares all rows.
  private static func migrateOnce(_ tool: Tool, _ store: NumberedStore, _ rows: [String]) throws {
    let model = try Notebook.write(
      try NumberedStore.model(addsFirst: true, addsColumn: true), "Last", in: store.directory)
    let outcome = tool("migrate", store.url.path, "--to", model)
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(!outcome.output.contains("What may surprise"), "\(outcome.output)")
    #expect(try NumberedStore.rows(of: store.url) == rows)
    #expect(try findings(tool, store.url).isEmpty)
  }

  @Test(.slow("each damage, mended by commands and migrated"), arguments: LongTests.selection(of: damages, every: 2))
  func `each finding names the command that removes it, and another migration keeps all`(damage: Damage) throws {
    let store = try NumberedStore()
    let rows = try NumberedStore.rows(of: store.url)
    try store.change(damage.sql)
    let damaged = try NumberedStore.rows(of: store.url)
    let tool = Tool(directory: store.directory.url)
    let found = try Self.findings(tool, store.url)
    #expect(Set(found.map(\.kind)).isSuperset(of: damage.kinds), "\(found)")
    let commands = Set(try found.map { try Self.command(in: $0.message) })
    #expect(commands == ["heirloom repair \(store.url.path)"])
    #expect(try tool("doctor", store.url.path, "--json").json()["next"] as? String == commands.first)

    let outcome = try Self.run(tool, try #require(commands.first) + " --json")
    #expect(outcome.code == 0, "\(outcome.output)")
    let told = try #require(try outcome.json()["repaired"] as? [String])
    #expect(!told.isEmpty)
    #expect(try NumberedStore.rows(of: store.url) == rows)
    #expect(try NumberedStore.recordsBehind(in: store.url) == [])
    #expect(try Self.findings(tool, store.url).isEmpty)
    #expect(try tool("doctor", store.url.path, "--json").json()["next"] as? String != commands.first)
    // The store as it was is kept.
    let kept = try #require(try StoreArchive(storeURL: store.url).previousVersions().first)
    #expect(kept.id == (try outcome.json()["retained"] as? String))
    #expect(try NumberedStore.rows(of: kept.storeURL) == damaged)
    #expect(tool("compare", store.url.path, kept.storeURL.path).code == 0)
    let again = try tool("repair", store.url.path, "--json").json()
    #expect(again["repaired"] as? [String] == [] && again["retained"] is NSNull)
    try Self.migrateOnce(tool, store, rows)
  }

  @Test func `what a repair keeps comes back by the command that it prints`() throws {
    let store = try NumberedStore()
    let rows = try NumberedStore.rows(of: store.url)
    try store.change(NumberedStore.changeRows(to: "NULL"))
    let damaged = try NumberedStore.rows(of: store.url)
    let tool = Tool(directory: store.directory.url)
    let outcome = tool("repair", store.url.path)
    let command = try #require(outcome.output.firstMatch(of: /(heirloom restore .+) brings it back\./)).output.1
    #expect(try Self.run(tool, String(command)).code == 0)
    #expect(try NumberedStore.rows(of: store.url) == damaged)
    #expect(tool("repair", store.url.path).code == 0)
    try Self.migrateOnce(tool, store, rows)
  }

  @Test(.slow("each damage, migrated and salvaged"), arguments: LongTests.selection(of: damages, every: 3))
  func `a migration and a salvage correct the same, and say it`(damage: Damage) throws {
    for command in ["migrate", "salvage"] {
      var store = try NumberedStore()
      let rows = try NumberedStore.rows(of: store.url)
      try store.change(damage.sql)
      let tool = Tool(directory: store.directory.url)
      let model = try Notebook.write(try NumberedStore.model(addsColumn: true), "Next", in: store.directory)
      let plan = tool("plan", store.url.path, "--to", model, "--json")
      #expect(plan.code == 0, "\(plan.output)")
      let outcome =
        command == "migrate"
        ? tool("migrate", store.url.path, "--to", model, "--json")
        : tool("salvage", store.url.path, "--output", store.directory.file("Salvaged.sqlite").path, "--json")
      #expect(outcome.code == 0, "\(outcome.output)")
      let key = command == "migrate" ? "warnings" : "notes"
      let told = try #require(try outcome.json()[key] as? [String])
      #expect(!told.isEmpty, "\(outcome.output)")
      // The plan has said the same before.
      if command == "migrate" {
        #expect(try plan.json()["warnings"] as? [String] == told)
      } else {
        store = store.at(store.directory.file("Salvaged.sqlite"))
      }
      #expect(try NumberedStore.rows(of: store.url) == rows)
      #expect(try NumberedStore.recordsBehind(in: store.url) == [])
      #expect(try Self.findings(tool, store.url).isEmpty)
      try Self.migrateOnce(tool, store, rows)
    }
  }

  @Test(arguments: NumberedStore.wrongNumbers)
  func `where several entities are possible, the row stays, is told, and goes to the list of cuts`(
    literal: String
  ) throws {
    let store = try NumberedStore()
    try store.change(
      "UPDATE ZANIMAL SET Z_ENT = \(literal) WHERE Z_PK = 8; \(NumberedStore.changeRows(to: literal))")
    let damaged = try NumberedStore.rows(of: store.url)
    let tool = Tool(directory: store.directory.url)
    let found = try Self.findings(tool, store.url).filter { $0.message.contains("ZANIMAL (first: Z_PK 8)") }
    #expect(found.map(\.kind) == ["unknownEntityNumber"] && !found[0].message.contains("heirloom"), "\(found)")
    let model = try Notebook.write(try NumberedStore.model(addsColumn: true), "Next", in: store.directory)
    let messages = try ["plan", "rehearse", "migrate"].map { command in
      let outcome = tool(command, store.url.path, "--to", model, "--json")
      #expect(outcome.code == 1)
      return try outcome.failure()["message"] as? String
    }
    #expect(messages[0]?.contains("ZANIMAL has rows whose entity number") == true && Set(messages).count == 1)
    #expect(try NumberedStore.rows(of: store.url) == damaged)
    // The others are repaired, and this row stays as it is.
    #expect(tool("repair", store.url.path).code == 0)
    let repaired = try NumberedStore.rows(of: store.url)
    #expect(repaired.filter { $0.hasPrefix("ZANIMAL") } == damaged.filter { $0.hasPrefix("ZANIMAL") })
    #expect(try Self.findings(tool, store.url).filter { $0.kind == "unknownEntityNumber" }.count == 1)
    let salvaged = store.directory.file("Zoo.salvaged.sqlite").path
    #expect(
      try tool("doctor", store.url.path, "--json").json()["next"] as? String
        == "heirloom salvage \(store.url.path) --output \(salvaged)")
    let outcome = tool("salvage", store.url.path, "--output", salvaged, "--json")
    #expect(outcome.code == 6)
    let cuts = try #require(try outcome.json()["cuts"] as? [[String: Any]])
    let row = cuts.first { $0["kind"] as? String == "unknownEntity" }
    #expect(row?["subject"] as? String == "ZANIMAL" && row?["count"] as? Int == 1, "\(cuts)")
  }

  @Test func `a record of history that is behind is corrected`() throws {
    let store = try NumberedStore()
    try store.change(
      """
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER);
      INSERT INTO ACHANGE VALUES (1, 16001, NULL, 1, 1), (9, 16001, NULL, 1, 2);
      INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 3), (16003, 'TRANSACTIONSTRING', 0, NULL);
      """)
    let tool = Tool(directory: store.directory.url)
    let salvaged = store.directory.file("Salvaged.sqlite")
    #expect(tool("salvage", store.url.path, "--output", salvaged.path).code == 0)
    let found = try Self.findings(tool, store.url).filter { $0.kind == "keysBehind" }
    #expect(try Self.run(tool, Self.command(in: try #require(found.first).message)).code == 0)
    for url in [store.url, salvaged] {
      let connection = try Connection(reading: url)
      #expect(
        try connection.rows("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
          == [[.integer(16001), .integer(9)], [.integer(16003), .null]])
      #expect(try Self.findings(tool, url).filter { $0.kind == "keysBehind" }.isEmpty)
    }
  }

  @Test func `a model that only the command line names is in the command that is advised`() throws {
    let store = try NumberedStore()
    let rows = try NumberedStore.rows(of: store.url)
    let model = try Notebook.write(NumberedStore.model(), "First", in: store.directory)
    try store.change("DELETE FROM Z_MODELCACHE; UPDATE ZNOTE SET Z_ENT = NULL")
    let tool = Tool(directory: store.directory.url)
    #expect(try Self.findings(tool, store.url).map(\.kind) == ["unknownModel", "missingModelCache"])
    let found = try Self.findings(tool, store.url, "--model", model).filter { $0.kind == "unknownEntityNumber" }
    let command = try Self.command(in: try #require(found.first).message)
    #expect(command == "heirloom repair \(store.url.path) --model \(model)")
    let next = try tool("doctor", store.url.path, "--model", model, "--json").json()["next"] as? String
    #expect(next == command)
    let outcome = try Self.run(tool, command)
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try NumberedStore.rows(of: store.url) == rows)
  }

  /// Real stores, whose own rows are what a repair has to come to.
  @Test(
    .enabled(if: Corpus.isPresent, Corpus.absence), .slow("every real store, damaged and repaired"),
    arguments: LongTests.selection(of: Corpus.storePaths, every: 4))
  func `a real store whose numbers were overwritten comes out as it was`(path: String) throws {
    let directory = try TemporaryDirectory()
    let url = try Corpus.copyStore(path, to: directory)
    let tool = Tool(directory: directory.url)
    // Some have no model in them.
    guard try tool("verify", url.path, "--json").json()["modelFits"] as? Bool == true else { return }
    let rows = try Self.allRows(of: url)
    let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
    var changes: Int64 = 0
    func change(_ sql: String) throws {
      try connection.execute(sql)
      changes += connection.changes
    }
    let list = try connection.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000")
    for entity in list where entity[2] == .integer(0) {
      let table = quote("Z" + (entity[1].text ?? "").uppercased())
      let isAlone = !list.contains { $0[2] == entity[0] }
      if isAlone {
        try change("UPDATE \(table) SET Z_ENT = CASE Z_PK % 3 WHEN 0 THEN NULL WHEN 1 THEN 'x' ELSE -1 END")
      }
      for row in try connection.rows(
        "SELECT name FROM pragma_table_info('\("Z" + (entity[1].text ?? "").uppercased())')")
      {
        guard let name = row[0].text, let match = name.firstMatch(of: #/^Z\d+_(.+)$/#), name != "Z_FOK_" else {
          continue
        }
        try change("UPDATE \(table) SET \(quote(name)) = -1 WHERE \(quote("Z\(match.output.1)")) NOT NULL")
      }
    }
    try change("UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_SUPER = 0 AND Z_MAX > 0")
    try connection.close()
    // One of them has no rows.
    guard changes > 0 else { return }
    let outcome = tool("repair", url.path)
    #expect(outcome.code == 0 && outcome.output.contains("was repaired"), "\(outcome.output) \(outcome.error)")
    #expect(try Self.allRows(of: url) == rows)
    let kinds = Set(try Self.findings(tool, url).map(\.kind))
    #expect(kinds.isDisjoint(with: ["unknownEntityNumber", "wrongDestination", "keysBehind"]), "\(kinds)")
  }

  /// Of all tables but metadata and highest keys.
  private static func allRows(of url: URL) throws -> [String: [[SQLiteValue]]] {
    let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
    var rows: [String: [[SQLiteValue]]] = [:]
    for row in try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    {
      guard let name = row[0].text, name != "Z_METADATA" else { continue }
      let columns = name == "Z_PRIMARYKEY" ? "Z_ENT, Z_NAME, Z_SUPER" : "*"
      rows[name] = try connection.rows("SELECT \(columns) FROM \(quote(name)) ORDER BY 1")
    }
    try connection.close()
    return rows
  }
}
