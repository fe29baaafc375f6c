import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// What `doctor` advises is followed to its end, for each kind of damage: the end is a store that is well, with what can
/// be had of its data, or a sentence.
struct DoctorWalkTests {
  /// Items and books share a table, shelves have their own; no two items have the same code.
  private static func model(adding: Bool = false) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      Make.entity(
        "Item",
        [Make.attribute("code"), Make.attribute("size", .integer16)] + (adding ? [Make.attribute("more")] : []),
        [Make.toOne("shelf", "Shelf", "items")], unique: [["code"]]),
      Make.entity("Book", parent: "Item"), Make.entity("Disc", parent: "Item"),
      Make.entity("Shelf", [Make.attribute("title")], [Make.toMany("items", "Item", "shelf")]),
      Make.entity("Tag", [Make.attribute("title")]),
    ])
  }

  private static let items: Int64 = 6

  private let directory: TemporaryDirectory
  private let tool: Tool
  private let store: URL
  private let modelFile: String

  init() throws {
    directory = try TemporaryDirectory()
    tool = Tool(directory: directory.url)
    store = directory.file("It's a store.sqlite")
    modelFile = try Notebook.write(Self.model(), "Items", in: directory)
    try PersistentStore.make(at: store, model: Self.model()) { context in
      let shelf = try context.insert("Shelf")
      for number in 0..<Self.items {
        let item = try context.insert(["Item", "Book", "Disc"][Int(clamping: number) % 3])
        try item.setValue(.string("code \(number)"), forAttribute: "code")
        try item.setObject(shelf, forRelationship: "shelf")
      }
      try context.insert("Tag").setValue(.string("red"), forAttribute: "title")
    }
  }

  private func execute(_ sql: String) throws {
    let connection = try Connection(path: store.path, mode: .readWrite, options: .building)
    try connection.executeScript(sql)
    _ = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    try connection.close()
  }

  private func count(_ table: String, in url: URL? = nil) throws -> Int64? {
    let connection = try Connection(path: (url ?? store).path, mode: .readOnly)
    defer { try? connection.close() }
    return try connection.firstInteger("SELECT COUNT(*) FROM \(table)")
  }

  struct Damage: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let sql: String
    let commands: [String]
    let items: Int64
    let isSentence: Bool

    init(
      _ name: String, _ sql: String, _ commands: String..., items: Int64 = DoctorWalkTests.items,
      isSentence: Bool = false
    ) {
      (testDescription, self.sql, self.commands, self.items) = (name, sql, commands, items)
      self.isSentence = isSentence
    }
  }

  private static let damages = [
    Damage(
      "NULL as entity number, three possible", "UPDATE ZITEM SET Z_ENT = NULL WHERE Z_PK = 1", "salvage", items: 5),
    Damage("an unknown entity number", "UPDATE ZITEM SET Z_ENT = 77 WHERE Z_PK = 1", "salvage", items: 5),
    Damage("two rows of metadata", "INSERT INTO Z_METADATA SELECT 2, 'AAA', Z_PLIST FROM Z_METADATA", "salvage"),
    Damage("no row of metadata", "DELETE FROM Z_METADATA", "salvage"),
    Damage("no table of metadata", "DROP TABLE Z_METADATA", "salvage"),
    Damage("another parent", "UPDATE Z_PRIMARYKEY SET Z_SUPER = 9 WHERE Z_NAME = 'Book'", "repair"),
    Damage("NULL as parent", "UPDATE Z_PRIMARYKEY SET Z_SUPER = NULL", "repair"),
    Damage(
      "a root and its child exchanged",
      "UPDATE Z_PRIMARYKEY SET Z_NAME = CASE Z_NAME WHEN 'Item' THEN 'Book' ELSE 'Item' END WHERE Z_NAME IN ('Item', 'Book')",
      "repair"),
    Damage(
      "two roots exchanged, with rows",
      "UPDATE Z_PRIMARYKEY SET Z_NAME = CASE Z_NAME WHEN 'Shelf' THEN 'Tag' ELSE 'Shelf' END WHERE Z_NAME IN ('Shelf', 'Tag')",
      "repair"),
    Damage("an entity named twice", "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Shelf' WHERE Z_NAME = 'Tag'", "repair"),
    Damage("an entity without a name", "UPDATE Z_PRIMARYKEY SET Z_NAME = NULL WHERE Z_NAME = 'Tag'", "repair"),
    Damage(
      "siblings of one table exchanged, which no row proves",
      "UPDATE Z_PRIMARYKEY SET Z_NAME = CASE Z_NAME WHEN 'Disc' THEN 'Book' ELSE 'Disc' END WHERE Z_NAME IN ('Disc', 'Book')",
      "salvage"),
    Damage(
      "two roots exchanged, without rows",
      "DELETE FROM ZTAG; UPDATE ZITEM SET ZSHELF = NULL; DELETE FROM ZSHELF; UPDATE Z_PRIMARYKEY SET Z_NAME = CASE Z_NAME WHEN"
        + " 'Shelf' THEN 'Tag' ELSE 'Shelf' END WHERE Z_NAME IN ('Shelf', 'Tag')", "salvage"),
    Damage(
      "two roots exchanged, and rows with the numbers of both",
      "UPDATE ZITEM SET ZSHELF = NULL, Z_ENT = CASE Z_PK WHEN 1 THEN 4 ELSE Z_ENT END; DELETE FROM ZSHELF; UPDATE Z_PRIMARYKEY"
        + " SET Z_NAME = CASE Z_NAME WHEN 'Shelf' THEN 'Item' ELSE 'Shelf' END WHERE Z_NAME IN ('Shelf', 'Item')",
      "salvage",
      items: 5),
    Damage("no row for an entity", "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'", "repair"),
    Damage("the last key there can be", "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807", "repair"),
    Damage("the last key but one", "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775806", "repair"),
    Damage(
      "a key below 0 where there are no rows",
      "DELETE FROM ZTAG; UPDATE Z_PRIMARYKEY SET Z_MAX = -5 WHERE Z_NAME = 'Tag'",
      "repair"),
    Damage("a unique index is missing", "DROP INDEX Z_Item_UNIQUE_code", "repair"),
    Damage("an index is missing", "DROP INDEX ZITEM_ZSHELF_INDEX", "repair"),
    Damage(
      "a unique index is missing, and rows are equal",
      "DROP INDEX Z_Item_UNIQUE_code; UPDATE ZITEM SET ZCODE = 'same' WHERE Z_PK < 4", "salvage", items: 4),
    Damage("a dangling key", "UPDATE ZITEM SET ZSHELF = 99 WHERE Z_PK = 1", "salvage"),
    Damage("a text where a number belongs", "UPDATE ZITEM SET ZSIZE = 'big' WHERE Z_PK = 1", isSentence: true),
    Damage("no table of an entity", "DROP TABLE ZTAG", "salvage"),
    Damage("no column", "ALTER TABLE ZTAG DROP COLUMN ZTITLE", "salvage"),
    Damage("no table of entities", "DROP TABLE Z_PRIMARYKEY", "salvage"),
    Damage("a count of saves that is none", "UPDATE ZITEM SET Z_OPT = 0"),
    Damage("a copy of the model that can't be read", "UPDATE Z_MODELCACHE SET Z_CONTENT = x'0102'", isSentence: true),
    Damage("a renamed table", "ALTER TABLE ZITEM RENAME TO ZITEMS", "salvage"),
    Damage(
      "a renamed table without indexes",
      "DROP INDEX ZITEM_ZSHELF_INDEX; DROP INDEX Z_Item_UNIQUE_code; ALTER TABLE ZITEM RENAME TO Items", "salvage"),
    Damage(
      "an index's name taken by an app's table, and a column gone",
      "DROP INDEX ZITEM_ZSHELF_INDEX; CREATE TABLE ZITEM_ZSHELF_INDEX (x); ALTER TABLE ZTAG DROP COLUMN ZTITLE",
      "salvage"),
  ]

  @Test(arguments: damages)
  func `the advice for a damaged store ends, with its rows`(damage: Damage) throws {
    try execute(damage.sql)
    let tags = (try? count("ZTAG")) ?? 0
    let end = try DoctorWalk(tool: tool, store: store.path).run()
    #expect(end.isSentence == damage.isSentence, "\(end)")
    #expect((end.isSentence ? end.commands : end.commands.dropLast()) == damage.commands, "\(end)")
    #expect(try count("ZITEM") == damage.items)
    if tags == 1, !damage.sql.contains("TABLE ZTAG") { #expect(try count("ZTAG") == 1) }
    // It is a store that another release migrates.
    let next = try Notebook.write(Self.model(adding: true), "Next", in: directory)
    let migrated = tool("migrate", store.path, "--to", next, "--model", modelFile)
    #expect(migrated.code == 0, "\(migrated)")
    #expect(try count("ZITEM") == damage.items)
  }

  @Test(
    .enabled(if: Corpus.isPresent, Corpus.absence), .slow("real stores, each damaged, mended by commands and migrated"),
    arguments: LongTests.selection(of: StoreDamage.all, every: 3))
  func `the advice for what a program did to a store ends`(damage: StoreDamage) throws {
    try damage.withStore { url in
      let tool = Tool(directory: url.deletingLastPathComponent())
      let end = try DoctorWalk(tool: tool, store: url.path).run()
      let verified = try tool("verify", url.path, "--json").json()
      let errors = (verified["findings"] as? [[String: Any]] ?? []).filter { $0["severity"] as? String == "error" }
      #expect(end.isSentence || errors.isEmpty, "\(end) \(errors)")
    }
  }

  @Test(arguments: damages)
  func `the advice through a link to the store is that for the store`(damage: Damage) throws {
    try execute(damage.sql)
    let link = directory.file("link.sqlite")
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: store.lastPathComponent)
    try compareAdvice(link)
  }

  @Test(arguments: [0, 1, 16, 100, 2580, 4096, 9000])
  func `the advice through a link is that for a store that is cut or whose beginning is lost`(count: Int) throws {
    let whole = try Data(contentsOf: store)
    let link = directory.file("link.sqlite")
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: store.lastPathComponent)
    for bytes in [whole.prefix(count), Data(repeating: 0x58, count: count) + whole.dropFirst(count)] {
      try Data(bytes).write(to: store)
      try compareAdvice(link)
      let end = try DoctorWalk(tool: tool, store: store.path, options: ["--model", modelFile]).run()
      #expect(end.isSentence || end.commands.last != "salvage", "\(end)")
      try FileManager.default.removeItem(at: store)
      for name in try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
      where name.contains(".damaged") || name.hasSuffix("-wal") || name.hasSuffix("-shm") {
        try FileManager.default.removeItem(at: directory.file(name))
      }
    }
  }

  private func compareAdvice(_ link: URL) throws {
    // The new file's name is made of the path that was given.
    let advice = try [link, store].map { path in
      let json = try tool("doctor", path.path, "--model", modelFile, "--json").json()
      return try ["before", "next"].map { key in
        try (json[key] as? String).map { command in
          try DoctorWalk.words(of: command).prefix { $0 != "--output" }.filter { $0 != path.path }
        }
      }
    }
    #expect(advice[0] == advice[1])
  }

  @Test(arguments: [false, true])
  func `a flipped bit in a stored hash leads to a store that the model fits`(isModelGiven: Bool) throws {
    let connection = try Connection(path: store.path, mode: .readWrite)
    var metadata = try StoreMetadata(connection: connection, path: store.path)
    var bytes = try #require(metadata.versionHashes["Tag"]).bytes
    bytes[0] ^= 1
    metadata.versionHashes["Tag"] = try VersionHash(bytes)
    try metadata.write(to: connection)
    try connection.close()
    let refused = tool("migrate", store.path, "--to", modelFile)
    #expect(refused.code == 5)
    #expect(PrintedCommand.all(in: refused.error).map(\.words) == [["doctor", store.path]], "\(refused)")
    let options = isModelGiven ? ["--model", modelFile] : []
    let end = try DoctorWalk(tool: tool, store: store.path, options: options).run()
    #expect(end.commands == ["salvage", "inspect"], "\(end)")
    #expect(try count("ZITEM") == Self.items && count("ZTAG") == 1)
    #expect(tool("migrate", store.path, "--to", modelFile).code == 0)
  }

  @Test func `a repair changes the names and parents that are wrong, and nothing else`() throws {
    try execute(
      """
      INSERT INTO Z_PRIMARYKEY VALUES (77, 'Old', 0, 5);
      UPDATE Z_PRIMARYKEY SET Z_NAME = 'Shelves' WHERE Z_NAME = 'Shelf';
      UPDATE Z_PRIMARYKEY SET Z_SUPER = 9 WHERE Z_NAME = 'Disc';
      """)
    func list() throws -> [[SQLiteValue]] {
      let connection = try Connection(reading: store)
      defer { try? connection.close() }
      return try connection.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
    }
    var expected = try list()
    let disc = try #require(expected.firstIndex { $0[1] == .text("Disc") })
    let item = try #require(expected.first { $0[1] == .text("Item") })
    expected[disc][2] = item[0]
    #expect(tool("repair", store.path).code == 0)
    #expect(try list() == expected)
  }

  @Test func `a repair that corrects nothing says what is wrong, and what to run`() throws {
    try execute("UPDATE ZITEM SET Z_ENT = NULL WHERE Z_PK = 1")
    let bytes = StoreBytes(of: store)
    let told = tool("repair", store.path)
    #expect(told.code == 0 && told.output.contains("entity number NULL") && !told.output.contains("nothing to repair"))
    let next = try #require(try tool("doctor", store.path, "--json").json()["next"] as? String)
    #expect(told.output.contains(next))
    #expect(StoreBytes(of: store) == bytes)
    let words = try DoctorWalk.words(of: next)
    #expect(tool.run(Array(words.dropFirst())).code == 6)
    let cuts = try String(contentsOfFile: try #require(words.last) + ".cuts.jsonl", encoding: .utf8)
    #expect(cuts.contains("code 0"))
  }

  @Test(arguments: [true, false])
  func `equal rows are named where the index is missing`(isUnique: Bool) throws {
    try execute(
      "DROP INDEX Z_Item_UNIQUE_code" + (isUnique ? "" : "; UPDATE ZITEM SET ZCODE = 'same' WHERE Z_PK IN (2, 5)"))
    let told = tool("verify", store.path)
    #expect(told.code == 6)
    #expect(told.output.contains("first: Z_PK 2 and 5") == !isUnique, "\(told.output)")
    #expect(told.output.contains("heirloom repair") == isUnique, "\(told.output)")
  }
}
