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

  /// Changes by code that leaves values to the default; `nil` if one of the values stops it.
  static let casesOfCode = [
    CodeCase(from: .double, to: .integer32, values: ["0.5", "4.0", "1e5"], changed: 1),
    CodeCase(from: .double, to: .integer32, values: ["4.0", "1e20"], changed: nil),
    CodeCase(from: .integer64, to: .integer16, values: ["32768"], changed: nil),
    CodeCase(from: .integer64, to: .integer16, values: ["-32769"], changed: nil),
    CodeCase(from: .integer64, to: .integer16, values: ["32767", "-32768"], changed: 0),
    CodeCase(from: .double, to: .integer64, values: ["'twelve'"], changed: nil),
    CodeCase(from: .double, to: .float, values: ["1e39"], changed: nil),
    CodeCase(from: .double, to: .float, values: ["-1e39"], changed: nil),
    CodeCase(from: .boolean, to: .double, values: ["0", "1", "12"], changed: 1),
    CodeCase(from: .boolean, to: .decimal, values: ["0", "1"], changed: 0),
    CodeCase(from: .double, to: .boolean, values: ["0.0", "1.0"], changed: 0),
    CodeCase(from: .decimal, to: .boolean, values: ["0", "1"], changed: 0),
    CodeCase(from: .decimal, to: .boolean, values: ["2"], changed: nil),
    CodeCase(from: .integer16, to: .integer16, values: ["70000"], changed: 0),
  ]

  struct CodeCase: CustomTestStringConvertible, Sendable {
    let from: AttributeType
    let to: AttributeType
    let values: [String]
    let changed: Int64?
    var testDescription: String { "\(from.name) to \(to.name): \(values.joined(separator: ", "))" }
  }

  private static func assistantByDefault(
    _ url: URL, _ from: AttributeType, _ to: AttributeType
  ) throws -> MigrationAssistant {
    // A new name, so that there is something to migrate where the type stays.
    let after = try ManagedObjectModel(entities: [Make.entity("Note", [Make.attribute("sum", to)])])
    let before = try Self.model(from)
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [
      try MappingModel.inferred(from: before, to: after) {
        EntityMapping(from: "Note", to: "Note", policy: EntityMigrationPolicy.self) {
          PropertyMapping("sum", copying: "amount")
        }
      }
    ]
    return MigrationAssistant(url, from: before, to: after, configuration)
  }

  @Test(arguments: casesOfCode)
  func `the default of code changes no value without a word, and stores none out of range`(one: CodeCase) throws {
    let directory = try TemporaryDirectory()
    let url = try Self.store(of: one.values, one.from, in: directory)
    let assistant = try Self.assistantByDefault(url, one.from, one.to)
    guard let changed = one.changed else {
      let contents = try FileContents(of: url)
      let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
      guard case .failed(_, .mappingFailed(let failure)) = error,
        case MigrationManagerError.unfitValue(let property, let expected) = failure.underlying
      else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(property == "sum" && expected == one.to.name)
      #expect(try FileContents(of: url) == contents)
      return
    }
    let report = try assistant.migrate()
    #expect(report.plan.losses.map(\.kind) == (changed == 0 ? [] : [.changedValues]))
    #expect(report.plan.losses.reduce(0) { $0 + $1.rows } == changed)
    #expect(try StoreArchive(storeURL: url).previousVersions().map(\.isPinned) == [changed > 0])
  }

  @Test func `the default of code carries the bytes of a text that is no valid UTF-8`() throws {
    let directory = try TemporaryDirectory()
    let values = ["CAST(x'61FF62' AS TEXT)", "CAST(x'6100EFBFBD' AS TEXT)", "''", "'é'", "x'61FF62'", "5", "NULL"]
    let url = try Self.store(of: values, .string, in: directory)
    func cells(_ column: String) throws -> [[SQLiteValue]] {
      try Connection(reading: url).rows(
        "SELECT TYPEOF(\(column)), HEX(\(column)) FROM ZNOTE ORDER BY Z_PK")
    }
    let stored = try cells("ZAMOUNT")
    let assistant = try Self.assistantByDefault(url, .string, .string)
    let report = try assistant.migrate()
    #expect(report.plan.losses.isEmpty)
    #expect(try cells("ZSUM") == stored)
  }

  private static func store(
    of values: [String], _ type: AttributeType, in directory: TemporaryDirectory
  ) throws -> URL {
    let url = directory.file("Notes.sqlite")
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: try model(type)))
      for _ in values { _ = try context.insert("Note") }
      try context.save()
    }
    for (key, value) in values.enumerated() {
      try Connection(path: url.path, mode: .readWrite).execute(
        "UPDATE ZNOTE SET ZAMOUNT = \(value) WHERE Z_PK = \(key + 1)")
    }
    return url
  }

  private static func model(_ type: AttributeType) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [Make.entity("Note", [Make.attribute("amount", type)])])
  }

  @Test func `a jump counts what a version on the way would have changed`() throws {
    let directory = try TemporaryDirectory()
    let url = try Self.store(of: ["0.5", "4.0", "NULL"], .double, in: directory)
    let current = try ManagedObjectModel(entities: [
      Make.entity("Note", [Make.attribute("amount", .double), Make.attribute("title")])
    ])
    let assistant = MigrationAssistant(
      url,
      ModelHistory(
        current: current, earlier: [("1", try Self.model(.double)), ("2", try Self.model(.integer32))]))
    let report = try assistant.migrate()
    #expect(report.plan.losses.map { "\($0.kind) \($0.name) \($0.rows)" } == ["changedValues Note.amount 1"])
  }

  @Test(arguments: cases, [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `each value that converting back would not give is counted`(one: Case, builder: BuilderChoice) throws {
    let directory = try TemporaryDirectory()
    let url = try Self.store(of: one.values, one.from, in: directory)
    let before = try Self.model(one.from)
    let assistant = MigrationAssistant(url, from: before, to: try Self.model(one.to), .withBothProofs, builder: builder)
    let report = try assistant.migrate()
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
