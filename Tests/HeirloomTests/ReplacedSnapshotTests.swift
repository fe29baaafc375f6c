import Foundation
import Heirloom
import TestSupport
import Testing

/// A snapshot in a file of the app's choice, which alone holds the model of a store that is not migrated.
struct ReplacedSnapshotTests {
  private static func delegate() -> ClosureDelegate {
    ClosureDelegate(mapping: { _, _, _ in
      MappingModel(entityMappings: [EntityMapping(from: "Note", to: "Note") { PropertyMapping("kind") }])
    })
  }

  /// A store of version 1 without a model of its own, in an app that has only its current model.
  private struct Scene {
    let directory: TemporaryDirectory
    var store: URL { directory.file("Notes.sqlite") }
    var controller: ModelController { ModelController(snapshotURL: directory.file("Last.json.gz")) }

    /// The type of an attribute differs in each version, so that nothing can be inferred.
    static func model(_ version: Int) throws -> ManagedObjectModel {
      let types: [AttributeType] = [.string, .binary, .date, .uuid]
      return try ManagedObjectModel(entities: [
        Make.entity("Note", [Make.attribute("text"), Make.attribute("kind", types[version - 1])])
      ])
    }

    init() throws {
      directory = try TemporaryDirectory()
      try PersistentStore.make(at: store, model: try Self.model(1)) { context in
        for text in ["Monday", "Tuesday"] { try context.insert("Note")["text"] = .string(text) }
      }
      try Connection.execute("DELETE FROM Z_MODELCACHE", on: store.path)
      try controller.archive(try Self.model(1))
    }

    func assistant(_ version: Int, _ controller: ModelController) throws -> MigrationAssistant {
      MigrationAssistant(
        storeURL: store, modelController: controller, history: ModelHistory(current: try Self.model(version)))
    }

    func texts(migratingTo version: Int, _ controller: ModelController) throws -> [String] {
      let assistant = try assistant(version, controller)
      assistant.delegate = ReplacedSnapshotTests.delegate()
      guard case .migrated = try assistant.migrateStore() else { return [] }
      return try Connection(reading: store).rows("SELECT ZTEXT FROM ZNOTE ORDER BY 1")
        .compactMap { $0[0].text }
    }
  }

  @Test func `a controller that an assistant got refuses to archive what its store is not`() throws {
    let scene = try Scene()
    let controller = scene.controller
    let assistant = try scene.assistant(2, controller)
    #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    let error = #expect(throws: MigrationAssistantError.self) { try controller.archive(try Scene.model(2)) }
    #expect(error?.code == "storeNotMigrated" && error?.storePath == scene.store.path)
    #expect(try controller.snapshot()?.model == Scene.model(1))
    #expect(try scene.texts(migratingTo: 2, controller) == ["Monday", "Tuesday"])
    #expect(try controller.archive(try Scene.model(2)))
    #expect(try controller.snapshot()?.model == Scene.model(2))
  }

  @Test(arguments: 1...3) func `a controller that knows no store keeps each model that it replaces`(count: Int) throws {
    let scene = try Scene()
    // So many releases fail to migrate, and archive their model all the same.
    for version in 2...(count + 1) {
      #expect(throws: MigrationAssistantError.self) { try scene.assistant(version, scene.controller).migrateStore() }
      #expect(try scene.controller.archive(try Scene.model(version)))
    }
    #expect(try scene.controller.snapshot()?.model == Scene.model(count + 1))
    #expect(try scene.texts(migratingTo: count + 1, scene.controller) == ["Monday", "Tuesday"])
  }

  @Test func `the model of a store that was moved away stays beside that of the store in its place`() throws {
    let scene = try Scene()
    try FileManager.default.removeItem(at: scene.controller.snapshotURL)
    let controller = ModelController(storeURL: scene.store)
    try controller.archive(try Scene.model(1))
    let away = scene.directory.file("Away.sqlite")
    try FileManager.default.moveItem(at: scene.store, to: away)
    for version in 2...3 {
      // A release that has only its current model makes a store in its place.
      try PersistentStore.open(at: scene.store, model: try Scene.model(version), options: PersistentStoreOptions())
        .close()
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: scene.store.path + suffix) }
    }
    try FileManager.default.moveItem(at: away, to: scene.store)
    #expect(try controller.snapshot()?.model == Scene.model(3))
    #expect(try scene.texts(migratingTo: 3, ModelController(storeURL: scene.store)) == ["Monday", "Tuesday"])
    // The version that the migration kept has the model: it is not kept twice.
    #expect(try controller.archive(try Scene.model(3)) == false)
    let names = try FileManager.default.contentsOfDirectory(atPath: scene.store.path + ".heirloom")
    #expect(names.filter { $0.hasPrefix("model.json.gz-") }.count == 2, "\(names)")
  }

  @Test func `a migrated store's model is with the version that is kept, and nowhere else`() throws {
    let scene = try Scene()
    try FileManager.default.removeItem(at: scene.controller.snapshotURL)
    let controller = ModelController(storeURL: scene.store)
    try controller.archive(try Scene.model(1))
    #expect(try scene.texts(migratingTo: 2, controller) == ["Monday", "Tuesday"])
    #expect(try controller.archive(try Scene.model(2)))
    let names = try FileManager.default.contentsOfDirectory(atPath: scene.store.path + ".heirloom")
    #expect(!names.contains { $0.hasPrefix("model.json.gz-") }, "\(names)")
  }

  @Test func `after a migration every controller archives, again and again`() throws {
    let scene = try Scene()
    #expect(try scene.texts(migratingTo: 2, scene.controller) == ["Monday", "Tuesday"])
    #expect(try scene.controller.archive(try Scene.model(2)))
    for _ in 1...2 {
      let controller = scene.controller
      try scene.assistant(2, controller).requireNothingToDo()
      #expect(try !controller.archive(try Scene.model(2)))
    }
    var options = PersistentStoreOptions()
    options.modelController = scene.controller
    options.delegate = Self.delegate()
    let history = ModelHistory(current: try Scene.model(3))
    try PersistentStore.open(at: scene.store, history: history, options: options).close()
    #expect(try scene.controller.snapshot()?.model == Scene.model(3))
  }
}
