import Foundation
import Heirloom
import TestSupport
import Testing

/// The delegate's mapping: when it is asked for, and the effect of its answer.
struct GivenMappingTests {
  private static func answering(_ mapping: EntityMapping) -> ClosureDelegate {
    ClosureDelegate(mapping: { _, _, _ in MappingModel(entityMappings: [mapping]) })
  }

  private struct Scene {
    let directory: TemporaryDirectory
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    var store: URL { directory.file("Store.sqlite") }

    /// Nothing continues the old objects by their name.
    init() throws {
      directory = try TemporaryDirectory()
      source = try ManagedObjectModel(entities: [Make.entity("Old", [Make.attribute("name")])])
      destination = try ManagedObjectModel(entities: [Make.entity("New", [Make.attribute("name")])])
      try StoreGenerator.makeStore(at: store, model: source, objects: 5, seed: 2)
    }

    func migrate(_ delegate: ClosureDelegate, losses: LossPolicy = .keepVersion) throws -> MigrationPlan? {
      let assistant = MigrationAssistant(store, from: source, to: destination, .init(losses: losses))
      assistant.delegate = delegate
      guard case .migrated(let report) = try assistant.migrateStore() else { return nil }
      return report.plan
    }
  }

  @Test(arguments: [LossPolicy.keepVersion, .accept, .stop])
  func `the delegate is asked before objects are dropped, and its mapping keeps them`(losses: LossPolicy) throws {
    let scene = try Scene()
    let before = try StoreContents(of: scene.store, model: scene.source)
    let delegate = Self.answering(EntityMapping(from: "Old", to: "New"))
    let plan = try #require(try scene.migrate(delegate, losses: losses))
    #expect(delegate.needs.map(\.obstacles) == [[]])
    #expect(plan.losses.isEmpty)
    #expect(try StoreContents(of: scene.store, model: scene.destination).objects["New"] == before.objects["Old"])
  }

  @Test func `without an answer they are dropped, as can be inferred, and the plan says so`() throws {
    let scene = try Scene()
    let delegate = ClosureDelegate()
    let plan = try #require(try scene.migrate(delegate))
    #expect(delegate.needs.map(\.obstacles) == [[]])
    #expect(plan.losses.map(\.rows) == [5])
    #expect(delegate.plans.map(\.losesEveryObject) == [true])
  }

  @Test func `what a policy makes of all objects is not known before, and not taken for nothing`() throws {
    let scene = try Scene()
    let delegate = Self.answering(EntityMapping(from: "Old", to: "New", policy: EntityMigrationPolicy.self))
    let plan = try #require(try scene.migrate(delegate))
    #expect(delegate.plans.allSatisfy { !$0.losesEveryObject } && !delegate.plans.isEmpty)
    #expect(plan.rows.map(\.after) == [5])
    #expect(plan.mappingResults.map(\.leftBehind) == [0])
  }

  private static func typed() throws -> (models: [ManagedObjectModel], given: MappingModel) {
    let models = try [AttributeType.string, .integer64, .date].map { type in
      try ManagedObjectModel(entities: [Make.entity("Note", [Make.attribute("a", type)])])
    }
    let mapping = EntityMapping(from: "Note", to: "Note") { PropertyMapping("a", constant: .integer(7)) }
    return (models, try MappingInference(from: models[0], to: models[1], given: [mapping]).mappingModel())
  }

  @Test(arguments: [true, false])
  func `what the delegate gives goes on where a given mapping ends, or it is told that it leads past it`(
    knowsStep: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let (models, given) = try Self.typed()
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: models[0], objects: 5, seed: 2)
    let assistant = MigrationAssistant(
      url, ModelHistory(current: models[2], name: "3", earlier: [("1", models[0]), ("2", models[1])]),
      .init(mappings: [given]))
    // It knows a mapping for one hop, or for the whole path.
    let delegate = ClosureDelegate(mapping: { source, _, _ in
      guard source == models[knowsStep ? 1 : 0] else { return nil }
      return MappingModel(entityMappings: [
        EntityMapping(from: "Note", to: "Note") { PropertyMapping("a", constant: .date(0)) }
      ])
    })
    assistant.delegate = delegate
    let report = try assistant.migrate()
    #expect(report.plan.hops.count == (knowsStep ? 2 : 1))
    let unused = delegate.events.filter { if case .mappingUnused = $0 { true } else { false } }
    #expect(unused.count == (knowsStep ? 0 : 1), "\(unused)")
    #expect(report.plan.warnings.contains { $0.contains("is not used") } == !knowsStep)
    let store = try PersistentStore.open(at: url, model: models[2], isReadOnly: true)
    for note in try ManagedObjectContext(store: store).fetch("Note") { #expect(note["a"] == .date(0)) }
    try store.close()
  }
}
