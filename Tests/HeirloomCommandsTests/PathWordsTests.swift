import Foundation
import Heirloom
import HeirloomFormats
import HeirloomModel
import TestSupport
import Testing

/// Paths that commands print and take: with characters that a terminal obeys, with a slash at the end, and through links.
struct PathWordsTests {
  private static let names =
    [
      "a\nb", "a\tb", "\u{1B}[2J", "it's \\ a \"name\"\n", "\u{7F}", "\u{9B}31m", "\u{202E}desrever", "a\u{200B}b",
      "##[group]",
      "\u{FEFF}bom", "日本\r語", "$(id)`x`\u{1}", "=a", "a!b\n!c", "\u{E0041}", "'", "\\n", "é\u{7}",
    ]
    + (1..<32).map { "c\(Unicode.Scalar(UInt8($0)))d" }

  @Test(arguments: names) func `bash reads a printed path back, and no character of it is hidden`(name: String) throws {
    let word = shellWord(name)
    #expect(try DoctorWalk.words(of: word) == [name])
    #expect(PlainText.escaped(word, breaksLines: false) == word && !word.contains("##["))
  }

  @Test func `the bytes of a name that is not UTF-8 are printed as bytes`() throws {
    let read = try DoctorWalk.shell("printf %s " + shellWord("a\u{10FFE9}b"))
    #expect(read.output == Data([0x61, 0xE9, 0x62]))
  }

  @Test(arguments: ["a\nb", "It's \t\u{1B}[1m", "##[x]"])
  func `commands for a store in a folder of such a name are run as they are printed`(name: String) throws {
    let directory = try TemporaryDirectory()
    let folder = directory.file(name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let made = try Notebook.makeStore(in: directory, count: 20, archives: false)
    let store = folder.appendingPathComponent("Notebook.sqlite")
    try FileManager.default.moveItem(at: made, to: store)
    let tool = Tool(directory: directory.url)
    try Connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 0", on: store.path, options: .building)
    let model = try Notebook.write(Notebook.first(), "First", in: directory)
    let end = try DoctorWalk(tool: tool, store: store.path, options: ["--model", model]).run()
    #expect(end.steps.count == 2)
    // The text has the command in the same form as the JSON object.
    let printed = PrintedCommand.all(in: end.text)
    #expect(printed.contains { $0.words == ["versions", store.path] }, "\(end.text)")
  }

  @Test func `a slash after a store's name is passed over by every command`() throws {
    let directory = try TemporaryDirectory()
    let store = try VerifyTests.makeMigratedStore(in: directory)
    let tool = Tool(directory: directory.url)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    for words in [
      ["inspect"], ["doctor"], ["verify"], ["versions"], ["repair"], ["plan", "--to", model],
      ["migrate", "--to", model],
      ["restore"], ["snapshot"],
    ] {
      let outcome = tool.run([words[0], store.path + "/"] + words.dropFirst())
      #expect(outcome.code == 0, "\(words): \(outcome)")
      #expect(!outcome.output.contains(store.path + "/ ") && !outcome.output.contains(store.path + "/:"), "\(outcome)")
    }
    #expect(tool("salvage", store.path + "//", "--output", "New.sqlite").code == 0)
    #expect(tool("doctor", "gone.sqlite/", "--json").code == 1)
    #expect(try tool("doctor", "gone.sqlite/", "--json").failure()["code"] as? String == "missing")
  }

  @Test func `a link is followed, and one that leads nowhere is called one`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 20)
    let tool = Tool(directory: directory.url)
    let link = directory.file("link.sqlite").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: store.lastPathComponent)
    let sizes = try [link, store.path].map { try tool("doctor", $0, "--json").json()["bytes"] as? Int }
    #expect(sizes[0] == sizes[1] && sizes[0] ?? 0 > 4096)
    let dangling = directory.file("dangling.sqlite").path
    try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: "nowhere")
    let told = tool("salvage", dangling, "--output", "New.sqlite")
    #expect(told.code == 1 && told.error.contains("a broken symbolic link"), "\(told)")
  }

  /// No SQLite database; each command says the words of it.
  struct Other: CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let words: String
    /// The command that shows it; `nil` where none does.
    var command: String?
  }

  private static let others = [
    Other(
      testDescription: "XML",
      bytes: Array(
        """
        <?xml version="1.0"?>
        <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
        <database><databaseInfo><version>134481920</version><UUID>A</UUID><nextObjectID>103</nextObjectID></databaseInfo>
        <object type="NOTE" id="z102"><attribute name="title" type="string">a note</attribute></object></database>
        """.utf8), words: "store of Core Data's XML type"),
    Other(
      testDescription: "XML without objects",
      bytes: Array("<?xml version=\"1.0\"?><!-- <model> --><database><databaseInfo/></database>".utf8),
      words: "store of Core Data's XML type"),
    Other(
      testDescription: "binary", bytes: Array("bplist00".utf8) + Array(repeating: 3, count: 4000),
      words: "store of Core Data's binary type"),
    Other(
      testDescription: "Realm",
      bytes: Array(repeating: 0, count: 16) + Array("T-DB".utf8) + Array(repeating: 9, count: 4000),
      words: "Realm database"),
    Other(
      testDescription: "encrypted",
      bytes: (0..<4096).map { UInt8(truncatingIfNeeded: ($0 &* 167 &+ $0 / 256 &* 13) & 255) }, words: "encrypted"),
    Other(
      testDescription: "a model",
      bytes: Array(
        "<model><entity name=\"Note\"><attribute name=\"k\" attributeType=\"String\"/></entity></model>".utf8),
      words: "a model", command: "inspect"),
  ]

  @Test(arguments: others) func `every command says the same of a file that is no database`(_ other: Other) throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    let path = directory.file("Store").path
    try Data(other.bytes).write(to: URL(fileURLWithPath: path))
    let model = try Notebook.write(Notebook.first(), "First", in: directory)
    for words in [
      ["doctor"], ["inspect"], ["verify"], ["migrate", "--to", model], ["plan", "--to", model], ["repair"],
      ["salvage", "--output", "New.sqlite"], ["salvage", "--output", "New.sqlite", "--model", model],
    ] {
      if words[0] == other.command {
        #expect(tool(words[0], path).code == 0)
        continue
      }
      let told = tool.run([words[0], path] + words.dropFirst())
      let text = told.output + told.error
      #expect(told.code == (words[0] == "doctor" ? 0 : 1), "\(words): \(text)")
      #expect(text.contains(other.words) && !text.contains("mapping model"), "\(words): \(text)")
      #expect(
        PrintedCommand.all(in: text).map(\.words) == (other.command.map { [[$0, path]] } ?? []), "\(words): \(text)")
    }
    // As a model, it is neither one nor a mapping model.
    for words in [["snapshot", path], ["compare", path, model], ["plan", path, "--to", path]]
    where other.command == nil {
      let told = tool.run(words)
      #expect(told.code == 1 && !told.error.contains("mapping model"), "\(words): \(told)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(other.bytes))
  }

  @Test func `a store whose first page alone is overwritten is salvaged`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 200)
    var bytes = try Data(contentsOf: store)
    bytes.replaceSubrange(
      0..<4096, with: (0..<4096).map { UInt8(truncatingIfNeeded: ($0 &* 167 &+ $0 / 256 &* 13) & 255) })
    try bytes.write(to: store)
    let end = try DoctorWalk(tool: Tool(directory: directory.url), store: store.path).run()
    #expect(end.commands.first == "salvage", "\(end)")
  }
}
