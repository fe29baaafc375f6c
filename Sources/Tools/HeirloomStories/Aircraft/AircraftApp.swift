package import Foundation
package import Heirloom

/// The app of the story Aircraft, reduced to its launch.
package struct AircraftApp {
  package let storeURL: URL
  private let history: ModelHistory
  private let stages: StagedMigrationManager?
  private let defersCleanUp: Bool

  /// `nil` stages infer the migration; `defersCleanUp` leaves clean-up until after the launch.
  package init(
    storeURL: URL, history: ModelHistory, stages: StagedMigrationManager? = nil, defersCleanUp: Bool = false
  ) {
    self.storeURL = storeURL
    self.history = history
    self.stages = stages
    self.defersCleanUp = defersCleanUp
  }

  package func launch() throws -> MigrationOutcome {
    let controller = ModelController(storeURL: storeURL)
    let outcome = try assistant(controller).migrateStore()
    try controller.archive(history.current)
    return outcome
  }

  /// Writes nothing; `nil` if the store is up to date.
  package func plan() throws(MigrationAssistantError) -> MigrationPlan? {
    try assistant(ModelController(storeURL: storeURL)).plan()
  }

  package func assistant(_ controller: ModelController) -> MigrationAssistant {
    var configuration = MigrationAssistant.Configuration()
    configuration.defersLightweightMigration = defersCleanUp
    let assistant = MigrationAssistant(
      storeURL: storeURL, modelController: controller, history: history, configuration: configuration)
    assistant.stagedManager = stages
    return assistant
  }
}
