import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Decisions that an app keeps for good: a store of each release, opened by each release.
struct DecisionsThatStayTests {
  /// Five releases: the author becomes required, titles unique, notes get another name, and the author goes.
  private static func releases() throws -> [(name: String, model: ManagedObjectModel)] {
    let text = Make.attribute("text")
    let author = Make.attribute("author")
    let required = Make.attribute("author", optional: false)
    let entities = [
      Make.entity("Note", [text, author]),
      Make.entity("Note", [text, required]),
      Make.entity("Note", [text, required, Make.attribute("mood")], unique: [["text"]]),
      Make.entity("Entry", [text, required, Make.attribute("mood")], id: "Note", unique: [["text"]]),
      Make.entity("Entry", [text, Make.attribute("mood")], id: "Note", unique: [["text"]]),
    ]
    return try entities.enumerated().map { ("\($0 + 1)", try ManagedObjectModel(entities: [$1])) }
  }

  /// Those that the releases needed one after the other: all stay.
  private static let decisions = [
    DataDecision(entity: "Note", property: "author", .fill(.string("unknown"))),
    DataDecision(entity: "Note", property: "text", .merge()),
    DataDecision(entity: "Entry", property: "author", .fill(.string("nobody"))),
    DataDecision(entity: "Entry", property: "text", .keepNewest()),
  ]

  /// Those that are in an app by one of the releases.
  private static func decisions(of release: Int) -> [DataDecision] {
    Array(decisions.prefix([0, 1, 2, 4, 4][release]))
  }

  private static let misspelt = DataDecision(entity: "Note", property: "autor", .fill(.string("unknown")))

  private static func makeStore(of release: Int, in directory: TemporaryDirectory) throws -> URL {
    let url = directory.file("Notes.sqlite")
    let (_, model) = try releases()[release]
    let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: model))
    // The first release let two notes have one text, and none an author.
    for text in release < 2 ? ["Monday", "Friday", "Friday"] : ["Monday", "Friday"] {
      let note = try context.insert(release < 3 ? "Note" : "Entry")
      note["text"] = .string(text)
      if (1...3).contains(release) { note["author"] = .string("Ada") }
    }
    try context.save()
    return url
  }

  private static func assistant(
    _ url: URL, at release: Int, knowing last: Int, _ decisions: [DataDecision]
  ) throws -> MigrationAssistant {
    let all = try releases()
    return MigrationAssistant(
      url,
      ModelHistory(
        current: all[release].model, name: all[release].name, earlier: Array(all[..<release]),
        later: Array(all[(release + 1)..<max(last + 1, release + 1)])), .init(decisions: decisions))
  }

  static let ways = (0..<5).flatMap { from in (from..<5).map { [from, $0] } }

  @Test(arguments: ways)
  func `each release opens each store, and a decision that no row needs does nothing`(way: [Int]) throws {
    let directory = try TemporaryDirectory()
    let url = try Self.makeStore(of: way[0], in: directory)
    // The releases may have been made long before some of them was shipped.
    let assistant = try Self.assistant(url, at: way[1], knowing: 4, Self.decisions)
    let outcome = try assistant.migrateStore()
    guard way[0] != way[1] else {
      guard case .upToDate = outcome else {
        Issue.record("\(outcome)")
        return
      }
      return
    }
    guard case .migrated(let report) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    let isMerged = way[0] < 2 && way[1] > 1
    let isFilled = way[0] == 0 && way[1] < 4
    #expect(report.plan.decisions.reduce(0) { $0 + $1.removed } == (isMerged ? 1 : 0))
    #expect(report.plan.decisions.reduce(0) { $0 + $1.filled } == (isFilled ? 3 : 0))
    let count = try Connection(reading: url).firstInteger(
      "SELECT COUNT(*) FROM \(way[1] < 3 ? "ZNOTE" : "ZENTRY")")
    #expect(count == (way[0] < 2 && !isMerged ? 3 : 2))
  }

  @Test(arguments: ways, [true, false])
  func `on a downgrade, the newer version is told, whatever the decisions`(way: [Int], isMisspelt: Bool) throws {
    let (lower, higher) = (way[0], way[1])
    guard lower < higher else { return }
    let directory = try TemporaryDirectory()
    let url = try Self.makeStore(of: lower, in: directory)
    _ = try Self.assistant(url, at: higher, knowing: 4, Self.decisions).migrateStore()
    if higher > 1 {
      try Connection(path: url.path, mode: .readWrite).execute(
        "UPDATE \(higher < 3 ? "ZNOTE" : "ZENTRY") SET ZMOOD = 'fine'")
    }
    for last in [higher, lower] {
      let decisions = isMisspelt ? [Self.misspelt] : Self.decisions(of: last)
      let assistant = try Self.assistant(url, at: lower, knowing: last, decisions)
      // A release that doesn't know the newer one goes back where nothing is lost.
      if last == lower, !isMisspelt, lower > 1 || higher < 2 {
        #expect(throws: Never.self) { try assistant.migrateStore() }
        continue
      }
      let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
      guard case .newerVersion = error else {
        Issue.record("\(lower + 1) opens a store of \(higher + 1): \(String(describing: error))")
        continue
      }
    }
  }

  static let wrongValues: [(AttributeType, AttributeValue)] = [
    (.string, .integer(5)), (.string, .boolean(true)), (.integer16, .integer(40_000)), (.integer64, .string("five")),
    (.date, .string("Monday")), (.boolean, .string("yes")),
  ]

  @Test(arguments: wrongValues)
  func `a value that the attribute can't hold is refused before anything is written`(
    type: AttributeType, value: AttributeValue
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Notes.sqlite")
    func model(optional: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [Make.entity("Note", [Make.attribute("mark", type, optional: optional)])])
    }
    let (old, new) = (try model(optional: true), try model(optional: false))
    let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: old))
    _ = try context.insert("Note")
    try context.save()
    let before = try FileContents(of: url)
    var configuration = MigrationAssistant.Configuration()
    configuration.decisions = [DataDecision(entity: "Note", property: "mark", .fill(value))]
    let assistant = MigrationAssistant(url, ModelHistory(current: new, name: "2", earlier: [("1", old)]), configuration)
    do {
      _ = try assistant.migrateStore()
      Issue.record("migrated")
    } catch MigrationAssistantError.failed(_, .unfitDecision(let decision, let reason)) {
      #expect(decision == configuration.decisions[0])
      #expect(reason.contains("can't hold"))
    }
    #expect(try FileContents(of: url) == before)
  }

  @Test(arguments: ways)
  func `a name that no version has is an error where something is migrated`(way: [Int]) throws {
    guard way[0] < way[1] else { return }
    let directory = try TemporaryDirectory()
    let url = try Self.makeStore(of: way[0], in: directory)
    let before = try FileContents(of: url)
    let decisions = Self.decisions(of: way[1]) + [Self.misspelt]
    let assistant = try Self.assistant(url, at: way[1], knowing: way[1], decisions)
    do {
      _ = try assistant.migrateStore()
      Issue.record("migrated")
    } catch MigrationAssistantError.failed(_, .unfitDecision(let decision, let reason)) {
      #expect(decision == Self.misspelt)
      #expect(reason.contains("autor"))
    }
    #expect(try FileContents(of: url) == before)
  }
}
