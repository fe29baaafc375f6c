import Foundation
import Heirloom
import HeirloomStore
import HeirloomSupport
import TestSupport
import Testing

/// The troubles of other frameworks' users, by the names that they gave them, and what they get here instead.
///
/// Each test is named after its trouble and runs on a real store from beginning to end.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct UsersPainsTests {
  private static let project = "duckduckgo-bsk"
  private static let storePath = "duckduckgo-bsk/stores/Bookmarks_V3.sqlite"

  /// A real store three versions behind, as an app left it: with commits in its `-wal`.
  struct Scene {
    let directory: TemporaryDirectory
    let folder: URL
    let store: URL
    let history: ModelHistory
    let source: ManagedObjectModel
    let before: StoreContents
    let mapping: MappingModel

    init() throws {
      directory = try TemporaryDirectory()
      let copy = try Corpus.copyStore(UsersPainsTests.storePath, to: directory)
      folder = directory.file("app")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      store = folder.appendingPathComponent("Diary.sqlite")
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: copy.path + suffix, toPath: store.path + suffix)
      }
      history = try ModelHistory(
        contentsOf: Corpus.modelURL("BookmarksModel 6", in: UsersPainsTests.project).deletingLastPathComponent())
      let hashes = try StoreMetadata(contentsOf: copy).versionHashes
      source = try #require(history.version(withHashes: hashes)).model
      before = try StoreContents(of: copy, model: source)
      mapping = try MappingModel.inferred(from: source, to: history.current)
    }

    var companion: URL { URL(fileURLWithPath: store.path + ".heirloom") }

    func assistant(
      _ history: ModelHistory? = nil, policy: IncompatibleStorePolicy = .throw, defers: Bool = false
    ) -> MigrationAssistant {
      var configuration = MigrationAssistant.Configuration()
      configuration.incompatibleStore = policy
      configuration.defersLightweightMigration = defers
      configuration.storeTimeout = .seconds(0.2)
      configuration.lockTimeout = .seconds(0.05)
      return MigrationAssistant(store, history ?? self.history, configuration)
    }

    func lost() throws -> [String] {
      let after = try StoreContents(of: store, model: history.current)
      return KeptObjects.differences(
        before: before, source: source, after: after, destination: history.current, mapping: mapping)
    }

    func migrate(_ assistant: MigrationAssistant) throws -> MigrationReport {
      return try assistant.migrate()
    }
  }

  enum Trouble: String, CaseIterable, Sendable {
    case none, noDatabase, truncated, damagedPages, otherModel, noMapping

    func apply(to scene: Scene) throws -> ModelHistory? {
      let store = scene.store
      switch self {
      case .none: return nil
      case .noDatabase:
        // SQLite would take pages from a log that is there.
        try Self.checkpoint(store)
        try Data(repeating: 7, count: 9000).write(to: store)
      case .truncated:
        try Self.checkpoint(store)
        try Data(contentsOf: store).prefix(16_384).write(to: store)
      case .damagedPages:
        try Self.checkpoint(store)
        let connection = try Connection(reading: store, options: .inspecting)
        let size = Int(try connection.firstInteger("PRAGMA page_size") ?? 0)
        let root = Int(
          try connection.firstInteger("SELECT rootpage FROM sqlite_schema WHERE name = 'ZBOOKMARKENTITY'") ?? 0)
        try connection.close()
        var bytes = try Data(contentsOf: store)
        for offset in 0..<size { bytes[(root - 1) * size + offset] = 0xA5 }
        try bytes.write(to: store)
      case .otherModel:
        try Connection.execute("DELETE FROM Z_MODELCACHE", on: store.path)
        return ModelHistory(current: scene.history.current)
      case .noMapping: return ModelHistory(current: try UsersPainsTests.seeded(3, scene.source).model)
      }
      return nil
    }

    private static func checkpoint(_ store: URL) throws {
      try Connection.execute("PRAGMA journal_mode = DELETE", on: store.path)
    }
  }

  // MARK: 1

  @Test(arguments: Trouble.allCases)
  func `crash or error at launch after update, no way out`(trouble: Trouble) throws {
    let scene = try Scene()
    let history = try trouble.apply(to: scene)
    let main = try Data(contentsOf: scene.store)
    if trouble != .none {
      // The error is typed and readable and says what to do, and stays the same however often the app is started.
      for _ in 0..<2 {
        let error = try #require(throws: MigrationAssistantError.self) { try scene.assistant(history).migrateStore() }
        #expect(error.storePath == scene.store.path && error.code != "failed" || trouble == .damagedPages)
        #expect(!error.description.isEmpty && error.recoverySuggestion?.isEmpty == false)
        #expect(try Data(contentsOf: scene.store) == main)
      }
    }
    // The way out: an app that chooses it starts, and a person is told what happened.
    var options = PersistentStoreOptions()
    options.migration.incompatibleStore = .setAside
    let store = try PersistentStore.open(
      at: scene.store, history: history ?? scene.history, options: options)
    let count = try ManagedObjectContext(store: store).count(ObjectFetchRequest("BookmarkEntity"))
    try store.close()
    let notices = try scene.assistant(history).archive.pendingNotices()
    #expect(notices.count == (trouble == .none ? 0 : 1) && (count > 0) == (trouble == .none))
    for notice in notices { #expect(!notice.title.isEmpty && notice.message.contains("Diary.sqlite")) }
  }

  // MARK: 2

  @Test(arguments: Trouble.allCases.filter { $0 != .none })
  func `silent wipe used as fix`(trouble: Trouble) throws {
    let scene = try Scene()
    let history = try trouble.apply(to: scene)
    let main = try Data(contentsOf: scene.store)
    guard case .setAside(let notice) = try scene.assistant(history, policy: .setAside).migrateStore() else {
      Issue.record("expected the store to be moved aside")
      return
    }
    let kept = notice.folderURL.appendingPathComponent("Diary.sqlite")
    if trouble == .otherModel || trouble == .noMapping {
      #expect(try StoreContents(of: kept, model: scene.source) == scene.before)
    } else {
      #expect(try Data(contentsOf: kept) == main)
    }
    // Nothing that the app does later removes it: not a new store, not launches, not a read notice.
    try PersistentStore.create(at: scene.store, model: scene.history.current).close()
    for _ in 0..<3 { _ = try scene.assistant(policy: .setAside).migrateStore() }
    try scene.assistant().archive.acknowledge(notice)
    _ = try scene.assistant(policy: .setAside).migrateStore()
    #expect(FileManager.default.fileExists(atPath: kept.path))
  }

  @Test func `no public function deletes a store`() throws {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources")
    let words = ["destroy", "delete", "erase", "wipe", "reset", "remove", "purge", "drop", "truncate", "overwrite"]
    var found: [String] = []
    var count = 0
    for case let name as String in FileManager.default.enumerator(atPath: sources.path) ?? .init()
    where name.hasSuffix(".swift") {
      let text = try String(contentsOf: sources.appendingPathComponent(name), encoding: .utf8)
      for line in text.split(separator: "\n") {
        guard line.contains("public "), line.contains("func ") else { continue }
        count += 1
        // Only the text up to the parameters counts: the function's name.
        let title = line.prefix { $0 != "(" }.lowercased()
        if words.contains(where: { title.contains($0) }) { found.append("\(name): \(line)") }
      }
    }
    // An app deletes its objects.
    found.removeAll { $0.contains("func delete(_ object: ManagedObject)") }
    #expect(found == [])
    #expect(count > 100)
  }

  // MARK: 3

  @Test func `can't find model for source store`() throws {
    // Nothing but the store itself knows the model.
    let scene = try Scene()
    let alone = ModelHistory(current: scene.history.current)
    let assistant = scene.assistant(alone)
    assistant.delegate = ClosureDelegate(decision: { _ in
      .proceed(consentingToLosses: true, acceptingUnknownVersion: true)
    })
    let cached = try scene.migrate(assistant)
    #expect(cached.modelSource == .cache)
    #expect(try scene.lost() == [])

    // Only the snapshot beside it is left.
    let second = try Scene()
    try ModelController(storeURL: second.store).archive(second.source)
    try Connection.execute("DELETE FROM Z_MODELCACHE", on: second.store.path)
    #expect(try second.migrate(second.assistant(alone)).modelSource == .snapshot)
    #expect(try second.lost() == [])

    // Nothing is left: the nearest versions are listed, with their differences.
    let third = try Scene()
    let history = try #require(try Trouble.otherModel.apply(to: third))
    let error = try #require(throws: MigrationAssistantError.self) { try third.assistant(history).migrateStore() }
    guard case .noModel(_, let nearest) = error else { throw error }
    #expect(nearest.first?.differingEntities.isEmpty == false)
    #expect(try third.migrate(third.assistant()).modelSource == .file)
    #expect(try third.lost() == [])
  }

  // MARK: 5

  @Test func `watchdog kill, minutes at launch, loops`() throws {
    // The cost is known before anything is written.
    let scene = try Scene()
    let picture = FolderPicture(of: scene.folder)
    let plan = try #require(try scene.assistant().plan())
    #expect(plan.estimatedDuration > .zero && plan.estimatedDuration < .seconds(60) && plan.bytesNeeded > 0)
    #expect(FolderPicture(of: scene.folder).names.filter { !$0.hasSuffix("-shm") } == picture.names)

    // A migration that is stopped in the middle, again and again, costs nothing; once it may continue, it ends.
    for stop in [MigrationEvent.held, .built, .proven] {
      let assistant = scene.assistant()
      assistant.delegate = ClosureDelegate(onEvent: { [progress = assistant.progress] event in
        if event == stop { progress.cancel() }
      })
      let outcome = Result { try assistant.migrateStore() }
      guard case .failure(let error) = outcome else {
        // Once the candidate is proven, the swap may be first.
        #expect(stop == .proven)
        break
      }
      #expect((error as? MigrationAssistantError)?.code == "cancelled")
      #expect(try StoreContents(of: scene.store, model: scene.source) == scene.before)
      #expect(try assistant.status() == .tooOld)
    }
    if try scene.assistant().status() != .current { _ = try scene.migrate(scene.assistant(defers: true)) }
    #expect(try scene.lost() == [])

    // Work that can wait is done in pieces, and each stays done: a launch that is killed never begins from the start.
    var pieces = 0
    var isMore = true
    while isMore, pieces < 1000 {
      let store = try PersistentStore.open(at: scene.store, model: scene.history.current)
      isMore = try store.finishDeferredLightweightMigrationTask()
      try store.close()
      pieces += 1
    }
    #expect(!isMore)
    #expect(try scene.lost() == [])
    #expect(try scene.assistant().status() == .current)
  }

  // MARK: 7

  @Test func `WAL lost, stale journal`() throws {
    let scene = try Scene()
    // Without its log the store is another one: there is something to lose.
    let main = scene.directory.file("main.sqlite")
    try FileManager.default.copyItem(at: scene.store, to: main)
    #expect((try? StoreContents(of: main, model: scene.source)) != scene.before)
    let report = try scene.migrate(scene.assistant())
    #expect(try scene.lost() == [])
    // The previous version is one file with everything, and no log of the old store is beside the new one.
    #expect(try StoreContents(of: report.previousVersion.storeURL, model: scene.source) == scene.before)
    #expect(!FileManager.default.fileExists(atPath: report.previousVersion.storeURL.path + "-wal"))
    let log = (try? Data(contentsOf: URL(fileURLWithPath: scene.store.path + "-wal"))) ?? Data()
    #expect(log.isEmpty)
    let restored = try scene.assistant().archive.restorePreviousVersion()
    #expect(restored.previous != nil)
    #expect(try StoreContents(of: scene.store, model: scene.source) == scene.before)
  }

  // MARK: 12

  @Test func `downgrade after TestFlight`() throws {
    let scene = try Scene()
    _ = try scene.migrate(scene.assistant())
    try ModelController(storeURL: scene.store).archive(scene.history.current)
    // The beta has written values that the release has no place for.
    let known = Set(scene.source.entities.flatMap { entity in entity.attributes.map { "\(entity.name).\($0.name)" } })
    let entity = try #require(scene.history.current.entity(named: "BookmarkEntity"))
    let added = try #require(
      entity.attributes.first { $0.type == .string && !known.contains("BookmarkEntity.\($0.name)") })
    try Connection.execute(
      "UPDATE ZBOOKMARKENTITY SET \(quote("Z" + added.name.uppercased())) = 'beta'", on: scene.store.path)
    // The released app knows nothing of the beta's model.
    let released = scene.assistant(ModelHistory(current: scene.source), policy: .setAside)
    #expect(try released.status() == .tooNew)
    let picture = FolderPicture(of: scene.folder)
    let error = try #require(throws: MigrationAssistantError.self) { try released.migrateStore() }
    #expect(FolderPicture(of: scene.folder).differences(from: picture).allSatisfy { $0.hasSuffix("-shm") })
    guard case .newerVersion(let newer) = error, let version = newer.previousVersion else { throw error }
    #expect(try version.objectCount() == Int64(scene.before.count))
    let result = try released.archive.restorePreviousVersion(version.id)
    #expect(try StoreContents(of: scene.store, model: scene.source) == scene.before)
    // The beta's store is kept in turn.
    #expect(result.previous?.versionChecksum == scene.history.current.versionChecksum())
  }

  // MARK: 13

  @Test func `extension or widget shares the store`() throws {
    let scene = try Scene()
    let assistant = scene.assistant()
    var statuses: [StoreStatus] = []
    var codes: Set<String> = []
    assistant.delegate = ClosureDelegate(onEvent: { event in
      guard event == .built || event == .proven else { return }
      // Another process has another assistant.
      let picture = FolderPicture(of: scene.folder)
      let widget = scene.assistant()
      statuses.append(try widget.status())
      #expect(FolderPicture(of: scene.folder).differences(from: picture) == [])
      let error = #expect(throws: MigrationAssistantError.self) { try widget.migrateStore() }
      codes.insert(error?.code ?? "none")
    })
    #expect(try scene.assistant().status() == .tooOld)
    _ = try scene.migrate(assistant)
    #expect(statuses == [.inProgress, .inProgress])
    #expect(codes == ["storeInUse"])
    #expect(try scene.assistant().status() == .current)
    // This is the widget of the old release.
    #expect(try scene.assistant(ModelHistory(current: scene.source)).status() == .tooNew)
    #expect(try scene.lost() == [])
  }

  // MARK: 14

  @Test func `migration succeeded but only partly`() throws {
    // A table gets lost on the way: the proof finds it, and the old store stays.
    let scene = try Scene()
    let assistant = scene.assistant()
    assistant.delegate = ClosureDelegate(onEvent: { event in
      guard event == .built else { return }
      let work = scene.companion.appendingPathComponent("incoming")
      let name = try #require(try FileManager.default.contentsOfDirectory(atPath: work.path).first)
      let candidate = work.appendingPathComponent(name).appendingPathComponent("Diary.sqlite")
      try Connection.execute(
        "PRAGMA journal_mode = DELETE", "DROP TABLE ZBOOKMARKENTITY", on: candidate.path, options: .building)
    })
    let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    #expect(error?.description.contains("ZBOOKMARKENTITY") == true)
    #expect(try StoreContents(of: scene.store, model: scene.source) == scene.before)
    _ = try scene.migrate(scene.assistant())
    #expect(try scene.lost() == [])

    // Another tool left this store so: the metadata are right and a table is missing.
    try Connection.execute("DROP TABLE ZBOOKMARKENTITY", on: scene.store.path, options: .building)
    let metadata = try StoreMetadata(contentsOf: scene.store)
    #expect(metadata.isCompatible(with: scene.history.current))
    let opening = #expect(throws: MigrationAssistantError.self) {
      try PersistentStore.open(at: scene.store, history: scene.history)
    }
    guard case .unreadableStore(let problem)? = opening, case .differentSchema(let missing) = problem.problem else {
      throw try #require(opening)
    }
    #expect(missing.contains { $0.contains("ZBOOKMARKENTITY") })
    let report = try StoreVerification.report(onStoreAt: scene.store.path)
    #expect(report.findings.contains { $0.kind == .missingTable && $0.severity == .error })
    _ = try scene.assistant().archive.restorePreviousVersion()
    #expect(try StoreContents(of: scene.store, model: scene.source) == scene.before)
  }

  // MARK: 15

  /// Returns a model with the given number of changes that can't be inferred, and their places.
  static func seeded(_ count: Int, _ source: ManagedObjectModel) throws -> (
    model: ManagedObjectModel, places: Set<String>
  ) {
    let simple: [AttributeType] = [.string, .integer16, .integer32, .integer64, .boolean, .double, .date]
    var entities = source.entities
    var places: Set<String> = []
    for (index, entity) in source.entities.enumerated() {
      // An inherited attribute would be an obstacle in each heir.
      guard !source.entities.contains(where: { $0.superentity == entity.name }) else { continue }
      for (position, attribute) in entity.attributes.enumerated() where places.count < count {
        guard !attribute.isTransient, attribute.derivation == nil, simple.contains(attribute.type) else { continue }
        let changed = Make.attribute(attribute.name, .binary)
        entities[index].attributes[position] = changed
        entities[index].uniquenessConstraints = []
        entities[index].indexes = []
        places.insert("\(entity.name).\(attribute.name)")
      }
    }
    return (try ManagedObjectModel(entities: entities), places)
  }

  @Test(arguments: [1, 7, 25])
  func `unclear error, only first cause`(count: Int) throws {
    try StoreCopy.withCopy { store, source in
      let (model, places) = try Self.seeded(count, source)
      #expect(places.count == count)
      let assistant = MigrationAssistant(store, ModelHistory(current: model, earlier: [("before", source)]))
      let error = try #require(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
      guard case .mappingNeeded(_, let obstacles, let skeleton) = error else { throw error }
      #expect(Set(obstacles.map { "\($0.entity).\($0.property ?? "")" }) == places && obstacles.count == count)
      for obstacle in obstacles {
        #expect(!obstacle.reason.isEmpty && !obstacle.suggestion.isEmpty)
        #expect(error.description.contains(obstacle.reason.dropLast()))
        #expect(error.recoverySuggestion?.contains(obstacle.suggestion) == true)
        #expect(skeleton?.contains(obstacle.property ?? "?") == true)
      }
    }
  }

  /// A store of a large model, with the model from its own copy.
  private enum StoreCopy {
    static func withCopy(_ body: (URL, ManagedObjectModel) throws -> Void) throws {
      try Corpus.withCopy(of: StoreDamage.store) { store in
        try body(store, try #require(try StoreModelCache.model(inStoreAt: store)))
      }
    }
  }
}
