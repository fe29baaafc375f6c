import Foundation
import Heirloom
import SwiftData

/// An app of SwiftData's that lets Heirloom bring its store to the newest schema before the container is made.
struct NotesContainer {
  let url: URL
  let history: ModelHistory

  func open() throws -> ModelContainer {
    let assistant = MigrationAssistant(storeURL: url, modelController: ModelController(storeURL: url), history: history)
    _ = try assistant.migrateStore()
    return try ModelContainer(for: Schema([]), migrationPlan: Plan.self, configurations: ModelConfiguration(url: url))
  }
}

enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [] }
  static var stages: [MigrationStage] { [.lightweight(fromVersion: First.self, toVersion: Second.self)] }
}

enum First: VersionedSchema {
  static var models: [any PersistentModel.Type] { [] }
}

enum Second: VersionedSchema {
  static var models: [any PersistentModel.Type] { [] }
}
