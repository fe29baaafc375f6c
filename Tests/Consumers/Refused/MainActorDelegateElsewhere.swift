// Refused: cannot satisfy conformance requirement
import Foundation
import Heirloom

/// A delegate of the main actor's that is handed to another thread.
@MainActor final class Screen {
  var line = ""

  func launch(_ assistant: sending MigrationAssistant) async throws {
    _ = try await MigrationAssistant.migrateStore(with: assistant, delegate: self)
  }
}

extension Screen: @MainActor MigrationAssistantDelegate {
  func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {
    line = event.description
  }
}
