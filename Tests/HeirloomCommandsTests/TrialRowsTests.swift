import Foundation
import Heirloom
import TestSupport
import Testing

/// Sample rows that don't fit: a warning where some of an entity's rows stop, an error where all do, on any hop.
struct TrialRowsTests: ModelMaking {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }
  private var history: String { directory.file("History").path }

  init() throws { directory = try TemporaryDirectory() }

  private func fix(_ versions: [[EntityDescription]]) throws {
    for (number, entities) in versions.enumerated() {
      let path = try Notebook.write(ManagedObjectModel(entities: entities), "\(number + 1)", in: directory)
      #expect(tool("snapshot", path, "--history", history).code == 0)
    }
  }

  private struct Check {
    let code: Int32
    /// The findings as `severity kind entity.property`, without those of losses.
    let findings: [String]
    let messages: String
    /// By version.
    let results: [String?]
    let objects: [Int]
  }

  private func check(_ options: String...) throws -> Check {
    let outcome = tool.run(["check", history, "--json"] + options)
    let json = try outcome.json()
    let findings = try #require(json["findings"] as? [[String: Any]], "\(json)")
    let versions = try #require(json["versions"] as? [[String: Any]])
    let lines = findings.filter { $0["rule"] as? String != "loss" }.map { finding in
      [finding["severity"], finding["rule"], finding["entity"], finding["property"]].compactMap { $0 as? String }
        .joined(separator: " ")
    }
    return Check(
      code: outcome.code, findings: lines,
      messages: findings.map(\.sentences).joined(separator: "\n"),
      results: versions.map { $0["result"] as? String }, objects: versions.map { $0["objects"] as? Int ?? 0 })
  }

  /// A change at the second step, which only rows can tell.
  struct Later: CustomTestStringConvertible {
    let testDescription: String
    var before: [AttributeDescription] = []
    var after: [AttributeDescription] = []
    var unique: [[String]] = []
    var isLinkRequired = false
    /// The new attribute of the first step, and the value that is decided.
    var mark = Make.attribute("mark", .integer64, optional: false)
    var value = "0"
  }

  private static let later = [
    Later(
      testDescription: "required", before: [attribute("a")], after: [attribute("a", optional: false)]),
    Later(testDescription: "unique", before: [attribute("a")], after: [attribute("a")], unique: [["a"]]),
    Later(
      testDescription: "narrower", before: [attribute("a", .integer64)], after: [attribute("a", .integer16)]),
    Later(
      testDescription: "renamed and required", before: [attribute("a")],
      after: [attribute("c", optional: false, id: "a")]),
    Later(testDescription: "required link", isLinkRequired: true),
    Later(
      testDescription: "identifiers, unique", unique: [["mark"]], mark: attribute("mark", .uuid, optional: false),
      value: "uuid()"),
    Later(
      testDescription: "texts of identifiers, unique", unique: [["mark"]], mark: attribute("mark", optional: false),
      value: "uuid()"),
  ]

  @Test(arguments: later)
  func `a decision about one step leaves what another one asks a warning`(_ item: Later) throws {
    let place = Self.entity("Place", [Self.attribute("title")])
    func note(_ attributes: [AttributeDescription], isLast: Bool = false) -> EntityDescription {
      let link = Self.toOne("place", "Place", optional: !(isLast && item.isLinkRequired))
      return Self.entity("Note", attributes, [link], unique: isLast ? item.unique : [])
    }
    try fix([
      [note(item.before), place], [note(item.before + [item.mark]), place],
      [note(item.after + [item.mark], isLast: true), place],
    ])
    let result = try check("--decide", "Note.mark=fill:\(item.value)")
    #expect(result.code == 0, "\(result)")
    #expect(result.findings.count == 1 && result.findings[0].hasPrefix("warning data-hazard Note"), "\(result)")
    #expect(result.messages.contains("From \"1\", \"2\": "), "\(result)")
    #expect(result.results[0] == "kept" && result.results[1] == "kept", "\(result)")
    // The entity beside it has twelve.
    #expect(result.objects[0] > 12 && result.objects[1] > 12, "\(result)")
  }

  @Test(arguments: [
    (AttributeType.double, AttributeType.integer16), (.double, .integer32), (.decimal, .integer16), (.double, .float),
    (.decimal, .float), (.integer64, .integer16),
  ])
  func `a type that changes together with a new constraint is a warning`(_ source: AttributeType, _ type: AttributeType)
    throws
  {
    try fix([
      [Self.entity("Note", [Self.attribute("a", source)])],
      [Self.entity("Note", [Self.attribute("a", type)], unique: [["a"]])],
    ])
    _ = tool("check", history, "--acknowledge", "Note.a")
    for seed in ["1", "7"] {
      let result = try check("--seed", seed)
      #expect(result.code == 0 && result.findings.contains("warning data-hazard Note a"), "\(result)")
      #expect(result.results[0] == "kept" && result.objects[0] > 3, "\(result)")
      #expect(!result.messages.contains("--decide"), "\(result)")
    }
  }

  @Test func `identifiers for some subentities' objects leave those that others bring along`() throws {
    let name = Self.attribute("name")
    try fix([
      [
        Self.entity("Pet", [name], isAbstract: true), Self.entity("Dog", [Self.attribute("x")], parent: "Pet"),
        Self.entity("Cat", parent: "Pet"),
      ],
      [
        Self.entity("Pet", [name, Self.attribute("x", optional: false)], isAbstract: true, unique: [["x"]]),
        Self.entity("Dog", parent: "Pet"), Self.entity("Cat", parent: "Pet"),
      ],
    ])
    let before = try check()
    #expect(before.code == 6 && !before.messages.contains("quarantine decides"), "\(before)")
    let command = try #require(PrintedCommand.all(in: before.messages).first { $0.words.contains("--decide") })
    #expect(command.words.last == "Pet.x=fill:uuid()")
    #expect(tool.run(command.words).code == 0)
    let result = try check()
    #expect(result.findings == ["warning data-hazard Pet x"], "\(result)")
    #expect(result.code == 0 && result.results[0] == "kept" && result.objects[0] > 20, "\(result)")
  }

  @Test(arguments: [AttributeType.integer16, .double, .boolean, .date, .uuid])
  func `a decided value that a changed type can't hold is told, and never answered by a quarantine of all`(
    _ type: AttributeType
  ) throws {
    func version(_ attributes: [AttributeDescription]) -> [EntityDescription] { [Self.entity("Note", attributes)] }
    let name = Self.attribute("name")
    try fix([version([name])])
    func write(_ type: AttributeType) throws {
      let model = try ManagedObjectModel(entities: version([name, Self.attribute("c", type, optional: false)]))
      _ = try Notebook.write(model, "History/2", in: directory)
    }
    try write(.string)
    #expect(tool("check", history, "--decide", "Note.c=fill:zzz").code == 0)
    try write(type)
    let before = try check()
    #expect(before.code == 6 && before.findings.contains("error data-hazard Note c"), "\(before)")
    #expect(before.messages.contains("The lock's decision Note.c=fill:zzz doesn't count"), "\(before)")
    #expect(before.messages.contains("every object stops the migration"), "\(before)")
    let commands = PrintedCommand.all(in: before.messages).filter { $0.words.contains("--decide") }
    #expect(commands.count == 1 && !before.messages.contains("c=quarantine"), "\(before)")
    #expect(tool.run(commands[0].words).code == 0)
    let after = try check()
    #expect(after.code == 0 && after.results[0] == "kept" && after.objects[0] == 12, "\(after)")
    #expect(!after.findings.contains { $0.contains("dataHazard") }, "\(after)")
  }

  @Test func `where all sample rows are equal by a decision, no quarantine is proposed`() throws {
    let name = Self.attribute("name")
    let date = Self.attribute("day", .date, optional: false)
    try fix([
      [Self.entity("Note", [name])], [Self.entity("Note", [name, date])],
      [Self.entity("Note", [name, date], unique: [["day"]])],
    ])
    let result = try check("--decide", "Note.day=fill:now()")
    #expect(result.code == 6 && result.findings.first == "error not-tried", "\(result)")
    #expect(result.messages.contains("--by-app 2") && !result.messages.contains("--decide"), "\(result)")
    #expect(result.results[0] == "notTried" && result.results[1] == "kept", "\(result)")
  }
}
