import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// A damaged journal of an interrupted change in the tool: the word about it, and the command that reads the rest.
struct DamagedJournalCommandTests {
  @Test func `what was not undone is told, and read by the command that is named`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    let store = try Notebook.makeStore(in: directory, count: 400)
    let second = try Notebook.write(Notebook.adding(), "Notebook 2", in: directory)
    _ = try Notebook.write(Notebook.first(), "Notebook", in: directory)
    let prepared = try Connection(path: store.path, mode: .readWrite, options: .inspecting)
    _ = try prepared.firstValue("PRAGMA journal_mode=DELETE")
    try prepared.execute("UPDATE ZNOTE SET ZTITLE = 'base ' || Z_PK || hex(zeroblob(250))")
    try prepared.close()
    let journal = try HotJournal(
      interrupting: "UPDATE ZNOTE SET ZTITLE = 'other ' || Z_PK || hex(zeroblob(250))", ofStoreAt: store)
    var bytes = journal.bytes
    let first = try #require(journal.parts.first?.records.first)
    bytes[first + journal.recordLength - 1] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: store.path + "-journal"))

    func changed(_ url: URL) throws -> Int64 {
      let connection = try Connection(reading: url)
      defer { try? connection.close() }
      return try connection.firstInteger("SELECT count(*) FROM ZNOTE WHERE ZTITLE LIKE 'other%'") ?? 0
    }

    /// Runs the command that the diagnosis names, word for word, and returns it.
    func runNext() throws -> [String] {
      let diagnosis = tool("doctor", store.path).output
      #expect(!diagnosis.contains("nothing is wrong"), "\(diagnosis)")
      let next = try #require(try tool("doctor", store.path, "--json").json()["next"] as? String)
      #expect(diagnosis.contains(next))
      var words = next.split(separator: " ").map { $0.trimmingCharacters(in: ["\'"]) }
      #expect(words.removeFirst() == "heirloom" && words.first == "salvage", "\(next)")
      let salvaged = tool.run(words)
      #expect(salvaged.code == 0 || salvaged.code == 6, "\(next): \(salvaged.output)\(salvaged.error)")
      // Of the page whose record is damaged, the rows are as the change left them.
      #expect(try changed(URL(fileURLWithPath: try #require(words.last))) < 10)
      return words
    }

    let before = try Data(contentsOf: store)
    #expect(try runNext()[1] == store.path)
    #expect(try Data(contentsOf: store) == before)
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.path + "-journal")) == Data(bytes))

    let refused = tool("migrate", store.path, "--to", second)
    #expect(refused.code == 3, "\(refused.output)\(refused.error)")
    #expect(refused.error.contains("can't be restored"), "\(refused.error)")
    #expect(refused.error.contains("pages of Notebook.sqlite-journal"), "\(refused.error)")
    let plan = tool("plan", store.path, "--to", second)
    #expect(plan.code == 3 && !plan.output.contains("Nothing is lost."), "\(plan.output)")
    // The change is undone by then, so that the journal is with the version.
    let advice = try #require(
      refused.error.firstMatch(of: #/only the "-journal" holds.*: (heirloom doctor \S+) names/#))
    #expect(advice.1 == "heirloom doctor \(store.path)")
    #expect(try runNext()[1] != store.path)
    let migrated = tool("migrate", store.path, "--to", second, "--accept-losses")
    #expect(migrated.code == 0, "\(migrated.output)\(migrated.error)")
    #expect(!migrated.output.contains("Nothing is lost."), "\(migrated.output)")
    let left = try changed(store)
    #expect(left > 50)
    #expect(tool("doctor", store.path).output.contains("pages of Notebook.sqlite-journal"))
    let id = try #require(URL(fileURLWithPath: try runNext()[1]).deletingLastPathComponent().pathComponents.last)
    #expect(tool("versions", store.path, "--release", id).code == 0)
    #expect(try tool("doctor", store.path, "--json").json()["next"] as? String == "heirloom versions \(store.path)")
  }
}
