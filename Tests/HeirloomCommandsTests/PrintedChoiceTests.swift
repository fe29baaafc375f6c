import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// The choices that are printed where rows don't fit: each is taken as it is printed, and one that can't be carried out is
/// neither printed nor noted.
struct PrintedChoiceTests: ModelMaking {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var tool: Tool { Tool(directory: directory.url) }
  private var history: String { directory.file("History").path }

  private func fix(_ models: [ManagedObjectModel]) throws {
    for (number, model) in models.enumerated() {
      let path = try Notebook.write(model, "\(number)", in: directory)
      #expect(tool("snapshot", path, "--history", history).code == 0)
    }
  }

  private func makeStore(_ model: ManagedObjectModel, _ keys: [String?]) throws -> URL {
    let url = directory.file("Store.sqlite")
    try PersistentStore.make(at: url, model: model) { context in
      for key in keys { try context.insert("Note")["key"] = key.map { .string($0) } }
    }
    return url
  }

  /// Notes that need an owner: of an abstract entity, with subentities of which an object can be made or not.
  private static func owned() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      entity("Note", [attribute("key")], [toOne("owner", "Person", "notes", optional: false)]),
      entity("Person", [attribute("name")], [toMany("notes", "Note", "owner")], isAbstract: true),
      entity("Adult", parent: "Person"), entity("Child", [attribute("born", .date, optional: false)], parent: "Person"),
      entity("Teen", [attribute("age", .integer16, optional: false, value: .integer(13))], parent: "Person"),
      entity("Twin", [attribute("code", value: .string("x"))], parent: "Person", unique: [["code"]]),
    ])
  }

  @Test func `new objects are proposed of each entity that has them, and no other is taken`() throws {
    let first = try ManagedObjectModel(entities: [Self.entity("Note", [Self.attribute("key")])])
    try fix([first, Self.owned()])
    let store = try makeStore(first, ["a", nil])
    let refusal = tool("migrate", store.path, "--to", history)
    let printed = Set(refusal.error.matches(of: /--decide Note\.owner=(\S+)/).map { String($0.1) })
    #expect(refusal.code == 3 && printed == ["new:Adult", "new:Teen", "quarantine"], "\(refusal.error)")
    for name in ["Person", "Child", "Twin", "Note", "Nobody"] {
      let check = tool("check", history, "--decide", "Note.owner=new:\(name)")
      #expect(check.code == 2 && check.error.contains(name), "\(check.output)\(check.error)")
      #expect(tool("migrate", store.path, "--to", history, "--decide", "Note.owner=new:\(name)").code == 3)
    }
    let lock = try String(contentsOf: directory.file("History/lock.json"), encoding: .utf8)
    #expect(!lock.contains("decisions"))
    let check = try #require(
      PrintedCommand.all(in: tool("check", history).output).first { $0.words.contains("--decide") })
    #expect(check.words.last == "Note.owner=new:Adult")
    #expect(tool.run(check.words).code == 0)
    #expect(tool("migrate", store.path, "--to", history).code == 0)
    let connection = try Connection(reading: store)
    #expect(
      try connection.rows("SELECT COUNT(DISTINCT ZOWNER), COUNT(ZOWNER) FROM ZNOTE") == [[.integer(2), .integer(2)]])
  }

  @Test func `one choice answers two findings, given once or for each`() throws {
    let first = try ManagedObjectModel(entities: [Self.entity("Note", [Self.attribute("key")])])
    try fix([
      first,
      try ManagedObjectModel(entities: [
        Self.entity("Note", [Self.attribute("key", optional: false)], unique: [["key"]])
      ]),
    ])
    for isRepeated in [false, true] {
      let store = try makeStore(first, ["a", "a", nil, "b"])
      let refusal = tool("migrate", store.path, "--to", history)
      let printed = refusal.error.matches(of: /--decide Note\.key=quarantine/).map { String($0.0) }
      #expect(printed.count == 2, "\(refusal.error)")
      let words = printed.prefix(isRepeated ? 2 : 1).flatMap { $0.split(separator: " ").map(String.init) }
      let run = tool.run(["migrate", store.path, "--to", history] + words)
      #expect(run.code == 0, "\(run.output)\(run.error)")
      #expect(try Connection(reading: store).rows("SELECT ZKEY FROM ZNOTE ORDER BY 1") == [[.text("a")], [.text("b")]])
      try FileManager.default.removeItem(at: store)
      try FileManager.default.removeItem(atPath: store.path + ".heirloom")
    }
  }

  @Test(arguments: ["fill:unknown", "quarantine"], [true, false])
  func `an entity that gets a parent lacks what the parent requires, and is decided about by the parent's name`(
    choice: String, isOfLock: Bool
  ) throws {
    func model(parent: String?) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Self.entity("Item", [Self.attribute("title", optional: false)], isAbstract: true),
        Self.entity("Recipe", [Self.attribute("text")], parent: "Item"),
        Self.entity("Note", [Self.attribute("key")], parent: parent),
      ])
    }
    let first = try model(parent: nil)
    try fix([first, try model(parent: "Item")])
    let store = try makeStore(first, ["a", nil])
    let refusal = tool("migrate", store.path, "--to", history)
    let printed = "Item.title=\(choice)"
    #expect(refusal.code == 3 && refusal.error.contains("--decide \(printed)"), "\(refusal.error)")
    if isOfLock {
      let check = tool("check", history, "--decide", printed)
      #expect(check.code == 0 || choice == "quarantine", "\(check.output)\(check.error)")
    }
    let run = tool.run(["migrate", store.path, "--to", history] + (isOfLock ? [] : ["--decide", printed]))
    #expect(run.code == 0, "\(run.output)\(run.error)")
    let titles = try Connection(reading: store).rows("SELECT ZTITLE FROM ZITEM").map { $0[0] }
    #expect(titles == (choice == "quarantine" ? [] : [.text("unknown"), .text("unknown")]))
  }
}
