import Foundation
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore

/// Forwards calls from a migration's thread to a delegate on the main actor, and waits for the answers.
///
/// Only that thread holds the assistant that is passed on, and it doesn't use it while it waits.
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
    // Not `DispatchQueue.main.sync` itself: the compiler would infer main-actor isolation for its closure, and `ask`
    // has none.
    let mainQueue = DispatchQueue.main
    return try mainQueue.sync { try ask(delegate) }
  }
}
