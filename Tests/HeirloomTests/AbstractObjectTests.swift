import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Rows of an abstract entity count like those of any other: Core Data leaves them behind when an entity becomes abstract.
struct AbstractObjectTests {
  enum Release: CaseIterable, Sendable {
    case same, withoutText, withoutKidsText, joinedToOne, listToOne, withoutOrder

    /// The losses, by plain counts of the rows below.
    var losses: [String] {
      switch self {
      case .same: []
      case .withoutText: ["values Tag.text 3 3"]
      case .withoutKidsText: ["unknownContent Tag.ZMORE 2 2", "values Kid.more 1 1"]
      case .joinedToOne: ["linksWithoutRoom Tag.items 1 2"]
      case .listToOne: ["linksWithoutRoom Tag.list 1 1"]
      case .withoutOrder: ["order Tag.items 1 1"]
      }
    }
  }

  private static func model(_ release: Release?, isAbstract: Bool, _ type: AttributeType = .integer64) throws
    -> ManagedObjectModel
  {
    let items =
      release == .joinedToOne
      ? Make.toOne("items", "Item", "tags")
      : Make.toMany("items", "Item", "tags", ordered: release != .withoutOrder)
    let list = release == .listToOne ? Make.toOne("list", "Item", "tag") : Make.toMany("list", "Item", "tag")
    return try ManagedObjectModel(
      entities: [
        Make.entity(
          "Tag",
          [Make.attribute("name"), Make.attribute("size", type)]
            + (release == .withoutText ? [] : [Make.attribute("text")]), [items, list], isAbstract: isAbstract),
        Make.entity("Kid", release == .withoutKidsText ? [] : [Make.attribute("more")], parent: "Tag"),
        Make.entity("Item", [], [Make.toMany("tags", "Tag", "items"), Make.toOne("tag", "Tag", "list")]),
      ] + (release == .same ? [Make.entity("New", [Make.attribute("name")])] : []))
  }

  private static func fill(_ url: URL, _ model: ManagedObjectModel) throws {
    try PersistentStore.make(at: url, model: model) { context in
      let kids = try (0..<3).map { _ in try context.insert("Kid") }
      let items = try (0..<3).map { _ in try context.insert("Item") }
      for kid in kids { for name in ["name", "text", "more"] { try kid.set("\(name) precious", for: name) } }
      kids[0][toMany: "items"] = items.reversed()
      kids[1][toMany: "items"] = [items[2]]
      kids[0][toMany: "list"] = [items[0], items[1]]
      kids[2][toMany: "list"] = [items[2]]
    }
    let plain = try Connection(path: url.path, mode: .readWrite)
    try plain.execute(
      "UPDATE ZTAG SET ZSIZE = 70000, Z_ENT = (SELECT k.Z_ENT FROM Z_PRIMARYKEY AS k WHERE k.Z_NAME = 'Tag')"
        + " WHERE Z_PK < 3")
    try plain.execute("UPDATE ZITEM SET Z2_TAG = (SELECT t.Z_ENT FROM ZTAG AS t WHERE t.Z_PK = ZTAG)")
  }

  @Test(arguments: Release.allCases, [true, false])
  func `what rows of an abstract entity lose is told as of any other`(release: Release, isAbstract: Bool) throws {
    for builder in [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)] {
      let directory = try TemporaryDirectory()
      let url = directory.file("Tags.sqlite")
      let before = try Self.model(nil, isAbstract: isAbstract)
      try Self.fill(url, before)
      let assistant = MigrationAssistant(
        url, ModelHistory(current: try Self.model(release, isAbstract: isAbstract), earlier: [("before", before)]),
        .withBothProofs, builder: builder)
      let report = try assistant.migrate()
      let told = report.plan.losses.map { "\($0.kind) \($0.name) \($0.rows) \($0.links ?? $0.rows)" }
      #expect(told.sorted() == release.losses)
      #expect(try assistant.archive.previousVersions().first?.isPinned == !release.losses.isEmpty)
      // The objects are there as they were, and counted.
      let tags = report.plan.rows.filter { $0.entity == "Tag" }.map { [$0.before, $0.after] }
      #expect(tags == [[2, 2]])
      #expect(try Connection(reading: url).firstInteger("SELECT COUNT(*) FROM ZTAG") == 3)
    }
  }

  @Test(arguments: [true, false])
  func `a number of an abstract entity's row that a smaller type can't hold stops the migration`(isAbstract: Bool)
    throws
  {
    let directory = try TemporaryDirectory()
    let url = directory.file("Tags.sqlite")
    let before = try Self.model(nil, isAbstract: isAbstract)
    try Self.fill(url, before)
    let assistant = MigrationAssistant(url, from: before, to: try Self.model(nil, isAbstract: isAbstract, .integer16))
    #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
  }

  /// A policy that links the items anew, so that each comes last in its tags' lists.
  class Relinking: EntityMigrationPolicy {
    override func endRelationshipCreation(for mapping: EntityMapping, manager: MigrationManager) throws {
      try manager.destinationContext.forEach("Item") { item throws(ManagedObjectError) in
        let tags = item[toMany: "tags"]
        item[toMany: "tags"] = []
        item[toMany: "tags"] = tags
        return true
      }
    }
  }

  class Standard: EntityMigrationPolicy {}

  @Test(arguments: ["Item", "Kid"], [true, false])
  func `what code loses of an abstract entity's rows is told as of any other`(entity: String, isAbstract: Bool) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Tags.sqlite")
    let before = try Self.model(nil, isAbstract: isAbstract)
    let after = try Self.model(.same, isAbstract: isAbstract)
    try Self.fill(url, before)
    var configuration = MigrationAssistant.Configuration.withBothProofs
    configuration.mappings = [
      try MappingModel.inferred(from: before, to: after) {
        EntityMapping(from: entity, to: entity, policy: entity == "Kid" ? Standard.self : Relinking.self) {}
      }
    ]
    let assistant = MigrationAssistant(url, ModelHistory(current: after, earlier: [("before", before)]), configuration)
    let report = try assistant.migrate()
    let told = report.plan.losses.map { "\($0.kind) \($0.name) \($0.rows) \($0.links ?? $0.rows)" }
    #expect(told == (entity == "Kid" ? ["unknownContent Tag.ZMORE 2 2"] : ["order Tag.items 1 1"]))
    #expect(report.plan.rows.first { $0.entity == "Tag" }.map { [$0.before, $0.after] } == [2, 2])
    #expect(report.plan.rows.first { $0.entity == "Kid" }.map { [$0.before, $0.after] } == [1, 1])
  }
}
