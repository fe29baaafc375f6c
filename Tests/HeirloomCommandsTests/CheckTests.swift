import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

/// `heirloom check`: a sound history passes; one that is spoiled in one way gives the finding for it.
struct CheckTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }
  private var history: URL { directory.file("History") }

  init() throws { directory = try TemporaryDirectory() }

  // MARK: - Histories

  private func copyStory(_ name: String) throws {
    try FileManager.default.copyItem(at: Tool.snapshots.appendingPathComponent(name), to: history)
  }

  private func makeHistory(_ versions: [(name: String, model: ManagedObjectModel)]) throws {
    for version in versions {
      let file = try Notebook.write(version.model, version.name, in: directory)
      #expect(tool("snapshot", file, "--history", history.path).code == 0)
    }
  }

  private func edit(_ file: String, _ old: String, _ new: String) throws {
    let url = history.appendingPathComponent(file)
    let text = try String(contentsOf: url, encoding: .utf8)
    try #require(text.contains(old))
    try Data(text.replacingOccurrences(of: old, with: new).utf8).write(to: url)
  }

  private func remove(_ file: String) throws {
    try FileManager.default.removeItem(at: history.appendingPathComponent(file))
  }

  /// The findings are `severity kind entity.property`.
  private func check(_ options: String...) throws -> (
    code: Int32, findings: [String], messages: String, json: [String: Any]
  ) { try check(options) }

  private func check(_ options: [String]) throws -> (
    code: Int32, findings: [String], messages: String, json: [String: Any]
  ) {
    let outcome = tool.run(["check", history.path, "--json", "--objects", "4"] + options)
    let json = try outcome.json()
    let findings = try #require(json["findings"] as? [[String: Any]], "\(json)")
    for finding in findings {
      #expect(
        Set(finding.keys) == ["severity", "rule", "version", "entity", "property", "file", "line", "message", "remedy"])
    }
    let lines = findings.map { finding in
      [finding["severity"], finding["rule"], finding["entity"], finding["property"]].compactMap { $0 as? String }
        .joined(separator: " ")
    }
    return (outcome.code, lines, findings.map(\.sentences).joined(separator: "\n"), json)
  }

  // MARK: - Sound histories

  @Test func `names that two versions swap without a new version hash are told by compare and check`() throws {
    func model(_ identifiers: [String: String]) throws -> ManagedObjectModel {
      let note = Make.entity("Note", ["a", "b"].map { name in Make.attribute(name, id: identifiers[name]) })
      return try ManagedObjectModel(entities: [note])
    }
    let (first, second) = (try model([:]), try model(["a": "b", "b": "a"]))
    try makeHistory([("V1", first), ("V2", second)])
    let compared = tool("compare", directory.file("V1.json").path, directory.file("V2.json").path)
    let words = "\"Note.a\" keeps the content of \"a\""
    #expect(compared.code == 0 && compared.output.contains(words), "\(compared)")
    let result = try check()
    #expect(
      result.findings.filter { $0.contains("rename") } == [
        "warning rename-without-migration Note a", "warning rename-without-migration Note b",
      ], "\(result.findings)")
  }

  @Test func `a sound history passes, and every version was migrated`() throws {
    try copyStory("Done")
    let result = try check()
    #expect(result.code == 0)
    #expect(result.findings.isEmpty, "\(result.messages)")
    let versions = try #require(result.json["versions"] as? [[String: Any]])
    #expect(versions.map { $0["name"] as? String } == ["Done", "Done 2"])
    #expect(versions.allSatisfy { $0["result"] as? String == "kept" && ($0["objects"] as? Int ?? 0) == 4 })
    let text = tool("check", history.path)
    #expect(text.code == 0)
    #expect(text.output.contains("3 versions") && text.output.contains("Done 2  kept"))
  }

  @Test func `a bundle alone is a history too, with the lock beside it or without`() throws {
    try copyStory("Done")
    let locked = tool("check", history.appendingPathComponent("Done.xcdatamodeld").path)
    #expect(locked.code == 0)
    #expect(!locked.output.contains("There is no lock") && locked.output.contains("kept"))
    try FileManager.default.removeItem(at: history.appendingPathComponent("lock.json"))
    let outcome = tool("check", history.appendingPathComponent("Done.xcdatamodeld").path)
    #expect(outcome.code == 0)
    #expect(outcome.output.contains("There is no lock") && outcome.output.contains("kept"))
  }

  @Test func `seeds give other objects, and sensible numbers are asked for`() throws {
    try copyStory("Done")
    #expect(try check("--seed", "99").code == 0)
    for options in [["--seed", "x"], ["--objects", "0"], ["--annotations", "gitlab"], ["--by-app", "Nobody"]] {
      #expect(tool.run(["check", history.path] + options).code == 2, "\(options)")
    }
    #expect(tool("check", directory.file("absent").path).code == 1)
  }

  // MARK: - Spoiled histories

  private static let model = "Done.xcdatamodeld/Done.xcdatamodel/contents"

  @Test func `an edited version is told with the property, from its snapshot`() throws {
    try copyStory("Done")
    try edit(Self.model, "name=\"name\" attributeType=\"String\"", "name=\"name\" attributeType=\"Integer 64\"")
    let result = try check()
    #expect(result.code == 6)
    #expect(result.findings.contains("error edited-after-release Item name"), "\(result.messages)")
    #expect(result.messages.contains("\"Done\" was shipped") && result.messages.contains("String"))
  }

  @Test(arguments: [true, false])
  func `an edited version without a snapshot is told with the entity, if the lock knows entities`(knows: Bool) throws {
    try copyStory("Done")
    if knows {
      #expect(
        tool("snapshot", history.appendingPathComponent("Done.xcdatamodeld").path, "--history", history.path).code == 0)
    } else {
      let lock = try VersionLock(path: history.appendingPathComponent("lock.json").path)
      let bare = VersionLock(versions: lock.versions.map { VersionLock.Entry(name: $0.name, checksum: $0.checksum) })
      try Data(bare.encoded()).write(to: history.appendingPathComponent("lock.json"))
    }
    try remove("Done.json")
    try edit(Self.model, "name=\"done\" ", "name=\"isDone\" ")
    let result = try check()
    #expect(result.code == 6)
    #expect(
      result.findings.first == (knows ? "error edited-after-release Item" : "error edited-after-release"),
      "\(result.messages)")
    #expect(result.messages.contains("edit can't be determined") != knows)
  }

  /// `finding` is the first one.
  struct Spoiling: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let finding: String
    let code: Int32
    let spoil: @Sendable (CheckTests) throws -> Void
  }

  @Test(arguments: [
    Spoiling(testDescription: "a snapshot of another version", finding: "error edited-snapshot Item updatedAt", code: 6)
    {
      let files = ["Done.json", "Done 2.json"].map($0.history.appendingPathComponent)
      try Data(contentsOf: files[0]).write(to: files[1])
    },
    // The identifier leads nowhere, so the next version loses the values.
    Spoiling(testDescription: "a detail that stores don't keep", finding: "error loss Item name", code: 6) {
      try $0.edit(model, "name=\"name\"", "name=\"name\" elementID=\"title\"")
    },
    Spoiling(testDescription: "a version that is gone", finding: "error missing-version", code: 6) {
      try $0.remove("Done.json")
      try $0.remove("Done.xcdatamodeld/Done.xcdatamodel")
    },
    Spoiling(testDescription: "a version that nobody fixed", finding: "error unlocked-version", code: 6) {
      let lock = try VersionLock(path: $0.history.appendingPathComponent("lock.json").path)
      let less = VersionLock(versions: lock.versions.filter { $0.name != "Done 2" })
      try Data(less.encoded()).write(to: $0.history.appendingPathComponent("lock.json"))
    },
    Spoiling(testDescription: "a later version that nobody fixed", finding: "warning unlocked-version", code: 0) {
      let models = $0.history.appendingPathComponent("Done.xcdatamodeld")
      try FileManager.default.copyItem(
        at: models.appendingPathComponent("Done 3.xcdatamodel"), to: models.appendingPathComponent("Done 4.xcdatamodel")
      )
    },
    Spoiling(testDescription: "a current version that nobody fixed yet", finding: "warning unlocked-version", code: 0) {
      let lock = try VersionLock(path: $0.history.appendingPathComponent("lock.json").path)
      try Data(VersionLock(versions: lock.versions.dropLast()).encoded())
        .write(to: $0.history.appendingPathComponent("lock.json"))
    },
    Spoiling(testDescription: "no lock", finding: "warning missing-lock", code: 0) { try $0.remove("lock.json") },
    Spoiling(testDescription: "a current version that is not the last", finding: "error later-version", code: 6) {
      let lock = try VersionLock(path: $0.history.appendingPathComponent("lock.json").path)
      try Data(VersionLock(versions: lock.versions.reversed()).encoded())
        .write(to: $0.history.appendingPathComponent("lock.json"))
    },
    Spoiling(testDescription: "a snapshot that was edited by hand", finding: "error unreadable-version", code: 6) {
      try $0.edit("Done 2.json", "updatedAt", "changedAt")
    },
  ])
  func `each spoiled history gives its finding`(spoiling: Spoiling) throws {
    try copyStory("Done")
    try spoiling.spoil(self)
    let result = try check()
    #expect(result.findings.first == spoiling.finding, "\(result.findings) \(result.messages)")
    #expect(result.code == spoiling.code)
    #expect(result.messages.hasSuffix(".") && !result.messages.contains(".."))
  }

  @Test(arguments: ["missingLock", "editedSnapshot", "unlockedVersion", "unlocked current"])
  func `the command that a finding names mends it, word for word`(_ kind: String) throws {
    try copyStory("Done")
    let lockFile = history.appendingPathComponent("lock.json")
    let lock = try VersionLock(path: lockFile.path)
    switch kind {
    case "missingLock": try remove("lock.json")
    case "editedSnapshot":
      let files = ["Done.json", "Done 2.json"].map(history.appendingPathComponent)
      try Data(contentsOf: files[0]).write(to: files[1])
    default:
      let name = kind == "unlockedVersion" ? "Done 2" : try #require(lock.versions.last?.name)
      try Data(VersionLock(versions: lock.versions.filter { $0.name != name }).encoded()).write(to: lockFile)
    }
    func follow() throws {
      let messages = try check().messages
      let advice = try #require(messages.firstMatch(of: /heirloom (snapshot .+?) (?:writes|adds|fixes)/)).1
      if kind == "editedSnapshot" { try remove("Done 2.json") }
      let words = advice.matches(of: /'([^']*)'|([^ ]+)/).map { String($0.1 ?? $0.2 ?? "") }
      #expect(tool.run(words).code == 0, "\(advice)")
    }
    try follow()
    if kind == "missingLock" {
      // The version that somebody may still work on is not fixed yet.
      #expect(try VersionLock(path: lockFile.path).versions.map(\.name) == ["Done", "Done 2"])
      try follow()
    }
    let mended = try check()
    #expect(mended.findings.isEmpty && mended.code == 0, "\(mended.messages)")
    #expect(try VersionLock(path: lockFile.path).versions.map(\.name) == lock.versions.map(\.name))
  }

  @Test func `a loss can be acknowledged after the command that makes the lock`() throws {
    func model(_ names: [String]) throws -> ManagedObjectModel {
      let note = Make.entity("Note", names.map { name in Make.attribute(name) })
      return try ManagedObjectModel(entities: [note])
    }
    try makeHistory([("V1", try model(["title", "body"])), ("V2", try model(["title"]))])
    try remove("lock.json")
    // Without a lock the check advises what makes one, and no command that needs it.
    let before = try check()
    #expect(before.code == 6 && before.findings.contains("error loss Note body"), "\(before.messages)")
    #expect(!before.messages.contains("--acknowledge"), "\(before.messages)")
    #expect(Set(PrintedCommand.all(in: before.messages).map { $0.words[0] }) == ["snapshot"], "\(before.messages)")
    let refused = try tool("check", history.path, "--acknowledge", "Note.body", "--json").failure()
    let advice = try #require((refused["suggestion"] as? String)?.firstMatch(of: /heirloom (snapshot .+?) writes/)).1
    #expect(before.messages.contains("heirloom \(advice) writes one"), "\(before.messages)")
    #expect(tool.run(advice.split(separator: " ").map(String.init)).code == 0, "\(advice)")
    #expect(tool("check", history.path, "--acknowledge", "Note.body").code == 0)
  }

  // MARK: - Migrations

  @Test func `what can't be inferred is an error, with a mapping model it passes, by the app's code it is a warning`()
    throws
  {
    try makeHistory([("A", Notebook.first()), ("B", Notebook.converting())])
    let bare = try check()
    #expect(bare.code == 6)
    #expect(bare.findings == ["error mapping-needed Note mood", "error mapping-needed Note title"], "\(bare.messages)")
    #expect(bare.messages.contains("--mapping") && bare.messages.contains("--by-app A"))

    let values = [
      PropertyMapping(name: "title", valueExpression: .constant(.value(.integer(7)))),
      PropertyMapping(name: "mood", valueExpression: .constant(.value(.date(0)))),
    ]
    let acknowledged = ["--acknowledge", "Note.mood", "--acknowledge", "Note.title"]
    let losing = try check("--mapping", mapping(policy: nil, values))
    #expect(losing.code == 6 && losing.findings.contains("error loss Note mood"), "\(losing.messages)")
    let given = try check(["--mapping", mapping(policy: nil, values)] + acknowledged)
    #expect(given.code == 0, "\(given.messages)")
    #expect(!given.findings.contains { $0.hasPrefix("error") })

    let code = try check("--mapping", mapping(policy: "App.NotePolicy", []))
    #expect(code.code == 6)
    // It isn't known what a policy keeps, so the acknowledged losses above aren't certain.
    let stale = Array(repeating: "warning stale-acknowledgement", count: 2)
    #expect(code.findings == ["error policy-needed"] + stale, "\(code.messages)")
    #expect(code.messages.contains("--by-app A"))
    #expect(code.messages.contains("App.NotePolicy") && code.messages.contains("No store of \"A\" was migrated"))

    let app = try check("--by-app", "A")
    #expect(app.code == 0)
    #expect(app.findings == ["warning not-tried"])
    #expect((app.json["versions"] as? [[String: Any]])?.first?["result"] as? String == "notTried")
  }

  @Test func `a mapping model that fits no version is told`() throws {
    try makeHistory([("A", Notebook.first()), ("B", Notebook.adding())])
    let result = try check("--mapping", mapping(policy: nil, []))
    #expect(result.code == 0)
    #expect(result.findings == ["warning mapping-unused"], "\(result.messages)")
  }

  private func mapping(policy: String?, _ values: [PropertyMapping]) throws -> String {
    let mapping = EntityMapping(from: "Note", to: "Note", policyNamed: policy, attributeMappings: values)
    let completed = try MappingModel(entityMappings: [mapping]).completed(
      from: Notebook.first(), to: Notebook.converting())
    let url = directory.file("Map.cdm")
    try Data(MappingArchiveWriter.archive(completed)).write(to: url)
    return url.path
  }

  struct Effect: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let finding: String
    let change: @Sendable (inout EntityDescription) -> Void
  }

  @Test(arguments: [
    Effect(testDescription: "an attribute that becomes required", finding: "warning data-hazard Note mood") {
      $0.attributes[1].isOptional = false
    },
    Effect(testDescription: "values that must be unique", finding: "warning data-hazard Note title") {
      $0.uniquenessConstraints = [["title"]]
    },
    Effect(testDescription: "a narrower type", finding: "warning data-hazard Note count") {
      $0.attributes[2].type = .integer16
    },
  ])
  func `what only rows can tell is a warning, and objects that fit are migrated`(effect: Effect) throws {
    var note = Make.entity(
      "Note",
      [
        AttributeDescription(name: "title", type: .string), AttributeDescription(name: "mood", type: .string),
        AttributeDescription(name: "count", type: .integer64),
      ])
    note.attributes[1].isOptional = true
    let first = try ManagedObjectModel(entities: [note])
    effect.change(&note)
    try makeHistory([("A", first), ("B", ManagedObjectModel(entities: [note]))])
    let result = try check()
    #expect(result.code == 0, "\(result.messages)")
    #expect(result.findings.contains(effect.finding), "\(result.findings)")
    #expect(result.messages.contains("From \"A\":"))
    let versions = try #require(result.json["versions"] as? [[String: Any]])
    #expect(versions.first?["result"] as? String == "kept")
    #expect(versions.first?["objects"] as? Int == 4)
  }

  // MARK: - Annotations

  @Test func `a workflow of GitHub gets annotations, with what would end a command escaped`() throws {
    try makeHistory([("A, 100%", Notebook.first()), ("B", Notebook.converting())])
    let text = tool("check", history.path, "--annotations", "github").output
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("::") }
    #expect(lines.count == 2)
    let start = "::error file=History/A%2C 100%25.json,title=heirloom check%3A mapping-needed::"
    #expect(lines.allSatisfy { $0.hasPrefix(start) }, "\(lines)")
    #expect(lines.allSatisfy { $0.contains("\"A, 100%25\" → \"B\"") })

    let workflow = ["GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": directory.url.path]
    let inWorkflow = Tool(directory: URL(fileURLWithPath: "/"), environment: workflow)
    #expect(inWorkflow("check", history.path).output.contains(start))
    #expect(!inWorkflow("check", history.path, "--annotations", "none").output.contains("::error"))
    let json = inWorkflow("check", history.path, "--json")
    #expect(try json.json()["error"] != nil && json.error.contains(start))
    #expect(!tool("check", history.path).output.contains("::error"))
  }

  // MARK: - Fixing versions

  @Test func `snapshot fixes versions in the lock, and refuses one that was edited`() throws {
    try copyStory("Done")
    let bundle = history.appendingPathComponent("Done.xcdatamodeld").path
    let before = try VersionLock(path: history.appendingPathComponent("lock.json").path)
    try remove("lock.json")
    for name in ["Done", "Done 2", "Done 3"] { try remove(name + ".json") }
    let first = tool("snapshot", bundle, "--history", history.path, "--json")
    #expect(first.code == 0)
    #expect(try first.json()["versions"] as? [String] == ["Done", "Done 2", "Done 3"])
    let lock = try VersionLock(path: history.appendingPathComponent("lock.json").path)
    #expect(lock.versions.map(\.checksum) == before.versions.map(\.checksum))
    #expect(lock.versions.allSatisfy { $0.entities?["Item"]?.count == 64 })
    #expect(try check().findings.isEmpty)
    let bytes = try Data(contentsOf: history.appendingPathComponent("lock.json"))
    #expect(tool("snapshot", bundle, "--history", history.path).code == 0)
    #expect(try Data(contentsOf: history.appendingPathComponent("lock.json")) == bytes)

    for (name, old, new) in [
      ("Done", "name=\"done\" ", "name=\"isDone\" "), ("Done 2", "name=\"done\" ", "name=\"isDone\" "),
      ("Done 3", "attributeType=\"Boolean\"", "attributeType=\"Integer 16\""),
    ] {
      let file = "Done.xcdatamodeld/\(name).xcdatamodel/contents"
      try edit(file, old, new)
      for command in [["snapshot", bundle, "--history", history.path, "--json"], ["new-version", bundle, "--json"]] {
        let refused = tool.run(command)
        #expect(refused.code == 1, "\(name): \(command)")
        let failure = try refused.failure()
        #expect(failure["code"] as? String == "editedVersion", "\(failure)")
        #expect((failure["message"] as? String)?.contains("\"\(name)\"") == true, "\(failure)")
        #expect(try Data(contentsOf: history.appendingPathComponent("lock.json")) == bytes)
      }
      try edit(file, new, old)
    }
  }

  /// Values can't be inferred between these types; the last word says if an expression is proposed.
  @Test(arguments: [
    (AttributeType.string, AttributeType.integer64, true), (.string, .date, false), (.date, .boolean, false),
    (.integer64, .string, true),
  ])
  func `a decision about a type change says that it needs an expression, or a mapping`(
    _ source: AttributeType, _ type: AttributeType, hasExpression: Bool
  ) throws {
    func model(_ type: AttributeType) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [Make.entity("Note", [Make.attribute("a", type)])])
    }
    try makeHistory([("V1", try model(source)), ("V2", try model(type))])
    for choice in ["quarantine", type == .date ? "fill:2001-01-01" : type == .boolean ? "fill:no" : "fill:0"] {
      let outcome = tool("check", history.path, "--decide", "Note.a=\(choice)")
      #expect(outcome.code == 2 && !outcome.error.contains("every row fits"), "\(outcome.error)")
      let printed = outcome.error.firstMatch(of: /such as --decide '(Note\.a=fill:=.+?)', since/)?.1
      #expect((printed != nil) == hasExpression, "\(outcome.error)")
      #expect(outcome.error.contains(hasExpression ? "an expression" : "a mapping model"), "\(outcome.error)")
      guard let printed else { continue }
      let decided = tool("check", history.path, "--decide", String(printed), "--json")
      #expect(try !decided.json().isEmpty && decided.code != 2, "\(decided.output)\(decided.error)")
      try remove("lock.json")
      try makeHistory([("V1", try model(source)), ("V2", try model(type))])
    }
  }

  @Test func `what only rows can tell stays a warning where code migrates the step, or a later one`() throws {
    func note(_ unique: [[String]] = []) -> EntityDescription {
      Make.entity("Note", [Make.attribute("a")], unique: unique)
    }
    let tag = Make.entity("Tag", [Make.attribute("t")])
    let versions = try [[note(), tag], [note([["a"]]), tag], [note([["a"]])]].map {
      try ManagedObjectModel(entities: $0)
    }
    try makeHistory(zip(["V1", "V2", "V3"], versions).map { ($0, $1) })
    #expect(try check("--acknowledge", "Tag").findings.contains("warning data-hazard Note a"))
    for name in ["V1", "V2"] {
      let result = try check("--by-app", name)
      #expect(result.code == 0, "\(result.messages)")
      #expect(result.findings.filter { $0 == "warning data-hazard Note a" }.count == 1, "\(result.findings)")
      #expect(result.messages.contains("From \"V1\": Values of \"Note.a\" must now be unique"), "\(result.messages)")
      let table = tool("history", history.path)
      #expect(table.output.contains("need the app's code, or a decision: Note.a"), "\(table.output)")
    }
  }
}

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct CheckCorpusTests {
  static let bundles = Array(
    Set(Corpus.modelPaths.filter { $0.contains(".xcdatamodeld/") }.map { ($0 as NSString).deletingLastPathComponent })
  ).sorted()

  /// All bundles are migrated by the same code: a selection is enough even in a long run, and the time grows with the
  /// square of the versions.
  private static let chosen = stride(from: 0, to: bundles.count, by: LongTests.areOn ? 3 : 12).map { bundles[$0] }
    .filter { bundle in
      LongTests.areOn || Corpus.modelPaths.count { $0.hasPrefix(bundle + "/") } < 20
    }

  @Test(arguments: chosen)
  func `stores of real histories are migrated, and what is kept is proven`(bundle: String) throws {
    let outcome = Tool(directory: Corpus.folder)("check", bundle, "--json", "--objects", "3")
    let json = try outcome.json()
    let findings = try #require(json["findings"] as? [[String: Any]], "\(bundle): \(json)")
    for finding in findings where finding["severity"] as? String == "error" {
      let kind = finding["rule"] as? String ?? ""
      let expected = ["data-hazard", "loss", "mapping-needed", "not-tried", "unreadable-version"]
      #expect(expected.contains(kind), "\(bundle): \(finding)")
    }
  }
}
