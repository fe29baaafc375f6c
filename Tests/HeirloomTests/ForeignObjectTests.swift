import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Tables, indexes, views and triggers that no model knows.
struct ForeignObjectTests {
  @Test func `what the app made in the file travels along`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    var item = Make.entity("Item", [AttributeDescription(name: "name", type: .string)])
    let first = try ManagedObjectModel(entities: [item])
    let note = Make.attribute("note")
    item.attributes.append(note)
    let second = try ManagedObjectModel(entities: [item, EntityDescription(name: "Added")])
    try StoreGenerator.makeStore(at: store, model: first, objects: 10, seed: 1)

    let app = try Connection(path: store.path, mode: .readWrite)
    for sql in [
      "CREATE TABLE app_log (line TEXT, \"odd \"\"name\" BLOB)",
      "INSERT INTO app_log (rowid, line) VALUES (7, 'seventh'), (1000000, 'far')",
      "CREATE TABLE app_keys (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
      "INSERT INTO app_keys VALUES ('a', x'00ff'), ('b', NULL)",
      "CREATE TABLE app_serial (id INTEGER PRIMARY KEY AUTOINCREMENT, x)",
      "INSERT INTO app_serial (id, x) VALUES (41, 'x')",
      "CREATE INDEX app_log_line ON app_log (line)",
      "CREATE VIEW app_names AS SELECT ZNAME AS name FROM ZITEM",
      "CREATE TRIGGER app_watch AFTER INSERT ON app_log BEGIN INSERT INTO app_keys VALUES (NEW.line, 1); END",
      "CREATE INDEX app_item ON ZITEM (length(ZNAME))",
      "CREATE VIRTUAL TABLE app_search USING fts4(body)",
      "INSERT INTO app_search (body) VALUES ('the quick brown fox'), ('a lazy dog')",
      "CREATE VIRTUAL TABLE app_places USING rtree(id, x0, x1)",
      "INSERT INTO app_places VALUES (3, 1.5, 2.5)",
      "PRAGMA user_version = 77",
      "PRAGMA application_id = 4711",
    ] { try app.execute(sql) }
    try app.close()

    let assistant = MigrationAssistant(store, from: first, to: second)
    try assistant.migrate()
    let found = try Connection(path: store.path, mode: .readWrite)
    func value(_ sql: String) throws -> SQLiteValue? { try found.firstValue(sql) }
    #expect(
      try value("SELECT group_concat(line) FROM (SELECT rowid || line AS line FROM app_log NOT INDEXED ORDER BY rowid)")
        == .text("7seventh,1000000far"))
    #expect(try value("SELECT hex(value) FROM app_keys WHERE key = 'a'") == .text("00FF"))
    #expect(try value("SELECT seq FROM sqlite_sequence WHERE name = 'app_serial'") == .integer(41))
    #expect(try value("SELECT COUNT(*) FROM app_names") == .integer(10))
    #expect(try value("SELECT body FROM app_search WHERE app_search MATCH 'lazy'") == .text("a lazy dog"))
    #expect(try value("SELECT id FROM app_places WHERE x0 < 2 AND x1 > 2") == .integer(3))
    #expect(try value("PRAGMA user_version") == .integer(77))
    #expect(try value("PRAGMA application_id") == .integer(4711))
    #expect(
      try value("SELECT COUNT(*) FROM sqlite_schema WHERE name IN ('app_log_line', 'app_item', 'app_watch')")
        == .integer(3))
    try found.execute("INSERT INTO app_log (line) VALUES ('new')")
    #expect(try value("SELECT value FROM app_keys WHERE key = 'new'") == .integer(1))
    #expect(try value("PRAGMA integrity_check") == .text("ok"))
    withExtendedLifetime(directory) {}
  }

  @Test(arguments: [
    ("CREATE TABLE ZNOTE (mine)", "table \"ZNOTE\""), ("CREATE TABLE znote (mine)", "table \"znote\""),
    ("CREATE VIEW ZNote AS SELECT 1", "view \"ZNote\""),
    ("CREATE TABLE Z_Note_byText (mine)", "table \"Z_Note_byText\""),
    ("CREATE VIEW z_note_bytext AS SELECT 1", "view \"z_note_bytext\""),
    ("CREATE TABLE app (mine); CREATE INDEX z_note_bytext ON app (mine)", "index \"z_note_bytext\""),
  ])
  func `a table, view or index of the app where the destination needs its name stops the migration`(
    statements: String, name: String
  ) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let item = EntityDescription(name: "Item")
    let first = try ManagedObjectModel(entities: [item])
    var note = Make.entity("Note", [Make.attribute("text")])
    note.indexes = [FetchIndexDescription(name: "byText", elements: [FetchIndexElementDescription(property: "text")])]
    let second = try ManagedObjectModel(entities: [item, note])
    try StoreGenerator.makeStore(at: store, model: first, objects: 3, seed: 1)
    let app = try Connection(path: store.path, mode: .readWrite)
    for statement in statements.split(separator: ";") { try app.execute(String(statement)) }
    try app.close()
    let before = try Data(contentsOf: store)
    let assistant = MigrationAssistant(store, from: first, to: second)
    #expect {
      try assistant.migrateStore()
    } throws: { error in
      "\(error)".contains(name)
    }
    #expect(try Data(contentsOf: store) == before)
    withExtendedLifetime(directory) {}
  }

  @Test(arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter])
  func `computed columns, and views and triggers that name a column that goes, are told`(
    builder: MigrationPlan.Builder
  ) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    func model(_ names: [String], _ others: [String]) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Make.entity("Item", names.map { Make.attribute($0) }),
        Make.entity("Other", others.map { Make.attribute($0, id: $0 == "after" ? "before" : nil) }),
      ])
    }
    let (first, second) = (try model(["name", "note"], ["before"]), try model(["name"], ["after"]))
    try StoreGenerator.makeStore(at: store, model: first, objects: 3, seed: 1)
    let app = try Connection(path: store.path, mode: .readWrite)
    for sql in [
      "ALTER TABLE ZITEM ADD COLUMN size INTEGER GENERATED ALWAYS AS (length(ZNAME)) VIRTUAL",
      "CREATE VIEW stays AS SELECT ZNAME FROM ZITEM", "CREATE VIEW gone AS SELECT znote FROM \"ZITEM\"",
      "CREATE VIEW renamed AS SELECT o.ZBEFORE FROM ZOTHER AS o", "CREATE VIEW upon_gone AS SELECT * FROM gone",
      "CREATE VIEW computed AS SELECT size FROM ZITEM", "CREATE VIEW elsewhere AS SELECT 1 AS znote FROM ZOTHER",
      "CREATE TABLE log (line)",
      "CREATE TRIGGER of_log AFTER INSERT ON log BEGIN UPDATE ZITEM SET ZNOTE = NEW.line; END",
      "CREATE TRIGGER of_item AFTER UPDATE ON ZITEM BEGIN INSERT INTO log SELECT ZBEFORE FROM ZOTHER; END",
    ] { try app.execute(sql) }
    let names = try app.rows("SELECT Z_PK, ZNAME FROM ZITEM ORDER BY Z_PK")
    try app.close()
    let assistant = MigrationAssistant(store, from: first, to: second, builder: .always(builder))
    let warnings = try #require(try assistant.plan()).warnings
    func told(_ kind: String, _ name: String, _ column: String) -> Bool {
      warnings.contains { $0.hasPrefix("the app's \(kind) \"\(name)\" refers to the column \(column), ") }
    }
    #expect(told("view", "gone", "ZITEM.ZNOTE") && told("view", "upon_gone", "ZITEM.ZNOTE"))
    #expect(told("view", "renamed", "ZOTHER.ZBEFORE") && told("view", "computed", "ZITEM.size"))
    #expect(told("trigger", "of_log", "ZITEM.ZNOTE") && told("trigger", "of_item", "ZOTHER.ZBEFORE"))
    #expect(!warnings.contains { $0.contains("\"stays\"") || $0.contains("\"elsewhere\"") })
    #expect(warnings.contains { $0.hasPrefix("the app's computed column ZITEM.size is left out") })
    let report = try assistant.migrate()
    #expect(report.plan.warnings == warnings)
    let found = try Connection(path: store.path, mode: .readWrite)
    #expect(try found.rows("SELECT Z_PK, ZNAME FROM ZITEM ORDER BY Z_PK") == names)
    #expect(try found.rows("SELECT * FROM stays").count == 3)
    // Each one that is told fails, and no other.
    for view in ["gone", "renamed", "upon_gone", "computed"] {
      #expect(throws: SQLiteError.self) { try found.rows("SELECT * FROM \(view)") }
    }
    for sql in ["INSERT INTO log VALUES (1)", "UPDATE ZITEM SET ZNAME = 'x'", "ALTER TABLE ZITEM RENAME ZNAME TO ZX"] {
      #expect(throws: SQLiteError.self) { try found.execute(sql) }
    }
  }

  @Test(arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter])
  func `what the app made and names a table that goes is told`(builder: MigrationPlan.Builder) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    var entities = ["Kept", "Gone", "Old"].map { Make.entity($0, [Make.attribute("name")], []) }
    let first = try ManagedObjectModel(entities: entities)
    entities.remove(at: 1)
    entities[1] = Make.entity("New", [Make.attribute("name")], [])
    entities[1].renamingIdentifier = "Old"
    let second = try ManagedObjectModel(entities: entities)
    try StoreGenerator.makeStore(at: store, model: first, objects: 3, seed: 1)
    let app = try Connection(path: store.path, mode: .readWrite)
    for sql in [
      "CREATE VIEW on_kept AS SELECT ZNAME FROM ZKEPT", "CREATE VIEW on_gone AS SELECT ZNAME FROM \"ZGONE\"",
      "CREATE TABLE to_kept (item INTEGER REFERENCES ZKEPT (Z_PK))",
      "CREATE TABLE to_old (item INTEGER REFERENCES zold (Z_PK))", "CREATE TABLE log (line)",
      "CREATE TRIGGER of_log AFTER INSERT ON log BEGIN UPDATE ZOLD SET ZNAME = 'x'; END",
      "CREATE TRIGGER of_gone AFTER INSERT ON ZGONE BEGIN DELETE FROM log; END",
    ] { try app.execute(sql) }
    try app.close()
    let assistant = MigrationAssistant(store, from: first, to: second, builder: .always(builder))
    let report = try assistant.migrate()
    let told = report.plan.warnings.filter { $0.contains("the app's ") }.sorted()
    #expect(told.count == 4, "\(told)")
    for (name, table) in [("view \"on_gone\"", "ZGONE"), ("table \"to_old\"", "zold"), ("trigger \"of_log\"", "ZOLD")] {
      #expect(told.contains { $0.contains(name) && $0.contains("\"\(table)\"") }, "\(name): \(told)")
    }
    #expect(told.contains { $0.contains("the app's index or trigger \"of_gone\" is left out") }, "\(told)")
    withExtendedLifetime(directory) {}
  }

  /// Something of the app's that only a connection with the app's own code can write, and the builders that must write it.
  @Test(arguments: [
    ("CREATE INDEX app_own ON ZITEM (app_own(ZNAME))", true),

    ("CREATE INDEX app_own ON ZITEM (ZNAME) WHERE app_own(ZNAME)", true),
    ("CREATE INDEX app_own ON ZOTHER (app_own(ZNAME))", false),
    ("CREATE TABLE app_own (a, b AS (app_own(a)) STORED)", false),
    ("CREATE TABLE app_own (a CHECK (app_own(a)))", false),
  ])
  func `a plan refuses what only the app's own SQLite can write, as a migration does`(
    sql: String, isAlwaysWritten: Bool
  ) throws {
    for builder in [MigrationPlan.Builder.rebuild, .cloneAndAlter] {
      let directory = try TemporaryDirectory()
      let store = directory.file("Store.sqlite")
      var entities = ["Item", "Other"].map { Make.entity($0, [Make.attribute("name"), Make.attribute("gone")], []) }
      let first = try ManagedObjectModel(entities: entities)
      entities[0].attributes.removeLast()
      let second = try ManagedObjectModel(entities: entities)
      try StoreGenerator.makeStore(at: store, model: first, objects: 3, seed: 1)
      let app = try Connection(path: store.path, mode: .readWrite, options: .building)
      // A connection with the app's function would have made it; here its statement is put into the schema.
      let plain = sql.replacing("app_own(", with: "length(")
      try app.execute(plain.replacing("TABLE length(", with: "TABLE app_own ("))
      try app.execute("PRAGMA writable_schema = ON")
      try app.execute("UPDATE sqlite_schema SET sql = ?1 WHERE name = 'app_own'", [.text(sql)])
      try app.close()
      let before = try Data(contentsOf: store)
      let assistant = MigrationAssistant(store, from: first, to: second, builder: .always(builder))
      let planned = Result { try assistant.plan() }
      guard isAlwaysWritten || builder == .rebuild else {
        #expect(throws: Never.self) { try planned.get() }
        #expect(throws: Never.self) { try assistant.migrateStore() }
        continue
      }
      let words = #expect(throws: MigrationAssistantError.self) { try planned.get() }.map { "\($0)" } ?? ""
      #expect(words.contains("\"app_own\"") && words.contains("that only the app registers"), "\(words)")
      #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
      #expect(try Data(contentsOf: store) == before)
      withExtendedLifetime(directory) {}
    }
  }

  @Test func `a table with the name of an index of the store's model is the app's`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let first = try ManagedObjectModel(entities: [
      Make.entity("Note", [], [Make.toOne("item", "Item", "notes")]),
      Make.entity("Item", [], [Make.toMany("notes", "Note", "item")]),
    ])
    let second = try ManagedObjectModel(entities: [EntityDescription(name: "Note"), EntityDescription(name: "Item")])
    try StoreGenerator.makeStore(at: store, model: first, objects: 3, seed: 1)
    try Connection.execute(
      "DROP INDEX ZNOTE_ZITEM_INDEX", "CREATE TABLE ZNOTE_ZITEM_INDEX (page)",
      "INSERT INTO ZNOTE_ZITEM_INDEX VALUES ('diary'), ('page')", on: store.path)
    let assistant = MigrationAssistant(store, from: first, to: second, .init(losses: .accept))
    try assistant.migrate()
    let found = try Connection(reading: store)
    #expect(try found.rows("SELECT page FROM ZNOTE_ZITEM_INDEX").map { $0[0] } == [.text("diary"), .text("page")])
    withExtendedLifetime(directory) {}
  }

  @Test func `an index of the app on an attribute that goes is left out, and the plan says so`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    var item = Make.entity("Item", ["kept", "gone"].map { AttributeDescription(name: $0, type: .string) })
    let first = try ManagedObjectModel(entities: [item])
    item.attributes.removeLast()
    let second = try ManagedObjectModel(entities: [item])
    try StoreGenerator.makeStore(at: store, model: first, objects: 3, seed: 1)
    try Connection.execute(
      "CREATE INDEX app_gone ON ZITEM (ZKEPT, ZGONE)", "CREATE INDEX app_kept ON ZITEM (ZKEPT)", on: store.path)
    let assistant = MigrationAssistant(store, from: first, to: second)
    let report = try assistant.migrate()
    #expect(report.plan.warnings.contains { $0.contains("app_gone") })
    let found = try Connection(reading: store)
    let names = try found.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'app_%'").compactMap { $0[0].text }
    #expect(names == ["app_kept"])
    withExtendedLifetime(directory) {}
  }
}
