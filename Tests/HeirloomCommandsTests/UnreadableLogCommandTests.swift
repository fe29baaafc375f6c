import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// A damaged `-wal` in the tool: the loss, the consent, and the commands that read what only the log holds.
struct UnreadableLogCommandTests {
  private let directory: TemporaryDirectory
  private let tool: Tool
  private let store: URL
  private let models: (first: String, second: String)

  /// Makes ten notes, and three more, each by a commit of its own, the second of which has a damaged page in the log.
  init() throws {
    directory = try TemporaryDirectory()
    tool = Tool(directory: directory.url)
    store = try Notebook.makeStore(in: directory, count: 10)
    models = (
      try Notebook.write(Notebook.first(), "Notebook", in: directory),
      try Notebook.write(Notebook.adding(), "Notebook 2", in: directory)
    )
    let connection = try Connection(path: store.path, mode: .readWrite, options: .inspecting)
    _ = try connection.firstValue("PRAGMA journal_mode=WAL")
    for key in 11...13 {
      try connection.execute(
        "INSERT INTO ZNOTE(Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (\(key), 1, 1, 'late ' || hex(zeroblob(1200)))")
    }
    try connection.close()
    let log = URL(fileURLWithPath: store.path + "-wal")
    var bytes = [UInt8](try Data(contentsOf: log))
    let frame = 24 + (Int(bytes[10]) << 8 | Int(bytes[11]))
    let commits = (0..<(bytes.count - 32) / frame).filter { bytes[32 + $0 * frame + 7] != 0 }
    #expect(commits.count == 3)
    // SQLite reads the first of the three.
    bytes[32 + commits[1] * frame + 1000] ^= 1
    try Data(bytes).write(to: log)
  }

  private func count(in url: URL) throws -> Int64? {
    let connection = try Connection(path: url.path, mode: .readOnly)
    defer { try? connection.close() }
    return try connection.firstInteger("SELECT count(*) FROM ZNOTE")
  }

  /// Runs the command that the diagnosis names, word for word, and returns the number of notes that it has read.
  private func countAfterNextCommand() throws -> Int64? {
    let outcome = tool("doctor", store.path, "--json")
    let next = try #require(try outcome.json()["next"] as? String)
    #expect(tool("doctor", store.path).output.contains(next))
    var words = next.split(separator: " ").map { $0.trimmingCharacters(in: ["\'"]) }
    #expect(words.removeFirst() == "heirloom" && words.first == "salvage", "\(next)")
    let salvaged = tool.run(words)
    #expect(salvaged.code == 0 || salvaged.code == 6, "\(salvaged.output)\(salvaged.error)")
    return try count(in: URL(fileURLWithPath: try #require(words.last)))
  }

  @Test func `what only the log holds is told, stops a run, and is read by the command that is named`() throws {
    let bytes = try Data(contentsOf: store)
    for command in ["plan", "rehearse", "migrate"] {
      let refused = tool(command, store.path, "--to", models.second, "--json")
      #expect(refused.code == 3, "\(refused.output)")
      let json = try refused.json()
      let losses = json["losses"] as? [[String: Any]] ?? []
      #expect(losses.map { $0["entity"] as? String } == ["Notebook.sqlite-wal"], "\(refused.output)")
      #expect(losses.first?["rows"] as? Int ?? 0 > 0 && losses.first?["consented"] as? Bool == false)
      let text = tool(command, store.path, "--to", models.second)
      #expect(text.code == 3 && !text.output.contains("Nothing is lost"), "\(text.output)")
      #expect((text.output + text.error).contains("frames") && text.error.contains("heirloom doctor"), "\(text.error)")
      #expect(!text.error.contains("--acknowledge") && !text.error.contains("--skeleton"), "\(text.error)")
    }
    #expect(try Data(contentsOf: store) == bytes)
    // Of the three notes, the log has the first and the third; the second's page is damaged.
    #expect(try countAfterNextCommand() ?? 0 >= 12)
    #expect(try Data(contentsOf: store) == bytes)

    let rehearsed = try tool("rehearse", store.path, "--to", models.second, "--accept-losses", "--json").json()
    #expect((rehearsed["losses"] as? [[String: Any]])?.count == 1)
    let migrated = tool("migrate", store.path, "--to", models.second, "--accept-losses", "--json")
    #expect(migrated.code == 0, "\(migrated.output)")
    #expect(try (migrated.json()["losses"] as? [[String: Any]])?.first?["consented"] as? Bool == true)
    #expect(try count(in: store) == 11)
    let diagnosis = tool("doctor", store.path).output
    #expect(
      diagnosis.contains("frames of Notebook.sqlite-wal") && !diagnosis.contains("nothing is wrong"), "\(diagnosis)")
    #expect(try countAfterNextCommand() ?? 0 >= 12)
    // A second command has a new file.
    #expect(try countAfterNextCommand() ?? 0 >= 12)

    let id = try #require(try migrated.json()["retained"] as? String)
    #expect(tool("versions", store.path, "--release", id).code == 0)
    #expect(try tool("doctor", store.path, "--json").json()["next"] as? String == "heirloom versions \(store.path)")
  }
}
