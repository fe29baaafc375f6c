import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Stores that an app can't open: they are set aside if the app says so, and nothing of them is lost.
struct SettingAsideTests {
  enum Reason: String, CaseIterable, Sendable {
    case noModel, noMapping, notDatabase, truncated, damagedMetadata, damagedPages

    var code: String {
      switch self {
      case .noModel: "noModel"
      case .noMapping: "mappingNeeded"
      case .notDatabase, .truncated, .damagedMetadata: "unreadableStore"
      case .damagedPages: "failed"
      }
    }
  }

  private struct Scene {
    let directory: TemporaryDirectory
    let old: ManagedObjectModel
    let new: ManagedObjectModel
    var store: URL { directory.file("Journal.sqlite") }

    init(_ reason: Reason?) throws {
      directory = try TemporaryDirectory()
      let isMapped = reason != .noMapping
      old = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name"), Make.attribute("kept")])])
      new = try ManagedObjectModel(
        entities: [Make.entity("Item", [Make.attribute("name", isMapped ? .string : .date), Make.attribute("more")])])
      try StoreGenerator.makeStore(at: store, model: old, objects: 2000, seed: 3)
      if reason != .noModel { try ModelController(storeURL: store).archive(old) }
      let size = try Data(contentsOf: store).count
      switch reason {
      case .notDatabase: try Data(repeating: 7, count: 20_000).write(to: store)
      case .truncated: try Data(contentsOf: store).prefix(size / 2).write(to: store)
      case .damagedMetadata:
        try Connection.execute("UPDATE \"Z_METADATA\" SET \"Z_PLIST\" = x'00'", on: store.path)
      case .damagedPages:
        let connection = try Connection(path: store.path, mode: .readWrite)
        try connection.execute("PRAGMA journal_mode = DELETE")
        let pageSize = Int(try connection.firstInteger("PRAGMA page_size") ?? 4096)
        let root = Int(
          try connection.firstInteger("SELECT rootpage FROM sqlite_schema WHERE name = 'ZITEM'") ?? 0)
        try connection.close()
        var bytes = try Data(contentsOf: store)
        for offset in 0..<pageSize { bytes[(root - 1) * pageSize + offset] = 0xA5 }
        try bytes.write(to: store)
      case .noModel, .noMapping, nil: break
      }
    }

    func assistant(_ policy: IncompatibleStorePolicy) -> MigrationAssistant {
      return MigrationAssistant(
        store, ModelHistory(current: new), .init(incompatibleStore: policy, storeTimeout: .seconds(0.05)))
    }
  }

  @Test(arguments: Reason.allCases)
  func `a store that can't be opened stays where it is, unless the app says otherwise`(reason: Reason) throws {
    let scene = try Scene(reason)
    let before = try Data(contentsOf: scene.store)
    let error = try #require(throws: MigrationAssistantError.self) { try scene.assistant(.throw).migrateStore() }
    #expect(error.code == reason.code)
    #expect(try Data(contentsOf: scene.store) == before)
    #expect(try scene.assistant(.throw).archive.pendingNotices() == [])
  }

  @Test(arguments: Reason.allCases)
  func `it is moved aside whole, a new one can take its place, and a notice is kept`(reason: Reason) throws {
    let scene = try Scene(reason)
    let before = try Data(contentsOf: scene.store)
    let outcome = try scene.assistant(.setAside).migrateStore()
    guard case .setAside(let notice) = outcome else {
      Issue.record("expected the store to be moved aside, not \(outcome)")
      return
    }
    #expect(notice.code == reason.code)
    #expect(notice.message.contains("Journal.sqlite"))
    #expect(!notice.reason.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: scene.store.path))
    // A store that SQLite can read leaves WAL mode first.
    let aside = try Data(contentsOf: notice.folderURL.appendingPathComponent("Journal.sqlite"))
    let isPlain = reason == .notDatabase || reason == .truncated || reason == .damagedPages
    if isPlain { #expect(aside == before) } else { #expect(aside.count >= before.count) }

    // The next launch finds no store, and a new one concerns nobody.
    guard case .noStore = try scene.assistant(.setAside).migrateStore() else {
      Issue.record("expected no store")
      return
    }
    try PersistentStore.create(at: scene.store, model: scene.new).close()
    try scene.assistant(.setAside).requireNothingToDo()
    // A notice survives launches until it was shown.
    #expect(try scene.assistant(.throw).archive.pendingNotices() == [notice])
    try scene.assistant(.throw).archive.acknowledge(notice)
    try scene.assistant(.throw).archive.acknowledge(notice)
    #expect(try scene.assistant(.throw).archive.pendingNotices() == [])
    #expect(FileManager.default.fileExists(atPath: notice.folderURL.path))
  }

  @Test func `a store that is moved aside opens where it lies`() throws {
    let scene = try Scene(.noMapping)
    guard case .setAside(let notice) = try scene.assistant(.setAside).migrateStore() else {
      Issue.record("expected the store to be moved aside")
      return
    }
    let store = notice.folderURL.appendingPathComponent("Journal.sqlite")
    let context = ManagedObjectContext(store: try PersistentStore.open(at: store, model: scene.old, isReadOnly: true))
    #expect(try context.count(ObjectFetchRequest("Item")) == 2000)
    let snapshot = try ModelController(snapshotURL: notice.folderURL.appendingPathComponent("model.json.gz")).snapshot()
    #expect(snapshot?.model.versionHashes() == scene.old.versionHashes())
  }

  @Test func `opening in one call makes a new store where one was moved aside`() throws {
    let scene = try Scene(.noMapping)
    var options = PersistentStoreOptions()
    options.migration.incompatibleStore = .setAside
    let context = ManagedObjectContext(
      store: try PersistentStore.open(at: scene.store, model: scene.new, options: options))
    #expect(try context.count(ObjectFetchRequest("Item")) == 0)
    #expect(try scene.assistant(.throw).archive.pendingNotices().map(\.code) == ["mappingNeeded"])
  }

  @Test func `what is no fault of the store moves nothing`() throws {
    let scene = try Scene(nil)
    // The store is in use.
    let holder = try Connection(path: scene.store.path, mode: .readWrite)
    try holder.execute("BEGIN EXCLUSIVE")
    #expect(throws: MigrationAssistantError.self) {
      try Connection.usualBusyTimeout.withValue(100) { try scene.assistant(.setAside).migrateStore() }
    }
    try holder.execute("ROLLBACK")
    try holder.close()
    // The store is of a newer version.
    let assistant = MigrationAssistant(
      scene.store, ModelHistory(current: scene.new, later: [("later", scene.old)]),
      scene.assistant(.setAside).configuration)
    let error = try #require(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    #expect(error.code == "newerVersion")
    #expect(FileManager.default.fileExists(atPath: scene.store.path))
    #expect(try assistant.archive.pendingNotices() == [])
  }

  @Test func `a damaged candidate is no fault of the store, which stays where it is`() throws {
    let scene = try Scene(nil)
    var damaged = 0
    let assistant = scene.assistant(.setAside)
    assistant.delegate = ClosureDelegate(onEvent: { event in
      guard case .built = event else { return }
      let folder = scene.store.path + ".heirloom/incoming/"
      for name in FileManager.default.subpaths(atPath: folder) ?? [] where name.hasSuffix("Journal.sqlite") {
        guard var bytes = FileManager.default.contents(atPath: folder + name), bytes.count > 4096 else { continue }
        for offset in 4096..<bytes.count { bytes[offset] = 0xA5 }
        try bytes.write(to: URL(fileURLWithPath: folder + name))
        damaged += 1
      }
    })
    let error = try #require(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    #expect(damaged == 1 && error.code == "failed" && error.coreDataCode == 259, "\(error)")
    #expect(try assistant.archive.pendingNotices() == [])
    let context = ManagedObjectContext(
      store: try PersistentStore.open(at: scene.store, model: scene.old, isReadOnly: true))
    #expect(try context.count(ObjectFetchRequest("Item")) == 2000)
  }

  /// Another process, which makes the next of the changes at each failure.
  private static func rival(_ changes: [() throws -> Void]) -> ClosureDelegate {
    var changes = changes
    return ClosureDelegate(onEvent: { event in
      if case .failed = event, !changes.isEmpty { try changes.removeFirst()() }
    })
  }

  private static func failures(_ delegate: ClosureDelegate) -> Int {
    delegate.events.count { if case .failed = $0 { true } else { false } }
  }

  @Test(arguments: [Reason.noMapping, .damagedPages])
  func `what another process put in the store's place meanwhile is looked at, not moved`(reason: Reason) throws {
    let scene = try Scene(reason)
    let fitting = scene.directory.file("Other.sqlite")
    // This store has the version of the damaged one: only the file shows that it is another.
    try PersistentStore.create(at: fitting, model: reason == .noMapping ? scene.new : scene.old).close()
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: scene.store.path + suffix) }
    let rival = Self.rival([{ #expect(rename(fitting.path, scene.store.path) == 0) }])
    let assistant = scene.assistant(.setAside)
    assistant.delegate = rival
    let outcome = try assistant.migrateStore()
    switch (outcome, reason) {
    case (.upToDate, .noMapping), (.migrated, .damagedPages): break
    default: Issue.record("the new store was not looked at: \(outcome)")
    }
    #expect(Self.failures(rival) == 1)
    #expect(try assistant.archive.pendingNotices() == [])
  }

  @Test func `a store that another process took away meanwhile is no store`() throws {
    let scene = try Scene(.notDatabase)
    let assistant = scene.assistant(.setAside)
    assistant.delegate = Self.rival([{ try FileManager.default.removeItem(at: scene.store) }])
    guard case .noStore = try assistant.migrateStore() else {
      Issue.record("expected no store")
      return
    }
  }

  @Test func `a store that changes again and again is given up`() throws {
    let scene = try Scene(.notDatabase)
    let change = {
      let other = scene.directory.file("Other.sqlite")
      try Data(repeating: 9, count: 9000).write(to: other)
      #expect(rename(other.path, scene.store.path) == 0)
    }
    let rival = Self.rival(Array(repeating: change, count: 10))
    let assistant = scene.assistant(.setAside)
    assistant.delegate = rival
    let error = try #require(throws: MigrationAssistantError.self) {
      try Connection.usualBusyTimeout.withValue(100) { try assistant.migrateStore() }
    }
    #expect(error.code == "unreadableStore")
    #expect(Self.failures(rival) == 3)
    #expect(FileManager.default.fileExists(atPath: scene.store.path))
  }
}
