import Foundation
import Heirloom
import TestSupport
import Testing

/// A history in which a step needs a decided expression: what is said of it from models alone, and what plan and
/// migration say of a store that takes several steps.
struct DecidedWayTests {
  private let directory: TemporaryDirectory
  private let tool: Tool
  private let store: URL
  private let history: String

  init() throws {
    directory = try TemporaryDirectory()
    tool = Tool(directory: directory.url)
    store = directory.file("Notebook.sqlite")
    history = directory.file("History").path
    for number in 1...3 {
      let path = try Notebook.write(try Self.version(number), "V\(number)", in: directory)
      #expect(tool("snapshot", path, "--history", history).code == 0)
    }
  }

  /// The second version adds a required text; the third makes numbers of texts, drops one, and needs a link.
  private static func version(_ number: Int) throws -> ManagedObjectModel {
    var note = Make.entity(
      "Note",
      [Make.attribute("title"), Make.attribute("rating", number == 3 ? .integer16 : .string)]
        + (number == 3 ? [] : [Make.attribute("mood")])
        + (number == 1 ? [] : [Make.attribute("author", optional: false)]))
    var person = Make.entity("Person", [Make.attribute("name")])
    if number == 3 {
      note.relationships = [Make.toOne("owner", "Person", "notes", optional: false)]
      person.relationships = [Make.toMany("notes", "Note", "owner")]
    }
    return try ManagedObjectModel(entities: [note, person])
  }

  private static let ratings: [String?] = ["1", "many", nil, "4", "2.5", "6"]

  private func makeStore() throws {
    let context = ManagedObjectContext(store: try PersistentStore.create(at: store, model: Self.version(1)))
    for rating in Self.ratings {
      let note = try context.insert("Note")
      note["mood"] = .string("good")
      note["rating"] = rating.map { .string($0) }
    }
    try context.save()
    try context.store.close()
  }

  private func check(_ words: String...) -> Tool.Outcome { tool.run(["check", history] + words) }

  private static let expression = "Note.rating=fill:=CAST(rating, \"NSNumber\")"

  private func decide(quarantines: Bool = true) {
    #expect(check("--decide", "Note.author=fill:unknown", "--decide", Self.expression).code != 2)
    #expect(check("--decide", "Note.owner=new:Person").code != 2)
    if quarantines { #expect(check("--decide", "Note.rating=quarantine").code != 2) }
  }

  @Test func `decisions and losses beside a decided expression are written and told one by one`() throws {
    decide()
    let undecided = check()
    #expect(undecided.code == 6)
    let errors = try #require(try check("--json").json()["findings"] as? [[String: Any]])
      .filter { $0["severity"] as? String == "error" }
    #expect(errors.map { $0["property"] as? String } == ["mood"], "\(undecided.output)")
    // Word for word.
    let command = try #require(undecided.output.firstMatch(of: /heirloom (check .+ --acknowledge Note\.mood)/)).output.1
    #expect(tool.run(command.split(separator: " ").map(String.init)).code == 0)
    let decided = check()
    #expect(decided.code == 0, "\(decided.output)")
    let table = tool("history", history).output
    #expect(!table.contains("needs mapping") && !table.contains("need a decision"), "\(table)")
  }

  @Test(arguments: ["Note.rating=fill:=CAST(ratin, \"NSNumber\")", "Note.rating=merge"])
  func `a decision that means nothing is not written`(decision: String) throws {
    #expect(check("--decide", Self.expression, "--decide", "Note.author=fill:unknown").code != 2)
    let lock = URL(fileURLWithPath: history + "/lock.json")
    let before = try Data(contentsOf: lock)
    #expect(check("--decide", decision).code == 2)
    #expect(try Data(contentsOf: lock) == before)
  }

  /// Of a plan or a migration, without the sentences.
  private static func losses(_ json: [String: Any]) throws -> [String] {
    try #require(json["losses"] as? [[String: Any]]).map {
      "\($0["entity"] ?? "").\($0["property"] ?? "") \($0["rows"] ?? "") \($0["consent"] ?? "")"
    }.sorted()
  }

  @Test func `a plan of several steps counts what the migration does, and the numbers are the store's`() throws {
    decide()
    _ = check("--acknowledge", "Note.mood")
    try makeStore()
    let bytes = try Data(contentsOf: store)
    let plan = tool("plan", store.path, "--to", history, "--json")
    #expect(try Data(contentsOf: store) == bytes)
    let migration = tool("migrate", store.path, "--to", history, "--json")
    #expect(plan.code == 0 && migration.code == 0, "\(plan.error) \(migration.error)")
    let (planned, migrated) = (try plan.json(), try migration.json())
    #expect(try Self.losses(planned) == Self.losses(migrated))
    let connection = try Connection(reading: store, options: .inspecting)
    // Two texts are no numbers; the missing one stays missing.
    #expect(
      try connection.rows("SELECT ZRATING FROM ZNOTE ORDER BY Z_PK").map(\.[0])
        == [.integer(1), .null, .integer(4), .integer(6)])
    let rows = try #require(migrated["rows"] as? [[String: Any]])
    for (entity, before) in [("Note", 6), ("Person", 0)] {
      let row = try #require(rows.first { $0["entity"] as? String == entity })
      let count = try connection.firstInteger("SELECT COUNT(*) FROM Z\(entity.uppercased())")
      #expect(row["before"] as? Int == before && (row["after"] as? Int).map(Int64.init) == count, "\(row)")
    }
  }

  @Test(arguments: [true, false])
  func `a plan ends as the migration does where a later step needs a word`(quarantines: Bool) throws {
    // Either the loss of the last step is not acknowledged, or its rows are not decided.
    decide(quarantines: quarantines)
    if !quarantines { _ = check("--acknowledge", "Note.mood") }
    try makeStore()
    let codes = ["plan", "rehearse", "migrate"].map { tool($0, store.path, "--to", history).code }
    #expect(codes == [3, 3, 3])
    let plan = tool("plan", store.path, "--to", history)
    #expect(!plan.output.contains("Nothing is lost"), "\(plan.output)")
  }

  /// Each later version drops an attribute and needs a decision, so that each step is a hop.
  @Test(arguments: 0..<3)
  func `a plan counts the losses of all steps, also where the loss of one needs a word`(open: Int) throws {
    let directory = try TemporaryDirectory()
    let (tool, history) = (Tool(directory: directory.url), directory.file("History").path)
    func version(_ number: Int) throws -> ManagedObjectModel {
      let kept = (number..<4).map { Make.attribute("a\($0)") }
      let added = (1..<max(number, 1)).map { Make.attribute("b\($0)", optional: false) }
      return try ManagedObjectModel(entities: [Make.entity("Note", kept + added)])
    }
    for number in 1...4 {
      let path = try Notebook.write(try version(number), "V\(number)", in: directory)
      #expect(tool("snapshot", path, "--history", history).code == 0)
      guard number > 1 else { continue }
      _ = tool("check", history, "--decide", "Note.b\(number - 1)=fill:x")
      if number - 2 != open { _ = tool("check", history, "--acknowledge", "Note.a\(number - 1)") }
    }
    let context = ManagedObjectContext(
      store: try PersistentStore.create(at: directory.file("Steps.sqlite"), model: version(1)))
    for number in 0..<5 {
      let note = try context.insert("Note")
      for name in 1...3 where number % (name + 1) != 0 { note["a\(name)"] = .string("x") }
    }
    try context.save()
    try context.store.close()
    let plan = tool("plan", directory.file("Steps.sqlite").path, "--to", history, "--json")
    #expect(plan.code == 3, "\(plan.output)")
    let counts = [1: 2, 2: 3, 3: 3].mapValues { $0 }
    let expected = (1...3).map { "Note.a\($0) \(counts[$0] ?? 0) \($0 - 1 == open ? "<null>" : "lock")" }
    #expect(try Self.losses(plan.json()) == expected)
  }
}
