package import Foundation
package import Heirloom

/// The app of the story Aircraft, as far as a launch goes.
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
  ///   - stages: The way of older stores to the current model; `nil` to infer it.
  ///   - defersCleanUp: Whether the clean-up of a migration waits until after the launch.
  package init(
    storeURL: URL, history: ModelHistory, stages: StagedMigrationManager? = nil, defersCleanUp: Bool = false
  ) {
    self.storeURL = storeURL
    self.history = history
    self.stages = stages
    self.defersCleanUp = defersCleanUp
  }

  /// Starts the app: migrates the store and keeps the model.
  ///
  /// - Returns: What the migration came to.
  /// - Throws: `MigrationAssistantError`.
  package func launch() throws -> MigrationOutcome {
    let controller = ModelController(storeURL: storeURL)
    let outcome = try assistant(controller).migrateStore()
    try controller.archive(history.current)
    return outcome
  }

  /// Makes the plan of the migration without writing anything; `nil` if there is nothing to do.
  package func plan() throws(MigrationAssistantError) -> MigrationPlan? {
    try assistant(ModelController(storeURL: storeURL)).plan()
  }

  /// Makes the assistant of a launch.
  package func assistant(_ controller: ModelController) -> MigrationAssistant {
    var configuration = MigrationAssistant.Configuration()
    configuration.defersLightweightMigration = defersCleanUp
    let assistant = MigrationAssistant(
      storeURL: storeURL, modelController: controller, history: history, configuration: configuration)
    assistant.stagedManager = stages
    return assistant
  }
}
