package import Foundation
package import Heirloom

/// The app of the story Aircraft, reduced to its launch.
package struct AircraftApp {
  /// The store.
  package let storeURL: URL
  private let history: ModelHistory
  private let stages: StagedMigrationManager?
  private let defersCleanUp: Bool

  /// Creates the app.
  ///
  /// - Parameters:
  ///   - storeURL: The store; it may not exist yet.
  ///   - history: The app's models.
  ///   - stages: The stages from older versions to the current one; `nil` to infer the migration.
  ///   - defersCleanUp: True to leave a migration's clean-up until after the launch.
  package init(
    storeURL: URL, history: ModelHistory, stages: StagedMigrationManager? = nil, defersCleanUp: Bool = false
  ) {
    self.storeURL = storeURL
    self.history = history
    self.stages = stages
    self.defersCleanUp = defersCleanUp
  }

  /// Starts the app: migrates the store and archives the model.
  ///
  /// - Returns: The outcome of the migration.
  /// - Throws: `MigrationAssistantError`.
  package func launch() throws -> MigrationOutcome {
    let controller = ModelController(storeURL: storeURL)
    let outcome = try assistant(controller).migrateStore()
    try controller.archive(history.current)
    return outcome
  }

  /// Returns the plan of the migration without writing anything; `nil` if there is nothing to do.
  package func plan() throws(MigrationAssistantError) -> MigrationPlan? {
    try assistant(ModelController(storeURL: storeURL)).plan()
  }

  /// Returns the assistant of a launch.
  package func assistant(_ controller: ModelController) -> MigrationAssistant {
    var configuration = MigrationAssistant.Configuration()
    configuration.defersLightweightMigration = defersCleanUp
    let assistant = MigrationAssistant(
      storeURL: storeURL, modelController: controller, history: history, configuration: configuration)
    assistant.stagedManager = stages
    return assistant
  }
}
