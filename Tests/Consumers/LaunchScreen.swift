import Foundation
import Heirloom

/// An app's launch on the main actor, which shows what happens while the store is migrated.
@MainActor final class LaunchScreen {
  private(set) var line = ""

  func launch(_ url: URL, _ history: ModelHistory) async throws {
    let assistant = MigrationAssistant(storeURL: url, modelController: ModelController(storeURL: url), history: history)
    let outcome = try await MigrationAssistant.migrateStore(with: assistant, mainActorDelegate: self)
    line = outcome.name
  }

  /// The same on the main thread: its own delegate is called where it is.
  func launchAtOnce(_ url: URL, _ history: ModelHistory) throws {
    let assistant = MigrationAssistant(storeURL: url, modelController: ModelController(storeURL: url), history: history)
    assistant.delegate = self
    line = try assistant.migrateStore().name
  }
}

extension LaunchScreen: @MainActor MigrationAssistantDelegate {
  func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {
    line = event.description
  }
}
