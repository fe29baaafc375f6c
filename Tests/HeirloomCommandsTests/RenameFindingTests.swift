import Foundation
import HeirloomCommands
import TestSupport
import Testing

/// Renames that a model seems to lack, and renaming identifiers of nothing, where the models are made.
struct RenameFindingTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  private func writeBundle(_ versions: [String]) throws {
    for (number, entities) in zip(1..., versions) {
      let folder = directory.file("App.xcdatamodeld/V\(number).xcdatamodel")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data("<model documentVersion=\"1.0\">\(entities)</model>".utf8)
        .write(to: folder.appendingPathComponent("contents"))
    }
  }

  private static func note(_ attribute: String, id: String? = nil, entity: String = "name=\"Note\"") -> String {
    let id = id.map { " elementID=\"\($0)\"" } ?? ""
    return
      "<entity \(entity)><attribute name=\"\(attribute)\"\(id) optional=\"YES\" attributeType=\"String\"/></entity>"
  }

  private func findings(_ kind: String, _ arguments: String...) throws -> [[String: Any]] {
    let json = try tool.run(arguments + ["--json"]).json()
    let all = try #require(json["findings"] as? [[String: Any]], "\(json)")
    return all.filter { $0["rule"] as? String == kind }
  }

  @Test(arguments: [
    ["check", "App.xcdatamodeld"], ["history", "App.xcdatamodeld"], ["new-version", "App.xcdatamodeld"],
  ])
  func `a suspected rename is said where it is made, with the line to write`(command: [String]) throws {
    try writeBundle([Self.note("text"), Self.note("body")])
    let text = Tool(directory: directory.url).run(command + ["--json"])
    let all = try #require(try text.json()["findings"] as? [[String: Any]])
    let found = try #require(all.first { $0["rule"] as? String == "suspected-rename" }, "\(all)")
    #expect(found["severity"] as? String == "warning" && found["version"] as? String == "V2")
    #expect(found["entity"] as? String == "Note" && found["property"] as? String == "body")
    #expect(found["file"] as? String == directory.file("App.xcdatamodeld/V2.xcdatamodel/contents").path)
    let message = found.sentences
    #expect(message.hasPrefix("\"V1\" → \"V2\": Note: \"text\" removed and \"body\" added, both String: a rename?"))
    #expect(message.contains("elementID=\"text\""))
  }

  @Test func `the text says it too`() throws {
    try writeBundle([Self.note("text"), Self.note("body")])
    for command in [["check", "."], ["history", "."], ["new-version", "App.xcdatamodeld"]] {
      let text = tool.run(command).output
      #expect(text.contains("a rename? Give \"body\" the renaming identifier \"text\""), "\(text)")
    }
  }

  @Test func `who wrote the identifier, acknowledged the loss or left the step to code isn't asked`() throws {
    try writeBundle([Self.note("text"), Self.note("body", id: "text")])
    #expect(try findings("suspected-rename", "check", ".").isEmpty)
    try writeBundle([Self.note("text"), Self.note("body")])
    #expect(try findings("suspected-rename", "check", ".", "--by-app", "V1").isEmpty)
    #expect(tool("snapshot", "App.xcdatamodeld", "--history", ".").code == 0)
    #expect(try findings("suspected-rename", "check", ".").count == 1)
    #expect(try findings("suspected-rename", "check", ".", "--acknowledge", "Note.text").isEmpty)
    #expect(try findings("suspected-rename", "check", ".").isEmpty)
    #expect(try findings("suspected-rename", "history", ".").isEmpty)
  }

  @Test func `a rename is suspected too where no mapping can be inferred`() throws {
    let changed = "<attribute name=\"size\" attributeType=\"Binary\"/></entity>"
    let before = "<attribute name=\"size\" attributeType=\"Integer 16\"/></entity>"
    try writeBundle([
      Self.note("text").replacing("</entity>", with: before), Self.note("body").replacing("</entity>", with: changed),
    ])
    #expect(try findings("mapping-needed", "check", ".").count == 1)
    #expect(try findings("suspected-rename", "check", ".").map { $0["property"] as? String } == ["body"])
  }

  /// Versions, and what is said of the identifiers in them: version, entity and property, and a word.
  struct Identifiers: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let versions: [String]
    var found: String?
    var words = ""
  }

  private static let parent =
    "<entity name=\"Base\"><attribute name=\"body\" elementID=\"text\" optional=\"YES\" "
    + "attributeType=\"String\"/></entity><entity name=\"Note\" parentEntity=\"Base\"/>"

  static let identifiers: [Identifiers] = [
    Identifiers(
      testDescription: "a typing error", versions: [note("text"), note("body", id: "txet")], found: "V2 Note body",
      words: "\"txet\", which names nothing in the versions before; did you mean \"text\"?"),
    Identifiers(
      testDescription: "a name that nobody had", versions: [note("text"), note("body", id: "elsewhere")],
      found: "V2 Note body", words: "names nothing in the versions before. It is new"),
    Identifiers(
      testDescription: "an entity's",
      versions: [note("text"), note("text", entity: "name=\"Memo\" elementID=\"Nota\"")],
      found: "V2 Memo", words: "did you mean \"Note\"?"),
    Identifiers(
      testDescription: "the previous name, although it has an identifier of its own",
      versions: [note("a"), note("b", id: "a"), note("c", id: "b")], found: "V3 Note c",
      words: "did you mean the renaming identifier \"a\"?"),
    // Core Data goes by the identifier alone, also to the element's own name.
    Identifiers(
      testDescription: "a name that stays, with another identifier",
      versions: [note("text"), note("text", id: "fresh") + note("a", entity: "name=\"Tag\"")], found: "V2 Note text",
      words: "give it the renaming identifier \"text\""),
    Identifiers(
      testDescription: "one that goes on", versions: [note("text"), note("body", id: "text"), note("body", id: "text")]),
    Identifiers(
      testDescription: "one that an earlier version had",
      versions: [note("text"), note("other"), note("body", id: "text")]
    ),
    Identifiers(
      testDescription: "one of the first version", versions: [note("text", id: "old"), note("a", id: "old")]),
    Identifiers(testDescription: "one of a property that its parent has now", versions: [note("text"), parent]),
  ]

  @Test(arguments: identifiers)
  func `a renaming identifier that names nothing is a finding`(of history: Identifiers) throws {
    try writeBundle(history.versions)
    let found = try findings("renaming-identifier", "check", ".")
    let places = found.map { finding in
      ["version", "entity", "property"].compactMap { finding[$0] as? String }.joined(separator: " ")
    }
    #expect(places == (history.found.map { [$0] } ?? []))
    #expect(found.allSatisfy { $0.sentences.contains(history.words) }, "\(found)")
  }
}
