import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

/// Triggers, judged by their effects; other tests compare their text with real stores.
struct TriggerTests {
  private func derived(_ name: String, _ type: AttributeType, _ expression: ValueExpression) -> AttributeDescription {
    var attribute = Make.attribute(name, type)
    attribute.derivation = DerivedAttributeDescription(derivationExpression: expression)
    return attribute
  }

  private func store(_ entities: [EntityDescription]) throws -> (Connection, PhysicalSchema) {
    let connection = try Connection(path: "", mode: .memory)
    try connection.registerCoreDataFunctions()
    let schema = PhysicalSchema(model: try ManagedObjectModel(entities: entities))
    for statement in schema.creationStatements { try connection.execute(statement) }
    #expect(try ActualSchema(of: connection).drift(from: schema) == [])
    return (connection, schema)
  }

  @Test(arguments: [
    ValueExpression.keyPath("pages.@count"),
    .function(operand: nil, selector: "count:", arguments: [.keyPath("pages")]),
  ])
  func `a count follows its one-to-many relationship`(expression: ValueExpression) throws {
    let (connection, schema) = try store([
      Make.entity("Item"),
      Make.entity(
        "Book", [derived("count", .integer32, expression)], [Make.toMany("pages", "Page", "book")], parent: "Item"),
      Make.entity("Page", [], [Make.toOne("book", "Book", "pages")]),
    ])
    #expect(schema.triggers.count == 5)
    try connection.executeScript(
      """
      INSERT INTO ZPAGE (Z_PK, Z_ENT, ZBOOK) VALUES (1, 3, 1), (2, 3, NULL);
      INSERT INTO ZITEM (Z_PK, Z_ENT) VALUES (1, 2), (2, 2), (3, 1);
      """)
    func counts() throws -> [SQLiteValue] {
      try connection.rows("SELECT ZCOUNT FROM ZITEM ORDER BY Z_PK").map { $0[0] }
    }
    #expect(try counts() == [.integer(1), .integer(0), .null])
    try connection.execute("INSERT INTO ZPAGE (Z_PK, Z_ENT, ZBOOK) VALUES (3, 3, 2)")
    try connection.execute("UPDATE ZPAGE SET ZBOOK = 2 WHERE Z_PK = 1")
    #expect(try counts() == [.integer(0), .integer(2), .null])
    try connection.execute("DELETE FROM ZPAGE WHERE Z_PK = 3")
    #expect(try counts() == [.integer(0), .integer(1), .null])
  }

  @Test func `a count follows its many-to-many relationship`() throws {
    let (connection, _) = try store([
      Make.entity(
        "Collection", [derived("count", .integer32, .keyPath("places.@count"))],
        [Make.toMany("places", "Place", "collections")]),
      Make.entity("Place", [], [Make.toMany("collections", "Collection", "places")]),
    ])
    try connection.executeScript(
      """
      INSERT INTO ZCOLLECTION (Z_PK, Z_ENT) VALUES (1, 1);
      INSERT INTO Z_1PLACES (Z_1COLLECTIONS, Z_2PLACES) VALUES (1, 1), (1, 2);
      DELETE FROM Z_1PLACES WHERE Z_2PLACES = 1;
      """)
    #expect(try connection.firstInteger("SELECT ZCOUNT FROM ZCOLLECTION") == 1)
  }

  @Test func `a value follows its to-one relationship`() throws {
    let (connection, _) = try store([
      Make.entity("Chat", [Make.attribute("serverId", .string)], [Make.toMany("messages", "Message", "chat")]),
      Make.entity(
        "Message", [derived("chatId", .string, .keyPath("chat.serverId"))], [Make.toOne("chat", "Chat", "messages")]),
    ])
    func value() throws -> SQLiteValue? { try connection.firstValue("SELECT ZCHATID FROM ZMESSAGE") }
    try connection.execute("INSERT INTO ZMESSAGE (Z_PK, Z_ENT, ZCHAT) VALUES (1, 2, 1)")
    #expect(try value() == .null)
    try connection.execute("INSERT INTO ZCHAT (Z_PK, Z_ENT, ZSERVERID) VALUES (1, 1, 'a'), (2, 1, 'b')")
    #expect(try value() == .text("a"))
    try connection.execute("UPDATE ZMESSAGE SET ZCHAT = 2")
    #expect(try value() == .text("b"))
    try connection.execute("UPDATE ZCHAT SET ZSERVERID = 'c' WHERE Z_PK = 2")
    #expect(try value() == .text("c"))
  }

  @Test func `the time of saving follows every save`() throws {
    let (connection, _) = try store([
      Make.entity("Item", [derived("saved", .date, .function(operand: nil, selector: "now", arguments: []))])
    ])
    try connection.execute("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1)")
    #expect(try connection.firstValue("SELECT ZSAVED FROM ZITEM") != .null)
    try connection.execute("UPDATE ZITEM SET ZSAVED = NULL")
    try connection.execute("UPDATE ZITEM SET Z_OPT = 2")
    #expect(try connection.firstValue("SELECT ZSAVED FROM ZITEM") != .null)
  }

  @Test func `an expression without a known trigger is reported`() throws {
    let (_, schema) = try store([
      Make.entity(
        "Item",
        [
          Make.attribute("name", .string),
          derived("plain", .string, .function(operand: nil, selector: "canonical:", arguments: [.keyPath("name")])),
        ])
    ])
    #expect(schema.underivedAttributes == [["Item", "plain"]])
    #expect(schema.triggers == [])
  }

  @Test func `an R-tree follows its coordinates`() throws {
    var place = Make.entity("Place", [Make.attribute("latitude", .double), Make.attribute("longitude", .double)])
    place.indexes = [
      FetchIndexDescription(
        name: "byLocation",
        elements: ["latitude", "longitude"].map {
          FetchIndexElementDescription(subject: .property($0), collation: .rTree)
        })
    ]
    let (connection, schema) = try store([place])
    try connection.setTrustsSchema(true)
    #expect(
      schema.indexes.map(\.sql) == [
        "CREATE VIRTUAL TABLE Z_RT_Place_byLocation USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT,"
          + " ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT)"
      ])
    try connection.executeScript(
      """
      INSERT INTO ZPLACE (Z_PK, Z_ENT, ZLATITUDE, ZLONGITUDE) VALUES (1, 1, 1, 2), (2, 1, NULL, 2), (3, 1, 3, 4);
      UPDATE ZPLACE SET ZLATITUDE = 5 WHERE Z_PK = 2;
      DELETE FROM ZPLACE WHERE Z_PK = 3;
      """)
    let rows = try connection.rows("SELECT Z_PK, ZLATITUDE_MIN, ZLONGITUDE_MAX FROM Z_RT_Place_byLocation")
    #expect(rows == [[.integer(1), .real(1), .real(2)], [.integer(2), .real(5), .real(2)]])
    let ownership = try ActualSchema(of: connection).ownership(under: schema)
    #expect(ownership.filter { $0.ownership == .shadow(of: "Z_RT_Place_byLocation") }.count == 3)
  }
}
