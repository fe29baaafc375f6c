import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Content of others in Core Data's own tables: columns come along, and what has no place is told.
struct ForeignBookkeepingTests {
  private static let builders: [BuilderChoice] = [.always(.rebuild), .always(.cloneAndAlter)]

  private static func model(_ entities: [EntityDescription]) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: entities)
  }

  private static func item(_ name: String = "Item", id: String? = nil, isNumber: Bool = true) -> EntityDescription {
    Make.entity(name, [Make.attribute("size", isNumber ? .integer16 : .double)], id: id)
  }

  private static func fill(_ url: URL, _ model: ManagedObjectModel, strangers: Bool, columns: Bool = true) throws {
    try PersistentStore.create(at: url, model: model).close()
    let plain = try Connection(path: url.path, mode: .readWrite)
    try plain.execute(
      "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZSIZE) SELECT 1, Z_ENT, 1, 7 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'")
    try plain.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Item'")
    for table in ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"] where columns {
      try plain.execute("ALTER TABLE \(table) ADD COLUMN \"app's\" TEXT")
    }
    if strangers {
      try plain.execute("INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (77, 'Foo', 0, 5)")
      try plain.execute("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (x'010203')")
    }
    try plain.execute("INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (16005, 'Bar', 0, 9)")
    guard columns else { return }
    try plain.execute("UPDATE Z_PRIMARYKEY SET \"app's\" = 'of ' || Z_NAME")
    try plain.execute("UPDATE Z_METADATA SET \"app's\" = x'00ff'")
    try plain.execute("UPDATE Z_MODELCACHE SET \"app's\" = 'cached ' || rowid")
    try plain.close()
  }

  private static func values(_ url: URL, _ table: String) throws -> [SQLiteValue] {
    let plain = try Connection(reading: url)
    let order = table == "Z_PRIMARYKEY" ? "Z_NAME" : "1"
    return try plain.rows("SELECT \"app's\" FROM \(table) ORDER BY \(order)").map { $0[0] }
  }

  private static func assistant(
    _ url: URL, _ versions: [ManagedObjectModel], _ builder: BuilderChoice
  ) throws -> MigrationAssistant {
    MigrationAssistant(
      url,
      ModelHistory(
        current: try #require(versions.last),
        earlier: versions.dropLast().enumerated().map { ("\($0.offset + 1)", $0.element) }), .withBothProofs,
      builder: builder)
  }

  private static func told(_ plan: MigrationPlan) -> [String] {
    plan.losses.map { "\($0.kind) \($0.name) \($0.rows)" }.sorted()
  }

  @Test(arguments: builders, [true, false])
  func `columns of others come along with the entities that stay, and nothing is told`(
    builder: BuilderChoice, changesType: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let before = try Self.model([Self.item(), Make.entity("Zebra")])
    try Self.fill(url, before, strangers: false)
    // The first entity is new, so that the others get new numbers.
    let after = try Self.model([
      Make.entity("Aaa"), Self.item("Thing", id: "Item", isNumber: !changesType), Make.entity("Zebra"),
    ])
    let assistant = try Self.assistant(url, [before, after], builder)
    let report = try assistant.migrate()
    #expect(Self.told(report.plan) == [])
    #expect(report.plan.warnings.filter { $0.contains("app's belongs to no property") }.count == 3)
    #expect(
      try Self.values(url, "Z_PRIMARYKEY") == [.null, .text("of Bar"), .text("of Item"), .text("of Zebra")])
    #expect(try Self.values(url, "Z_METADATA") == [.blob([0, 255])])
    #expect(try Self.values(url, "Z_MODELCACHE") == [.text("cached 1")])
    #expect(try !assistant.archive.previousVersions().contains(where: \.isPinned))
  }

  @Test(arguments: builders, [true, false])
  func `rows of others, and values of entities that go, are told and pinned for good`(
    builder: BuilderChoice, columns: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let versions = [
      try Self.model([Make.entity("Gone"), Self.item()]), try Self.model([Self.item(), Make.entity("Zebra")]),
      try Self.model([Make.entity("Aaa"), Self.item(), Make.entity("Zebra")]),
    ]
    try Self.fill(url, versions[0], strangers: true, columns: columns)
    let report = try Self.assistant(url, Array(versions[..<2]), builder).migrate()
    #expect(
      Self.told(report.plan)
        == [
          "unknownContent Z_MODELCACHE.Z_CONTENT 1", "unknownContent Z_MODELCACHE.app's 1",
          "unknownContent Z_PRIMARYKEY.Z_ENT 1",
          "unknownContent Z_PRIMARYKEY.app's 2",
        ].filter { columns || !$0.contains("app's") })
    #expect(try !columns || Self.values(url, "Z_PRIMARYKEY") == [.text("of Bar"), .text("of Item"), .null])
    let kept = try #require(try StoreArchive(storeURL: url).previousVersions().first)
    #expect(kept.isPinned)
    // The next migration compares the version with the store.
    let next = try Self.assistant(url, versions, builder)
    let second = try next.migrate()
    #expect(Self.told(second.plan) == [])
    let pinned = try StoreArchive(storeURL: url).previousVersions().filter(\.isPinned)
    #expect(pinned.map(\.storeURL) == [kept.storeURL])
    let alone = pinned.flatMap(\.alone).map { "\($0.entity) \($0.rows)" }.sorted()
    #expect(
      alone
        == (columns
          ? ["Z_MODELCACHE 1", "Z_MODELCACHE 1", "Z_PRIMARYKEY 1", "Z_PRIMARYKEY 2"]
          : ["Z_MODELCACHE 1", "Z_PRIMARYKEY 1"]))
  }

  @Test func `a restored store keeps the columns of others in its metadata`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let (before, after) = (try Self.model([Self.item()]), try Self.model([Self.item(), Make.entity("Zebra")]))
    try Self.fill(url, before, strangers: false)
    try Self.assistant(url, [before, after], .automatic).migrate()
    let archive = StoreArchive(storeURL: url)
    _ = try archive.restorePreviousVersion()
    #expect(try Self.values(url, "Z_METADATA") == [.blob([0, 255])])
    #expect(try Self.values(url, "Z_PRIMARYKEY") == [.text("of Bar"), .text("of Item")])
  }
}
