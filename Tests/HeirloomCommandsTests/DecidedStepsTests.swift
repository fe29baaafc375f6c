import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Stores that skip a release whose step the lock decides: what comes out is what comes out step by step.
struct DecidedStepsTests: ModelMaking {
  struct Way: CustomTestStringConvertible {
    let decision: String
    let later: Later
    var testDescription: String { "\(decision), then \(later.rawValue)" }
  }

  enum Later: String, CaseIterable {
    case nothing, sameHashes, optional, optionalAndRequired, dropped, renamed, entityRenamed, added, converted
  }

  private static let decisions = [
    "y=fill:=k", "y=fill:X", "y=fill:uuid()", "y=fill:=x", "x=quarantine", "x=fill:none", "k=newest", "k=merge",
    "k=quarantine", "owner=new:Person", "n=fill:=CAST(n, \"NSNumber\")",
  ]
  private static let ways = decisions.flatMap { decision in Later.allCases.map { Way(decision: decision, later: $0) } }

  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  /// The second version has what the decision is about.
  private static func model(_ version: Int, _ way: Way) throws -> ManagedObjectModel {
    let isDecided = version > 1
    let place = way.decision.prefix { $0 != "=" }
    let isLater = version > 2
    let later = way.later
    func required(_ name: String) -> Bool {
      guard isDecided, place == name else { return false }
      switch later {
      case .optional: return !isLater
      case .optionalAndRequired: return version != 3
      default: return true
      }
    }
    let isRenamed = isLater && later == .renamed
    var attributes = [attribute("k"), attribute("x", optional: !required("x"))]
    let type: AttributeType =
      place == "n" && isDecided ? isLater && later == .converted ? .integer32 : .integer64 : .string
    attributes.append(attribute("n", type))
    if isDecided, place == "y" { attributes.append(attribute("y", .string, optional: !required("y"))) }
    if isDecided, way.decision.hasSuffix("uuid()") { attributes[3].type = .uuid }
    if isLater, later == .added { attributes.append(attribute("z")) }
    if isRenamed, let index = attributes.firstIndex(where: { $0.name == place }) {
      attributes[index].renamingIdentifier = String(place)
      attributes[index].name = "renamed"
    }
    if isLater, later == .dropped { attributes.removeAll { $0.name == place } }
    var note = entity(isLater && later == .entityRenamed ? "Memo" : "Note", attributes, id: "Note")
    if isDecided, place == "k", !(isLater && later == .dropped) {
      note.uniquenessConstraints = isLater && later == .optional ? [] : [[isRenamed ? "renamed" : "k"]]
    }
    if isLater, later == .sameHashes { note.userInfo["again"] = "\(version)" }
    var person = entity("Person", [attribute("name", value: .string("new"))])
    if isDecided, place == "owner", !(isLater && later == .dropped) {
      note.relationships = [
        toOne(isRenamed ? "renamed" : "owner", "Person", "notes", id: "owner", optional: !required("owner"))
      ]
      person.relationships = [toMany("notes", note.name, isRenamed ? "renamed" : "owner")]
    }
    return try ManagedObjectModel(entities: [note, person])
  }

  private static let keys: [String?] = ["a", "b", "a", nil, "c"]

  private func makeStore(_ name: String, _ model: ManagedObjectModel) throws -> URL {
    let url = directory.file(name)
    try PersistentStore.make(at: url, model: model) { context in
      for (index, key) in Self.keys.enumerated() {
        let note = try context.insert("Note")
        note["k"] = key.map { .string($0) }
        note["x"] = index.isMultiple(of: 2) ? .string("x\(index)") : nil
        note["n"] = .string("\(index * 7)")
      }
    }
    return url
  }

  /// All rows of the tables of objects, by keys; identifiers count, not their bytes.
  private func content(_ url: URL, _ model: ManagedObjectModel) throws -> [[String]] {
    let connection = try Connection(reading: url)
    defer { try? connection.close() }
    return try PhysicalSchema(model: model).tables.flatMap { table in
      try connection.rows("SELECT * FROM \"\(table.name)\" ORDER BY Z_PK").map { row in
        row.map { if case .blob(let bytes) = $0 { "\(bytes.count) bytes" } else { "\($0)" } }
      }
    }
  }

  @Test(arguments: LongTests.selection(of: ways, every: 11)) func `a jump over decided steps makes what the steps make`(
    way: Way
  ) throws {
    let place = String(way.decision.prefix { $0 != "=" })
    var folders: [String] = []
    let count = way.later == .nothing ? 2 : way.later == .optionalAndRequired ? 4 : 3
    let models = try (1...count).map { try Self.model($0, way) }
    // A store that has the last version's hashes already goes nowhere.
    guard models[0].versionHashes() != models[count - 1].versionHashes() else { return }
    let history = directory.file("History").path
    for (index, model) in models.enumerated() {
      let path = try Notebook.write(model, "V\(index + 1)", in: directory)
      #expect(tool("snapshot", path, "--history", history).code == 0)
      if index == 1 || index == 3 {
        // The last version of the longest way needs a decision again.
        let others = way.decision.contains("fill:=") ? ["--decide", "Note.\(place)=quarantine"] : []
        let decided = tool.run(["check", history, "--decide", "Note.\(way.decision)"] + others)
        #expect(index == 3 || decided.code != 2, "\(decided.output)\(decided.error)")
      }
      for command in PrintedCommand.all(in: tool("check", history).output)
      where command.words.contains("--acknowledge") {
        #expect(tool.run(command.words).code != 2)
      }
      let copy = directory.file("History\(index + 1)").path
      try FileManager.default.copyItem(atPath: history, toPath: copy)
      folders.append(copy)
    }
    let jump = try makeStore("Jump.sqlite", models[0])
    let steps = try makeStore("Steps.sqlite", models[0])
    for folder in folders.dropFirst() {
      let step = tool("migrate", steps.path, "--to", folder)
      #expect(step.code == 0, "\(step.output)\(step.error)")
    }
    let plan = tool("plan", jump.path, "--to", history)
    #expect(plan.code == 0, "\(plan.output)\(plan.error)")
    let run = tool("migrate", jump.path, "--to", history)
    #expect(run.code == 0, "\(run.output)\(run.error)")
    #expect(try content(jump, models[count - 1]) == content(steps, models[count - 1]))
    #expect(tool("verify", jump.path).code == 0)
    let check = tool("check", history)
    #expect(check.code == 0, "\(check.output)\(check.error)")
  }

  @Test func `plan and report tell what a later step needs, and the printed command settles it`() throws {
    let history = directory.file("History").path
    let models = try [
      [Self.attribute("k"), Self.attribute("x")], [Self.attribute("k"), Self.attribute("x", .integer64)],
      [Self.attribute("x", .integer64)],
    ].map { try ManagedObjectModel(entities: [Self.entity("Note", $0)]) }
    for (index, model) in models.enumerated() {
      let path = try Notebook.write(model, "V\(index + 1)", in: directory)
      #expect(tool("snapshot", path, "--history", history).code == 0)
      guard index == 1 else { continue }
      let decisions = ["Note.x=fill:=CAST(x, \"NSNumber\")", "Note.x=quarantine"].flatMap { ["--decide", $0] }
      #expect(tool.run(["check", history] + decisions).code == 0)
    }
    let url = directory.file("Store.sqlite")
    try PersistentStore.make(at: url, model: models[0]) { context in
      for text in ["1", "2"] {
        let note = try context.insert("Note")
        (note["k"], note["x"]) = (.string("k\(text)"), .string(text))
      }
    }
    let plan = tool("plan", url.path, "--to", history)
    #expect(
      plan.code == 3 && plan.output.contains("2 rows") && !plan.output.contains("stands in the way"), "\(plan.output)")
    let json = try tool("plan", url.path, "--to", history, "--json").json()
    #expect((json["losses"] as? [[String: Any]])?.map { $0["property"] as? String } == ["k"])
    let page = directory.file("Page.html")
    #expect(tool("report", url.path, "--to", history, "--output", page.path).code == 0)
    #expect(try String(contentsOf: page, encoding: .utf8).contains("Note.k"))
    let command = try #require(
      PrintedCommand.all(in: plan.output + plan.error).first { $0.words.contains("--acknowledge") }, "\(plan.error)")
    #expect(tool.run(command.words).code == 0)
    #expect(tool("plan", url.path, "--to", history).code == 0)
    #expect(tool("migrate", url.path, "--to", history).code == 0)
  }
}
