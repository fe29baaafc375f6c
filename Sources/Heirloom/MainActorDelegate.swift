import Foundation
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore

/// A delegate of the main actor's, which the thread of a migration calls there and waits for.
///
/// That thread alone holds the assistant that is handed on, and does nothing with it meanwhile.
final class MainActorDelegate: MigrationAssistantDelegate, @unchecked Sendable {
  /// Called on the main thread only.
  private let delegate: any MigrationAssistantDelegate

  init(_ delegate: any MigrationAssistantDelegate) {
    self.delegate = delegate
  }

  func migrationAssistant(
    _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
    need: MappingNeed
  ) throws -> MappingModel? {
    try onMainActor {
      try $0.migrationAssistant(assistant, mappingModelFrom: source, to: destination, need: need)
    }
  }

  func migrationAssistant(
    _ assistant: MigrationAssistant, didFailToInferMappingFrom source: ManagedObjectModel,
    to destination: ManagedObjectModel, obstacles: [MappingObstacle]
  ) {
    onMainActor {
      $0.migrationAssistant(assistant, didFailToInferMappingFrom: source, to: destination, obstacles: obstacles)
    }
  }

  func migrationAssistant(
    _ assistant: MigrationAssistant, shouldMigrate plan: MigrationPlan
  ) throws -> MigrationDecision {
    try onMainActor { try $0.migrationAssistant(assistant, shouldMigrate: plan) }
  }

  func migrationAssistant(
    _ assistant: MigrationAssistant, modelForStoreWith metadata: StoreMetadata
  ) throws -> ManagedObjectModel? {
    try onMainActor { try $0.migrationAssistant(assistant, modelForStoreWith: metadata) }
  }

  func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {
    onMainActor { $0.migrationAssistant(assistant, didReport: event) }
  }

  private func onMainActor<Answer>(_ ask: (any MigrationAssistantDelegate) throws -> Answer) rethrows -> Answer {
    // By a name of its own: the compiler takes what `DispatchQueue.main` runs for the main actor's, which `ask` isn't.
    let mainQueue = DispatchQueue.main
    return try mainQueue.sync { try ask(delegate) }
  }
}
