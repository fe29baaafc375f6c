import Foundation
import Heirloom
import HeirloomStore
import HeirloomTesting
import TestSupport
import Testing

/// Stores of merged models, whose parts are given one by one or as a folder of bundles.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct MergedModelCommandTests {
  private static let bundles = [
    "duckduckgo-bsk/models/BookmarksModel.xcdatamodeld", "duckduckgo-bsk/models/SyncMetadata.xcdatamodeld",
    "delta/models/Delta.xcdatamodeld",
  ]

  /// A folder with two bundles of real apps, and a store of a version of each, merged.
  fileprivate struct Scene {
    let directory: TemporaryDirectory
    let bundles: [String]
    let versions: [[Corpus.Version]]
    let tool: Tool
    var store: URL { directory.file("Merged.sqlite") }
    var folder: String { directory.file("Models").path }

    init(_ sources: [String], starts: [Int]) throws {
      directory = try TemporaryDirectory()
      tool = Tool(directory: directory.url)
      versions = try sources.map(Corpus.versions)
      try FileManager.default.createDirectory(at: directory.file("Models"), withIntermediateDirectories: true)
      bundles = try sources.map { [directory] source in
        let copy = directory.file("Models/" + (source as NSString).lastPathComponent)
        try FileManager.default.copyItem(at: Corpus.folder.appendingPathComponent(source), to: copy)
        return copy.path
      }
      try StoreGenerator.makeStore(at: store, model: merged(starts), objects: 5, seed: 11, isFull: true)
    }

    func merged(_ numbers: [Int]) throws -> ManagedObjectModel {
      try ManagedObjectModel(merging: zip(versions, numbers).map { $0[$1].model })
    }

    func release(_ numbers: [Int]) throws {
      for (bundle, (versions, number)) in zip(bundles, zip(versions, numbers)) {
        let name = "\(versions[number].name).xcdatamodel"
        let note = try PropertyListSerialization.data(
          fromPropertyList: ["_XCCurrentVersionName": name], format: .xml, options: 0)
        try note.write(to: URL(fileURLWithPath: bundle + "/.xccurrentversion"))
      }
    }

    func counts() throws -> [String: Int64] {
      let json = try tool("inspect", store.path, "--json").json()
      let entities = try #require(json["entities"] as? [[String: Any]])
      return Dictionary(
        uniqueKeysWithValues: entities.map { ($0["name"] as? String ?? "", ($0["rows"] as? Int).map(Int64.init) ?? -1) }
      )
    }
  }

  @Test(arguments: [[0, 1], [0, 2], [1, 2]], [true, false])
  func `a merged store is planned, rehearsed and migrated, over two releases`(pair: [Int], asFolder: Bool) throws {
    let count = try pair.map { try Corpus.versions(of: Self.bundles[$0]).count }
    let starts = [count[0] - 2, count[1] - 2]
    let scene = try Scene(pair.map { Self.bundles[$0] }, starts: starts)
    let before = try scene.counts()
    #expect(before.values.contains { $0 > 0 })
    // The folder named besides one of its bundles names that bundle once.
    let models =
      ["--to", scene.bundles[0], "--with", asFolder ? scene.folder : scene.bundles[1]]
    let given = asFolder ? ["--model", scene.folder] : scene.bundles.flatMap { ["--model", $0] }
    let store = scene.store.path
    let releases = [[starts[0], count[1] - 1], [count[0] - 1, count[1] - 1]]
    var numbers = starts
    for release in releases {
      try scene.release(release)
      let bytes = StoreBytes(of: scene.store)
      for command in ["inspect", "doctor"] {
        let outcome = scene.tool.run([command, store] + given)
        #expect(scene.isMade(outcome.output, of: numbers), "\(outcome)")
      }
      for command in ["plan", "rehearse"] {
        let outcome = scene.tool.run([command, store] + models + ["--json"])
        #expect(outcome.code == 0, "\(command): \(outcome)")
        let json = try outcome.json()
        #expect(scene.names(numbers).contains(json["fromName"] as? String ?? ""), "\(json)")
        #expect(scene.names(release).contains(json["toName"] as? String ?? ""))
      }
      #expect(StoreBytes(of: scene.store) == bytes)
      let outcome = scene.tool.run(["migrate", store] + models)
      #expect(outcome.code == 0, "\(outcome)")
      #expect(try StoreMetadata(contentsOf: scene.store).versionHashes == scene.merged(release).versionHashes())
      let after = try scene.counts()
      for (entity, rows) in before where after[entity] != nil { #expect(after[entity] == rows, "\(entity)") }
      #expect(scene.tool.run(["verify", store] + given).code == 0)
      #expect(scene.tool.run(["migrate", store] + models).code == 0)
      numbers = release
    }
    #expect(try scene.counts().values.reduce(0, +) >= before.values.reduce(0, +))
  }

  @Test func `a log of a merged store is answered with both parts, given as a folder`() throws {
    let scene = try Scene([Self.bundles[0], Self.bundles[1]], starts: [1, 1])
    let hashes = try StoreMetadata(contentsOf: scene.store).versionHashes
    let lines = hashes.map { "        \($0.key) = <\($0.value)>;" }
    let log = scene.directory.file("log.txt")
    try Data("NSStoreModelVersionHashes =     {\n\(lines.joined(separator: "\n"))\n    };\n".utf8).write(to: log)
    let outcome = scene.tool("inspect", scene.folder, "--from-log", log.path)
    #expect(outcome.code == 0, "\(outcome)")
    #expect(
      outcome.output.contains("\"BookmarksModel 2\"") && outcome.output.contains("a model merged of them"),
      "\(outcome)")
  }

  @Test func `a version that is given besides is the bundle's own`() throws {
    let scene = try Scene([Self.bundles[0], Self.bundles[1]], starts: [1, 1])
    try scene.release([2, 2])
    let models = ["--to", scene.folder]
    let given = scene.versions[0][1]
    let file = "\(scene.bundles[0])/\(given.name).xcdatamodel"
    let copy = scene.directory.file("\(given.name).xcdatamodel")
    try FileManager.default.copyItem(atPath: file, toPath: copy.path)
    for path in [file, copy.path] {
      let outcome = scene.tool.run(["plan", scene.store.path, "--json", "--model", path] + models)
      #expect(try outcome.json()["fromName"] as? String == scene.names([1, 1])[0], "\(outcome)")
    }
  }

  @Test func `a missing part is named by plan and migrate, and nothing is changed`() throws {
    let scene = try Scene([Self.bundles[0], Self.bundles[1]], starts: [1, 1])
    try scene.release([2, 2])
    let bytes = StoreBytes(of: scene.store)
    let missing = try Corpus.versions(of: Self.bundles[1])[1].model.entities.map(\.name)
    for command in ["plan", "migrate", "rehearse"] {
      let outcome = scene.tool(command, scene.store.path, "--to", scene.bundles[0])
      let text = outcome.output + outcome.error
      #expect(outcome.code == 5, "\(outcome)")
      #expect(text.contains("has the entities of \"BookmarksModel 2\" and others that no version of the history has"))
      #expect(missing.allSatisfy(text.contains) && text.contains("--with"), "\(text)")
      #expect(!text.contains("may come from a newer app"))
    }
    #expect(StoreBytes(of: scene.store) == bytes)
    let inspected = scene.tool("inspect", scene.store.path, "--model", scene.bundles[0])
    #expect(inspected.output.contains("Made of \"BookmarksModel 2\" and of something that no given model has: "))
  }

  @Test func `models that can't be merged are refused in a sentence`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 3)
    let first = try Notebook.write(Notebook.first(), "1", in: directory)
    let adding = try Notebook.write(Notebook.adding(), "2", in: directory)
    let outcome = Tool(directory: directory.url)("plan", store.path, "--to", first, "--with", adding)
    #expect(outcome.code == 1)
    #expect(
      outcome.error.contains(
        "The models \"1\", \"2\" can't be merged: their entities \"Note\" have different version hashes."),
      "\(outcome)")
  }
}

extension MergedModelCommandTests.Scene {
  /// In the order of the command line, and in that of a folder.
  fileprivate func names(_ numbers: [Int]) -> [String] {
    let names = zip(versions, numbers).map { $0[$1].name }
    return [names.joined(separator: " and "), names.reversed().joined(separator: " and ")]
  }

  fileprivate func isMade(_ text: String, of numbers: [Int]) -> Bool {
    names(numbers).contains { text.contains("made of \"\($0.replacing(" and ", with: "\" and \""))\"") }
  }
}
