import Foundation
import Heirloom
import HeirloomFormats
import TestSupport
import Testing

/// A step that code migrates and that drops a property on purpose: both are said to the lock, in any order.
struct CodeStepLossTests: ModelMaking {
  private let directory: TemporaryDirectory
  private let tool: Tool
  private let history: String

  /// The second version changes a type and drops a note; the third adds an attribute.
  private static func model(_ version: Int) throws -> ManagedObjectModel {
    let number = attribute("number", version == 1 ? .string : .integer64)
    let others = version == 1 ? [attribute("note")] : version == 2 ? [] : [attribute("more")]
    return try ManagedObjectModel(entities: [entity("Invoice", [number] + others)])
  }

  init() throws {
    directory = try TemporaryDirectory()
    tool = Tool(directory: directory.url)
    history = directory.file("History").path
    for version in 1...2 { try fix(version) }
  }

  private func fix(_ version: Int) throws {
    let snapshot = try Notebook.write(Self.model(version), "\(version)", in: directory)
    #expect(tool("snapshot", snapshot, "--history", history).code == 0)
  }

  private func check(_ options: [String] = []) -> Tool.Outcome { tool.run(["check", history] + options) }

  private static let (loss, code) = (["--acknowledge", "Invoice.note"], ["--by-app", "1"])

  @Test(arguments: [[loss, code], [code, loss], [loss + code], [code + loss]])
  func `a loss of a step by code is acknowledged before, after and with it, and the app takes it so`(
    commands: [[String]]
  ) throws {
    for (index, options) in commands.enumerated() {
      let outcome = check(options)
      // Until both are said, the check fails for the mapping, and never for the command.
      let isDone = index == commands.count - 1 || options == Self.code
      #expect(outcome.code == (isDone ? 0 : 6), "\(options): \(outcome.output)\(outcome.error)")
    }
    try fix(3)
    let later = check()
    #expect(later.code == 0 && !later.output.contains("isn't"), "\(later.output)")
    let lock = try VersionLock(path: history + "/lock.json")
    #expect(lock.acknowledgements.flatMap(\.losses).map(\.name) == ["Invoice.note"])
    #expect(lock.stepsByCode == [VersionLock.Step(source: "1", destination: "2")])

    let url = directory.file("Store.sqlite")
    let store = try PersistentStore.create(at: url, model: Self.model(1))
    let context = ManagedObjectContext(store: store)
    let invoice = try context.insert("Invoice")
    (invoice["number"], invoice["note"]) = (.string("12"), .string("gone on purpose"))
    try context.save()
    try context.save()
    try store.close()
    var models = try ModelHistory(contentsOf: URL(fileURLWithPath: history))
    try models.step(from: "1", to: "2") {
      EntityMapping(from: "Invoice", to: "Invoice", policy: NumberPolicy.self)
    }
    let assistant = MigrationAssistant(url, models)
    let report = try assistant.migrate()
    #expect(report.plan.losses.map(\.consent) == [.lock], "\(report.plan.losses)")
    #expect(!report.previousVersion.isPinned)
  }

  @Test func `the check names both commands, and what it prints works word for word`() throws {
    let outcome = check()
    #expect(outcome.code == 6)
    let text = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let command = try #require(text.firstMatch(of: /heirloom (check \S+ --acknowledge Invoice\.note) says/)).1
    #expect(text.contains("--by-app 1"), "\(text)")
    #expect(tool.run(command.split(separator: " ").map(String.init)).code == 6)
    #expect(check(Self.code).code == 0)
    #expect(!check().output.contains("--acknowledge"))
    #expect(check(["--acknowledge", "Invoice.number"]).code == 2)
  }

  @Test(arguments: [nil, "Invoice"]) func `a property that needs a mapping under a new name doesn't go away`(
    entityID: String?
  ) throws {
    var after = Self.entity(
      entityID == nil ? "Invoice" : "Bill", [Self.attribute("amount", .date, id: "number"), Self.attribute("note")])
    after.renamingIdentifier = entityID
    let models = directory.file("Renamed").path
    for (index, entity) in [Self.entity("Invoice", [Self.attribute("number"), Self.attribute("note")]), after]
      .enumerated()
    {
      let model = try Notebook.write(ManagedObjectModel(entities: [entity]), "\(index + 1)", in: directory)
      #expect(tool("snapshot", model, "--history", models).code == 0)
    }
    let outcome = tool("check", models)
    #expect(outcome.code == 6 && !outcome.output.contains("--acknowledge"), "\(outcome.output)")
    #expect(tool("check", models, "--acknowledge", "Invoice.number").code == 2)
  }

  private final class NumberPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let made = try manager.destinationContext.insert("Invoice")
      try manager.associate(source: source, destination: made, for: mapping)
      if case .string(let text) = source["number"] { made["number"] = .integer(Int64(text) ?? 0) }
    }
  }
}
