package import Heirloom

/// Makes a day with a section, and an object for each question and answer of two archived arrays.
package final class RecordsToDayRecord: EntityMigrationPolicy {
  package override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    // The manager copies the date, which has the same name and type in both versions.
    let day = try manager.createDestinationInstance(forSource: source, in: mapping)
    // The mapping records the model version that it was written for.
    guard mapping.userInfo["modelVersion"] == "2" else { return }
    let questions = try DiaryObjects.questions(of: source)
    let answers = try DiaryObjects.texts("answers", of: source)
    guard questions.count == answers.count else {
      throw DiaryError.unequalCounts(questions: questions.count, answers: answers.count)
    }
    guard case .string(let date)? = try source.value(forAttribute: "date") else { throw DiaryError.noDay("") }
    try DiaryObjects.fill(
      day, of: date, with: Array(zip(questions, answers)).map { (question: $0, answer: $1) },
      in: manager.destinationContext)
  }
}
