import Foundation
import Heirloom
import TestSupport
import Testing

/// The delegate's mapping: when it is asked for, and the effect of its answer.
struct GivenMappingTests {
  private typealias Make = InferableChangeTests

  private final class Answering: MigrationAssistantDelegate {
    let answer: [EntityMapping]?
    var asked: [[MappingObstacle]] = []
    var loseEverything: [Bool] = []

    init(_ answer: [EntityMapping]?) { self.answer = answer }

    func migrationAssistant(
      _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
      need: MappingNeed
    ) throws -> MappingModel? {
      asked.append(need.obstacles)
      return answer.map { MappingModel(entityMappings: $0) }
    }

    func migrationAssistant(
      _ assistant: MigrationAssistant, shouldMigrate plan: MigrationPlan
    ) throws -> MigrationDecision {
      loseEverything.append(plan.losesEveryObject)
      return .automatic
    }
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
      var generator = StoreGenerator(objectsPerEntity: 5, seed: 2)
      try generator.makeStore(at: store, model: source)
    }

    func migrate(_ delegate: Answering, losses: LossPolicy = .keepVersion) throws -> MigrationPlan? {
      var configuration = MigrationAssistant.Configuration()
      configuration.losses = losses
      let assistant = MigrationAssistant(
        storeURL: store, modelController: ModelController(storeURL: store),
        history: ModelHistory(current: destination, earlier: [("1", source)]), configuration: configuration)
      assistant.delegate = delegate
      let outcome = try withExtendedLifetime(delegate) { try assistant.migrateStore() }
      guard case .migrated(let report) = outcome else { return nil }
      return report.plan
    }
  }

  @Test(arguments: [LossPolicy.keepVersion, .accept, .stop])
  func `the delegate is asked before objects are dropped, and its mapping keeps them`(losses: LossPolicy) throws {
    let scene = try Scene()
    let before = try StoreContents(of: scene.store, model: scene.source)
    let delegate = Answering([EntityMapping(from: "Old", to: "New")])
    let plan = try #require(try scene.migrate(delegate, losses: losses))
    #expect(delegate.asked == [[]])
    #expect(plan.losses.isEmpty)
    #expect(try StoreContents(of: scene.store, model: scene.destination).objects["New"] == before.objects["Old"])
  }

  @Test func `without an answer they are dropped, as can be inferred, and the plan says so`() throws {
    let scene = try Scene()
    let delegate = Answering(nil)
    let plan = try #require(try scene.migrate(delegate))
    #expect(delegate.asked == [[]])
    #expect(plan.losses.map(\.rows) == [5])
    #expect(delegate.loseEverything == [true])
  }

  @Test func `what a policy makes of all objects is not known before, and not taken for nothing`() throws {
    let scene = try Scene()
    let delegate = Answering([EntityMapping(from: "Old", to: "New", policy: EntityMigrationPolicy.self)])
    let plan = try #require(try scene.migrate(delegate))
    #expect(delegate.loseEverything.allSatisfy { !$0 } && !delegate.loseEverything.isEmpty)
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

  /// A delegate that knows a mapping for one hop, or for the whole path.
  private final class Knowing: MigrationAssistantDelegate {
    let start: ManagedObjectModel
    var unused: [String] = []

    init(from start: ManagedObjectModel) { self.start = start }

    func migrationAssistant(
      _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
      need: MappingNeed
    ) throws -> MappingModel? {
      guard source == start else { return nil }
      return MappingModel(entityMappings: [
        EntityMapping(from: "Note", to: "Note") { PropertyMapping("a", constant: .date(0)) }
      ])
    }

    func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {
      if case .mappingUnused(let reason) = event { unused.append(reason) }
    }
  }

  @Test(arguments: [true, false])
  func `what the delegate gives goes on where a given mapping ends, or it is told that it leads past it`(
    knowsStep: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let (models, given) = try Self.typed()
    let url = directory.file("Store.sqlite")
    var generator = StoreGenerator(objectsPerEntity: 5, seed: 2)
    try generator.makeStore(at: url, model: models[0])
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [given]
    let assistant = MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url),
      history: ModelHistory(current: models[2], name: "3", earlier: [("1", models[0]), ("2", models[1])]),
      configuration: configuration)
    let delegate = Knowing(from: models[knowsStep ? 1 : 0])
    assistant.delegate = delegate
    guard case .migrated(let report) = try withExtendedLifetime(delegate, { try assistant.migrateStore() }) else {
      Issue.record("expected a migration")
      return
    }
    #expect(report.plan.hops.count == (knowsStep ? 2 : 1))
    #expect(delegate.unused.count == (knowsStep ? 0 : 1), "\(delegate.unused)")
    #expect(report.plan.warnings.contains { $0.contains("is not used") } == !knowsStep)
    let store = try PersistentStore.open(at: url, model: models[2], isReadOnly: true)
    for note in try ManagedObjectContext(store: store).fetch("Note") { #expect(note["a"] == .date(0)) }
    try store.close()
  }
}
