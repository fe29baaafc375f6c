package import Foundation
package import Heirloom

/// The app of the story Aircraft, reduced to its launch.
package struct AircraftApp {
  /// The store.
  package let storeURL: URL
  private let history: ModelHistory
  private let stages: StagedMigrationManager?
  private let defersCleanUp: Bool

  /// Creates the app; its store may not exist yet.
  ///
  /// `stages` migrate older versions to the current one; `nil` infers the migration. `defersCleanUp` leaves a
  /// migration's clean-up until after the launch.
  package init(
    storeURL: URL, history: ModelHistory, stages: StagedMigrationManager? = nil, defersCleanUp: Bool = false
  ) {
    self.storeURL = storeURL
    self.history = history
    self.stages = stages
    self.defersCleanUp = defersCleanUp
  }

  /// Starts the app: migrates the store, archives the model, and returns the migration's outcome.
  package func launch() throws -> MigrationOutcome {
    let controller = ModelController(storeURL: storeURL)
    let outcome = try assistant(controller).migrateStore()
    try controller.archive(history.current)
    return outcome
  }

  /// Returns the plan of the migration without writing anything; `nil` if the store is up to date.
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
