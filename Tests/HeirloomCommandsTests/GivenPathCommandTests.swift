import Foundation
import Heirloom
import TestSupport
import Testing

/// Files given as `--mapping` for a part of the path.
struct GivenPathCommandTests {
  private let directory: TemporaryDirectory
  private let tool: Tool
  private let models: [ManagedObjectModel]

  /// A history of four versions in a folder of snapshots; each has one more attribute.
  init() throws {
    directory = try TemporaryDirectory()
    tool = Tool(directory: directory.url)
    models = try (1...4).map { count in
      let note = Make.entity("Note", (1...count).map { number in Make.attribute("a\(number)") })
      return try ManagedObjectModel(entities: [note])
    }
    try FileManager.default.createDirectory(
      at: directory.file("History"), withIntermediateDirectories: false)
    for (index, model) in models.enumerated() {
      _ = try Notebook.write(model, "History/v\(index + 1)", in: directory)
    }
  }

  private func fixOrder() throws {
    let entries = models.enumerated().map { VersionLock.Entry(name: "v\($0 + 1)", model: $1) }
    try Data(VersionLock(versions: entries).encoded()).write(to: directory.file("History/lock.json"))
  }

  private func makeStore(of version: Int) throws {
    try PersistentStore.make(at: directory.file("Notes.sqlite"), model: models[version - 1]) { context in
      try context.insert("Note").setValue(.string("kept"), forAttribute: "a1")
    }
  }

  /// The compiled mapping model leaves its name in the first attribute.
  @discardableResult private func mapping(_ from: Int, _ to: Int, name: String? = nil) throws -> String {
    let name = name ?? "\(from)-\(to)"
    let completed = MappingModel(entityMappings: [
      EntityMapping(
        from: "Note", to: "Note", attributeMappings: [PropertyMapping("a1", constant: .string(name))])
    ]).completed(from: models[from - 1], to: models[to - 1])
    let url = directory.file(name + ".cdm")
    try Data(MappingArchiveWriter.archive(completed)).write(to: url)
    return url.path
  }

  private func note(model: Int) throws -> AttributeValue? {
    let store = try PersistentStore.open(at: directory.file("Notes.sqlite"), model: models[model - 1], isReadOnly: true)
    defer { try? store.close() }
    let notes = try ManagedObjectContext(store: store).fetch("Note")
    try #require(notes.count == 1)
    return try notes[0].value(forAttribute: "a1")
  }

  @Test(arguments: [true, false], [(1, "1-2", true), (2, "2-3", true), (1, "3-4", false), (1, "2-3", false)])
  func `a file for a part of the way is used, or a warning says why not`(
    isOrdered: Bool, row: (source: Int, mapping: String, isAtStart: Bool)
  ) throws {
    if isOrdered { try fixOrder() }
    try makeStore(of: row.source)
    let ends = row.mapping.split(separator: "-").compactMap { Int($0) }
    let file = try mapping(ends[0], ends[1])
    let isUsed = isOrdered || row.isAtStart
    for command in ["plan", "rehearse"] {
      let json = try tool(command, "Notes.sqlite", "--to", "History", "--accept-losses", "--mapping", file, "--json")
        .json()
      let warnings = try #require(json["warnings"] as? [String])
      #expect(warnings.filter { $0.contains("\(row.mapping).cdm is not used") }.count == (isUsed ? 0 : 1), "\(command)")
      #expect(warnings.allSatisfy { !$0.contains(".cdm") || $0.contains("no lock.json says") })
    }
    let outcome = tool("migrate", "Notes.sqlite", "--to", "History", "--accept-losses", "--mapping", file)
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.output.contains("is not used") == !isUsed)
    #expect(try note(model: 4) == .string(isUsed ? row.mapping : "kept"))
    let again = tool("migrate", "Notes.sqlite", "--to", "History", "--accept-losses", "--mapping", file)
    #expect(again.code == 0 && again.output.contains("nothing to do"))
    #expect(try note(model: 4) == .string(isUsed ? row.mapping : "kept"))
  }

  @Test func `two files of one step that both take an entity are refused by their names`() throws {
    try makeStore(of: 1)
    let bytes = StoreBytes(of: directory.file("Notes.sqlite"))
    let files = [try mapping(1, 4, name: "First"), try mapping(1, 4, name: "Second")]
    for command in ["plan", "rehearse", "migrate"] {
      let outcome = tool(
        command, "Notes.sqlite", "--to", "History", "--accept-losses", "--mapping", files[0], "--mapping", files[1],
        "--json")
      #expect(outcome.code != 0)
      let message = try #require(try outcome.failure()["message"] as? String)
      #expect(
        message.contains("First.cdm") && message.contains("Second.cdm")
          && message.contains("the source entity \"Note\""),
        "\(message)")
    }
    #expect(StoreBytes(of: directory.file("Notes.sqlite")) == bytes)
  }

  @Test func `a file that leads back is run, and without it a newer store is left alone`() throws {
    // The older version is the current one.
    let story = Tool.snapshots.appendingPathComponent("Done/Done.xcdatamodeld")
    let history = try ModelHistory(contentsOf: story)
    let second = try #require(try history.model(named: "Done 2"))
    let url = directory.file("Done.sqlite")
    try PersistentStore.make(at: url, model: history.current) { context in
      for name in ["Ada", "Grace"] { try context.insert("User").setValue(.string(name), forAttribute: "name") }
    }
    let file = directory.file("Back.cdm")
    try Data(MappingArchiveWriter.archive(MappingModel.inferred(from: history.current, to: second))).write(to: file)
    let model = story.appendingPathComponent("Done 2.xcdatamodel").path
    let bytes = StoreBytes(of: url)
    for command in ["plan", "rehearse", "migrate"] {
      let refused = tool(command, "Done.sqlite", "--to", model, "--json")
      #expect(try refused.code == 5 && refused.failure()["code"] as? String == "newerVersion", "\(command)")
    }
    #expect(StoreBytes(of: url) == bytes)
    let plan = try tool("plan", "Done.sqlite", "--to", model, "--mapping", file.path, "--json").json()
    let losses = try #require(plan["losses"] as? [[String: Any]])
    #expect(losses.map { $0["entity"] as? String } == ["User"] && losses.map { $0["rows"] as? Int } == [2])
    #expect(tool("migrate", "Done.sqlite", "--to", model, "--mapping", file.path, "--accept-losses").code == 0)
    #expect(try StoreMetadata(contentsOf: url).versionHashes == second.versionHashes())
  }
}
