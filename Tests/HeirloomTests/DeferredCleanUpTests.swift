import Foundation
import Heirloom
import HeirloomFormats
import HeirloomSupport
import TestSupport
import Testing

/// The surroundings of a store with clean-up left in it: the next migration, previous versions, other apps.
struct DeferredCleanUpTests {
  /// Three versions: the second drops things that the third has again, under the same names but different.
  private static let versions: [[EntityDescription]] = [
    [
      Make.entity("A", ["a", "b", "c"].map { Make.attribute($0) }, [Make.toMany("zs", "Z", "as")]),
      Make.entity("Z", [Make.attribute("z"), Make.attribute("n", .integer64)], [Make.toMany("as", "A", "zs")]),
    ],
    [Make.entity("A", [Make.attribute("a")])],
    [
      Make.entity("A", [Make.attribute("b", id: "new"), Make.attribute("d", id: "a")], [Make.toMany("zs", "Z", "as")]),
      Make.entity("Z", [Make.attribute("n"), Make.attribute("m")], [Make.toMany("as", "A", "zs")], id: "other"),
    ],
  ]

  /// A store of the first version in a folder of its own.
  private struct Scene {
    let directory: TemporaryDirectory
    let store: URL
    let models: [ManagedObjectModel]

    init() throws {
      directory = try TemporaryDirectory()
      store = directory.file("Store.sqlite")
      models = try DeferredCleanUpTests.versions.map { try ManagedObjectModel(entities: $0) }
      try StoreGenerator.makeStore(at: store, model: models[0], objects: 6, seed: 4)
      let connection = try Connection(path: store.path, mode: .readWrite)
      #expect(try connection.firstValue("PRAGMA journal_mode = WAL") == .text("wal"))
      try connection.close()
    }

    @discardableResult
    func migrate(
      to version: Int, defers: Bool, builder: BuilderChoice = .always(.cloneAndAlter), at url: URL? = nil
    ) throws -> MigrationPlan? {
      try DeferredMigrationTests.migrate(
        url ?? store, from: models[version - 2], to: models[version - 1], defers: defers, builder: builder)
    }

    func pending() throws -> DeferredMigration? { try StoreMetadata(contentsOf: store).deferredMigration }

    func edit(_ change: (inout [String: PropertyListValue]) -> Void) throws {
      let connection = try Connection(path: store.path, mode: .readWrite)
      let list = try #require(try connection.firstValue("SELECT Z_PLIST FROM Z_METADATA")?.blob)
      var values = try #require(try BinaryPropertyListReader(list).value().dictionaryValue)
      change(&values)
      try connection.execute(
        "UPDATE Z_METADATA SET Z_PLIST = ?1", [.blob(try BinaryPropertyListWriter.bytes(of: .dictionary(values)))])
      try connection.close()
    }
  }

  @Test(arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter], [false, true])
  func `the next migration cleans up first, whatever has its names then`(
    builder: MigrationPlan.Builder, defers: Bool
  ) throws {
    let scene = try Scene()
    let straight = scene.directory.file("Straight.sqlite")
    try FileManager.default.copyItem(at: scene.store, to: straight)
    for version in 2...3 { try scene.migrate(to: version, defers: false, builder: .always(.rebuild), at: straight) }

    try scene.migrate(to: 2, defers: true)
    let pending = try #require(try scene.pending())
    #expect(pending.columns == ["ZA": ["ZB", "ZC"]] && pending.tables == ["ZZ", "Z_1ZS"])
    let plan = try #require(try scene.migrate(to: 3, defers: defers, builder: .always(builder)))
    #expect(plan.losses.isEmpty && plan.deferred.isEmpty)
    #expect(try scene.pending() == nil)
    try DeferredMigrationTests.compare(scene.store, with: straight, model: scene.models[2])
  }

  @Test func `what is kept of a store with clean-up left in it is as it was`() throws {
    let scene = try Scene()
    try scene.migrate(to: 2, defers: true)
    let before = try StoreContents(of: scene.store, model: scene.models[1])
    let pending = try scene.pending()
    try scene.migrate(to: 3, defers: true)
    let assistant = MigrationAssistant(scene.store, ModelHistory(current: scene.models[1]))
    _ = try assistant.archive.restorePreviousVersion()
    #expect(try scene.pending() == pending)
    #expect(try StoreContents(of: scene.store, model: scene.models[1]) == before)
    let store = try PersistentStore.open(at: scene.store, model: scene.models[1])
    try store.finishDeferredLightweightMigration()
    #expect(try scene.pending() == nil)
  }

  @Test func `an older app and a launch with nothing to do leave it alone`() throws {
    let scene = try Scene()
    try scene.migrate(to: 2, defers: true)
    let before = try Data(contentsOf: scene.store)
    func assistant(_ history: ModelHistory) -> MigrationAssistant {
      MigrationAssistant(scene.store, history)
    }
    let old = ModelHistory(current: scene.models[0], name: "1", later: [("2", scene.models[1])])
    let refusal = #expect(throws: MigrationAssistantError.self) { try assistant(old).migrateStore() }
    #expect(refusal?.code == "newerVersion" && refusal?.coreDataCode == 134_100)
    let incompatible = #expect(throws: StoreError.self) {
      try PersistentStore.open(at: scene.store, model: scene.models[0])
    }
    #expect(incompatible?.coreDataCode == 134_100)
    try assistant(ModelHistory(current: scene.models[1])).requireNothingToDo()
    #expect(try Data(contentsOf: scene.store) == before)
  }

  @Test func `a store that others hold is an error, and is as it was`() throws {
    let scene = try Scene()
    try scene.migrate(to: 2, defers: true)
    let pending = try scene.pending()
    let store = try PersistentStore.open(at: scene.store, model: scene.models[1])
    try store.connection.execute("PRAGMA busy_timeout=10")
    let other = try Connection(path: scene.store.path, mode: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    let error = #expect(throws: DeferredMigrationError.self) { try store.finishDeferredLightweightMigrationTask() }
    #expect(error?.problem == .inUse && error?.pending == pending && error?.path == scene.store.path)
    #expect(error?.recoverySuggestion?.contains("ZA.ZB") == true)
    try other.execute("ROLLBACK")
    // A reader sees the store as it was when it began.
    try other.execute("BEGIN")
    #expect(try other.firstInteger("SELECT COUNT(ZB) FROM ZA") ?? 0 > 0)
    try store.finishDeferredLightweightMigration()
    #expect(try other.firstInteger("SELECT COUNT(ZB) FROM ZA") ?? 0 > 0)
    try other.execute("COMMIT")
    #expect(throws: SQLiteError.self) { try other.firstInteger("SELECT COUNT(ZB) FROM ZA") }

    let reader = try PersistentStore.open(at: scene.store, model: scene.models[1], isReadOnly: true)
    #expect(try !reader.finishDeferredLightweightMigrationTask())
  }

  @Test func `a list that names what is not left removes nothing`() throws {
    let scene = try Scene()
    try scene.migrate(to: 2, defers: true)
    try Connection.execute(
      "CREATE TABLE app_log (line TEXT)", "CREATE INDEX app_index ON ZA (ZA)", on: scene.store.path)
    try scene.edit { values in
      values["HeirloomDeferredMigration"] = .dictionary([
        "tables": .array(["ZA", "za", "Z_METADATA", "Z_PRIMARYKEY", "ACHANGE", "ZNONE"].map { .string($0) }),
        "columns": .dictionary([
          "ZA": .array([.string("ZA"), .string("zA"), .string("Z_PK"), .string("ZNONE")]),
          "app_log": .array([.string("line")]),
        ]),
        "unusedIndexes": .array([.string("sqlite_autoindex_ZA_1"), .integer(3)]),
        "missingIndexes": .array([.string("ZNONE")]),
      ])
    }
    let before = try StoreContents(of: scene.store, model: scene.models[1])
    let store = try PersistentStore.open(at: scene.store, model: scene.models[1])
    #expect(store.hasPendingDeferredMigration)
    try store.finishDeferredLightweightMigration()
    #expect(try scene.pending() == nil)
    #expect(try StoreContents(of: scene.store, model: scene.models[1]) == before)
    let names = try ActualSchema(of: store.connection).objects.map(\.name)
    #expect(names.contains("app_log") && names.contains("app_index") && names.contains("Z_METADATA"))
  }

  @Test func `what Core Data deferred is Core Data's to finish`() throws {
    let scene = try Scene()
    try scene.edit { $0["NSPersistentStoreDeferredLightweightMigrationOptionKey"] = .integer(1) }
    let store = try PersistentStore.open(at: scene.store, model: scene.models[0])
    #expect(store.hasPendingDeferredMigration)
    let error = #expect(throws: DeferredMigrationError.self) { try store.finishDeferredLightweightMigration() }
    #expect(error?.problem == .unlisted && error?.coreDataCode == 134_110)
    try store.close()
    let findings = try StoreVerification.report(onStoreAt: scene.store.path).findings
    #expect(findings.map(\.kind).contains(.pendingCleanUp))
    // A list without Core Data's key is out of date.
    try scene.edit { values in
      values["NSPersistentStoreDeferredLightweightMigrationOptionKey"] = nil
      values["HeirloomDeferredMigration"] = .dictionary(["tables": .array([.string("ZZ")])])
    }
    #expect(try !StoreMetadata(contentsOf: scene.store).hasDeferredMigration)
  }

  @Test func `indexes and triggers of the app that use what goes don't keep rows out`() throws {
    let scene = try Scene()
    let app = try Connection(path: scene.store.path, mode: .readWrite)
    for sql in [
      "CREATE TABLE app_log (ZB TEXT)", "CREATE UNIQUE INDEX app_unique ON ZA (ZB, Z_PK)",
      "CREATE INDEX app_expression ON ZA (length(ZC))", "CREATE INDEX app_stays ON ZA (Z_OPT)",
      "CREATE TRIGGER app_watch AFTER INSERT ON ZA WHEN NEW.ZB IS NULL BEGIN SELECT RAISE(ABORT, 'no'); END",
      "CREATE TRIGGER app_update AFTER UPDATE OF ZC ON ZA BEGIN SELECT 1; END",
      "CREATE TRIGGER app_other AFTER INSERT ON ZA BEGIN INSERT INTO app_log (ZB) VALUES (NEW.ZA); END",
    ] { try app.execute(sql) }
    try app.close()
    let plan = try #require(try scene.migrate(to: 2, defers: true))
    #expect(plan.deferred.columns == ["ZA": ["ZB", "ZC"]])
    #expect(plan.warnings.filter { $0.contains("\"app_") }.count == 4)
    let store = try PersistentStore.open(at: scene.store, model: scene.models[1])
    let context = ManagedObjectContext(store: store)
    try context.insert("A").set("new", for: "a")
    try context.save()
    #expect(try store.connection.firstValue("SELECT ZB FROM app_log") == .text("new"))
    // An index that was made since stands in the way, by its name.
    try store.connection.execute("CREATE INDEX app_late ON ZA (ZC)")
    let error = #expect(throws: DeferredMigrationError.self) { try store.finishDeferredLightweightMigration() }
    #expect(error?.problem == .usedByApp(object: "app_late", column: "ZA.ZC"))
    try store.connection.execute("DROP INDEX app_late")
    try store.finishDeferredLightweightMigration()
    let names = Set(try ActualSchema(of: store.connection).objects.map(\.name).filter { $0.hasPrefix("app_") })
    #expect(names == ["app_log", "app_stays", "app_other"])
  }

  @Test func `each piece is bounded, and the file becomes smaller`() throws {
    let scene = try Scene()
    try scene.migrate(to: 2, defers: true)
    let store = try PersistentStore.open(at: scene.store, model: scene.models[1])
    try store.connection.execute(
      """
      INSERT INTO ZZ (Z_PK, Z_ENT, Z_OPT, ZZ) SELECT value, 2, 1, PRINTF('%500d', value) FROM (
        WITH RECURSIVE numbers(value) AS (VALUES (100) UNION ALL SELECT value + 1 FROM numbers LIMIT 12000)
        SELECT value FROM numbers)
      """)
    func pages(_ pragma: String) throws -> Int64 { try store.connection.firstInteger("PRAGMA \(pragma)") ?? 0 }
    let before = try pages("page_count")
    var pieces = 0
    var isMore = true
    while isMore {
      let (rows, free) = (store.connection.totalChanges, try pages("freelist_count"))
      let isWithoutColumns = try scene.pending()?.columns.isEmpty ?? true
      isMore = try store.finishDeferredLightweightMigrationTask()
      if !isWithoutColumns { #expect(store.connection.totalChanges - rows <= 5_000 + 10 || free > 0) }
      #expect(try free - pages("freelist_count") <= 1_010)
      pieces += 1
    }
    #expect(pieces >= 6)
    #expect(try pages("freelist_count") == 0 && pages("page_count") < before)
    #expect(try store.connection.firstValue("PRAGMA integrity_check") == .text("ok"))
  }
}
