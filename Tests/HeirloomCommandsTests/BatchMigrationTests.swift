import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

/// Many stores in one run: a line for each, several at a time, and continued after any interruption.
///
/// A quick selection runs with every `swift test`; `HEIRLOOM_LONG_TESTS=1` takes 60 stores.
struct BatchMigrationTests {
  private struct Scene {
    let directory: TemporaryDirectory
    let model: String
    /// The numbers of notes in the stores that can be migrated.
    private(set) var notes: [String: Int] = [:]
    /// The outcome and the code that are expected of the stores that can't.
    private(set) var broken: [String: (outcome: String, code: String)] = [:]
    private(set) var names: [String] = []

    init(stores: Int, broken: Bool = false, model: ManagedObjectModel? = nil) throws {
      directory = try TemporaryDirectory()
      self.model = try Notebook.write(model ?? Notebook.dropping(), "Current", in: directory)
      let counts = [0, 3, 40]
      for count in counts {
        _ = try Notebook.makeStore(in: directory, count: count, name: "template\(count)")
      }
      for number in 0..<stores {
        let name = String(format: "tenant %03d.sqlite", number)
        let count = counts[number % counts.count]
        names.append(name)
        notes[name] = count
        for ending in ["", ".heirloom"] {
          try FileManager.default.copyItem(
            at: directory.file("template\(count)" + ending), to: directory.file(name + ending))
        }
      }
      if broken { try addBroken() }
      try write(names, "list")
    }

    private mutating func addBroken() throws {
      let middle = names.count / 2
      try FileManager.default.createDirectory(at: directory.file("folder.sqlite"), withIntermediateDirectories: false)
      try Data("this is a text, and a long one".utf8).write(to: directory.file("text.sqlite"))
      let whole = try Data(contentsOf: directory.file("template40"))
      var torn = whole
      torn.replaceSubrange(100..<8192, with: Data(repeating: 0xA5, count: 8092))
      try torn.write(to: directory.file("torn.sqlite"))
      broken = [
        "folder.sqlite": ("failed", "unreadableStore"), "text.sqlite": ("failed", "unreadableStore"),
        "torn.sqlite": ("failed", "unreadableStore"), "gone.sqlite": ("noStore", "missing"),
      ]
      names.insert(contentsOf: broken.keys.sorted(), at: middle)
    }

    func write(_ names: [String], _ list: String, end: String = "\n") throws {
      try Data(names.map { $0 + end }.joined().utf8).write(to: directory.file(list))
    }

    static func lines(_ output: String) throws -> [(name: String, members: [String: Any])] {
      try output.split(separator: "\n").map { line in
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        let path = object["store"] as? String ?? ""
        return (URL(fileURLWithPath: path).lastPathComponent, object)
      }
    }

    /// Every store that can be migrated has the new model, all its notes, and one previous version.
    func checkMigrated() throws {
      for (name, count) in notes {
        let store = try PersistentStore.open(at: directory.file(name), model: Notebook.dropping())
        let titles = try ManagedObjectContext(store: store).fetch("Note").map { try $0.string("title") }
        try store.close()
        #expect(titles.sorted { ($0 ?? "") < ($1 ?? "") } == (0..<count).map { "note \($0)" }.sorted(), "\(name)")
        let kept = try FileManager.default.contentsOfDirectory(atPath: directory.file(name + ".heirloom/previous").path)
        #expect(kept.count == 1, "\(name)")
      }
    }
  }

  @Test(arguments: [1, 4])
  func `each store gets a line, and what becomes of it doesn't depend on the others`(jobs: Int) throws {
    let scene = try Scene(stores: LongTests.areOn ? 60 : 9, broken: true)
    let tool = Tool(directory: scene.directory.url)
    let arguments = ["migrate", "--files-from", "list", "--jobs", "\(jobs)", "--to", scene.model, "--accept-losses"]
    for expected in ["migrated", "upToDate"] {
      let outcome = tool.run(arguments)
      #expect(outcome.code == 1)
      let lines = try Scene.lines(outcome.output)
      #expect(lines.map(\.name).sorted() == scene.names.sorted())
      if jobs == 1 { #expect(lines.map(\.name) == scene.names) }
      for (name, line) in lines {
        let first: Set = ["store", "outcome", "from", "to", "retained", "seconds", "error"]
        #expect(first.isSubset(of: line.keys))
        let error = line["error"] as? [String: Any]
        if let broken = scene.broken[name] {
          #expect(line["outcome"] as? String == broken.outcome, "\(name)")
          #expect(error?["code"] as? String == broken.code, "\(name)")
          #expect(line["retained"] is NSNull)
        } else {
          #expect(line["outcome"] as? String == expected, "\(name)")
          #expect(line["error"] is NSNull)
          #expect(line["to"] as? String == (try Notebook.dropping().versionChecksum()))
          #expect(line["retained"] is String == (expected == "migrated"))
        }
      }
      let word = expected == "migrated" ? "migrated" : "up to date"
      #expect(
        outcome.error.contains("\(scene.names.count) stores: \(scene.notes.count) \(word), 1 not there, 3 failed; "))
      #expect(outcome.error.contains("4 of \(scene.names.count) stores failed: 1 missing, 3 unreadableStore."))
    }
    try scene.checkMigrated()
  }

  @Test func `an interruption begins no further store, and the same command goes on`() throws {
    let scene = try Scene(stores: 8)
    var tool = Tool(directory: scene.directory.url)
    let interruption = tool.interruption
    tool.onOutput = { _ in interruption.interrupt() }
    let arguments = ["migrate", "--files-from", "list", "--jobs", "2", "--to", scene.model, "--accept-losses"]
    let stopped = tool.run(arguments + ["--json"])
    #expect(stopped.code == 130)
    let lines = try Scene.lines(stopped.output)
    let last = try #require(lines.last?.members)
    #expect((last["error"] as? [String: Any])?["code"] as? String == "cancelled")
    let summary = try #require(last["summary"] as? [String: Any])
    // The other thread may be working on one or two.
    #expect((5...7).contains(summary["notBegun"] as? Int ?? 0))
    #expect(lines.count - 1 + (summary["notBegun"] as? Int ?? 0) == 8)
    for name in scene.names where !lines.contains(where: { $0.name == name }) {
      #expect(try StoreMetadata(contentsOf: scene.directory.file(name)).isCompatible(with: Notebook.first()))
    }
    let next = Tool(directory: scene.directory.url).run(arguments)
    #expect(next.code == 0)
    let outcomes = try Scene.lines(next.output).compactMap { $0.members["outcome"] as? String }
    #expect(outcomes.filter { $0 == "upToDate" }.count == summary["migrated"] as? Int)
    #expect(Set(outcomes).isSubset(of: ["migrated", "upToDate"]))
    try scene.checkMigrated()
  }

  @Test(.enabled(if: BuiltTool.url != nil, "the tool was not built beside the tests"))
  func `a run that is killed is gone on with, and a list may come from another program`() throws {
    let scene = try Scene(stores: LongTests.areOn ? 60 : 9)
    let process = Process()
    process.executableURL = BuiltTool.url
    process.arguments = [
      "migrate", "--jobs", "2", "--files-from", "-", "--null", "--to", scene.model, "--accept-losses",
    ]
    process.currentDirectoryURL = scene.directory.url
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(scene.names.map { $0 + "\0" }.joined().utf8))
    try input.fileHandleForWriting.close()
    // One store is done by then, and others are in progress.
    #expect(output.fileHandleForReading.availableData.isEmpty == false)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    let tool = Tool(directory: scene.directory.url)
    let next = tool("migrate", "--files-from", "list", "--jobs", "2", "--to", scene.model, "--accept-losses")
    #expect(next.code == 0, "\(next.error)")
    let outcomes = try Scene.lines(next.output).compactMap { $0.members["outcome"] as? String }
    #expect(outcomes.count == scene.names.count)
    #expect(outcomes.contains("upToDate"))
    #expect(Set(outcomes).isSubset(of: ["migrated", "upToDate"]))
    try scene.checkMigrated()
  }

  @Test func `versions that are kept are passed over when a search finds them`() throws {
    let scene = try Scene(stores: 2)
    let tool = Tool(directory: scene.directory.url)
    #expect(tool("migrate", "--files-from", "list", "--to", scene.model, "--accept-losses").code == 0)
    let versions = try scene.names.map { name in
      let folder = "\(name).heirloom/previous"
      let id = try #require(
        try FileManager.default.contentsOfDirectory(atPath: scene.directory.file(folder).path).first)
      return "\(folder)/\(id)/\(name)"
    }
    try scene.write(versions + scene.names, "found")
    let outcome = tool("migrate", "--files-from", "found", "--to", scene.model, "--accept-losses")
    #expect(outcome.code == 0)
    #expect(outcome.error.contains("note: 2 stores of the list lie where migrations keep earlier versions"))
    #expect(outcome.error.contains("2 stores: 2 up to date; "))
    for version in versions {
      #expect(try StoreMetadata(contentsOf: scene.directory.file(version)).isCompatible(with: Notebook.first()))
    }
    try scene.write(versions, "kept")
    #expect(tool("migrate", "--files-from", "kept", "--to", scene.model, "--accept-losses").code == 2)
  }

  @Test func `the exit code is that of the store that asks for most care`() throws {
    var scene = try Scene(stores: 3, model: Notebook.requiring())
    let tool = Tool(directory: scene.directory.url)
    let arguments = ["--jobs", "2", "--to", scene.model, "--accept-losses"]
    // The first store has no notes; the others need a decision about theirs.
    #expect(tool.run(["migrate", scene.names[0]] + arguments).code == 0)
    #expect(tool.run(["migrate"] + scene.names + arguments).code == 3)
    try Data("a text".utf8).write(to: scene.directory.file("text.sqlite"))
    let outcome = tool.run(["migrate", "text.sqlite"] + scene.names + arguments)
    #expect(outcome.code == 1)
    #expect(outcome.error.contains("3 of 4 stores failed: 2 decisionNeeded, 1 unreadableStore."))
    scene = try Scene(stores: 1)
    #expect(
      Tool(directory: scene.directory.url)(
        "migrate", scene.names[0], "--jobs", "1", "--to", scene.model, "--accept-losses"
      ).code == 0)
  }

  @Test func `what can't be a list of stores is refused before any is begun`() throws {
    let scene = try Scene(stores: 2)
    let directory = scene.directory
    let link = directory.file("link.sqlite")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: directory.file(scene.names[1]))
    try scene.write([], "empty")
    try scene.write(["", "", ""], "blank")
    try scene.write([scene.names[0], scene.names[0]], "twice")
    try scene.write(scene.names + ["link.sqlite"], "linked")
    try scene.write(scene.names, "nulls", end: "\0")
    try Data([0x61, 0xFF, 0x0A]).write(to: directory.file("latin"))
    let expectations: [(arguments: [String], words: String)] = [
      (["--files-from", "absent"], "there is no such file"),
      (["--files-from", "folder"], "it is a folder"),
      (["--files-from", "empty"], "empty is empty"),
      (["--files-from", "blank"], "blank is empty"),
      (["--files-from", "twice"], "is named twice"),
      (["--files-from", "linked"], "are one and the same store"),
      (["--files-from", "nulls"], "--null"),
      (["--files-from", "latin"], "Path 1 of the list latin is not UTF-8"),
      (["--files-from", "list", scene.names[0]], "is named twice"),
      (["--null", scene.names[0]], "--files-from LIST is missing"),
      (["--jobs", "0", scene.names[0]], "--jobs 0: expected how many stores"),
      (["--jobs", "65", scene.names[0]], "from 1 to 64"),
      (["--jobs", "x", scene.names[0]], "--jobs x"),
      (["--jobs", "2"], "STORE is missing"),
    ]
    try FileManager.default.createDirectory(at: directory.file("folder"), withIntermediateDirectories: false)
    let tool = Tool(directory: directory.url)
    for (arguments, words) in expectations {
      let text = tool.run(["migrate", "--to", scene.model] + arguments)
      #expect(text.code == 2, "\(arguments)")
      #expect(text.error.contains(words), "\(arguments): \(text.error)")
      #expect(text.output.isEmpty)
      let json = try tool.run(["migrate", "--json", "--to", scene.model] + arguments).failure()
      #expect(json["code"] as? String == "usage")
    }
    for name in scene.names {
      #expect(try StoreMetadata(contentsOf: directory.file(name)).isCompatible(with: Notebook.first()))
    }
  }

  @Test(arguments: [
    ("a\nb\n", StoreList.Separator.lineFeed, ["a", "b"]), ("a\r\n\r\nb", .lineFeed, ["a", "b"]),
    ("a b\n#c\n é \n", .lineFeed, ["a b", "#c", " é "]), ("a\nb\0c\0\0", .null, ["a\nb", "c"]),
    ("a\r\0", .null, ["a\r"]),
  ])
  func `a list is read line by line`(text: String, separator: StoreList.Separator, paths: [String]) throws {
    #expect(try StoreList.paths(in: Array(text.utf8), separator: separator, name: "list") == paths)
  }
}
