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
    let store = try PersistentStore.create(at: url, model: before)
    let context = ManagedObjectContext(store: store)
    for _ in 0..<3 { try context.insert("Tag")["name"] = .string("same") }
    try context.save()
    try store.close()
    let isFree = constraint.contains("slug")
    let effects = MappingInference(from: before, to: after).effects
    #expect(effects.contains { $0.kind == .duplicate } == !isFree, "\(effects)")
    let assistant = MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url),
      history: ModelHistory(current: after, name: "2", earlier: [(name: "1", model: before)]))
    let plan = try #require(try assistant.plan())
    #expect(plan.blockers.isEmpty == isFree, "\(plan.blockers)")
    guard isFree else { return }
    guard case .migrated = try assistant.migrateStore() else {
      Issue.record("not migrated")
      return
    }
    #expect(try Connection(path: url.path, mode: .readOnly).firstInteger("SELECT COUNT(*) FROM ZTAG") == 3)
  }
}
