import Foundation
import TestSupport
import Testing

struct DemoTests {
  @Test func `the demo tells what is so, and tidies up`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(
      directory: Tool.snapshots.appendingPathComponent("Done"), environment: ["TMPDIR": directory.url.path])
    let outcome = tool("demo")
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.output.contains("before: 3,000 items; after: 3,000 items"))
    #expect(outcome.output.contains("before: 3,012 items; after: 3,012 items"))
    #expect(outcome.output.contains("is the store again: 3,000 items of \"Done\""))
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
  }

  @Test func `the files stay on request, and each version opens by itself`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url, environment: ["TMPDIR": directory.url.path])
    let outcome = tool("demo", "Done", "--snapshots", Tool.snapshots.path, "--keep-files", "--json")
    #expect(outcome.code == 0, "\(outcome.output)")
    let json = try outcome.json()
    let steps = try #require(json["steps"] as? [[String: Any]])
    #expect(
      steps.map { $0["name"] as? String } == ["create", "migrate", "upToDate", "use", "migrate", "restore"])
    let store = try #require(json["store"] as? String)
    func rows(_ path: String) throws -> Int? {
      let entities = try tool("inspect", path, "--json").json()["entities"] as? [[String: Any]]
      return entities?.first { $0["name"] as? String == "Item" }?["rows"] as? Int
    }
    #expect(try rows(store) == 3000)
    let versions = try #require(try tool("versions", store, "--json").json()["versions"] as? [[String: Any]])
    #expect(try versions.map { try rows(try #require($0["path"] as? String)) } == [3012, 3012, 3000])
  }

  @Test func `a story that isn't there, or was edited, is told of`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url, environment: ["TMPDIR": directory.url.path])
    let absent = tool("demo", "--json")
    #expect(absent.code == 1)
    #expect((try absent.failure()["suggestion"] as? String)?.contains("--snapshots") == true)

    let story = directory.file("Done")
    try FileManager.default.copyItem(at: Tool.snapshots.appendingPathComponent("Done"), to: story)
    let contents = story.appendingPathComponent("Done.xcdatamodeld/Done 2.xcdatamodel/contents")
    let text = try String(contentsOf: contents, encoding: .utf8)
    try Data(text.replacingOccurrences(of: "updatedAt", with: "changedAt").utf8).write(to: contents)
    let edited = tool("demo", "--snapshots", directory.url.path, "--json")
    #expect(edited.code == 1)
    #expect(try edited.failure()["code"] as? String == "editedVersion")
    #expect((try edited.failure()["message"] as? String)?.contains("Done 2") == true)
  }
}
