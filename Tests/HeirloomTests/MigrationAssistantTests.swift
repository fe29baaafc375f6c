import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import TestSupport
import Testing

/// The rules of the two calls at launch.
struct MigrationAssistantTests {
  private static func model(_ attributes: [String], entity: String = "Item") throws -> ManagedObjectModel {
    let item = Make.entity(entity, attributes.map { name in Make.attribute(name) })
    return try ManagedObjectModel(entities: [item])
  }

  /// A store in a folder of its own, with the models of three versions.
  private final class Scene {
    let directory: TemporaryDirectory
    var store: URL { directory.file("Store.sqlite") }
    let first: ManagedObjectModel
    let second: ManagedObjectModel
    let third: ManagedObjectModel

    init() throws {
      directory = try TemporaryDirectory()
      first = try MigrationAssistantTests.model(["name"])
      second = try MigrationAssistantTests.model(["name", "note"])
      third = try MigrationAssistantTests.model(["note", "title"])
    }

    func fill(_ model: ManagedObjectModel) throws {
      try StoreGenerator.makeStore(at: store, model: model, objects: 20, seed: 3)
    }

    func assistant(
      _ current: ManagedObjectModel, earlier: [(name: String, model: ManagedObjectModel)] = [], kept: Int = 1,
      losses: LossPolicy = .keepVersion
    ) -> MigrationAssistant {
      return MigrationAssistant(
        store, ModelHistory(current: current, earlier: earlier),
        .init(losses: losses, storeTimeout: .seconds(0.2), keptVersions: kept))
    }

    var names: [String] {
      get throws { try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted() }
    }
  }

  private func outcome(_ assistant: MigrationAssistant) throws -> String {
    switch try assistant.migrateStore() {
    case .noStore: "noStore"
    case .upToDate: "upToDate"
    case .migrated: "migrated"
    case .setAside: "setAside"
    }
  }

  private func code(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return (error as? MigrationAssistantError)?.code
    }
  }

  @Test func `without a store nothing is created`() throws {
    let scene = try Scene()
    #expect(try outcome(scene.assistant(scene.first)) == "noStore")
    #expect(try scene.names.isEmpty)
    #expect(try !scene.assistant(scene.first).isMigrationNeeded())
  }

  @Test func `with nothing to do nothing is written`() throws {
    let scene = try Scene()
    try scene.fill(scene.first)
    let before = try Data(contentsOf: scene.store)
    #expect(try outcome(scene.assistant(scene.first)) == "upToDate")
    #expect(try scene.names == ["Store.sqlite"])
    #expect(try Data(contentsOf: scene.store) == before)
  }

  @Test func `a migration keeps the old version and tells what happened`() throws {
    let scene = try Scene()
    try scene.fill(scene.first)
    let recorder = ClosureDelegate()
    let assistant = scene.assistant(scene.second, earlier: [("1", scene.first)])
    assistant.delegate = recorder
    #expect(try assistant.isMigrationNeeded())
    #expect(try outcome(assistant) == "migrated")
    #expect(try !assistant.isMigrationNeeded())
    #expect(
      recorder.events.map(\.name) == [
        "foundSourceModel", "started", "held", "built", "proven", "retained", "swapped", "finished",
      ])
    #expect(assistant.progress.fractionCompleted == 1)
    let versions = try assistant.archive.previousVersions()
    #expect(versions.count == 1)
    #expect(versions.first?.versionChecksum == scene.first.versionChecksum())
  }

  @Test func `archiving waits for the migration and is done once`() throws {
    let scene = try Scene()
    try scene.fill(scene.first)
    let controller = ModelController(storeURL: scene.store)
    #expect(code { try controller.archive(scene.second) } == "storeNotMigrated")
    #expect(try controller.snapshot() == nil)
    #expect(try controller.archive(scene.first))
    #expect(try !controller.archive(scene.first))
    #expect(try controller.snapshot()?.model == scene.first)
  }

  @Test func `archiving is allowed without a store, and rewrites what is not hashed`() throws {
    let scene = try Scene()
    let controller = ModelController(storeURL: scene.store)
    #expect(try controller.archive(scene.first))
    var item = scene.first.entities[0]
    item.attributes[0].renamingIdentifier = "oldName"
    let renamed = try ManagedObjectModel(entities: [item])
    #expect(renamed.versionHashes() == scene.first.versionHashes())
    #expect(try controller.archive(renamed))
    #expect(try controller.snapshot()?.model == renamed)
  }

  @Test func `a damaged snapshot is passed over and replaced`() throws {
    let scene = try Scene()
    try scene.fill(scene.first)
    let controller = ModelController(storeURL: scene.store)
    try controller.archive(scene.first)
    var bytes = try Data(contentsOf: controller.snapshotURL)
    bytes[bytes.count / 2] ^= 0x40
    try bytes.write(to: controller.snapshotURL)
    #expect(throws: (any Error).self) { try controller.snapshot() }
    let recorder = ClosureDelegate()
    let assistant = scene.assistant(scene.second, earlier: [("1", scene.first)])
    assistant.delegate = recorder
    #expect(try outcome(assistant) == "migrated")
    #expect(recorder.events.map(\.name).first == "snapshotUnreadable")
    #expect(try controller.archive(scene.second))
    #expect(try controller.snapshot()?.model == scene.second)
  }

  @Test func `where snapshot and store disagree the store counts`() throws {
    let scene = try Scene()
    let controller = ModelController(storeURL: scene.store)
    try controller.archive(scene.third)
    try scene.fill(scene.first)
    let recorder = ClosureDelegate()
    let assistant = scene.assistant(scene.second, earlier: [("1", scene.first)])
    assistant.delegate = recorder
    #expect(try outcome(assistant) == "migrated")
    #expect(recorder.events.map(\.name).first == "snapshotDisagrees")
  }

  @Test func `the snapshot alone is enough to migrate from`() throws {
    let scene = try Scene()
    try scene.fill(scene.first)
    try ModelController(storeURL: scene.store).archive(scene.first)
    #expect(try outcome(scene.assistant(scene.third)) == "migrated")
  }

  @Test func `another app's model is not taken for the next version, even with a snapshot`() throws {
    let scene = try Scene()
    try scene.fill(scene.first)
    try ModelController(storeURL: scene.store).archive(scene.first)
    let before = try Data(contentsOf: scene.store)
    let foreign = try Self.model(["name"], entity: "Recipe")
    let assistant = scene.assistant(foreign)
    #expect(code { _ = try assistant.migrateStore() } == "unknownVersion")
    #expect(try Data(contentsOf: scene.store) == before)
    let recorder = ClosureDelegate()
    recorder.decision = { _ in .proceed(consentingToLosses: true, acceptingUnknownVersion: true) }
    assistant.delegate = recorder
    #expect(try outcome(assistant) == "migrated")
  }

  @Test func `a store of no known model is refused with the nearest version`() throws {
    let scene = try Scene()
    try scene.fill(scene.third)
    let connection = try Data(contentsOf: scene.store)
    let assistant = scene.assistant(scene.second, earlier: [("1", scene.first)])
    do {
      _ = try assistant.migrateStore()
      Issue.record("expected a refusal")
    } catch let error as MigrationAssistantError {
      guard case .noModel(_, let nearest) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(nearest.first?.differingEntities == ["Item"])
      #expect(error.recoverySuggestion?.contains(scene.store.path) == true)
    }
    #expect(try Data(contentsOf: scene.store) == connection)
  }

  @Test func `a newer store is refused without a write, and a version that fits is offered`() throws {
    let scene = try Scene()
    try scene.fill(scene.first)
    let versions = [("1", scene.first), ("2", scene.second)]
    #expect(try outcome(scene.assistant(scene.second, earlier: [("1", scene.first)])) == "migrated")
    let before = try Data(contentsOf: scene.store)
    // This is the same history with the first version as the current one, as an older app has it.
    let folder = scene.directory.file("History")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, model) in versions {
      try ModelSnapshot(model: model).encoded(.readable).write(to: folder.appendingPathComponent("\(name).json"))
    }
    let lock = versions.map { "{\"name\": \"\($0.0)\", \"checksum\": \"\($0.1.versionChecksum())\"}" }
    try Data("{\"format\": 1, \"versions\": [\(lock.joined(separator: ","))]}".utf8)
      .write(to: folder.appendingPathComponent("lock.json"))
    let whole = try ModelHistory(contentsOf: folder)
    #expect(whole.versionNames == ["1", "2"])
    let old = ModelHistory(
      current: scene.first, name: "1", later: [("2", scene.second)])
    let assistant = MigrationAssistant(scene.store, old)
    do {
      _ = try assistant.migrateStore()
      Issue.record("expected a refusal")
    } catch let error as MigrationAssistantError {
      guard case .newerVersion(let newer) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(newer.versionName == "2")
      #expect(newer.fittingVersions.count == 1)
    }
    #expect(try Data(contentsOf: scene.store) == before)
    let result = try assistant.archive.restorePreviousVersion()
    #expect(result.previous != nil)
    #expect(try outcome(assistant) == "upToDate")
  }

  @Test func `losses are reported to the delegate, which may refuse`() throws {
    let scene = try Scene()
    try scene.fill(scene.first)
    let before = try StoreContents(of: scene.store, model: scene.first)
    let recorder = ClosureDelegate()
    recorder.decision = { _ in .refuse }
    let assistant = scene.assistant(scene.third, earlier: [("1", scene.first)])
    assistant.delegate = recorder
    #expect(code { _ = try assistant.migrateStore() } == "refused")
    #expect(recorder.plans.first?.losses.first?.property == "name")
    let filled = before.objects["Item", default: [:]].values.filter { $0.values["name"] != .null }.count
    #expect(recorder.plans.first?.losses.first?.rows == Int64(filled))
    #expect(try StoreContents(of: scene.store, model: scene.first) == before)
    #expect(try assistant.archive.previousVersions().isEmpty)
  }

  @Test func `obstacles are listed all at once, and a mapping of the delegate is used`() throws {
    let scene = try Scene()
    var item = EntityDescription(name: "Item")
    let number = Make.attribute("name", .integer32)
    let data = Make.attribute("note", .binary)
    item.attributes = [number, data]
    let other = try ManagedObjectModel(entities: [item])
    try scene.fill(scene.second)
    let recorder = ClosureDelegate()
    let assistant = scene.assistant(other, earlier: [("2", scene.second)])
    assistant.delegate = recorder
    let error = try #require(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    let asked = recorder.needs.last?.obstacles ?? []
    #expect(asked.map(\.property) == ["name", "note"])
    guard case .mappingNeeded(_, let obstacles, let skeleton) = error else { throw error }
    #expect(obstacles == asked)
    #expect(skeleton?.contains("try step(from: \"2\", to: \"current\") {") == true)
    #expect(error.recoverySuggestion?.contains("skeleton") == true)
    let mapping = EntityMapping(
      from: "Item", to: "Item", mappingType: .transform,
      attributeMappings: [PropertyMapping(name: "name"), PropertyMapping(name: "note")])
    recorder.mapping = { _, _, _ in MappingModel(entityMappings: [mapping]) }
    #expect(try outcome(assistant) == "migrated")
  }

  @Test func `rows that don't fit need a decision and the store stays as it is`() throws {
    let scene = try Scene()
    try scene.fill(scene.first)
    var item = scene.first.entities[0]
    item.attributes.append(AttributeDescription(name: "must", type: .string))
    let strict = try ManagedObjectModel(entities: [item])
    let before = try Data(contentsOf: scene.store)
    let assistant = scene.assistant(strict, earlier: [("1", scene.first)])
    do {
      _ = try assistant.migrateStore()
      Issue.record("expected a refusal")
    } catch let error as MigrationAssistantError {
      guard case .decisionNeeded(_, let plan) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(plan.blockers.map(\.rows) == [20])
      #expect(plan.blockers.map(\.property) == ["must"])
    }
    #expect(try Data(contentsOf: scene.store) == before)
  }

  @Test func `cancelling leaves the store as it was`() throws {
    let scene = try Scene()
    try scene.fill(scene.first)
    let before = try StoreContents(of: scene.store, model: scene.first)
    let assistant = scene.assistant(scene.second, earlier: [("1", scene.first)])
    assistant.progress.cancel()
    #expect(code { _ = try assistant.migrateStore() } == "cancelled")
    #expect(try StoreContents(of: scene.store, model: scene.first) == before)
    #expect(try assistant.archive.previousVersions().isEmpty)
    #expect(try outcome(scene.assistant(scene.second, earlier: [("1", scene.first)])) == "migrated")
  }

  @Test(arguments: [1, 2]) func `older versions go only when a later launch found the new one working`(kept: Int) throws
  {
    let scene = try Scene()
    try scene.fill(scene.first)
    let second = scene.assistant(scene.second, earlier: [("1", scene.first)], kept: kept, losses: .accept)
    #expect(try outcome(second) == "migrated")
    let third = scene.assistant(
      scene.third, earlier: [("1", scene.first), ("2", scene.second)], kept: kept, losses: .accept)
    #expect(try outcome(third) == "migrated")
    #expect(try third.archive.previousVersions().count == 2)
    #expect(try outcome(third) == "upToDate")
    #expect(try third.archive.previousVersions().count == kept)
    #expect(try third.archive.previousVersions().first?.versionChecksum == scene.second.versionChecksum())
  }

  @Test func `a restored version is the old store, and what it replaced is kept`() throws {
    let scene = try Scene()
    try scene.fill(scene.first)
    let before = try StoreContents(of: scene.store, model: scene.first)
    let assistant = scene.assistant(scene.second, earlier: [("1", scene.first)], kept: 3)
    #expect(try outcome(assistant) == "migrated")
    let migrated = try StoreContents(of: scene.store, model: scene.second)
    let result = try assistant.archive.restorePreviousVersion()
    #expect(try StoreContents(of: scene.store, model: scene.first) == before)
    let previous = try #require(result.previous)
    #expect(try StoreContents(of: previous.storeURL, model: scene.second) == migrated)
    #expect(previous.versionChecksum == scene.second.versionChecksum())
    #expect(try assistant.modelController.snapshot()?.model == scene.first)
    #expect(code { _ = try assistant.archive.restorePreviousVersion("no-such") } == "noSuchVersion")
  }

  @Test func `a change that was interrupted is undone before the migration`() throws {
    let scene = try Scene()
    let original = scene.directory.file("Original.sqlite")
    try StoreGenerator.makeStore(at: original, model: scene.first, objects: 400, seed: 9)
    let before = try StoreContents(of: original, model: scene.first)
    // It is copied in the middle of a transaction that has outgrown its cache: a store with a hot journal, as after a
    // crash.
    let connection = try Connection(path: original.path, mode: .readWrite)
    try connection.execute("PRAGMA cache_size = 1")
    try connection.execute("BEGIN IMMEDIATE")
    try connection.execute("UPDATE ZITEM SET ZNAME = 'interrupted ' || hex(zeroblob(300))")
    for suffix in ["", "-journal"] {
      try Data(contentsOf: URL(fileURLWithPath: original.path + suffix))
        .write(to: URL(fileURLWithPath: scene.store.path + suffix))
    }
    try connection.execute("ROLLBACK")
    try connection.close()
    #expect(throws: StoreError.self) { try StoreMetadata(contentsOf: scene.store) }

    let assistant = scene.assistant(scene.second, earlier: [("1", scene.first)])
    #expect(try outcome(assistant) == "migrated")
    let kept = try #require(try assistant.archive.previousVersions().first)
    #expect(try StoreContents(of: kept.storeURL, model: scene.first) == before)
  }

  @Test func `a version is restored over a store that can't be read, and that is kept aside`() throws {
    let scene = try Scene()
    try scene.fill(scene.first)
    let before = try StoreContents(of: scene.store, model: scene.first)
    let assistant = scene.assistant(scene.second, earlier: [("1", scene.first)])
    #expect(try outcome(assistant) == "migrated")
    let rubbish = Data("no store any more, but perhaps all that is left of a diary".utf8)
    try rubbish.write(to: scene.store)
    #expect(code { _ = try assistant.archive.restorePreviousVersion("no-such") } != nil)
    #expect(try Data(contentsOf: scene.store) == rubbish)
    let recorder = ClosureDelegate()
    assistant.delegate = recorder
    let result = try assistant.archive.restorePreviousVersion()
    #expect(result.previous == nil)
    #expect(try StoreContents(of: scene.store, model: scene.first) == before)
    let aside = recorder.events.compactMap { if case .movedAside(let path) = $0 { path } else { nil } }
    let kept = URL(fileURLWithPath: try #require(aside.first)).appendingPathComponent("Store.sqlite")
    #expect(try Data(contentsOf: kept) == rubbish)
  }
}
