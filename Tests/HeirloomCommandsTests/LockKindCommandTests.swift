import Foundation
import Heirloom
import HeirloomCommands
import HeirloomFormats
import HeirloomMapping
import TestSupport
import Testing

/// The lock in the tool: consent by kind, its second format, and files that are no lock.
struct LockKindCommandTests {
  private let directory: TemporaryDirectory
  private let tool: Tool
  private let history: String
  private let lock: URL

  /// Three versions: the second drops the mood, the third adds a rating.
  init() throws {
    directory = try TemporaryDirectory()
    tool = Tool(directory: directory.url)
    history = directory.file("History").path
    lock = directory.file("History/lock.json")
    let second = try Notebook.dropping()
    var note = second.entities[0]
    note.attributes.append(AttributeDescription(name: "rating", type: .integer64))
    note.attributes[note.attributes.count - 1].isOptional = true
    let models = [try Notebook.first(), second, try ManagedObjectModel(entities: [note])]
    for (name, model) in zip(["1", "2", "3"], models) {
      let snapshot = try Notebook.write(model, name, in: directory)
      #expect(tool("snapshot", snapshot, "--history", history).code == 0)
    }
  }

  private func findings(_ rule: String) throws -> [String] {
    let found = try tool("check", history, "--json").json()["findings"] as? [[String: Any]] ?? []
    return found.filter { $0["rule"] as? String == rule }.map(\.sentences)
  }

  private func write(_ change: (inout VersionLock) -> Void) throws {
    var content = try VersionLock(path: lock.path)
    change(&content)
    try Data(content.encoded()).write(to: lock)
  }

  @Test func `an acknowledgement of what the models imply keeps format 1`() throws {
    #expect(tool("check", history, "--acknowledge", "Note.mood").code == 0)
    let text = try String(contentsOf: lock, encoding: .utf8)
    #expect(text.contains("\"format\": 1") && text.contains("\"Note.mood\"") && !text.contains("kind"))
    #expect(try findings("stale-acknowledgement").isEmpty && findings("acknowledgement-without-model").isEmpty)
  }

  @Test func `an acknowledgement of another kind leaves the loss open, and is told to be stale`() throws {
    try write { $0.acknowledge("Note.mood", kind: .changedValues, from: "1", to: "2") }
    #expect(tool("check", history).code == 6)
    #expect(try findings("loss").count == 1 && findings("stale-acknowledgement").count == 1)
    // The remedy works, and keeps what the lock says.
    #expect(tool("check", history, "--acknowledge", "Note.mood").code == 0)
    let losses = try VersionLock(path: lock.path).acknowledgements.flatMap(\.losses)
    #expect(Set(losses.map(\.kind)) == [nil, .changedValues])
  }

  @Test func `commands that write a lock of format 2 keep all it has`() throws {
    try write {
      $0.acknowledge("Note.mood", kind: .values, from: "1", to: "2")
      $0.writtenDecisions = [.string("later")]
    }
    #expect(tool("check", history).code == 0)
    #expect(tool("check", history, "--by-app", "2").code == 0)
    #expect(tool("squash", history, "--floor", "2").code == 0)
    var note = try Notebook.first().entities[0]
    note.attributes.removeAll { $0.name == "mood" }
    let fourth = try Notebook.write(try ManagedObjectModel(entities: [note]), "4", in: directory)
    #expect(tool("snapshot", fourth, "--history", history).code == 0)
    let content = try VersionLock(path: lock.path)
    #expect(content.format == 2 && content.versions.map(\.id) == ["1", "2", "3", "4"])
    #expect(content.writtenDecisions == [.string("later")] && content.floor == "2")
    #expect(content.acknowledgements.flatMap(\.losses).map(\.kind) == [.values])
    #expect(content.stepsByCode == [VersionLock.Step(source: "2", destination: "3")])
  }

  @Test func `an acknowledgement without a kind says so where a model is missing, and both remedies work`() throws {
    #expect(tool("check", history, "--acknowledge", "Note.mood").code == 0)
    // A folder of snapshots has to hold all; a bundle may lack one.
    try write {
      $0.versions.removeAll { $0.name == "2" }
      $0.versions.insert(VersionLock.Entry(name: "2", model: (try? Notebook.dropping()) ?? .empty), at: 1)
    }
    let file = directory.file("History/2.json")
    let bytes = try Data(contentsOf: file)
    try FileManager.default.removeItem(at: file)
    // Without the lock's entry of the version, the folder is complete.
    try write { $0.versions.removeAll { $0.name == "2" } }
    let told = try findings("acknowledgement-without-model")
    #expect(told.count == 1 && told[0].contains("\"2\"") && told[0].contains("Bring \"2\" back"), "\(told)")
    #expect(try findings("loss").count == 1)
    let without = try Data(contentsOf: lock)
    try bytes.write(to: file)
    #expect(try findings("acknowledgement-without-model").isEmpty)
    try FileManager.default.removeItem(at: file)
    try without.write(to: lock)
    let command = try #require(PrintedCommand.all(in: told[0]).last, "\(told)")
    #expect(tool.run(command.words).code == 6, "\(command)")
    #expect(try VersionLock(path: lock.path).acknowledgements.isEmpty)
    #expect(try findings("acknowledgement-without-model").isEmpty)
    #expect(tool("check", history, "--acknowledge", "Note.mood").code == 0)
  }

  @Test(arguments: ["/nowhere/lock.json", "lock.json"])
  func `a lock that is a link to nothing is not passed over`(target: String) throws {
    let store = try Notebook.makeStore(in: directory, count: 4)
    let before = try Data(contentsOf: store)
    try FileManager.default.removeItem(at: lock)
    try FileManager.default.createSymbolicLink(atPath: lock.path, withDestinationPath: target)
    for command in [
      ["migrate", store.path, "--to", history], ["plan", store.path, "--to", history], ["check", history],
    ] {
      let failure = try #require(try? tool.run(command + ["--json"]).failure(), "\(command)")
      #expect((failure["message"] as? String)?.contains("lock.json") == true, "\(command): \(failure)")
      #expect(try Data(contentsOf: store) == before)
    }
  }

  @Test(arguments: [true, false])
  func `a lock that is no file is called that`(isFolder: Bool) throws {
    try FileManager.default.removeItem(at: lock)
    if isFolder {
      try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
    } else {
      #expect(mkfifo(lock.path, 0o600) == 0)
    }
    let failure = try tool.run(["check", history, "--json"]).failure()
    let message = try #require(failure["message"] as? String)
    #expect(message.contains("lock.json"))
    #expect(
      message.contains(isFolder ? "it is a folder, and a file was expected" : "it is neither a file nor a folder"))
  }

  /// Files that are no lock. (The name is the argument: the log of a run shows arguments whole.)
  private static let unreadable: [String: [UInt8]] = [
    "empty": [], "blank": Array(" \n".utf8), "null": Array("null".utf8), "UTF-16": [0xFF, 0xFE, 0x7B, 0, 0x7D, 0],
    "format 3": Array("{\"format\": 3}".utf8), "over 4 MiB": [UInt8](repeating: 0x20, count: (4 << 20) + 1),
  ]

  @Test(arguments: unreadable.keys.sorted())
  func `no command passes over a lock that can't be read, nor writes it`(name: String) throws {
    let bytes = try #require(Self.unreadable[name])
    let store = try Notebook.makeStore(in: directory, count: 4)
    let before = try Data(contentsOf: store)
    try Data(bytes).write(to: lock)
    let next = try Notebook.write(try Notebook.dating(), "9", in: directory)
    for command in [
      ["migrate", store.path, "--to", history], ["plan", store.path, "--to", history],
      ["rehearse", store.path, "--to", history], ["check", history], ["check", history, "--acknowledge", "Note.mood"],
      ["history", history], ["squash", history, "--floor", "2"], ["snapshot", next, "--history", history],
      ["inspect", history],
    ] {
      let failure = try #require(try? tool.run(command + ["--json"]).failure(), "\(command)")
      let message = failure["message"] as? String ?? ""
      #expect(
        message.contains("lock.json") && (failure["suggestion"] as? String)?.isEmpty == false, "\(command): \(failure)")
      #expect(try Data(contentsOf: lock) == Data(bytes) && Data(contentsOf: store) == before, "\(command)")
    }
    #expect(throws: ModelReadingError.self) { try ModelHistory(contentsOf: directory.file("History")) }
  }
}
