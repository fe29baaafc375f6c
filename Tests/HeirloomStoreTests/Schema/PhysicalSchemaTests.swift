import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

struct PhysicalSchemaTests {
  @Test func `entities are numbered depth first, regardless of case`() throws {
    let model = try ManagedObjectModel(entities: [
      Make.entity("b"), Make.entity("A"), Make.entity("C", parent: "b"), Make.entity("a2", parent: "b"),
      Make.entity("x", parent: "a2"), Make.entity("SContact"), Make.entity("SDKSyncTask"),
      Make.entity("ScheduledMemberTag"),
    ])
    let schema = PhysicalSchema(model: model)
    #expect(schema.entities.map(\.name) == ["A", "b", "a2", "x", "C", "ScheduledMemberTag", "SContact", "SDKSyncTask"])
    #expect(schema.entities.map(\.superentityNumber) == [0, 0, 2, 3, 2, 0, 0, 0])
    #expect(schema.entity(named: "b")?.treeNumbers == 2...5)
    #expect(schema.entity(named: "a2")?.treeNumbers == 3...4)
    #expect(schema.tables.map(\.name) == ["ZA", "ZB", "ZSCHEDULEDMEMBERTAG", "ZSCONTACT", "ZSDKSYNCTASK"])
    #expect(schema.entity(numbered: 4)?.name == "x")
    #expect(schema.entity(numbered: 0) == nil)
    #expect(schema.entity(numbered: 9) == nil)
  }

  @Test func `columns are sorted by class and named in the order of the tree`() throws {
    let schema = PhysicalSchema(model: try Models.everything())
    #expect(
      schema.table(named: "ZNOTE")?.sql == """
        CREATE TABLE ZNOTE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZA16 INTEGER, ZA32 INTEGER, \
        ZA64 INTEGER, ZBOOL INTEGER, ZANYONE INTEGER, Z5_ANYONE INTEGER, ZAUTHOR INTEGER, Z3_AUTHOR INTEGER, \
        ZCOVER INTEGER, Z_FOK_AUTHOR INTEGER, ZDATE TIMESTAMP, ZDOUBLE FLOAT, ZFLOAT FLOAT, ZLATITUDE FLOAT, \
        ZLONGITUDE FLOAT, ZDECIMAL DECIMAL, ZCITY VARCHAR, ZTEXT VARCHAR, ZURI VARCHAR, ZUUID BLOB, \
        ZTRANSFORMED BLOB, ZPHOTO BLOB, ZRAW BLOB )
        """)
    // Siblings are in the order of their numbers: Artist 4, Worker 5, Boss 6.
    #expect(
      schema.table(named: "ZPERSON")?.columns.map(\.name) == [
        "Z_PK", "Z_ENT", "Z_OPT", "ZNAME", "ZTITLE", "ZTEXT", "ZTEXT1", "ZTITLE1",
      ])
    #expect(schema.columns(ofAttribute: "text1", in: "Boss").map(\.name) == ["ZTEXT1"])
    #expect(schema.columns(ofAttribute: "title", in: "Boss").map(\.name) == ["ZTITLE1"])
    #expect(schema.columns(ofAttribute: "text", in: "Boss").map(\.name) == ["ZTEXT"])
    #expect(
      schema.table(named: "ZCOVER")?.columns.map(\.name) == [
        "Z_PK", "Z_ENT", "Z_OPT", "ZNOTE", "Z2ATTACHMENTS", "Z_FOK_2ATTACHMENTS", "ZTITLE",
      ])
  }

  @Test func `a composite has a column for each leaf`() throws {
    let schema = PhysicalSchema(model: try Models.everything())
    #expect(schema.columns(ofAttribute: "place", in: "Note").map(\.name) == ["ZCITY", "ZLATITUDE", "ZLONGITUDE"])
    #expect(schema.column(atPath: ["place", "geo", "longitude"], in: "Note")?.name == "ZLONGITUDE")
    #expect(schema.column(atPath: ["place", "geo"], in: "Note") == nil)
    #expect(schema.column(atPath: [], in: "Note") == nil)
  }

  @Test func `each side of a relationship sees where its links are`() throws {
    let schema = PhysicalSchema(model: try Models.everything())
    func storage(_ relationship: String, _ entity: String = "Note") -> RelationshipStorage? {
      schema.storage(ofRelationship: relationship, in: entity)
    }
    #expect(storage("author") == .key(table: "ZNOTE", column: "ZAUTHOR", entityColumn: "Z3_AUTHOR"))
    #expect(storage("anyone") == .key(table: "ZNOTE", column: "ZANYONE", entityColumn: "Z5_ANYONE"))
    #expect(storage("cover") == .key(table: "ZNOTE", column: "ZCOVER", entityColumn: nil))
    #expect(storage("note", "Cover") == .key(table: "ZCOVER", column: "ZNOTE", entityColumn: nil))
    for entity in ["Person", "Boss"] {
      #expect(
        storage("notes", entity)
          == .inverseKey(
            table: "ZNOTE", column: "ZAUTHOR", entityColumn: "Z3_AUTHOR", orderColumn: "Z_FOK_AUTHOR"))
      #expect(
        storage("edited", entity)
          == .join(
            table: "Z_2EDITORS", ownerColumn: "Z_3EDITORS", destinationColumn: "Z_2EDITED", orderColumn: nil))
    }
    #expect(
      storage("editors")
        == .join(
          table: "Z_2EDITORS", ownerColumn: "Z_2EDITED", destinationColumn: "Z_3EDITORS",
          orderColumn: "Z_FOK_3EDITORS"))
    #expect(
      storage("attachments")
        == .inverselessKey(table: "ZCOVER", column: "Z2ATTACHMENTS", orderColumn: "Z_FOK_2ATTACHMENTS"))
    #expect(
      storage("friends")
        == .join(table: "Z_2FRIENDS", ownerColumn: "REFLEXIVE", destinationColumn: "Z_2FRIENDS", orderColumn: nil))
    #expect(
      storage("sources")
        == .join(table: "Z_2USES", ownerColumn: "Z_2USES", destinationColumn: "Z_2SOURCES", orderColumn: nil))
    #expect(
      storage("uses")
        == .join(table: "Z_2USES", ownerColumn: "Z_2SOURCES", destinationColumn: "Z_2USES", orderColumn: nil))
    #expect(storage("text") == nil)
  }

  @Test(arguments: [
    ("Z_2SOURCES", ["Z_2USES", "Z_2SOURCES"]), ("Z_2SOURCES", ["Z_2SOURCES", "Z_2USES"]),
    ("Z_2USES", ["Z_2SOURCES", "Z_2USES"]), ("Z_2USES", ["Z_2USES", "Z_2SOURCES"]),
  ])
  func `a store decides which side names a table within one entity`(table: String, columns: [String]) throws {
    let connection = try Connection(path: "", mode: .memory)
    try connection.execute(
      "CREATE TABLE \(table) ( \(columns[0]) INTEGER, \(columns[1]) INTEGER, PRIMARY KEY (\(columns[0]), \(columns[1])) )"
    )
    let schema = PhysicalSchema(model: try Models.everything(), actual: try ActualSchema(of: connection))
    #expect(schema.table(named: table)?.columns.map(\.name) == columns)
    #expect(
      schema.storage(ofRelationship: "sources", in: "Note")
        == .join(table: table, ownerColumn: "Z_2USES", destinationColumn: "Z_2SOURCES", orderColumn: nil))
  }

  @Test func `two relationships to one entity never share a column of a join table`() throws {
    func many(_ name: String, _ destination: String, _ inverse: String) -> RelationshipDescription {
      Make.toMany(name, destination, inverse)
    }
    let model = try ManagedObjectModel(entities: [
      Make.entity("Message"),
      Make.entity("Reaction", [], [many("users", "User", "reactions")]),
      Make.entity("SystemMessage", [], [many("users", "User", "systemMessages")], parent: "Message"),
      Make.entity(
        "User", [], [many("reactions", "Reaction", "users"), many("systemMessages", "SystemMessage", "users")]),
    ])
    let schema = PhysicalSchema(model: model)
    #expect(schema.table(named: "Z_2USERS")?.columns.map(\.name) == ["Z_2SYSTEMMESSAGES", "Z_4USERS1"])
    #expect(schema.table(named: "Z_3USERS")?.columns.map(\.name) == ["Z_3REACTIONS", "Z_4USERS"])
  }

  @Test func `all statements of a model run`() throws {
    let model = try Models.everything()
    let connection = try Connection(path: "", mode: .memory)
    let schema = PhysicalSchema(model: model)
    for statement in schema.creationStatements { try connection.execute(statement) }
    let actual = try ActualSchema(of: connection)
    #expect(actual.drift(from: schema) == [])
    #expect(actual.ownership(under: schema).allSatisfy { [.model, .bookkeeping, .system].contains($0.ownership) })
    #expect(schema.indexes.map(\.name).contains("ZPERSON_Z_ENT_INDEX"))
  }

  @Test func `a configuration's store has its entities and their ancestors`() throws {
    let model = try ManagedObjectModel(
      entities: [
        Make.entity("A", [], [Make.toOne("b", "B")]), Make.entity("B"),
        Make.entity("C", parent: "B"), Make.entity("D", parent: "B"),
      ],
      configurations: [
        ConfigurationDescription(name: "one", entityNames: ["A"]),
        ConfigurationDescription(name: "two", entityNames: ["D"]),
      ])
    #expect(PhysicalSchema(model: model, configuration: "one").entities.map(\.name) == ["A"])
    #expect(PhysicalSchema(model: model, configuration: "one").table(named: "ZA")?.columns.count == 3)
    #expect(PhysicalSchema(model: model, configuration: "two").entities.map(\.name) == ["B", "D"])
    #expect(PhysicalSchema(model: model, configuration: "three").entities.isEmpty)
  }

  @Test func `an inverse that doesn't lead back counts as none`() throws {
    let model = try ManagedObjectModel(entities: [
      Make.entity("A", [], [Make.toMany("many", "B", "one")]),
      Make.entity("B", [], [Make.toOne("one", "A", "missing")]),
    ])
    let schema = PhysicalSchema(model: model)
    #expect(
      schema.storage(ofRelationship: "many", in: "A")
        == .inverselessKey(table: "ZB", column: "Z1MANY", orderColumn: nil))
  }

  @Test func `names that SQL would misread are quoted`() throws {
    let model = try ManagedObjectModel(entities: [
      Make.entity("a\"; b", [Make.attribute("c d", .string), Make.attribute("é", .string)])
    ])
    let connection = try Connection(path: "", mode: .memory)
    let schema = PhysicalSchema(model: model)
    for statement in schema.creationStatements { try connection.execute(statement) }
    #expect(try ActualSchema(of: connection).drift(from: schema) == [])
    #expect(schema.tables.first?.name == "ZA\"; B")
  }

  @Test func `the app's own objects and Core Data's leftovers are told apart`() throws {
    let connection = try Connection(path: "", mode: .memory)
    let schema = PhysicalSchema(model: try Models.everything())
    for statement in schema.creationStatements { try connection.execute(statement) }
    try connection.executeScript(
      """
      CREATE TABLE app (a UNIQUE);
      CREATE INDEX app_index ON app (a);
      CREATE INDEX mine ON ZNOTE (ZTEXT);
      CREATE INDEX Z_Old_text ON ZNOTE (ZTEXT);
      CREATE VIEW everyone AS SELECT * FROM ZPERSON;
      CREATE TRIGGER mine_too AFTER INSERT ON ZNOTE BEGIN SELECT 1; END;
      CREATE TRIGGER Z_DA_ZNOTE_Note_old_UPDATE AFTER UPDATE ON ZNOTE BEGIN SELECT 1; END;
      CREATE VIRTUAL TABLE places USING rtree(id, a, b);
      CREATE TABLE ACHANGE (a);
      CREATE TABLE ANSCKRECORDMETADATA (a);
      """)
    let ownership = try ActualSchema(of: connection).ownership(under: schema)
    func names(_ wanted: SchemaOwnership) -> [String] {
      ownership.filter { $0.ownership == wanted }.map(\.object.name)
    }
    #expect(names(.foreign) == ["app", "app_index", "mine", "everyone", "mine_too", "places"])
    #expect(names(.leftover) == ["Z_Old_text", "Z_DA_ZNOTE_Note_old_UPDATE"])
    #expect(names(.shadow(of: "places")) == ["places_rowid", "places_node", "places_parent"])
    #expect(names(.history) == ["ACHANGE"])
    #expect(names(.cloudKit) == ["ANSCKRECORDMETADATA"])
  }
}
