import Foundation
import Heirloom
import TestSupport
import Testing

struct DecideTests {
  /// Moods are unique, although half of the notes have the same one.
  private static func uniqueMoods(in directory: TemporaryDirectory) throws -> String {
    var entities = try Notebook.first().entities
    entities[0].uniquenessConstraints = [["mood"]]
    return try Notebook.write(try ManagedObjectModel(entities: entities), "Unique", in: directory)
  }

  @Test func `a blocker names the choices, and each of them migrates`() throws {
    for (choice, counts) in [
      ("newest", [0, 20, 0, 0]), ("merge", [0, 0, 20, 0]), ("quarantine", [0, 0, 0, 20]),
    ] {
      let directory = try TemporaryDirectory()
      let store = try Notebook.makeStore(in: directory, count: 42)
      let model = try Self.uniqueMoods(in: directory)
      let bytes = StoreBytes(of: store)
      let tool = Tool(directory: directory.url)
      let refused = tool("migrate", "Notebook.sqlite", "--to", model)
      #expect(refused.code == 3)
      #expect(
        refused.error.contains("--decide Note.mood=newest or --decide Note.mood=merge or --decide Note.mood=quarantine")
      )
      #expect(tool("plan", "Notebook.sqlite", "--to", model).output.contains("--decide Note.mood="))
      for command in ["plan", "rehearse"] {
        let json = try tool(command, "Notebook.sqlite", "--to", model, "--decide", "Note.mood=\(choice)", "--json")
          .json()
        #expect((json["blockers"] as? [Any])?.isEmpty == true)
        let decisions = try #require(json["decisions"] as? [[String: Any]])
        #expect(decisions.map { $0["decision"] as? String } == ["Note.mood=\(choice)"])
        #expect(["filled", "dropped", "merged", "quarantined"].map { decisions[0][$0] as? Int } == counts)
      }
      #expect(StoreBytes(of: store) == bytes)
      let migrated = tool("migrate", "Notebook.sqlite", "--to", model, "--decide=Note.mood=\(choice)", "--json")
      #expect(migrated.code == 0)
      let files = try #require(try migrated.json()["quarantine"] as? [String])
      #expect(files.count == (choice == "quarantine" ? 1 : 0))
      #expect(try tool("versions", "Notebook.sqlite", "--json").json()["quarantine"] as? [String] == files)
      #expect(tool("doctor", "Notebook.sqlite").output.contains("rows in quarantine") == !files.isEmpty)
      #expect(tool("verify", "Notebook.sqlite").code == 0)
      let rows = try #require(try migrated.json()["rows"] as? [[String: Any]])
      #expect(rows.map { $0["after"] as? Int } == [22])
      #expect(tool("migrate", "Notebook.sqlite", "--to", model, "--decide=Note.mood=\(choice)").code == 0)
    }
  }

  @Test(arguments: [("fill:me", 42, 0), ("fill:", 42, 0), ("quarantine", 0, 42)])
  func `a missing value is filled, or its rows are put aside`(choice: String, filled: Int, quarantined: Int) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 42)
    let model = try Notebook.write(Notebook.requiring(), "Requiring", in: directory)
    let tool = Tool(directory: directory.url)
    let outcome = tool("migrate", "Notebook.sqlite", "--to", model, "--decide", "Note.author=\(choice)", "--json")
    #expect(outcome.code == 0)
    let decisions = try #require(try outcome.json()["decisions"] as? [[String: Any]])
    #expect(decisions[0]["filled"] as? Int == filled)
    #expect(decisions[0]["quarantined"] as? Int == quarantined)
    let connection = try Connection(reading: store)
    #expect(try connection.firstInteger("SELECT COUNT(*) FROM ZNOTE WHERE ZAUTHOR IN ('me', '')") == Int64(filled))
    try connection.close()
  }

  @Test(arguments: [
    ("2026-11-21", 816_912_000), ("2026-11-21T10:15:00Z", 816_948_900), ("2026-11-21T10:15:00+01:00", 816_945_300),
    ("2026-11-21T10:15:00-0330", 816_961_500), ("2026-11-21T10:15:00.5Z", 816_948_900.5), ("2000-02-29", -26_524_800),
  ])
  func `a date is filled as it is written, and shown so`(date: String, seconds: Double) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 3)
    let model = try Notebook.write(Notebook.dating(), "Dating", in: directory)
    let tool = Tool(directory: directory.url)
    let decision = "Note.created=fill:\(date)"
    let plan = tool("plan", "Notebook.sqlite", "--to", model, "--decide", decision)
    #expect(plan.output.contains("\(decision): 3 rows filled"))
    let outcome = try tool("migrate", "Notebook.sqlite", "--to", model, "--decide", decision, "--json").json()
    #expect((outcome["decisions"] as? [[String: Any]])?.map { $0["decision"] as? String } == [decision])
    let connection = try Connection(reading: store)
    #expect(try connection.rows("SELECT DISTINCT CAST(ZCREATED AS REAL) FROM ZNOTE") == [[.real(seconds)]])
    try connection.close()
  }

  @Test(arguments: [
    "2026-02-30", "2026-13-01", "2026-11-21T25:00:00Z", "2026-11-21T10:15:00", "2026-11-21 10:15:00Z", "21.11.2026",
    "2026-11-21T10:15:00Zx", "2026-11-21T10:15:00+1", "2026-11-21T10:15:00.5", "2026", "20261121", "",
  ])
  func `what is no date is refused in one sentence`(text: String) throws {
    let directory = try TemporaryDirectory()
    _ = try Notebook.makeStore(in: directory, count: 3)
    let model = try Notebook.write(Notebook.dating(), "Dating", in: directory)
    let outcome = Tool(directory: directory.url)(
      "migrate", "Notebook.sqlite", "--to", model, "--decide", "Note.created=fill:\(text)", "--json")
    #expect(outcome.code == 2)
    #expect(
      try outcome.failure()["message"] as? String
        == "--decide Note.created=fill:\(text): expected a date, such as 2026-11-21 or 2026-11-21T10:15:00Z.")
  }

  @Test func `a decision made in code reads as the tool's option takes it`() throws {
    let day = try Date("2026-11-21T00:00:00Z", strategy: .iso8601)
    func words(_ value: AttributeValue) -> String {
      "\(DataDecision(entity: "Note", property: "created", .fill(value)))"
    }
    #expect(words(.date(day)) == "Note.created=fill:2026-11-21")
    #expect(words(.date(day.timeIntervalSinceReferenceDate + 36_900.5)) == "Note.created=fill:2026-11-21T10:15:00.5Z")
    #expect(words(.string("me")) == "Note.created=fill:me")
    #expect(words(.boolean(true)) == "Note.created=fill:yes")
    #expect(words(.binary([1, 255])) == "Note.created=fill:01ff")
    let identifier = "5D0A1B2C-0000-4000-8000-1234567890AB"
    let value = try #require(UUID(uuidString: identifier)?.attributeValue)
    #expect(words(value) == "Note.created=fill:\(identifier)")
  }

  @Test(arguments: [
    "x", "Note=", "Note.author", "Note.author=", "Note.author=fill", "Note.author=drop", "Note.author=quarantine:x",
    "=newest", ".author=newest", "Note.nothing=fill:1", "Nothing.author=fill:1", "Note.author,title=fill:x",
  ])
  func `a decision that isn't understood is wrong usage`(decision: String) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 3)
    let model = try Notebook.write(Notebook.requiring(), "Requiring", in: directory)
    let bytes = StoreBytes(of: store)
    let outcome = Tool(directory: directory.url)(
      "migrate", "Notebook.sqlite", "--to", model, "--decide", decision, "--json")
    #expect(outcome.code == 2)
    #expect(try outcome.failure()["code"] as? String == "usage")
    #expect(StoreBytes(of: store) == bytes)
  }

  @Test(arguments: [
    "Note.author=newest", "Note.title=fill:x", "Note.title=quarantine", "Note.nothing=merge", "Nothing=quarantine",
    "Note.title,author=merge",
  ])
  func `a decision about what can't stand in the way is refused`(decision: String) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 3)
    let model = try Notebook.write(Notebook.requiring(), "Requiring", in: directory)
    let bytes = StoreBytes(of: store)
    for command in ["plan", "rehearse", "migrate"] {
      let outcome = Tool(directory: directory.url)(
        command, "Notebook.sqlite", "--to", model, "--decide", decision, "--decide", "Note.author=fill:x", "--json")
      #expect(outcome.code == 3)
      #expect(try outcome.failure()["code"] as? String == "unfitDecision")
    }
    #expect(StoreBytes(of: store) == bytes)
  }
}
