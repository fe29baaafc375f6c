import Foundation
import Heirloom
import TestSupport
import Testing

/// The text that `print` shows of an outcome, a plan, an event, an object: one or a few lines, never a whole model.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct ReadableDescriptionTests {
  private final class Recorder: MigrationAssistantDelegate {
    var events: [MigrationEvent] = []
    func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) { events.append(event) }
  }

  private func check(_ text: String, lines: Int = 12) {
    #expect(!text.isEmpty && text.utf8.count < 2000, "\(text.prefix(400))")
    #expect(text.split(separator: "\n").count <= lines, "\(text.prefix(400))")
  }

  @Test func `real migrations are told in a few lines, and what is kept can be verified`() throws {
    let jumps = LongTests.selection(of: try CorpusHistoryTests.jumps(), every: 24)
    #expect(!jumps.isEmpty)
    for jump in jumps {
      try Corpus.withCopy(of: jump.store) { url in
        let history = try jump.history()
        let recorder = Recorder()
        let assistant = MigrationAssistant(
          storeURL: url, modelController: ModelController(storeURL: url), history: history)
        assistant.delegate = recorder
        check("\(try #require(try assistant.plan()))")
        // Files of external data are not in the corpus, so that some stores lack values from the beginning.
        let faults = Set(try assistant.archive.verifyStore().findings.filter { $0.severity == .error }.map(\.code))
        let outcome = try assistant.migrateStore()
        check("\(outcome)")
        #expect("\(outcome)".hasPrefix("Migrated "))
        for event in recorder.events { check("\(event)", lines: 1) }
        let report = try assistant.archive.verifyStore()
        let found = Set(report.findings.filter { $0.severity == .error }.map(\.code))
        #expect(report.isModelFit && found.isSubset(of: faults.intersection(["missingExternalFile"])), "\(jump.store)")
        #expect(try StoreArchive(storeURL: url).previousVersions() == assistant.archive.previousVersions())
        let store = try PersistentStore.open(at: url, model: history.current, isReadOnly: true)
        defer { try? store.close() }
        let context = ManagedObjectContext(store: store)
        for entity in history.current.entities where !entity.isAbstract {
          for object in try context.fetch(ObjectFetchRequest(entity.name)).prefix(2) {
            check("\(object)", lines: 1)
            #expect("\(object)".hasPrefix(object.entityName))
          }
        }
      }
    }
  }
}
