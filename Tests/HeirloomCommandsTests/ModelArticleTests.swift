import Foundation
import Heirloom
import HeirloomCompare
import HeirloomFormats
import HeirloomMapping
import HeirloomOutput
import HeirloomStore
import TestSupport
import Testing

/// The examples of the article about the model's XML: what it says is read, and nothing is left unread.
struct ModelArticleTests {
  /// With what the article says that `heirloom inspect` shows.
  private static let examples = Result { () throws -> [(xml: String, shown: String)] in
    let file = KeyTables.root.appendingPathComponent("Sources/Heirloom/Heirloom.docc/ModelByHand.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    return text.matches(of: /(?s)```xml\n(.*?)\n```\n.*?\n```\n(.*?)```\n/).map { (String($0.1), String($0.2)) }
  }

  private static func model(_ xml: String) -> String {
    if xml.hasPrefix("<?xml") { return xml }
    return "<model>" + (xml.hasPrefix("<attribute") ? "<entity name=\"Note\">\(xml)</entity>" : xml) + "</model>"
  }

  @Test func `each example is read whole, and shown as the article says`() throws {
    let examples = try Self.examples.get()
    #expect(examples.count == 9)
    for (xml, shown) in examples {
      let read = try ModelSourceReader.read(Array(Self.model(xml).utf8))
      #expect(read.warnings.isEmpty, "\(read.warnings)")
      var lines = ModelText(model: read.model).lines(TextStyle(isColored: false)).drop { $0.isEmpty }
      if xml.hasPrefix("<attribute") { lines = lines.dropFirst() }
      #expect(shown == lines.map { $0 + "\n" }.joined())
    }
  }

  @Test func `the first example is what a new user gets`() throws {
    let directory = try TemporaryDirectory()
    #expect(Tool(directory: directory.url)("new-version", "Journal.xcdatamodeld").code == 0)
    let contents = directory.file("Journal.xcdatamodeld/Journal.xcdatamodel/contents")
    #expect(try String(contentsOf: contents, encoding: .utf8) == Self.examples.get().first?.xml)
  }

  @Test func `a new name keeps the values`() throws {
    let last = try #require(try Self.examples.get().last)
    let before = "<entity name=\"Note\"><attribute name=\"mood\" optional=\"YES\" attributeType=\"String\"/></entity>"
    let models = try [before, last.xml].map { try ModelSourceReader.read(Array(Self.model($0).utf8)).model }
    let effects = ModelDifference(from: models[0], to: models[1]).changes.map(\.effect)
    #expect(effects.filter { $0 != .nothing } == [.kept, .kept])
  }

  @Test func `the folder of a bundle is a history, with its lock and snapshots`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    #expect(tool("new-version", "Models/Journal.xcdatamodeld").code == 0)
    #expect(tool("snapshot", "Models", "--history", "Models").code == 0)
    let history = try ModelHistory(contentsOf: directory.file("Models"))
    #expect(history.warnings.isEmpty && history.versionNames == ["Journal"])

    // Booleans and dates stand in conditions and decisions as the articles have them.
    let store = try PersistentStore.open(at: directory.file("Journal.sqlite"), history: history)
    let context = ManagedObjectContext(store: store)
    for (title, isDone, age) in [("a", true, 1.0), ("b", true, 30), ("c", false, 1)] {
      let note = try context.insert("Note")
      try note.set(title, for: "title")
      try note.set(isDone, for: "isDone")
      try note.set(Date(timeIntervalSinceNow: -age * 86_400), for: "created")
    }
    try context.save()
    func titles(_ request: ObjectFetchRequest) throws -> [String?] {
      try context.fetch(request).map { try $0.string("title") }
    }
    let weekAgo = Date(timeIntervalSinceNow: -7 * 86_400)
    #expect(try titles(ObjectFetchRequest("Note", where: "isDone == NO")) == ["c"])
    #expect(
      try titles(ObjectFetchRequest("Note", where: "created >= %@ AND isDone == %@", weekAgo, true)) == ["a"])
    try store.close()
    let contents = directory.file("Models/Journal.xcdatamodeld/Journal 2.xcdatamodel/contents")
    #expect(tool("new-version", "Models", "--name", "Journal 2").code == 0)
    let next = try String(contentsOf: contents, encoding: .utf8)
      .replacing("name=\"created\" optional=\"YES\"", with: "name=\"created\"")
    try Data(next.utf8).write(to: contents)
    try Connection.execute(
      "UPDATE ZNOTE SET ZCREATED = NULL WHERE ZTITLE = 'b'", on: directory.file("Journal.sqlite").path)
    var options = PersistentStoreOptions()
    let day = try Date("2026-11-21T00:00:00Z", strategy: .iso8601)
    options.migration.decisions = [
      DataDecision(entity: "Note", property: "created", .fill(.date(day.timeIntervalSinceReferenceDate)))
    ]
    let later = try ModelHistory(contentsOf: directory.file("Models"))
    let migrated = try PersistentStore.open(at: directory.file("Journal.sqlite"), history: later, options: options)
    let found = try ManagedObjectContext(store: migrated).fetch(ObjectFetchRequest("Note", where: "created == %@", day))
    #expect(try found.map { try $0.string("title") } == ["b"])
    try migrated.close()
  }
}
