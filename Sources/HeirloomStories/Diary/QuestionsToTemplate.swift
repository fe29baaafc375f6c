package import Heirloom

/// A policy that makes a template with an object for each question of an archived array.
package final class QuestionsToTemplate: EntityMigrationPolicy {
  package override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let template = try manager.createDestinationInstance(forSource: source, in: mapping)
    // The mapping says which version of the model it was written for.
    guard mapping.userInfo["modelVersion"] == "2" else { return }
    try DiaryObjects.fill(
      template, with: try DiaryObjects.questions(of: source), in: manager.destinationContext)
  }
}
