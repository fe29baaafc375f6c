import Foundation
import Heirloom
import HeirloomCommands
import HeirloomOutput
import TestSupport
import Testing

struct RenameTests {
  private static let secret = "Ada Lovelace"

  private static func people(_ name: String, id: String? = nil, isRequired: Bool = false) throws -> ManagedObjectModel {
    var person = EntityDescription(name: "Person")
    let attribute = Make.attribute(name, optional: !isRequired, id: id)
    let age = Make.attribute("age", .integer64)
    person.attributes = [attribute, age]
    return try ManagedObjectModel(entities: [person])
  }

  /// Of 1,200 people, every sixth has no name.
  private static func makeStore(
    _ file: String, _ model: ManagedObjectModel, _ name: String, in directory: TemporaryDirectory,
    text: (Int) -> String = { "\(secret) \($0)" }
  ) throws -> URL {
    let url = directory.file(file)
    try PersistentStore.make(at: url, model: model) { context in
      for number in 0..<1200 {
        let person = try context.insert("Person")
        if !number.isMultiple(of: 6) { try person.setValue(.string(text(number)), forAttribute: name) }
      }
    }
    try ModelController(storeURL: url).archive(model)
    return url
  }

  private static func renames(_ outcome: Tool.Outcome) throws -> [[String: Any]] {
    try #require(try outcome.json()["renames"] as? [[String: Any]])
  }

  @Test func `a rename is suspected, counted on the store, and never acted upon`() throws {
    let directory = try TemporaryDirectory()
    let url = try Self.makeStore("People.sqlite", Self.people("fullName"), "fullName", in: directory)
    let model = try Notebook.write(Self.people("name", isRequired: false), "Renamed", in: directory)
    let bytes = StoreBytes(of: url)
    let tool = Tool(directory: directory.url)
    for command in [["compare", "People.sqlite", model], ["plan", "People.sqlite", "--to", model]] {
      let text = tool.run(command).output
      #expect(text.contains("\"fullName\" removed and \"name\" added, both String: a rename?"), "\(text)")
      #expect(text.contains("elementID=\"fullName\"") && text.contains("Xcode's model inspector"))
      #expect(text.contains("1,000 of 1,200 objects lose their value."), "\(text)")
      #expect(!text.contains(Self.secret))
      let outcome = tool.run(command + ["--json"])
      #expect(!outcome.output.contains(Self.secret))
      let rename = try #require(try Self.renames(outcome).first)
      #expect(
        Set(rename.keys) == [
          "kind", "alternatives", "rivals", "entity", "sourceEntity", "removed", "added", "type", "nameSimilarity",
          "score", "renamingIdentifier",
          "objects", "values", "compared", "equal", "misfits",
        ])
      #expect(rename["removed"] as? String == "fullName" && rename["added"] as? String == "name")
      #expect(rename["objects"] as? Int == 1200 && rename["values"] as? Int == 1000)
      #expect(rename["compared"] is NSNull && rename["equal"] is NSNull)
      #expect(rename["nameSimilarity"] as? Double ?? 0 > 0.6)
    }
    #expect(StoreBytes(of: url) == bytes)
    let losses = try #require(
      try tool("plan", "People.sqlite", "--to", model, "--json").json()["losses"] as? [[String: Any]])
    #expect(losses.map { $0["rows"] as? Int } == [1000])

    // If the advice is followed, nothing is lost and nothing is asked.
    let advised = try Notebook.write(Self.people("name", id: "fullName"), "Advised", in: directory)
    let followed = tool("plan", "People.sqlite", "--to", advised, "--json")
    #expect(try Self.renames(followed).isEmpty)
    #expect((try followed.json()["losses"] as? [Any])?.isEmpty == true)
    #expect(tool("migrate", "People.sqlite", "--to", model, "--accept-losses").code == 0)
    let store = try PersistentStore.open(at: url, model: Self.people("name"))
    #expect(try store.connection.firstInteger("SELECT COUNT(ZNAME) FROM ZPERSON") == 0)
    try store.close()
  }

  @Test func `a bundle alone is compared with its version before`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    for (name, attribute) in [("V1", "one"), ("V2", "two"), ("V10", "ten")] {
      let folder = directory.file("App.xcdatamodeld/\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let text =
        "<model><entity name=\"E\"><attribute name=\"\(attribute)\" optional=\"YES\" attributeType=\"String\"/></entity></model>"
      try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
    }
    let last = tool("compare", "App.xcdatamodeld").output
    #expect(last.hasPrefix("V2 → V10: ") && last.contains("\"two\" removed and \"ten\" added"), "\(last)")
    #expect(tool("compare", "App.xcdatamodeld", "--skeleton").output.contains("two"))
    #expect(tool("compare", "App.xcdatamodeld/V2.xcdatamodel").output.hasPrefix("V1 → V2: "))
    let first = tool("compare", "App.xcdatamodeld/V1.xcdatamodel")
    #expect(first.code == 2 && first.error.contains("no version before \"V1\""), "\(first.error)")
    _ = try Self.makeStore("People.sqlite", Self.people("name"), "name", in: directory)
    #expect(tool("compare", "People.sqlite").error.contains("DEST is missing."))
  }

  static let pairs: [(share: Int, words: String)] = [
    (100, "hold the same in both: it looks like a rename."),
    (0, "hold the same in both: it doesn't look like a rename."),
    (50, "50 % hold the same in both."),
  ]

  @Test(arguments: pairs)
  func `the values of two stores are compared`(share: Int, words: String) throws {
    let directory = try TemporaryDirectory()
    _ = try Self.makeStore("Old.sqlite", Self.people("fullName"), "fullName", in: directory)
    _ = try Self.makeStore("New.sqlite", Self.people("nick"), "nick", in: directory) { number in
      number % 100 < share ? "\(Self.secret) \(number)" : "somebody \(number)"
    }
    let tool = Tool(directory: directory.url)
    let rename = try #require(try Self.renames(tool("compare", "Old.sqlite", "New.sqlite", "--json")).first)
    #expect(rename["compared"] as? Int == 1000)
    let equal = try #require(rename["equal"] as? Int)
    #expect(abs(equal - 10 * share) <= 20)
    let text = tool("compare", "Old.sqlite", "New.sqlite").output
    #expect(text.contains("Of 1,000 objects that both stores have") && text.contains(words), "\(text)")
    #expect(!text.contains(Self.secret) && !text.contains("somebody"))
  }

  @Test func `what would not fit under the new name is said`() throws {
    let directory = try TemporaryDirectory()
    _ = try Self.makeStore("People.sqlite", Self.people("fullName"), "fullName", in: directory) { "\($0 % 10)" }
    var person = try Self.people("name", isRequired: true).entities[0]
    person.uniquenessConstraints = [["name"]]
    let model = try Notebook.write(ManagedObjectModel(entities: [person]), "Strict", in: directory)
    let tool = Tool(directory: directory.url)
    let rename = try #require(try Self.renames(tool("compare", "People.sqlite", model, "--json")).first)
    #expect(
      rename["misfits"] as? [String] == [
        "200 objects have none, and \"name\" is required",
        "990 values occur before, and those of \"name\" must differ",
      ])
  }

  @Test func `losses come after what stays, in red and under their entity, then what is asked`() throws {
    let directory = try TemporaryDirectory()
    _ = try Self.makeStore("People.sqlite", Self.people("fullName"), "fullName", in: directory)
    let model = try Notebook.write(Self.people("name"), "Renamed", in: directory)
    var tool = Tool(directory: directory.url)
    let plain = tool("plan", "People.sqlite", "--to", model).output
    let lines = plain.split(separator: "\n").map(String.init)
    #expect(lines[1] == "What stays:" && lines[3] == "  Person   1,200  1,200")
    #expect(Array(lines[4...5]) == ["What is lost (the previous version keeps it):", "  Person:"])
    #expect(lines[6].hasPrefix("    − 1,000 rows: \"Person.fullName\" is removed"))
    #expect(lines[7].hasPrefix("Perhaps renamed"))
    #expect(!plain.contains("\u{1B}"))
    tool.isTerminal = true
    let colored = tool("plan", "People.sqlite", "--to", model).output
    #expect(colored.contains("\u{1B}[31m− 1,000 rows: \"Person.fullName\" is removed"))
    #expect(plain.contains("MB of free space;") || plain.contains("kB of free space;"))
  }

  static let times: [(LaunchTime, [String])] = [
    (LaunchTime(seconds: 9.99, isMeasured: false, isDeferred: false), []),
    (
      LaunchTime(seconds: 34, isMeasured: false, isDeferred: false),
      ["about 34 s", "20 s", "background task", "--defer"]
    ),
    (LaunchTime(seconds: 34, isMeasured: true, isDeferred: false), ["took 34 s here"]),
    (LaunchTime(seconds: 7200, isMeasured: false, isDeferred: true), ["about 2 h 0 min", "background task"]),
    (LaunchTime(seconds: .nan, isMeasured: false, isDeferred: false), []),
  ]

  @Test func `a time that is too long for a launch is told of, with what to do`() {
    for (time, words) in Self.times {
      let text = time.words.joined(separator: " ")
      #expect(text.isEmpty == words.isEmpty)
      for word in words { #expect(text.contains(word), "\(text)") }
    }
    let deferred = LaunchTime(seconds: 60, isMeasured: false, isDeferred: true)
    #expect(!deferred.words.joined().contains("--defer"))
  }
}
