import Foundation
import Heirloom
import TestSupport
import Testing

struct MappingCommandTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  private func mapping(
    to model: ManagedObjectModel, policy: String? = nil, name: String = "Map.cdm",
    setting values: [PropertyMapping] = []
  ) throws -> String {
    let mapping = EntityMapping(from: "Note", to: "Note", policyNamed: policy, attributeMappings: values)
    let completed = MappingModel(entityMappings: [mapping]).completed(from: try Notebook.first(), to: model)
    let url = directory.file(name)
    try Data(MappingArchiveWriter.archive(completed)).write(to: url)
    return url.path
  }

  private static let answers = [
    PropertyMapping(name: "title", valueExpression: .constant(.value(.integer(7)))),
    PropertyMapping(name: "mood", valueExpression: .constant(.value(.date(0)))),
  ]

  @Test func `a mapping model carries over what can't be inferred`() throws {
    let url = try Notebook.makeStore(in: directory, count: 10)
    let model = try Notebook.write(Notebook.converting(), "Converting", in: directory)
    #expect(tool("migrate", url.path, "--to", model).code == 3)
    let map = try mapping(to: Notebook.converting(), setting: Self.answers)
    for command in ["plan", "rehearse"] {
      let bytes = StoreBytes(of: url)
      let outcome = tool(command, url.path, "--to", model, "--mapping", map, "--accept-losses")
      #expect(outcome.code == 0, "\(command): \(outcome.error)")
      #expect(outcome.error.isEmpty)
      #expect(StoreBytes(of: url) == bytes)
    }
    let outcome = tool("migrate", url.path, "--to", model, "--mapping", map, "--accept-losses")
    #expect(outcome.code == 0, "\(outcome.error)")
    let store = try PersistentStore.open(at: url, model: try Notebook.converting(), isReadOnly: true)
    let notes = try ManagedObjectContext(store: store).fetch("Note")
    #expect(notes.count == 10)
    for note in notes { #expect(try note.value(forAttribute: "title") == .integer(7)) }
    try store.close()
  }

  @Test(arguments: ["plan", "rehearse", "migrate"])
  func `a mapping with a policy needs the app`(command: String) throws {
    let url = try Notebook.makeStore(in: directory, count: 3)
    let model = try Notebook.write(Notebook.converting(), "Converting", in: directory)
    let map = try mapping(to: Notebook.converting(), policy: "App.NotePolicy")
    let bytes = StoreBytes(of: url)
    let outcome = tool(command, url.path, "--to", model, "--mapping", map, "--json")
    #expect(outcome.code == 3)
    let failure = try outcome.failure()
    #expect(failure["code"] as? String == "policyNeeded")
    #expect((failure["message"] as? String)?.contains("App.NotePolicy") == true)
    #expect((failure["suggestion"] as? String)?.contains("App.NotePolicy") == true)
    #expect(StoreBytes(of: url) == bytes)
  }

  @Test func `a mapping model for other versions is told of, and not used`() throws {
    let url = try Notebook.makeStore(in: directory, count: 3)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let other = try mapping(to: Notebook.dropping(), name: "Other.cdm")
    let outcome = tool("migrate", url.path, "--to", model, "--mapping", other)
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.output.contains("Other.cdm is not for this migration"))
    let store = try PersistentStore.open(at: url, model: try Notebook.adding(), isReadOnly: true)
    let notes = try ManagedObjectContext(store: store).fetch("Note")
    #expect(try notes.first?.value(forAttribute: "mood") == .string("merry"))
    try store.close()
  }

  @Test func `a file that is no mapping model is told of before anything happens`() throws {
    let url = try Notebook.makeStore(in: directory, count: 3)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let bytes = StoreBytes(of: url)
    for (file, words) in [(model, "a mapping model"), (url.path, "a SQLite store"), ("missing.cdm", "no file")] {
      let outcome = tool("migrate", url.path, "--to", model, "--mapping", file, "--json")
      #expect(outcome.code == 1)
      let failure = try outcome.failure()
      #expect(failure["code"] as? String == "unreadableMapping")
      #expect((failure["message"] as? String)?.contains(words) == true, "\(failure)")
    }
    #expect(StoreBytes(of: url) == bytes)
  }

  @Test func `inspect shows a mapping model`() throws {
    let map = try mapping(to: Notebook.converting(), policy: "App.NotePolicy", setting: Self.answers)
    let text = tool("inspect", map)
    #expect(text.code == 0, "\(text.error)")
    #expect(text.output.contains("a compiled mapping model"))
    #expect(text.output.contains("Note->Note: Note → Note, custom, policy App.NotePolicy"))
    #expect(text.output.contains("title = 7"))
    let json = try tool("inspect", map, "--json").json()
    #expect(json["kind"] as? String == "mappingModel")
    #expect(json["policies"] as? [String] == ["App.NotePolicy"])
    let mappings = try #require(json["entityMappings"] as? [[String: Any]])
    #expect(mappings.map { $0["type"] as? String } == ["custom"])
    #expect((mappings[0]["attributes"] as? [[String: Any]])?.last?["value"] as? String == "7")
    // A file that is cut off is still a mapping model, and not a model.
    let bytes = try Data(contentsOf: URL(fileURLWithPath: map))
    try bytes.prefix(100).write(to: URL(fileURLWithPath: map))
    #expect(try tool("inspect", map, "--json").failure()["code"] as? String == "unreadableMapping")
  }
}

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct MappingCommandCorpusTests {
  @Test func `a history binds each mapping model to its own step`() throws {
    let project = Corpus.folder.appendingPathComponent("delta")
    let history = try ModelHistory(contentsOf: project.appendingPathComponent("models/Delta.xcdatamodeld"))
    let models = try history.versionNames.map { try #require(try history.model(named: $0)) }
    var steps: [String] = []
    for path in Corpus.mappingPaths where path.hasPrefix("delta/") {
      let url = Corpus.folder.appendingPathComponent(path)
      let read = try MappingModelFile.read(url.path).read
      let bound = try history.mappingModel(contentsOf: url)
      let position = try #require(history.versionNames.firstIndex { $0 == read.sourceModelName })
      // By names alone, most of these also fit the hops before and after.
      for start in [position - 1, position, position + 1] where models.indices.contains(start + 1) && start >= 0 {
        guard bound.mismatches(from: models[start], to: models[start + 1]).isEmpty else { continue }
        #expect(start == position, "\(path) fits the step from \(history.versionNames[start])")
        steps.append(history.versionNames[start])
      }
    }
    #expect(steps.count == 11)
    #expect(Set(steps) == Set(history.versionNames.dropLast()))
  }

  @Test func `a mapping model that doesn't fit the versions of its names is told of`() throws {
    let project = Corpus.folder.appendingPathComponent("jsqcoredatakit")
    let mapping = project.appendingPathComponent("mappings/Version2_to_Version3.xcmappingmodel")
    let other = try ModelHistory(contentsOf: Tool.snapshots.appendingPathComponent("Done"))
    // Nothing can be said of versions that the history lacks.
    #expect(try other.mappingModel(contentsOf: mapping) == MappingModel(contentsOf: mapping))
    let model = other.current
    let liar = ModelHistory(current: model, name: "Version 3", earlier: [("Version 2", model)])
    let unfit = try #require(throws: MappingReadingError.self) { try liar.mappingModel(contentsOf: mapping) }
    #expect(unfit.description.contains("\"Employee\""))
  }

  @Test func `a real app's store is migrated by the mapping models that the app shipped`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    let project = Corpus.folder.appendingPathComponent("objcio-core-data").path
    let bundle = "\(project)/models/Moody.xcdatamodeld"
    let url = try Corpus.copyStore("objcio-core-data/stores/Moody 2.moody", to: directory)
    let moods = try tool("inspect", url.path, "--json").json()["entities"] as? [[String: Any]]
    let before = moods?.first { $0["name"] as? String == "Mood" }?["rows"] as? Int
    // There are two hops, and a mapping model for a third.
    let maps = ["2-Moody 3", "3-Moody 4", "5-Moody 6"].map { "\(project)/mappings/Moody \($0).xcmappingmodel" }
    let arguments =
      ["migrate", url.path, "--to", "\(bundle)/Moody 4.xcdatamodel"] + maps.flatMap { ["--mapping", $0] }
    let outcome = tool.run(arguments)
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.output.contains("5-Moody 6.xcmappingmodel is not for this migration"), "\(outcome.output)")
    #expect(outcome.output.components(separatedBy: ".xcmappingmodel is not").count == 2, "\(outcome.output)")
    let after = try tool("inspect", url.path, "--json").json()["entities"] as? [[String: Any]]
    #expect(after?.first { $0["name"] as? String == "Mood" }?["rows"] as? Int == before)
    #expect(before.map { $0 > 0 } == true)
    #expect(tool("verify", url.path).code == 0)
  }
}
