import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Values that a new type keeps only changed: each is a loss that is counted, told and pinned.
struct ChangedValueTests {
  /// A change of type, values as SQL has them, and the number of those that can't be had back.
  struct Case: CustomTestStringConvertible, Sendable {
    let from: AttributeType
    let to: AttributeType
    let values: [String]
    let changed: Int64
    var testDescription: String { "\(from.name) to \(to.name)" }
  }

  static let cases = [
    Case(from: .integer16, to: .boolean, values: ["2", "300", "-5", "0", "1", "NULL"], changed: 3),
    Case(from: .double, to: .integer32, values: ["0.5", "3.999", "4.0", "-1", "NULL"], changed: 2),
    Case(from: .decimal, to: .integer64, values: ["99.99", "100", "1e3"], changed: 1),
    Case(
      from: .integer64, to: .double, values: ["9007199254740993", "9007199254740992", "-9007199254740993", "7"],
      changed: 2),
    Case(from: .integer64, to: .float, values: ["9007199254740993", "16777217"], changed: 1),
    Case(from: .decimal, to: .double, values: ["'twelve'", "12", "12.5", "9007199254740993", "x'31'"], changed: 3),
    Case(from: .integer16, to: .double, values: ["'many'", "5"], changed: 1),
    // Nothing is converted: the cell stays what it was.
    Case(from: .integer64, to: .decimal, values: ["9007199254740993"], changed: 0),
    Case(from: .boolean, to: .integer16, values: ["0", "1"], changed: 0),
    Case(from: .integer16, to: .integer64, values: ["7", "-7"], changed: 0),
    Case(from: .double, to: .float, values: ["0.1"], changed: 0),
  ]

  private static func model(_ type: AttributeType) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [Make.entity("Note", [Make.attribute("amount", type)])])
  }

  @Test(arguments: cases, [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `each value that converting back would not give is counted`(one: Case, builder: BuilderChoice) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Notes.sqlite")
    let before = try Self.model(one.from)
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: before))
      for _ in one.values { _ = try context.insert("Note") }
      try context.save()
    }
    for (key, value) in one.values.enumerated() {
      try Connection(path: url.path, mode: .readWrite).execute(
        "UPDATE ZNOTE SET ZAMOUNT = \(value) WHERE Z_PK = \(key + 1)")
    }
    let assistant = MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url),
      history: ModelHistory(current: try Self.model(one.to), earlier: [("1", before)]), configuration: .withBothProofs,
      files: POSIXFileOperations(), builder: builder)
    guard case .migrated(let report) = try assistant.migrateStore() else {
      Issue.record("expected a migration")
      return
    }
    let losses = report.plan.losses
    #expect(losses.map(\.name) == (one.changed == 0 ? [] : ["Note.amount"]))
    #expect(losses.map(\.kind) == (one.changed == 0 ? [] : [.changedValues]))
    #expect(losses.reduce(0) { $0 + $1.rows } == one.changed)
    #expect(!report.plan.warnings.contains { $0.contains("amount") })
    // Nobody consented: the store before is kept for good.
    let kept = try #require(try assistant.archive.previousVersions().last)
    #expect(kept.isPinned == (one.changed > 0))
  }
}
