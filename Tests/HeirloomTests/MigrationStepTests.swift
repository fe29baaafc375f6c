import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Steps that an app says by the names of versions: on every way that leads over them, and on no other.
struct MigrationStepTests {
  /// Four versions: the list's name becomes a label between the second and the third, and a size comes.
  static func history(to current: Int = 4, in directory: TemporaryDirectory? = nil) throws -> ModelHistory {
    let title = Make.attribute("title")
    let models = try [
      [title, Make.attribute("listName")], [title, Make.attribute("listName"), Make.attribute("note")],
      [title, Make.attribute("label"), Make.attribute("note")],
      [title, Make.attribute("label"), Make.attribute("note"), Make.attribute("size")],
    ].map { try ManagedObjectModel(entities: [Make.entity("Item", $0)]) }
    let named = zip(1..., models).map { (name: "Todo \($0)", model: $1) }
    if let directory { return try LossConsentTests.history(named, in: directory) }
    return ModelHistory(
      current: models[current - 1], name: "Todo \(current)", earlier: Array(named.prefix(current - 1)),
      later: Array(named.dropFirst(current)))
  }

  private static func makeStore(_ version: Int, in directory: TemporaryDirectory, _ history: ModelHistory) throws -> URL
  {
    let url = directory.file("Items.sqlite")
    let model = try #require(try history.model(named: "Todo \(version)"))
    let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: model))
    for number in 1...3 {
      let item = try context.insert("Item")
      item["title"] = .string("\(number)")
      item[version < 3 ? "listName" : "label"] = .string("List \(number)")
    }
    try context.save()
    return url
  }

  private static func labels(_ url: URL) throws -> Int64? {
    return try Connection(reading: url).firstInteger("SELECT COUNT(*) FROM ZITEM WHERE ZLABEL = 'List ' || ZTITLE")
  }

  private static func migrate(
    _ url: URL, _ history: ModelHistory, _ delegate: (any MigrationAssistantDelegate)? = nil
  ) throws -> MigrationReport? {
    let assistant = MigrationAssistant(url, history)
    assistant.delegate = delegate
    guard case .migrated(let report) = try assistant.migrateStore() else {
      return nil
    }
    return report
  }

  @Test(arguments: 1...4, [true, false])
  func `a step is taken on each way over it, and called on no other`(version: Int, isInFiles: Bool) throws {
    let directory = try TemporaryDirectory()
    var history = try Self.history(in: isInFiles ? directory : nil)
    let url = try Self.makeStore(version, in: directory, history)
    let calls = Locked(0)
    try history.step(from: "Todo 2", to: "Todo 3") {
      let _ = calls.withLock { $0 += 1 }
      EntityMapping(from: "Item", to: "Item") { PropertyMapping("label", copying: "listName") }
    }
    // A step of other versions stays where it is, and is said for none.
    try history.step(from: "Todo 3", to: "Todo 4") { EntityMapping(from: "Item", to: "Item") }
    let report = try Self.migrate(url, history)
    #expect((report == nil) == (version == 4))
    #expect(try Self.labels(url) == 3)
    #expect(report?.plan.losses.isEmpty ?? true)
    #expect(report?.plan.warnings.filter { $0.contains("not used") } ?? [] == [])
    #expect((calls.withLock { $0 } > 0) == (version < 3))
    #expect(try Self.migrate(url, history) == nil)
  }

  @Test func `without the step, the values are a loss`() throws {
    let directory = try TemporaryDirectory()
    let history = try Self.history()
    let url = try Self.makeStore(1, in: directory, history)
    #expect(try Self.migrate(url, history)?.plan.losses.map(\.name) == ["Item.listName"])
  }

  @Test func `a step that can't be one of the history is refused when it is said`() throws {
    var history = try Self.history()
    let unknown = #expect(throws: MigrationStepError.self) { try history.step(from: "Todo 2", to: "Todo 5") {} }
    #expect(unknown?.cause.contains("\"Todo 5\"; it has \"Todo 1\", \"Todo 2\", \"Todo 3\", \"Todo 4\"") == true)
    let same = #expect(throws: MigrationStepError.self) { try history.step(from: "Todo 2", to: "Todo 2") {} }
    #expect(same?.cause.contains("same source and destination") == true)
    try history.step(from: "Todo 2", to: "Todo 3") {}
    let twice = #expect(throws: MigrationStepError.self) { try history.step(from: "Todo 2", to: "Todo 3") {} }
    #expect(twice?.cause.contains("added twice") == true)
  }

  private struct Undecided: Error {}

  @Test func `what a step throws stops the migration, and the store is as it was`() throws {
    let directory = try TemporaryDirectory()
    var history = try Self.history()
    try history.step(from: "Todo 2", to: "Todo 3") { () throws -> [EntityMapping] in throw Undecided() }
    let url = try Self.makeStore(2, in: directory, history)
    let before = try FileContents(of: url)
    #expect(throws: (any Error).self) { try Self.migrate(url, history) }
    #expect(try FileContents(of: url) == before)
  }

  @Test func `a step with a wrong name stops the migration that needs it, and names it`() throws {
    let directory = try TemporaryDirectory()
    var history = try Self.history()
    try history.step(from: "Todo 2", to: "Todo 3") { EntityMapping(from: "Itme", to: "Item") }
    let url = try Self.makeStore(1, in: directory, history)
    let before = try FileContents(of: url)
    let error = try #require(throws: MigrationAssistantError.self) { try Self.migrate(url, history) }
    #expect(error.cause.contains("Itme"), "\(error.cause)")
    #expect(try FileContents(of: url) == before)
  }

  @Test func `copies of a history have steps of their own`() throws {
    let directory = try TemporaryDirectory()
    var first = try Self.history()
    var second = first
    try first.step(from: "Todo 2", to: "Todo 3") { EntityMapping(from: "Item", to: "Item") }
    try second.step(from: "Todo 2", to: "Todo 3") {
      EntityMapping(from: "Item", to: "Item") { PropertyMapping("label", copying: "listName") }
    }
    let url = try Self.makeStore(2, in: directory, first)
    let copy = directory.file("Copy.sqlite")
    try FileManager.default.copyItem(at: url, to: copy)
    #expect(try Self.migrate(url, first)?.plan.losses.map(\.name) == ["Item.listName"])
    #expect(try Self.migrate(copy, second)?.plan.losses.isEmpty == true)
    #expect(try Self.labels(copy) == 3)
  }

  @Test(arguments: 1...2)
  func `code runs before and after the step's mapping`(version: Int) throws {
    let directory = try TemporaryDirectory()
    var history = try Self.history()
    let url = try Self.makeStore(version, in: directory, history)
    let seen = Locked<[String]>([])
    try history.step(
      from: "Todo 2", to: "Todo 3",
      willMigrate: { context in
        for item in try context.fetch("Item") {
          seen.withLock { $0.append("\(item["listName"].map { "\($0)" } ?? "")") }
          item["note"] = item["listName"]
        }
        try context.save()
      },
      didMigrate: { context in
        for item in try context.fetch("Item") { (item["label"], item["note"]) = (item["note"], nil) }
        try context.save()
      })
    #expect(try Self.migrate(url, history) != nil)
    #expect(seen.withLock { $0.sorted() } == ["\"List 1\"", "\"List 2\"", "\"List 3\""])
    #expect(try Self.labels(url) == 3)
  }

  @Test func `a mapping file is a step, and is read where it is needed`() throws {
    let directory = try TemporaryDirectory()
    var history = try Self.history()
    let file = directory.file("Missing.xcmappingmodel")
    try history.step(from: "Todo 2", to: "Todo 3", contentsOf: file)
    let current = try Self.makeStore(4, in: directory, history)
    #expect(try Self.migrate(current, history) == nil)
    let other = try TemporaryDirectory()
    let url = try Self.makeStore(2, in: other, history)
    let before = try FileContents(of: url)
    #expect(throws: (any Error).self) { try Self.migrate(url, history) }
    #expect(try FileContents(of: url) == before)
  }

  @Test func `a step back is consent to that direction`() throws {
    let directory = try TemporaryDirectory()
    var history = try Self.history(to: 2)
    let url = try Self.makeStore(3, in: directory, history)
    #expect(throws: MigrationAssistantError.self) { try Self.migrate(url, history) }
    try history.step(from: "Todo 3", to: "Todo 2") {
      EntityMapping(from: "Item", to: "Item") { PropertyMapping("listName", copying: "label") }
    }
    #expect(try Self.migrate(url, history)?.plan.losses.isEmpty == true)
    let connection = try Connection(reading: url)
    #expect(try connection.firstInteger("SELECT COUNT(*) FROM ZITEM WHERE ZLISTNAME = 'List ' || ZTITLE") == 3)
  }

  @Test(arguments: [
    ("Todo 2", "Todo 3", ["Todo 2 > Todo 3"], 0), ("Todo 1", "Todo 4", ["Todo 2 > Todo 3", "Todo 1 > Todo 4"], 0),
    ("Todo 1", "Todo 2", ["Todo 2 > Todo 3", "Todo 1 > Todo 4"], 1),
  ])
  func `a delegate is asked about each step that needs it, about the whole way last`(
    source: String, destination: String, asked: [String], losses: Int
  ) throws {
    let directory = try TemporaryDirectory()
    let history = try Self.history()
    let url = try Self.makeStore(1, in: directory, history)
    var found: [String] = []
    let pair = (source, destination)
    let delegate = ClosureDelegate(mapping: { source, destination, need in
      #expect(history.name(of: source) == need.sourceName)
      #expect(history.name(of: destination) == need.destinationName)
      found.append("\(need.sourceName ?? "") > \(need.destinationName ?? "")")
      guard need.sourceName == pair.0, need.destinationName == pair.1 else { return nil }
      return try MappingModel.inferred(from: source, to: destination) {
        EntityMapping(from: "Item", to: "Item") { PropertyMapping("label", copying: "listName") }
      }
    })
    let report = try #require(try Self.migrate(url, history, delegate))
    #expect(found == asked)
    #expect(report.plan.losses.count == losses)
    #expect(try Self.labels(url) == (losses == 0 ? 3 : 0))
  }
}
