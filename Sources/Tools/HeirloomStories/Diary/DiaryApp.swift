package import Foundation
package import Heirloom

/// The app of the story Diary, reduced to its launch.
///
/// Its first version stored archived arrays; its second has an object for each question. Inference
/// can't do that, so the delegate names the policies that create the objects.
package final class DiaryApp: MigrationAssistantDelegate {
  /// The name of the first template and of each day's section.
  package static let sectionName = "Main category"
  package static let initialQuestions = ["What was good today?", "What was not?", "What will tomorrow bring?"]

  package let storeURL: URL
  private let history: ModelHistory
  /// The obstacles to inference, as phrases.
  package private(set) var log: [String] = []

  /// The store may not exist yet; the history's current model is the second version.
  package init(storeURL: URL, history: ModelHistory) {
    self.storeURL = storeURL
    self.history = history
  }

  /// Makes the initial template if there is none, and returns true if it did.
  package func launch() throws -> (outcome: MigrationOutcome, madeTemplate: Bool) {
    let controller = ModelController(storeURL: storeURL)
    let assistant = MigrationAssistant(storeURL: storeURL, modelController: controller, history: history)
    assistant.delegate = self
    let outcome = try assistant.migrateStore()
    try controller.archive(history.current)
    let madeTemplate: Bool
    switch outcome {
    case .noStore:
      try makeInitialTemplate(in: try PersistentStore.create(at: storeURL, model: history.current))
      madeTemplate = true
    case .migrated:
      let store = try PersistentStore.open(at: storeURL, model: history.current)
      madeTemplate = try ManagedObjectContext(store: store).count("Template") == 0
      if madeTemplate { try makeInitialTemplate(in: store) } else { try store.close() }
    default:
      madeTemplate = false
    }
    return (outcome, madeTemplate)
  }

  private func makeInitialTemplate(in store: PersistentStore) throws {
    let context = ManagedObjectContext(store: store)
    try DiaryObjects.makeTemplate(of: Self.initialQuestions, in: context)
    try context.save()
    try store.close()
  }

  package func migrationAssistant(
    _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
    need: MappingNeed
  ) throws -> MappingModel? {
    for obstacle in need.obstacles { log.append("not inferred: \(obstacle.reason)") }
    return try MappingModel.inferred(from: source, to: destination) {
      EntityMapping(
        from: "Questions", to: "Template", policy: QuestionsToTemplate.self, userInfo: ["modelVersion": "2"])
      EntityMapping(
        from: "Records", to: "DayRecord", policy: RecordsToDayRecord.self, userInfo: ["modelVersion": "2"])
    }
  }
}
