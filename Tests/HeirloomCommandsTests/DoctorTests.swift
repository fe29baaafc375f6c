import Foundation
import Heirloom
import TestSupport
import Testing

struct DoctorTests {
  private func next(_ outcome: Tool.Outcome) throws -> String {
    try #require(try outcome.json()["next"] as? String, "\(outcome.output)")
  }

  @Test func `a sound store fits on one screen`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 20)
    let tool = Tool(directory: directory.url)
    let bytes = StoreBytes(of: store)
    let text = tool("doctor", store.path)
    #expect(text.code == 0)
    let lines = text.output.split(separator: "\n")
    #expect(lines.count <= 12)
    #expect(
      lines.map { $0.dropFirst(2).prefix { $0 != " " } }.dropFirst() == [
        "holds", "size", "model", "written", "kept", "findings", "next",
      ])
    #expect(text.output.contains("20 objects in 1 entity"))
    #expect(text.output.contains("the snapshot beside the store"))
    let json = try tool("doctor", store.path, "--json").json()
    #expect(json["rows"] as? Int == 20)
    #expect(json["modelFits"] as? Bool == true)
    #expect(json["snapshot"] as? String == "fits")
    #expect(json["versions"] as? [String] == [])
    #expect(json["next"] as? String == "heirloom inspect \(store.path)")
    #expect(StoreBytes(of: store) == bytes)
  }

  @Test func `what to run next follows from what is found`() throws {
    let directory = try TemporaryDirectory()
    let store = try VerifyTests.makeMigratedStore(in: directory)
    let tool = Tool(directory: directory.url)
    #expect(try next(tool("doctor", store.path, "--json")) == "heirloom versions \(store.path)")
    try Connection.execute("UPDATE ZNOTE SET Z_OPT = 0", on: store.path)
    let warned = tool("doctor", store.path, "--json")
    #expect(warned.code == 0)
    #expect(try next(warned) == "heirloom verify \(store.path)")
    #expect(tool("doctor", store.path).output.contains("1 warning"))

    // The very command that is named brings back a store that is damaged or gone.
    for damage in ["not a database", nil] {
      if let damage {
        try Data(damage.utf8).write(to: store)
      } else {
        try FileManager.default.removeItem(at: store)
      }
      let outcome = tool("doctor", store.path, "--json")
      #expect(outcome.code == 0, "\(outcome.output)")
      #expect((try outcome.json()["problem"] as? String)?.contains(store.path) == true)
      #expect(tool("doctor", store.path).output.contains("no readable store"))
      let command = try next(outcome)
      #expect(command.hasPrefix("heirloom restore \(store.path) --version "))
      guard damage == nil else { continue }
      let words = command.split(separator: " ").dropFirst().map(String.init)
      #expect(tool.run(words).code == 0)
      #expect(tool("verify", store.path).code == 0)
    }
  }

  @Test func `a folder or a model is told what to give instead`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    let folder = directory.file("Data")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    func message(_ path: String) throws -> String? {
      let outcome = tool("doctor", path, "--json")
      #expect(outcome.code == 1)
      return try outcome.failure()["message"] as? String
    }
    try Data("a note".utf8).write(to: folder.appendingPathComponent("notes.txt"))
    #expect(
      try message("Data")
        == "\(folder.path) is a folder without a store; give the file of a store, such as Journal.sqlite.")
    let store = try Notebook.makeStore(in: directory, count: 1)
    let first = folder.appendingPathComponent("A.sqlite").path
    try FileManager.default.copyItem(atPath: store.path, toPath: first)
    #expect(try message("Data") == "\(folder.path) is a folder; give the store in it, \(first).")
    let second = folder.appendingPathComponent("B.store").path
    try FileManager.default.copyItem(atPath: store.path, toPath: second)
    #expect(
      try message("Data") == "\(folder.path) is a folder; give one of the stores in it: \(first), \(second).")
    for name in ["Journal.xcdatamodeld", "Journal.momd", "Journal.xcdatamodel"] {
      let model = directory.file(name)
      try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
      #expect(try message(name) == "\(model.path) is a model; give the file of a store, such as Journal.sqlite.")
      #expect(tool("doctor", name).error.contains("heirloom inspect \(model.path) shows the model."))
    }
  }

  @Test func `a store that Heirloom made or migrated says so, and one of Core Data's too`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    let made = try Notebook.makeStore(in: directory, count: 1)
    let folder = try TemporaryDirectory()
    let migrated = try VerifyTests.makeMigratedStore(in: folder)
    let other = try Notebook.makeStore(in: directory, count: 1, name: "Other.sqlite")
    let connection = try Connection(path: other.path, mode: .readWrite)
    var metadata = try StoreMetadata(connection: connection, path: other.path)
    metadata.generation = nil
    try metadata.write(to: connection)
    try connection.close()
    for (path, writer) in [(made.path, "Heirloom"), (migrated.path, "Heirloom"), (other.path, "Core Data")] {
      #expect(tool("doctor", path).output.contains("  written   by \(writer), framework version "))
      #expect(tool("inspect", path).output.contains("  written by   \(writer), framework version "))
    }
  }

  @Test func `an archive for a support mail is written, with the store only on request`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 20)
    let tool = Tool(directory: directory.url)
    let bytes = StoreBytes(of: store)
    let outcome = tool("doctor", store.path, "--archive", "support.tar.gz", "--json")
    #expect(outcome.code == 0, "\(outcome.output)")
    #expect(try outcome.json()["archive"] as? String == directory.file("support.tar.gz").path)
    #expect(try outcome.json()["includesStore"] as? Bool == false)
    let size = try Data(contentsOf: directory.file("support.tar.gz")).count
    #expect(size > 1000)
    #expect(tool("doctor", store.path, "--archive", "support.tar.gz").code == 1)
    #expect(try Data(contentsOf: directory.file("support.tar.gz")).count == size)
    let whole = tool("doctor", store.path, "--archive", "whole.tar.gz", "--include-store")
    #expect(whole.code == 0 && whole.output.contains("WITH the store"))
    #expect(try Data(contentsOf: directory.file("whole.tar.gz")).count > size)
    #expect(tool("doctor", store.path, "--include-store").code == 2)
    #expect(tool("doctor", "gone.sqlite", "--archive", "gone.tar.gz").code == 0)
    #expect(StoreBytes(of: store) == bytes)
  }

  @Test func `a store whose model nobody knows asks for it`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 20, archives: false)
    let tool = Tool(directory: directory.url)
    let outcome = tool("doctor", store.path, "--json")
    #expect(outcome.code == 0)
    #expect(try outcome.json()["next"] is NSNull)
    #expect(tool("doctor", store.path).output.contains("give the model that made the store with --model"))
    let model = try Notebook.write(Notebook.first(), "First", in: directory)
    let json = try tool("doctor", store.path, "--model", model, "--json").json()
    #expect(json["modelSource"] as? String == "file")
    #expect(json["versionName"] as? String == "First")
  }

  @Test func `whatever is found, the exit code is 0, and the next command is told`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 3)
    let whole = try Data(contentsOf: store)
    let model = try Notebook.write(Notebook.first(), "First", in: directory)
    let contents: [(name: String, bytes: Data, next: String?)] = [
      ("text", Data("just words, and some more of them".utf8), nil), ("empty", Data(), nil),
      ("cut", whole.prefix(whole.count / 2), "salvage"), ("zeros", Data(count: 8192), nil),
      ("flipped", whole.prefix(100) + whole.dropFirst(100).map { ~$0 }, "salvage"),
    ]
    for (name, bytes, next) in contents {
      let url = directory.file(name)
      try bytes.write(to: url)
      for words in [["doctor", url.path], ["doctor", url.path, "--json"]] {
        #expect(Tool(directory: directory.url).run(words).code == 0, "\(name)")
      }
      let json = try Tool(directory: directory.url)("doctor", url.path, "--model", model, "--json").json()
      #expect(
        (json["next"] as? String)?.hasPrefix("heirloom \(next ?? "") ") == next.map { _ in true }, "\(name): \(json)")
      #expect(try Data(contentsOf: url) == bytes)
    }
  }

  @Test(arguments: ["file", "link", "dangling"], [".heirloom", ".heirloom/previous"])
  func `what lies where previous versions are kept is a finding, and the store is diagnosed`(
    kind: String, suffix: String
  ) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 20)
    let tool = Tool(directory: directory.url)
    let path = store.path + suffix
    try? FileManager.default.removeItem(atPath: path)
    if kind == "file" {
      try Data().write(to: URL(fileURLWithPath: path))
    } else {
      let target = directory.file("elsewhere")
      if kind == "link" { try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true) }
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target.path)
    }
    let outcome = tool("doctor", store.path, "--json")
    #expect(outcome.code == 0, "\(outcome.output)")
    let findings = try #require(try outcome.json()["findings"] as? [[String: Any]])
    let kinds = findings.filter { $0["severity"] as? String == "error" }.compactMap { $0["kind"] as? String }
    #expect(kinds == ["unusableFolder"], "\(outcome.output)")
    #expect(try outcome.json()["rows"] as? Int == 20)
    // No command does anything about it: the sentence says what to do.
    #expect(try outcome.json()["next"] is NSNull)
    #expect(tool("doctor", store.path).output.contains("move it away"))
    #expect(tool("verify", store.path).code == 6)
    #expect(
      tool("migrate", store.path, "--to", try Notebook.write(Notebook.adding(), "Adding", in: directory)).code == 1)
  }

  @Test func `a path that is too long for SQLite is told so`() throws {
    let directory = try TemporaryDirectory()
    let short = try Notebook.makeStore(in: directory, count: 20)
    var folder = directory.url
    while folder.path.utf8.count < Connection.pathByteLimit {
      folder.appendPathComponent(String(repeating: "d", count: 60))
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = folder.appendingPathComponent("Notebook.sqlite")
    try FileManager.default.copyItem(at: short, to: store)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    // A link makes the path no shorter: SQLite follows it.
    let link = directory.file("link.sqlite")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: store)
    let tool = Tool(directory: directory.url)
    let words = "has \(store.path.utf8.count) bytes, and SQLite opens paths of \(Connection.pathByteLimit) at most"
    for path in [store.path, link.path] {
      for command in [["inspect"], ["verify"], ["plan", "--to", model], ["migrate", "--to", model]] {
        let outcome = tool.run([command[0], path, "--json"] + command.dropFirst())
        #expect(outcome.code == 1 && outcome.output.contains(words), "\(command): \(outcome.output)")
        let advice = try #require(try outcome.failure()["suggestion"] as? String)
        #expect(advice.contains("shorter path"), "\(command): \(advice)")
      }
      #expect(tool("doctor", path).output.contains(words))
    }
  }

  @Test func `where nothing is and nothing is kept there is an error`() throws {
    let directory = try TemporaryDirectory()
    let outcome = Tool(directory: directory.url)("doctor", "nothing.sqlite", "--json")
    #expect(outcome.code == 1)
    #expect(try outcome.failure()["code"] as? String == "missing")
  }
}
