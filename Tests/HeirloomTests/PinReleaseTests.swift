import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Pinned versions over several releases: none goes while it alone has a row, and none stays that holds nothing alone.
struct PinReleaseTests {
  private let directory: TemporaryDirectory
  private var store: URL { directory.file("Journal.sqlite") }

  init() throws { directory = try TemporaryDirectory() }

  private var archive: StoreArchive { StoreArchive(storeURL: store) }

  private static func model(_ attributes: AttributeDescription..., others: [EntityDescription] = []) throws
    -> ManagedObjectModel
  {
    try ManagedObjectModel(entities: [Make.entity("Item", attributes)] + others)
  }

  private func run(_ sql: String...) throws {
    let connection = try Connection(path: store.path, mode: .readWrite)
    for sql in sql { try connection.execute(sql) }
    try connection.close()
  }

  private func make(_ model: ManagedObjectModel, _ rows: String...) throws {
    try PersistentStore.create(at: store, model: model).close()
    for (index, row) in rows.enumerated() {
      let parts = row.split(separator: ":")
      try run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, \(parts[0])) VALUES (\(index + 1), 1, 1, \(parts[1]))")
    }
    try run("UPDATE Z_PRIMARYKEY SET Z_MAX = \(rows.count)")
  }

  private func recode(_ encoding: String) throws {
    let copy = directory.file("Copy.sqlite")
    let (source, target) = (
      try Connection(reading: store), try Connection(path: copy.path, mode: .createExclusively())
    )
    try target.execute("PRAGMA encoding = '\(encoding)'")
    for object in try source.rows(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type <> 'table'")
    {
      guard let name = object[1].text, let sql = object[2].text else { continue }
      try target.execute(sql)
      for row in object[0].text == "table" ? try source.rows("SELECT * FROM \"\(name)\"") : [] {
        try target.execute(
          "INSERT INTO \"\(name)\" VALUES (\(row.map { _ in "?" }.joined(separator: ", ")))", row)
      }
    }
    try source.close()
    try target.close()
    #expect(try Connection(reading: copy).firstValue("PRAGMA encoding")?.text == encoding)
    try FileManager.default.removeItem(at: store)
    try FileManager.default.moveItem(at: copy, to: store)
  }

  private func launch(_ models: [ManagedObjectModel]) throws {
    let current = try #require(models.last)
    let earlier = models.dropLast().enumerated().map { ("\($0.offset + 1)", $0.element) }
    _ = try MigrationAssistant(store, ModelHistory(current: current, earlier: earlier)).migrateStore()
    try ModelController(storeURL: store).archive(current)
  }

  /// Looks in every column, whatever its name.
  private func isAnywhere(_ value: SQLiteValue) throws -> Bool {
    try ([store] + archive.previousVersions().map(\.storeURL)).contains { url in
      let connection = try Connection(reading: url)
      defer { try? connection.close() }
      return try connection.rows("SELECT * FROM ZITEM").joined().contains(value)
    }
  }

  @Test func `a row that only a pinned version has stays when the values in its list have come back`() throws {
    let name = Make.attribute("name")
    let first = try Self.model(name)
    let noting = try Self.model(name, Make.attribute("note"))
    let second = try Self.model(name, Make.attribute("other"))
    let adding = try Self.model(name, Make.attribute("note"), Make.attribute("more"))
    try make(first, "ZNAME: 'one'", "ZNAME: 'two'")
    try launch([first, noting])
    try run(
      "UPDATE ZITEM SET ZNOTE = 'note ' || Z_PK",
      "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (3, 1, 1, 'only')",
      "UPDATE Z_PRIMARYKEY SET Z_MAX = 3")
    try launch([first, noting, second])
    let versions = try archive.previousVersions()
    let pinned = try #require(versions.first { $0.isPinned })
    #expect(pinned.alone.map(\.property) == ["note"])
    // The replaced store has no row that the pinned version lacks, and the third row is in both.
    _ = try archive.restorePreviousVersion(try #require(versions.last).id)
    let held = try archive.previousVersions().filter(\.isPinned)
    #expect(held.flatMap(\.alone).contains { $0.kind == "objects" && $0.rows == 1 }, "\(held)")
    try launch([first, noting])
    try run("UPDATE ZITEM SET ZNOTE = 'note ' || Z_PK")
    for models in [[first, noting, adding], [first, noting, adding, noting, adding]] {
      for _ in 0..<3 {
        try launch(models)
        #expect(try isAnywhere(.text("only")))
      }
    }
  }

  /// Changes of names and types after which a list of losses has names that mean something else in the version.
  @Test(arguments: [
    [Make.attribute("b", .boolean, id: "a"), Make.attribute("c", id: "b")],
    [Make.attribute("b", .boolean, id: "a")],
    [Make.attribute("a", .boolean)], [Make.attribute("b", id: "b")],
  ])
  func `a pinned version stays, whatever its list of losses is called there`(after: [AttributeDescription]) throws {
    let first = try Self.model(Make.attribute("a", .integer64), Make.attribute("b"))
    try make(first, "ZA: 471100", "ZA: 471200")
    let second = try ManagedObjectModel(entities: [Make.entity("Item", after)])
    let third = try ManagedObjectModel(entities: [Make.entity("Item", after + [Make.attribute("y")])])
    let fourth = try ManagedObjectModel(entities: [
      Make.entity("Item", after + [Make.attribute("y"), Make.attribute("z")])
    ])
    for models in [[first, second], [first, second, third], [first, second, third, fourth]] {
      for _ in 0..<3 {
        try launch(models)
        #expect(try isAnywhere(.integer(471_100)) && isAnywhere(.integer(471_200)))
      }
    }
  }

  /// A change that fills in or converts, and a write to the migrated store that changes a value of it.
  struct Filling: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let before: [AttributeDescription]
    let after: [AttributeDescription]
    let write: String

    static let all: [Filling] = {
      var derived = Make.attribute("derived")
      derived.derivation = DerivedAttributeDescription(derivationExpression: .keyPath("name"))
      let name = Make.attribute("name")
      return [
        Filling(
          testDescription: "an optional attribute", before: [name], after: [name, Make.attribute("new")],
          write: "UPDATE ZITEM SET ZNEW = 'written' WHERE Z_PK = 1"),
        Filling(
          testDescription: "a default", before: [name],
          after: [name, Make.attribute("new", .integer16, optional: false, value: .integer(7))],
          write: "UPDATE ZITEM SET ZNEW = 8 WHERE Z_PK = 1"),
        Filling(
          testDescription: "a default taken away again", before: [name],
          after: [name, Make.attribute("new", .integer16, value: .integer(7))],
          write: "UPDATE ZITEM SET ZNEW = NULL WHERE Z_PK = 1"),
        Filling(
          testDescription: "a derived attribute", before: [name], after: [name, derived],
          write: "UPDATE ZITEM SET ZNAME = 'written' WHERE Z_PK = 1"),
        Filling(
          testDescription: "NULL filled", before: [name, Make.attribute("other")],
          after: [name, Make.attribute("other", optional: false, value: .string("none"))],
          write: "UPDATE ZITEM SET ZOTHER = 'written' WHERE Z_PK = 2"),
        Filling(
          testDescription: "a wider number", before: [name, Make.attribute("other", .integer16)],
          after: [name, Make.attribute("other", .integer64)], write: "UPDATE ZITEM SET ZOTHER = 8 WHERE Z_PK = 1"),
      ]
    }()
  }

  @Test(arguments: Filling.all, [false, true])
  func `going back pins what was written since the migration, and not what the migration wrote`(
    filling: Filling, writes: Bool
  ) throws {
    let first = try ManagedObjectModel(entities: [Make.entity("Item", filling.before)])
    let second = try ManagedObjectModel(entities: [Make.entity("Item", filling.after)])
    let other = filling.before.dropFirst().first.map { ", Z\($0.name.uppercased())" } ?? ""
    let value = other.isEmpty ? "" : filling.before[1].type == .string ? ", 'there'" : ", 5"
    try make(first, "ZNAME\(other): 'one'\(value)", "ZNAME: 'two'")
    try launch([first, second])
    if writes { try run(filling.write) }
    let replaced = try #require(try archive.restorePreviousVersion().previous)
    #expect(replaced.isPinned == writes && replaced.alone.isEmpty == !writes, "\(replaced)")
    // Once more there and back: by then another version has the same.
    try launch([first, second])
    _ = try archive.restorePreviousVersion(
      try #require(try archive.previousVersions().first { $0.id != replaced.id }).id)
    #expect(try archive.previousVersions().filter(\.isPinned).map(\.id) == (writes ? [replaced.id] : []))
  }

  @Test(arguments: ["UTF-8", "UTF-16le", "UTF-16be"], [false, true])
  func `texts of any encoding are compared as they are stored`(encoding: String, writes: Bool) throws {
    let first = try Self.model(Make.attribute("name"))
    let second = try Self.model(Make.attribute("name"), Make.attribute("other"))
    try make(first, "ZNAME: 'one'", "ZNAME: 'two'")
    try recode(encoding)
    for _ in 0..<3 {
      try launch([first, second])
      if writes { try run("UPDATE ZITEM SET ZNAME = 'written ' || hex(randomblob(4)) WHERE Z_PK = 1") }
      let replaced = try #require(try archive.restorePreviousVersion().previous)
      #expect(replaced.isPinned == writes)
    }
  }

  @Test(arguments: [1_999, 2_000]) func `a table with as many columns as SQLite allows is compared`(columns: Int) throws
  {
    let first = try Self.model(Make.attribute("name"))
    try make(first, "ZNAME: 'one'")
    try run(
      "CREATE TABLE wide (\((1...columns).map { "c\($0)" }.joined(separator: ", ")))",
      "INSERT INTO wide (c2) VALUES (1)")
    try launch([first, try Self.model(Make.attribute("name"), Make.attribute("other"))])
    #expect(try archive.restorePreviousVersion().previous?.isPinned == false)
  }
}
