import Foundation
import Heirloom

/// A policy as an app writes it; nothing tells that it isn't the main actor's.
final class SplitName: EntityMigrationPolicy {
  private var seen = 0

  override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    seen += 1
    let person = try manager.createDestinationInstance(forSource: source, in: mapping)
    person["given"] = source["name"]
  }
}

/// A delegate that may be called on any thread.
nonisolated final class Mappings: MigrationAssistantDelegate, Sendable {
  func migrationAssistant(
    _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
    need: MappingNeed
  ) throws -> MappingModel? {
    try MappingModel.inferred(from: source, to: destination) {
      EntityMapping(from: "Person", to: "Person", policy: SplitName.self)
    }
  }
}

/// A launch with stages, observers and functions, each written where the main actor is the default.
@MainActor final class StagedLaunch {
  func launch(_ url: URL, _ history: ModelHistory, _ steps: [ManagedObjectModelReference]) async throws {
    let stage = CustomMigrationStage(migratingFrom: steps[0], to: steps[1], label: "names")
    stage.didMigrateHandler = { context in
      for person in try context.fetch(ObjectFetchRequest("Person")) { person["given"] = .string("?") }
      try context.save()
    }
    var configuration = MigrationAssistant.Configuration()
    configuration.observers = [MigrationObserver(log: { line in print(line) })]
    configuration.policies.register(function: "shortened") { value, _ in value }
    let assistant = MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url), history: history, configuration: configuration)
    assistant.stagedManager = try StagedMigrationManager([stage], history: history)
    let outcome = try await MigrationAssistant.migrateStore(with: assistant, delegate: Mappings())
    print(outcome)
  }
}
