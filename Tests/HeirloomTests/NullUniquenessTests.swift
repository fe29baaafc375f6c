import Foundation
import Heirloom
import HeirloomMapping
import HeirloomStore
import TestSupport
import Testing

/// New uniqueness constraints over attributes that are new, and so empty: SQLite and Core Data take no NULL for another.
struct NullUniquenessTests: ModelMaking {
  /// All constraints of up to three properties: one that is kept, one that is new, and one that is new with a default.
  private static let constraints: [[String]] = (1..<8).map { set in
    ["name", "slug", "mark"].enumerated().filter { set & (1 << $0.offset) != 0 }.map(\.element)
  }

  @Test(arguments: constraints) func `rows with NULL don't collide, and the models alone tell so`(
    constraint: [String]
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let before = try ManagedObjectModel(entities: [Self.entity("Tag", [Self.attribute("name")])])
    var tag = Self.entity(
      "Tag", [Self.attribute("name"), Self.attribute("slug"), Self.attribute("mark", value: .string("x"))])
    tag.uniquenessConstraints = [constraint]
    let after = try ManagedObjectModel(entities: [tag])
    try PersistentStore.make(at: url, model: before) { context in
      for _ in 0..<3 { try context.insert("Tag")["name"] = .string("same") }
    }
    let isFree = constraint.contains("slug")
    let effects = MappingInference(from: before, to: after).effects
    #expect(effects.contains { $0.kind == .duplicate } == !isFree, "\(effects)")
    let assistant = MigrationAssistant(
      url, ModelHistory(current: after, name: "2", earlier: [(name: "1", model: before)]))
    let plan = try #require(try assistant.plan())
    #expect(plan.blockers.isEmpty == isFree, "\(plan.blockers)")
    guard isFree else { return }
    try assistant.migrate()
    #expect(try Connection(reading: url).firstInteger("SELECT COUNT(*) FROM ZTAG") == 3)
  }
}
