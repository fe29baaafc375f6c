import Foundation
import Heirloom
import TestSupport
import Testing

/// The command's report on a salvage, and its exit codes.
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
      let next = try tool("doctor", url.lastPathComponent, "--json").json()["next"] as? String
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
