import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Commands that read: the files beside a store stay as they are where no `-wal` is, whatever is left of the `-shm`.
struct ReadOnlyCommandTests {
  enum Memory: String, CaseIterable, Sendable {
    case none, empty, left, zeros
  }

  @Test(arguments: Memory.allCases)
  func `no command that reads makes or changes a file beside a store without a log`(memory: Memory) throws {
    let directory = try TemporaryDirectory()
    let made = try Notebook.makeStore(in: directory, count: 20, archives: false)
    var options = Connection.Options.building
    options.checkpointsOnClose = false
    let connection = try Connection(path: made.path, mode: .readWrite, options: options)
    _ = try connection.rows("PRAGMA journal_mode = WAL")
    try connection.execute("UPDATE ZNOTE SET ZMOOD = 'late'")
    let folder = directory.file("left")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let store = folder.appendingPathComponent("Notebook.sqlite")
    try FileManager.default.copyItem(at: made, to: store)
    let shared = URL(fileURLWithPath: store.path + "-shm")
    switch memory {
    case .none: break
    case .empty: try Data().write(to: shared)
    case .left: try FileManager.default.copyItem(atPath: made.path + "-shm", toPath: shared.path)
    case .zeros: try Data(count: 32_768).write(to: shared)
    }
    try connection.close()
    func files() throws -> [String: Data] {
      var files: [String: Data] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        files[name] = try Data(contentsOf: folder.appendingPathComponent(name))
      }
      return files
    }
    let before = try files()
    #expect(before.count == (memory == .none ? 1 : 2))
    let tool = Tool(directory: directory.url)
    let model = try Notebook.write(Notebook.first(), "First", in: directory)
    let next = try Notebook.write(Notebook.adding(), "Next", in: directory)
    for words in [
      ["inspect", store.path, "--model", model], ["doctor", store.path, "--model", model],
      ["doctor", store.path, "--archive", directory.file("a.tar.gz").path], ["verify", store.path, "--model", model],
      ["plan", store.path, "--to", next, "--model", model], ["rehearse", store.path, "--to", next, "--model", model],
      ["compare", store.path, next], ["versions", store.path],
      ["salvage", store.path, "--model", model, "--output", directory.file("New.sqlite").path],
    ] {
      let told = tool.run(words)
      #expect(try files() == before, "\(words)")
      if words[0] == "doctor", words[2] == "--model" {
        #expect(told.output.contains("there is no \"-wal\"") && !told.output.contains("nothing is wrong"), "\(told)")
      }
      if words[0] != "compare" { #expect(told.code == 0, "\(words): \(told)") }
    }
  }
}
