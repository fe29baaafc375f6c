import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Versions that were edited in place after they were shipped, as an app meets them.
struct EditedVersionTests {
  private let directory: TemporaryDirectory
  private let delegate = ClosureDelegate()
  private var store: URL { directory.file("Items.sqlite") }

  init() throws { directory = try TemporaryDirectory() }

  private var edits: [MigrationEvent] {
    delegate.events.filter { if case .versionEdited = $0 { true } else { false } }
  }

  private static func model(_ number: Int) throws -> ManagedObjectModel {
    let attributes = (1...number).map { Make.attribute("a\($0)") }
    return try ManagedObjectModel(entities: [
      Make.entity("Item", attributes), Make.entity("Tag", attributes.dropLast()),
    ])
  }

  private func history(edited: Int?, hashes: Bool = true) throws -> ModelHistory {
    let models = try (1...3).map { (name: "V\($0)", model: try Self.model($0)) }
    _ = try LossConsentTests.history(models, in: directory)
    if let edited {
      var entities = models[edited - 1].model.entities
      entities[0].attributes.append(Make.attribute("late"))
      try ModelSnapshot(model: ManagedObjectModel(entities: entities), archivedAt: Date(timeIntervalSince1970: 0))
        .encoded(.readable).write(to: directory.file("History/V\(edited).json"))
    }
    if !hashes {
      let bare = models.map { VersionLock.Entry(name: $0.name, checksum: $0.model.versionChecksum()) }
      try Data(VersionLock(versions: bare).encoded()).write(to: directory.file("History/lock.json"))
    }
    return try ModelHistory(contentsOf: directory.file("History"))
  }

  private func makeStore(_ number: Int, keepsModel: Bool = true) throws {
    let made = try PersistentStore.create(at: store, model: Self.model(number))
    if !keepsModel { try made.connection.execute("DELETE FROM Z_MODELCACHE") }
    try made.close()
  }

  private func assistant(_ history: ModelHistory) -> MigrationAssistant {
    let assistant = MigrationAssistant(store, history)
    assistant.delegate = delegate
    return assistant
  }

  private static let words = "\"V2\" was shipped and must not change"

  @Test(arguments: [1, 2], [true, false])
  func `a shipped version that was edited is an event and a warning of the plan`(made: Int, hashes: Bool) throws {
    try makeStore(made)
    let assistant = try assistant(history(edited: 2, hashes: hashes))
    let plan = try #require(try assistant.plan())
    #expect(
      plan.warnings.count { $0.contains(Self.words) && $0.contains("\"Item\"") == hashes } == 1, "\(plan.warnings)")
    let event = MigrationEvent.versionEdited("V2", entities: hashes ? ["Item"] : [])
    #expect(edits == [event])
    #expect(event.logLine.metadata["version"] == "V2" && event.logLine.level == .warning)
    let report = try assistant.migrate()
    #expect(report.plan.warnings.contains { $0.contains(Self.words) })
  }

  @Test func `where the store's model is known to nobody any more, the event says which version was edited`() throws {
    try makeStore(2, keepsModel: false)
    let assistant = try assistant(history(edited: 2))
    #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    #expect(edits == [.versionEdited("V2", entities: ["Item"])])
  }

  @Test func `an edited current version is told at a launch with nothing else to do`() throws {
    let history = try history(edited: 3)
    try PersistentStore.create(at: store, model: history.current).close()
    try assistant(history).requireNothingToDo()
    #expect(edits == [.versionEdited("V3", entities: ["Item"])])
  }

  @Test func `versions as they were shipped are no event`() throws {
    try makeStore(1)
    let assistant = try assistant(history(edited: nil))
    #expect(try #require(try assistant.plan()).warnings.allSatisfy { !$0.contains("was shipped") })
    guard case .migrated = try assistant.migrateStore(), case .upToDate = try assistant.migrateStore() else {
      Issue.record("not migrated")
      return
    }
    #expect(edits.isEmpty)
  }
}
