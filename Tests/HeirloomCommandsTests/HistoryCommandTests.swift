import Foundation
import Heirloom
import TestSupport
import Testing

struct HistoryCommandTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  private func writeBundle(_ versions: [(name: String, inside: String)]) throws {
    for version in versions {
      let folder = directory.file("App.xcdatamodeld/\(version.name).xcdatamodel")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let text = "<model documentVersion=\"1.0\"><entity name=\"Item\">\(version.inside)</entity></model>"
      try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
    }
  }

  private static let note = "<attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/>"
  private static let old = "<attribute name=\"old\" optional=\"YES\" attributeType=\"String\"/>"

  @Test func `each version says how it goes on, what it loses, and what nobody knows`() throws {
    try writeBundle([
      ("V1", Self.note + Self.old), ("V2", Self.note), ("V3", Self.note.replacing("optional=\"YES\" ", with: "")),
      ("V4", Self.note.replacing("optional=\"YES\" attributeType=\"String\"", with: "attributeType=\"Binary\"")),
      ("V5", Self.note.replacing("optional=\"YES\" attributeType=\"String\"", with: "attributeType=\"Binary\"")),
    ])
    let json = try tool("history", "App.xcdatamodeld", "--json").json()
    let versions = try #require(json["versions"] as? [[String: Any]])
    func ways(_ key: String) -> [String?] { versions.map { ($0[key] as? [String: Any])?["way"] as? String } }
    #expect(ways("toNext") == ["inferred", "inferred", "needs mapping", "same", nil])
    #expect(ways("toCurrent") == ["needs mapping", "needs mapping", "needs mapping", "same", nil])
    let decisions = versions.map { ($0["toNext"] as? [String: Any])?["decisions"] as? [String] ?? [] }
    #expect(decisions == [[], ["Item.note"], [], [], []])
    let losses = versions.map { ($0["losses"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String } }
    #expect(losses == [["Item.old"], [], [], [], []])
    let staged = tool("history", "App.xcdatamodeld", "--by-app", "V3").output
    #expect(staged.contains("V3       no       by code             by code"), "\(staged)")
    #expect(tool("history", "App.xcdatamodeld", "--by-app", "V9").code == 2)
  }

  @Test(arguments: [false, true])
  func `the printed commands are whole, name all losses, and work word for word`(isTerminal: Bool) throws {
    let folder = "a folder with a name that is longer than a line of a terminal, and with spaces in it"
    let made = directory.file(folder)
    try writeBundle([
      ("V1", Self.note + Self.old + Self.old.replacing("old", with: "older")), ("V2", Self.note + Self.old),
      ("V3", Self.note),
    ])
    try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      at: directory.file("App.xcdatamodeld"), to: made.appendingPathComponent("App.xcdatamodeld"))
    var tool = tool
    tool.isTerminal = isTerminal
    let path = made.appendingPathComponent("App.xcdatamodeld").path
    for expected in ["snapshot ", "check "] {
      let output = tool("history", path).output
      let found = try #require(
        output.firstMatch(of: /heirloom (\w+ '[^'\n]+'[^\n]*?)(?: writes one\.)?(?:\n|$)/), "\(output)"
      ).1
      #expect(found.hasPrefix(expected), "\(output)")
      // A shell reads the quotes.
      var words: [String] = []
      for (index, part) in found.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
        words += index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
      }
      #expect(tool.run(words).code == 0, "\(words)")
    }
    #expect(!tool("history", path).output.contains("heirloom "))
    #expect(tool("check", path).code == 0)
  }

  @Test
  func `a step that the app's code migrates is in the lock, and nobody advises to acknowledge what it would lose`()
    throws
  {
    let new = "<attribute name=\"new\" optional=\"YES\" attributeType=\"String\"/>"
    try writeBundle([("V1", Self.note), ("V2", Self.note + Self.old), ("V3", Self.note + new), ("V4", Self.note + new)])
    #expect(tool("snapshot", "App.xcdatamodeld", "--history", ".").code == 0)
    #expect(tool("check", ".", "--by-app", "V4").code == 2)
    #expect(tool("check", ".", "--by-app", "V9").code == 2)
    let bare = tool("check", ".")
    #expect(bare.code == 6 && bare.output.contains("--acknowledge Item.old"), "\(bare.output)")
    let shipped = try Data(contentsOf: directory.file("lock.json"))
    #expect(tool("check", ".", "--by-app", "V2", "--acknowledge", "Item.nothing").code == 2)
    #expect(try Data(contentsOf: directory.file("lock.json")) == shipped)
    let first = tool("check", ".", "--by-app", "V2")
    let written = try Data(contentsOf: directory.file("lock.json"))
    #expect(try VersionLock(path: directory.file("lock.json").path).stepsByCode.map(\.source) == ["V2"])
    // The lock says it from now on.
    let second = tool("check", ".", "--by-app", "V2")
    let third = tool("check", ".")
    for outcome in [first, second, third] {
      #expect(outcome.code == 0 && !outcome.output.contains("--acknowledge"), "\(outcome.output)")
      #expect(outcome.output.contains("the step \"V2\" → \"V3\" is left to the app's own code"))
      // V1's way leads over that step; V3's doesn't.
      for (version, word) in [("V1", "not tried"), ("V2", "not tried")] {
        #expect(outcome.output.contains("\(version)  \(word)"), "\(outcome.output)")
      }
    }
    #expect(try Data(contentsOf: directory.file("lock.json")) == written)
    let table = tool("history", ".").output
    #expect(table.contains("V1       yes      inferred     by code"), "\(table)")
    #expect(table.contains("V2       yes      by code      by code"), "\(table)")
    #expect(!table.contains("--acknowledge"))
    #expect(tool("squash", ".", "--floor", "V2").code == 0)
    let squashed = tool("check", ".").output
    #expect(squashed.contains("V1  refused") && squashed.contains("V2  not tried"), "\(squashed)")
  }

  @Test func `a loss with consent is told as one`() throws {
    try writeBundle([("V1", Self.note + Self.old), ("V2", Self.note)])
    let open = tool("history", "App.xcdatamodeld").output
    #expect(open.contains("loses Item.old\n") && open.contains("Acknowledge an intended loss in lock.json"), "\(open)")
    #expect(tool("snapshot", "App.xcdatamodeld", "--history", ".").code == 0)
    #expect(tool("check", ".", "--acknowledge", "Item.old").code == 0)
    let consented = tool("history", ".").output
    #expect(consented.contains("loses Item.old, with consent") && !consented.contains("--acknowledge"))
    #expect(consented.contains("V1       yes      inferred"))
  }

  @Test func `lines keep to the terminal's width`() throws {
    let names = (0..<30).map { "<attribute name=\"property\($0)\" optional=\"YES\" attributeType=\"String\"/>" }
    try writeBundle([("V1", Self.note + names.joined()), ("V2", Self.note)])
    var narrow = tool
    (narrow.columns, narrow.isTerminal, narrow.environment) = (60, true, ["NO_COLOR": "1"])
    let lines = narrow("history", "App.xcdatamodeld").output.split(separator: "\n").dropFirst()
    #expect(lines.count > 10 && lines.dropLast(2).allSatisfy { $0.count <= 60 }, "\(lines)")
  }

  @Test func `a history of ninety versions is one table`() throws {
    try writeBundle(
      (1...90).map { number in
        (
          "V\(number)",
          Self.note + "<attribute name=\"a\(number)\" optional=\"YES\" attributeType=\"String\" elementID=\"a\"/>"
        )
      })
    let started = ContinuousClock.now
    let versions = try tool("history", "App.xcdatamodeld", "--json").json()["versions"] as? [[String: Any]]
    #expect(versions?.count == 90)
    // Unoptimized, on a busy machine; the number of paths would need minutes.
    #expect(ContinuousClock.now - started < .seconds(30))
    #expect(tool("new-version", "App.xcdatamodeld").output.contains("\"V91\" is the current version now"))
  }
}
