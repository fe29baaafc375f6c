import Foundation
import Heirloom
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct SalvageCommandTests {
  private static let store = StoreDamage.store

  @Test func `an undamaged store gives a whole one, and the exit says so`() throws {
    try Corpus.withCopy(of: Self.store) { url in
      let tool = Tool(directory: url.deletingLastPathComponent())
      let run = tool("salvage", url.lastPathComponent, "--output", "new.sqlite")
      #expect(run.code == 0 && run.output.contains("Everything was read."), "\(run)")
      #expect(run.error.isEmpty)
      #expect(tool("verify", "new.sqlite", "--json").code == tool("verify", url.lastPathComponent, "--json").code)
      let again = tool("salvage", url.lastPathComponent, "--output", "new.sqlite", "--json")
      #expect(again.code == 1)
      let failure = try again.failure()
      #expect(failure["code"] as? String == "fileExists")
      #expect(tool("salvage", url.lastPathComponent).code == 2)
    }
  }

  @Test(arguments: [false, true])
  func `the printed commands put the new store in the damaged one's place, over one more release`(hasLog: Bool) throws {
    let directory = try TemporaryDirectory()
    let folder = directory.file("a folder")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = try Notebook.makeStore(in: directory, count: 500, name: "a folder/It's.sqlite")
    let connection = try Connection(path: store.path, mode: .readWrite)
    if hasLog {
      try connection.execute("PRAGMA journal_mode = WAL")
      try connection.execute("PRAGMA wal_autocheckpoint = 0")
      try connection.execute("UPDATE ZNOTE SET ZTITLE = 'in the log' WHERE Z_PK > 400")
      for end in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: store.path + end, toPath: directory.file("copy").path + end)
      }
    }
    try connection.close()
    for end in ["", "-wal"] where hasLog {
      try? FileManager.default.removeItem(atPath: store.path + end)
      try FileManager.default.copyItem(atPath: directory.file("copy").path + end, toPath: store.path + end)
    }
    // A leaf of the notes is lost.
    var data = try Data(contentsOf: store)
    let damaged = try #require(data.range(of: Data("note 250".utf8))).lowerBound / 4096
    data.replaceSubrange(damaged * 4096..<damaged * 4096 + 200, with: Data(repeating: 0xA5, count: 200))
    try data.write(to: store)
    // Some SQLites leave a log behind.
    let there = ["", "-wal", "-shm"].filter { FileManager.default.fileExists(atPath: store.path + $0) }
    #expect(there.contains("-wal") || !hasLog)
    let tool = Tool(directory: directory.url, isTerminal: true)
    let run = tool("salvage", store.path, "--output", folder.appendingPathComponent("New.sqlite").path)
    #expect(run.code == 6, "\(run)")
    let lines = run.output.split(separator: "\n").filter { $0.hasPrefix("  mkdir ") || $0.hasPrefix("  mv ") }
    // One line makes the folder, one moves the new store, and one each file that is there.
    #expect(lines.count == 2 + there.count, "\(run.output)")
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-e", "-c", lines.joined(separator: "\n")]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.path + ".damaged/It's.sqlite")) == data)
    #expect(tool("verify", store.path).code == 0)
    let count = try Connection(reading: store).firstInteger("SELECT COUNT(*) FROM ZNOTE")
    #expect(try #require(count) > 300)
    let adding = try Notebook.write(Notebook.adding(), "2", in: directory)
    #expect(tool("migrate", store.path, "--to", adding).code == 0)
    #expect(
      try Connection(reading: store).firstInteger("SELECT COUNT(*) FROM ZNOTE") == count)
  }

  @Test func `of a damaged store what is lost is told, for a person and for a program`() throws {
    try Corpus.withCopy(of: Self.store) { url in
      let model = url.deletingLastPathComponent().appendingPathComponent("model.json")
      let tool = Tool(directory: url.deletingLastPathComponent())
      #expect(tool("snapshot", url.lastPathComponent, "--output", model.lastPathComponent).code == 0)
      let connection = try Connection(path: url.path, mode: .readWrite)
      try connection.execute("PRAGMA journal_mode = DELETE")
      let page = try #require(
        try connection.firstInteger("SELECT rootpage FROM sqlite_schema WHERE name = 'ZUSER'"))
      try connection.close()
      var data = try Data(contentsOf: url)
      let leaf = Int(page) - 1
      data.replaceSubrange(leaf * 4096..<(leaf + 1) * 4096, with: Data(count: 4096))
      data.replaceSubrange(0..<16, with: Data(count: 16))
      try data.write(to: url)
      let next = try tool("doctor", url.lastPathComponent, "--model", "model.json", "--json").json()["next"] as? String
      #expect(next?.hasPrefix("heirloom salvage ") == true)
      let arguments = ["salvage", url.lastPathComponent, "--model", "model.json", "--output"]
      let text = tool.run(arguments + ["a.sqlite"])
      #expect(text.code == 6 && text.error.isEmpty, "\(text)")
      for words in ["header is damaged", "was not changed. Keep it", "can't be read", "User"] {
        #expect(text.output.contains(words), "\(words): \(text.output)")
      }
      let json = tool.run(arguments + ["b.sqlite", "--json"])
      #expect(json.code == 6)
      let object = try json.json()
      #expect(object["complete"] as? Bool == false && object["structureSound"] as? Bool == false)
      #expect((object["entities"] as? [[String: Any]])?.isEmpty == false)
      #expect(try json.failure()["code"] as? String == "findings")
      #expect(tool("inspect", "a.sqlite").code == 0)
      #expect(try Data(contentsOf: url) == data)
    }
  }
}
