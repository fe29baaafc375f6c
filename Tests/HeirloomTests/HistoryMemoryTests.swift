import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import HeirloomSupport
import TestSupport
import Testing

/// A history that is used for one store after another: its memory must change nothing but the time it takes.
struct HistoryMemoryTests {
  /// A folder of snapshots of a model that changes.
  ///
  /// Every other version lacks an attribute, so its values don't survive the path through all of them.
  private struct Scene {
    let directory: TemporaryDirectory
    let folder: URL
    let models: [ManagedObjectModel]

    init(versions: Int) throws {
      directory = try TemporaryDirectory()
      folder = directory.file("History")
      models = try (1...versions).map(HistoryMemoryTests.model)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for number in 1...versions { try write(number) }
      let lock = zip(1..., models).map { number, model in
        "{\"name\": \"\(number)\", \"checksum\": \"\(model.versionChecksum())\"}"
      }
      try Data("{\"format\": 1, \"versions\": [\(lock.joined(separator: ","))]}".utf8)
        .write(to: folder.appendingPathComponent("lock.json"))
    }

    func file(_ number: Int) -> URL { folder.appendingPathComponent("\(number).json") }

    func write(_ number: Int) throws {
      try ModelSnapshot(model: models[number - 1]).encoded(.readable).write(to: file(number))
    }

    func migrate(_ name: String, version: Int, by history: ModelHistory) throws -> StoreContents {
      let store = directory.file(name)
      try StoreGenerator.makeStore(at: store, model: models[version - 1], objects: 5, seed: 3)
      let assistant = MigrationAssistant(store, history)
      try assistant.migrate()
      return try StoreContents(of: store, model: history.current)
    }
  }

  private static func model(_ number: Int) throws -> ManagedObjectModel {
    let item = Make.entity(
      "Item",
      (["kept", "number\(number)"] + (number.isMultiple(of: 2) ? [] : ["name"])).map { name in Make.attribute(name) })
    return try ManagedObjectModel(entities: [item])
  }

  private func count(_ attribute: String, in contents: StoreContents) -> Int {
    contents.objects["Item", default: [:]].values.count { ($0.values[attribute] ?? .null) != .null }
  }

  @Test func `a version is read once for all stores, and all get the same`() throws {
    let scene = try Scene(versions: 3)
    let history = try ModelHistory(contentsOf: scene.folder)
    let first = try scene.migrate("A.sqlite", version: 1, by: history)
    #expect(count("kept", in: first) > 0)
    #expect(count("name", in: first) == 0)
    try FileManager.default.removeItem(at: scene.file(1))
    try FileManager.default.removeItem(at: scene.file(2))
    #expect(try scene.migrate("B.sqlite", version: 1, by: history) == first)
    #expect(try history.model(named: "2") == scene.models[1])
  }

  @Test func `a version that could not be read is read for the next store`() throws {
    let scene = try Scene(versions: 3)
    let history = try ModelHistory(contentsOf: scene.folder)
    try Data("{}".utf8).write(to: scene.file(2))
    // Without the version between them, nothing says that the attribute was gone.
    #expect(count("name", in: try scene.migrate("A.sqlite", version: 1, by: history)) > 0)
    try scene.write(2)
    #expect(count("name", in: try scene.migrate("B.sqlite", version: 1, by: history)) == 0)
  }

  @Test func `stores of more versions than are remembered find theirs`() throws {
    let scene = try Scene(versions: 12)
    let history = try ModelHistory(contentsOf: scene.folder)
    let once = try (1...11).map { try scene.migrate("A\($0).sqlite", version: $0, by: history) }
    let again = try (1...11).map { try scene.migrate("B\($0).sqlite", version: $0, by: history) }
    #expect(once == again)
    #expect(once.allSatisfy { count("kept", in: $0) > 0 })
  }

  @Test func `stores of one version with tables of other names get each their own plan`() throws {
    let directory = try TemporaryDirectory()
    let models = try [[], [Make.attribute("more")]].map { added in
      try ManagedObjectModel(entities: [
        Make.entity("Kind", [Make.attribute("name")] + added, [Make.toMany("labels", "Label", "kinds")]),
        Make.entity("Label", [Make.attribute("name")], [Make.toMany("kinds", "Kind", "labels")]),
      ])
    }
    let store = directory.file("Own.sqlite")
    try StoreGenerator.makeStore(at: store, model: models[0], objects: 9, seed: 5)
    let other = directory.file("Other.sqlite")
    try FileManager.default.copyItem(at: store, to: other)
    #expect(try OtherJoinNames.give(to: other, relationships: ["labels", "kinds"]).count == 1)
    let history = ModelHistory(current: models[1], earlier: [("1", models[0])])
    // A history of its own knows of no other store.
    let alone = directory.file("Alone.sqlite")
    try FileManager.default.copyItem(at: store, to: alone)
    guard
      case .migrated = try MigrationAssistant(alone, from: models[0], to: models[1])
        .migrateStore()
    else { throw CocoaError(.featureUnsupported) }
    let expected = try StoreContents(of: alone, model: models[1])
    #expect(expected.objects["Label"]?.values.contains { $0.links["kinds"]?.isEmpty == false } == true)
    for (index, name) in ["Own", "Other", "Own", "Other"].enumerated() {
      let url = directory.file("\(name) \(index).sqlite")
      try FileManager.default.copyItem(at: directory.file("\(name).sqlite"), to: url)
      let assistant = MigrationAssistant(url, history)
      try assistant.migrate()
      #expect(try StoreContents(of: url, model: models[1]) == expected)
      #expect(try StoreVerification.report(onStoreAt: url.path).findings == [])
    }
  }
}
