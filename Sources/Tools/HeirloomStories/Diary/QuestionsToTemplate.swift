package import Heirloom

/// A policy that makes a template with an object for each question of an archived array.
package final class QuestionsToTemplate: EntityMigrationPolicy {
  package override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let template = try manager.createDestinationInstance(forSource: source, in: mapping)
    // The mapping records the model version that it was written for.
    guard mapping.userInfo["modelVersion"] == "2" else { return }
    try DiaryObjects.fill(
      template, with: try DiaryObjects.questions(of: source), in: manager.destinationContext)
  }
}
