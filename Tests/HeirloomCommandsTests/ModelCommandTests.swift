import Foundation
import Heirloom
import TestSupport
import Testing

struct CompareTests {
  @Test(arguments: [
    ("Done", "Done", "identical"), ("Done", "Done 2", "lightweight"), ("Done 3", "Done", "lightweight"),
  ])
  func `two models are compared, and any verdict is no failure`(source: String, destination: String, verdict: String)
    throws
  {
    let tool = Tool(directory: Tool.snapshots.appendingPathComponent("Done"))
    let outcome = tool("compare", "\(source).json", "Done.xcdatamodeld/\(destination).xcdatamodel", "--json")
    #expect(outcome.code == 0)
    let json = try outcome.json()
    #expect(Set(json.keys) == ["verdict", "changes", "obstacles", "renames"])
    #expect(json["verdict"] as? String == verdict)
    let changes = try #require(json["changes"] as? [[String: Any]])
    #expect(changes.isEmpty == (verdict == "identical"))
    #expect(changes.allSatisfy { Set($0.keys) == ["kind", "entity", "property", "effect", "place"] })
  }

  @Test func `all obstacles are told, each with what to do`() throws {
    let directory = try TemporaryDirectory()
    let first = try Notebook.write(Notebook.first(), "First", in: directory)
    let converting = try Notebook.write(Notebook.converting(), "Converting", in: directory)
    let tool = Tool(directory: directory.url)
    let outcome = tool("compare", first, converting, "--json")
    #expect(outcome.code == 0)
    let json = try outcome.json()
    #expect(json["verdict"] as? String == "needsMapping")
    let obstacles = try #require(json["obstacles"] as? [[String: Any]])
    #expect(obstacles.map { $0["property"] as? String } == ["mood", "title"])
    for obstacle in obstacles {
      #expect(Set(obstacle.keys) == ["kind", "entity", "property", "reason", "suggestion"])
      #expect((obstacle["suggestion"] as? String)?.isEmpty == false)
    }
    let text = tool("compare", first, converting).output
    #expect(text.contains("What stands in the way"))
  }

  @Test func `what is lost is told first`() throws {
    let directory = try TemporaryDirectory()
    let adding = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let dropping = try Notebook.write(Notebook.dropping(), "Dropping", in: directory)
    let lines = Tool(directory: directory.url)("compare", adding, dropping).output.split(separator: "\n")
    #expect(lines.count >= 4)
    #expect(lines[1].hasPrefix("What is lost"))
    #expect(lines[2] == "  Note:")
    #expect(lines[3].hasPrefix("    − mood: "))
    #expect(lines[4].hasPrefix("    − rating: "))
  }

  @Test func `a store stands for the model that made it`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 1)
    let adding = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let json = try Tool(directory: directory.url)("compare", store.path, adding, "--json").json()
    let changes = try #require(json["changes"] as? [[String: Any]])
    #expect(changes.map { $0["property"] as? String } == ["rating"])
    #expect(changes.map { $0["effect"] as? String } == ["empty"])
  }

  @Test func `a store without a model that fits can't be compared`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 1, archives: false)
    let adding = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let outcome = Tool(directory: directory.url)("compare", store.path, adding, "--json")
    #expect(outcome.code == 5)
    #expect(try outcome.failure()["code"] as? String == "noModel")
  }
}

struct SnapshotTests {
  @Test(arguments: ["Done", "Done 2", "Done 3"])
  func `the committed snapshots are what the command writes`(version: String) throws {
    let directory = try TemporaryDirectory()
    let story = Tool.snapshots.appendingPathComponent("Done")
    let model = story.appendingPathComponent("Done.xcdatamodeld/\(version).xcdatamodel").path
    let outcome = Tool(directory: directory.url)("snapshot", model, "--json")
    #expect(outcome.code == 0)
    let json = try outcome.json()
    let written = directory.file("\(version).json")
    #expect(Set(json.keys) == ["path", "versionChecksum"])
    #expect(json["path"] as? String == written.path)
    #expect(try Data(contentsOf: written) == Data(contentsOf: story.appendingPathComponent("\(version).json")))
    let lock = try String(contentsOf: story.appendingPathComponent("lock.json"), encoding: .utf8)
    #expect(lock.contains(try #require(json["versionChecksum"] as? String)))
  }

  @Test func `a file with other content is left alone, one of the same version is brought up to date`() throws {
    let directory = try TemporaryDirectory()
    let model = Tool.snapshots.appendingPathComponent("Done/Done.json").path
    let tool = Tool(directory: directory.url)
    let other = Data("my diary".utf8)
    try other.write(to: directory.file("Done.json"))
    let refused = tool("snapshot", model, "--json")
    #expect(refused.code == 1)
    #expect(try refused.failure()["code"] as? String == "fileExists")
    #expect(try Data(contentsOf: directory.file("Done.json")) == other)

    #expect(tool("snapshot", model, "--output", "Mine.json", "--date", "2026-11-21T10:15:00Z").code == 0)
    let dated = try ModelSnapshot(contentsOf: directory.file("Mine.json"))
    #expect(dated.archivedAt == (try Date("2026-11-21T10:15:00Z", strategy: .iso8601)))
    #expect(tool("snapshot", model, "--output", "Mine.json").code == 0)
    #expect(try ModelSnapshot(contentsOf: directory.file("Mine.json")).archivedAt == Date(timeIntervalSince1970: 0))
    let second = Tool.snapshots.appendingPathComponent("Done/Done 2.json").path
    #expect(tool("snapshot", second, "--output", "Mine.json").code == 1)
    #expect(tool("snapshot", model, "--output", ".").code == 1)
    #expect(tool("snapshot", model, "--output", "absent/Mine.json").code == 1)
    #expect(tool("snapshot", model, "--date", "yesterday").code == 2)
  }

  @Test func `a name that ends in gz is compressed`() throws {
    let directory = try TemporaryDirectory()
    let model = Tool.snapshots.appendingPathComponent("Done/Done.json").path
    #expect(Tool(directory: directory.url)("snapshot", model, "--output", "Done.json.gz").code == 0)
    let bytes = try Data(contentsOf: directory.file("Done.json.gz"))
    #expect(bytes.starts(with: [0x1F, 0x8B]))
    #expect(try ModelSnapshot(contentsOf: directory.file("Done.json.gz")).versionHashes.count == 1)
  }
}

struct CompareSkeletonTests {
  @Test func `a skeleton is printed for what can't be inferred, and nothing else`() throws {
    let directory = try TemporaryDirectory()
    let first = try Notebook.write(Notebook.first(), "First", in: directory)
    let converting = try Notebook.write(Notebook.converting(), "Converting", in: directory)
    let tool = Tool(directory: directory.url)
    let outcome = tool("compare", first, converting, "--skeleton")
    #expect(outcome.code == 0)
    #expect(outcome.output.hasPrefix("import Heirloom\n"))
    #expect(outcome.output.contains(": EntityMigrationPolicy {"))
    let json = try tool("compare", first, converting, "--skeleton", "--json").json()
    #expect(json["skeleton"] as? String == outcome.output)
    let adding = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    #expect(tool("compare", first, adding, "--skeleton").output.hasPrefix("// Nothing to fill in"))
    let dropping = try Notebook.write(Notebook.dropping(), "Dropping", in: directory)
    let lossy = tool("compare", first, dropping, "--skeleton")
    #expect(lossy.output.contains("\"Note.mood\",  // a loss\n"))
    #expect(lossy.error.contains("by the check of the history, with --acknowledge"))
    #expect(lossy.output.contains("// PropertyMapping(\"…\", copying: \"mood\")\n"))
  }
}
