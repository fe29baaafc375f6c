import Foundation
import Heirloom
import TestSupport
import Testing

struct BadInputTests {
  enum Input: String, CaseIterable, Sendable {
    case missing
    case directory
    case text
    case empty
    case truncated
    case otherDatabase

    func make(in directory: TemporaryDirectory) throws -> URL {
      let url = directory.file("Notebook.sqlite")
      switch self {
      case .missing: break
      case .directory: try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      case .text: try Data("Dear diary, today I wrote a text file.\n".utf8).write(to: url)
      case .empty:
        try Data().write(to: url)
        try Data("a log that may hold data".utf8).write(to: URL(fileURLWithPath: url.path + "-wal"))
      case .truncated:
        _ = try Notebook.makeStore(in: directory, archives: false)
        let bytes = try Data(contentsOf: url)
        try bytes.prefix(bytes.count / 2).write(to: url)
      case .otherDatabase:
        let connection = try Connection(path: url.path, mode: .createExclusively())
        try connection.execute("CREATE TABLE recipe (name)")
        try connection.close()
      }
      return url
    }
  }

  private static let commands = [
    "inspect", "doctor", "verify", "plan", "rehearse", "migrate", "versions", "restore", "repair", "compare",
    "snapshot",
  ]

  @Test(arguments: Input.allCases, commands)
  func `what is no store gets one clear error and stays as it is`(input: Input, command: String) throws {
    // A database of another kind has no versions, nor has an empty file, and that is not a mistake.
    if command == "versions", [.truncated, .otherDatabase, .empty].contains(input) { return }
    // Damage is a finding.
    if ["doctor", "verify"].contains(command), input == .truncated { return }
    // A diagnosis says what the file is instead.
    if command == "doctor", [.text, .empty, .otherDatabase].contains(input) { return }
    let directory = try TemporaryDirectory()
    let url = try input.make(in: directory)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let bytes = StoreBytes(of: url)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
    let arguments =
      switch command {
      case "plan", "rehearse", "migrate": [command, url.path, "--to", model]
      case "compare": [command, url.path, model]
      default: [command, url.path]
      }
    let tool = Tool(directory: directory.url)
    let outcome = tool.run(arguments + ["--json"])
    #expect(outcome.code == 1, "\(outcome.output)")
    let failure = try outcome.failure()
    #expect(Set(failure.keys) == ["code", "coreDataCode", "message", "suggestion", "storeAt"])
    #expect((failure["message"] as? String)?.contains(url.path) == true, "\(failure)")
    #expect((failure["suggestion"] as? String)?.isEmpty == false, "\(failure)")
    let text = tool.run(arguments)
    #expect(text.code == 1)
    #expect(text.error.components(separatedBy: "heirloom: ").count == 2, "\(text.error)")
    #expect(StoreBytes(of: url) == bytes)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted() == names)
  }

  /// No store can be here: the folder has a text file, links in a circle, and a link to nothing.
  private static let noPlaces = [
    "file.txt/Store.sqlite", "/proc/Store.sqlite", "/proc/absent/Store.sqlite", "/dev/null", "loop",
    "loop/Store.sqlite",
    "link", "link/Store.sqlite", "absent/Store.sqlite", String(repeating: "n", count: 300) + ".sqlite",
    String(repeating: "folder/", count: 800) + "Store.sqlite",
  ]

  @Test(arguments: noPlaces, commands)
  func `where no store can be, no command says that one holds data`(path: String, command: String) throws {
    let directory = try TemporaryDirectory()
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    try Data("text".utf8).write(to: directory.file("file.txt"))
    for (name, destination) in [("loop", "other"), ("other", "loop"), ("link", "absent/target")] {
      try FileManager.default.createSymbolicLink(
        atPath: directory.file(name).path, withDestinationPath: destination)
    }
    let arguments =
      switch command {
      case "plan", "rehearse", "migrate": [command, path, "--to", model]
      case "compare": [command, path, model]
      default: [command, path]
      }
    let tool = Tool(directory: directory.url)
    let text = tool.run(arguments)
    #expect(text.code == 1, "\(text.output)\(text.error)")
    #expect(!text.error.contains("still hold"), "\(text.error)")
    #expect(text.error.contains(path.split(separator: "/").first.map(String.init) ?? path), "\(text.error)")
    let failure = try tool.run(arguments + ["--json"]).failure()
    #expect(failure["storeAt"] is NSNull, "\(failure)")
    #expect((failure["suggestion"] as? String)?.contains("still hold") == false, "\(failure)")
  }

  @Test func `a path that is too long for what is built beside the store is told before the store is held`() throws {
    let directory = try TemporaryDirectory()
    var folder = directory.url
    while folder.path.utf8.count < 440 {
      folder.appendPathComponent(String(repeating: "f", count: min(100, 450 - folder.path.utf8.count)))
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let made = try Notebook.makeStore(in: directory, count: 3)
    let store = folder.appendingPathComponent("N.sqlite")
    try FileManager.default.copyItem(at: made, to: store)
    let bytes = StoreBytes(of: store)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let outcome = Tool(directory: directory.url)("migrate", store.path, "--to", model, "--json")
    #expect(outcome.code == 1)
    let failure = try outcome.failure()
    #expect((failure["message"] as? String)?.contains("SQLite opens paths of 504 at most") == true, "\(failure)")
    #expect((failure["suggestion"] as? String)?.contains("shorter path") == true, "\(failure)")
    #expect(StoreBytes(of: store) == bytes)
    #expect(!FileManager.default.fileExists(atPath: store.path + ".heirloom/incoming"))
  }

  static let models: [(name: String, content: String?, words: String)] = [
    ("absent.xcdatamodeld", nil, "no file"), ("notes.txt", "just words", "text file"),
    ("old.json", #"{"format":99,"model":{}}"#, "format 99"),
    (
      "Dangling.xcdatamodel/contents",
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Note" syncable="YES">
          <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Person"/>
        </entity>
      </model>
      """, "Person"
    ),
  ]

  @Test(arguments: models.indices, ["plan", "rehearse", "migrate", "compare", "inspect", "snapshot"])
  func `what is no model gets one clear error and the store stays as it is`(index: Int, command: String) throws {
    let bad = Self.models[index]
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 2)
    let model = directory.file(bad.name)
    if let content = bad.content {
      try FileManager.default.createDirectory(
        at: model.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(content.utf8).write(to: model)
    }
    let path = bad.name.hasSuffix("/contents") ? model.deletingLastPathComponent().path : model.path
    let bytes = StoreBytes(of: store)
    let arguments =
      switch command {
      case "plan", "rehearse", "migrate": [command, store.path, "--to", path]
      case "compare": [command, store.path, path]
      default: [command, path]
      }
    let outcome = Tool(directory: directory.url).run(arguments + ["--json"])
    #expect(outcome.code == 1, "\(outcome.output)")
    let failure = try outcome.failure()
    let message = try #require(failure["message"] as? String)
    #expect(message.contains(path))
    #expect(message.contains(bad.words) || command == "inspect" && bad.content == nil, "\(message)")
    #expect((failure["suggestion"] as? String)?.isEmpty == false)
    #expect(failure["storeAt"] as? String == (["plan", "rehearse", "migrate"].contains(command) ? store.path : nil))
    #expect(StoreBytes(of: store) == bytes)
  }

  @Test func `a version of a bundle that can't be read is no hindrance, the one that is asked for is`() throws {
    let directory = try TemporaryDirectory()
    _ = try Notebook.makeStore(in: directory, count: 2)
    let bundle = directory.file("Bundle.xcdatamodeld")
    for name in ["Good", "Bad"] {
      let folder = bundle.appendingPathComponent("\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let model = Tool.snapshots.appendingPathComponent("Done/Done.xcdatamodeld/Done.xcdatamodel/contents")
      let bytes = name == "Good" ? try Data(contentsOf: model) : Data("<model>".utf8)
      try bytes.write(to: folder.appendingPathComponent("contents"))
    }
    let adding = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let tool = Tool(directory: directory.url)
    let good = tool("plan", "Notebook.sqlite", "--to", adding, "--model", "Bundle.xcdatamodeld/Good.xcdatamodel")
    #expect(good.code == 0)
    #expect(good.error.contains("note: "))
    let bad = tool("plan", "Notebook.sqlite", "--to", adding, "--model", "Bundle.xcdatamodeld/Bad.xcdatamodel")
    #expect(bad.code == 1)
    // A version that lies beside the one to migrate to is read when a store asks for it, and then passed over.
    let own = ["plan", "Notebook.sqlite", "--to", "Bundle.xcdatamodeld/Good.xcdatamodel", "--model"]
    let beside = tool.run(own + ["Bundle.xcdatamodeld/Good.xcdatamodel"])
    #expect(!beside.error.contains("note: "), "\(beside)")
    let twin = directory.file("Twin.xcdatamodeld")
    try FileManager.default.copyItem(at: bundle, to: twin)
    let elsewhere = tool.run(own + ["Twin.xcdatamodeld/Good.xcdatamodel"])
    #expect(elsewhere.error.contains("note: ") && elsewhere.code == beside.code, "\(elsewhere)")
  }

  private static let isRoot = geteuid() == 0

  @Test(
    .disabled(if: isRoot, "root may read every folder, so that none is unreadable"),
    arguments: ["inspect", "plan", "migrate"])
  func `a folder that can't be read is told of`(command: String) throws {
    let directory = try TemporaryDirectory()
    let folder = directory.file("closed")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let store = try Notebook.makeStore(in: directory, name: "closed/Notebook.sqlite")
    let bytes = StoreBytes(of: store)
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: folder.path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path) }
    let arguments = command == "inspect" ? [command, store.path] : [command, store.path, "--to", model]
    let outcome = Tool(directory: directory.url).run(arguments + ["--json"])
    #expect(outcome.code == 1)
    #expect((try outcome.failure()["message"] as? String)?.contains("ermission denied") == true, "\(outcome.output)")
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
    #expect(StoreBytes(of: store) == bytes)
  }
}
