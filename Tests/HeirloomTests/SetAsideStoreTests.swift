import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Set-aside stores, and an update of the app that can open them again: Core Data's own store of a project.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct SetAsideStoreTests {
  /// The thing that the app lacked when it set the store aside, and that its update brings.
  enum Lack: CaseIterable, Sendable {
    case inference, delegateMapping, model
  }

  /// A real store that was set aside, and the app's update.
  private struct Scene {
    static let path = "coredataplus/stores/SampleModel_V1.sqlite"

    let directory: TemporaryDirectory
    let store: URL
    let lack: Lack
    let first: ManagedObjectModel
    let second: ManagedObjectModel
    let original: StoreContents
    /// The contents that a direct migration gives.
    let direct: StoreContents

    init(_ lack: Lack = .inference, isAside: Bool = true) throws {
      self.lack = lack
      directory = try TemporaryDirectory()
      store = try Corpus.copyStore(Scene.path, to: directory)
      first = try #require(try StoreModelCache.model(inStoreAt: store))
      second = try Corpus.model("SampleModel2", in: "coredataplus/models/SampleModel.xcdatamodeld")
      let connection = try Connection(path: store.path, mode: .readWrite)
      if lack == .model { try connection.execute("DELETE FROM Z_MODELCACHE") }
      try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      try connection.close()
      original = try StoreContents(of: store, model: first)
      let (second, first) = (second, first)
      direct = try Corpus.withCopy(of: Scene.path) { url in
        _ = try MigrationAssistant(url, from: first, to: second).migrateStore()
        return try StoreContents(of: url, model: second)
      }
      guard isAside else { return }
      guard case .setAside = try app(isUpdate: false).migrateStore() else { throw CocoaError(.featureUnsupported) }
    }

    func app(isUpdate: Bool = true, model: ManagedObjectModel? = nil) -> MigrationAssistant {
      var configuration = MigrationAssistant.Configuration()
      configuration.incompatibleStore = isUpdate ? .throw : .setAside
      configuration.storeTimeout = .seconds(0.05)
      configuration.infersMappingModel = lack == .model || isUpdate && lack == .inference
      let earlier = lack == .model && !isUpdate ? [] : [("1", first)]
      let history = ModelHistory(current: model ?? second, earlier: earlier + (model == nil ? [] : [("2", second)]))
      let assistant = MigrationAssistant(store, history, configuration)
      if isUpdate, lack == .delegateMapping {
        assistant.delegate = ClosureDelegate(mapping: { source, destination, _ in
          try MappingModel.inferred(from: source, to: destination)
        })
      }
      return assistant
    }

    @discardableResult
    func makeNewStore() throws -> StoreContents {
      try PersistentStore.make(at: store, model: second) { context in
        for number in 0..<3 {
          try Scene.addPerson("Since \(number)", to: context)
        }
      }
      try ModelController(storeURL: store).archive(second)
      return try StoreContents(of: store, model: second)
    }

    static func addPerson(_ name: String, to context: ManagedObjectContext) throws {
      let person = try context.insert("Person")
      person["firstName"] = .string(name)
      person["lastName"] = .string("Then")
      person["updatedAt"] = .date(0)
    }

    func aside() throws -> SetAsideStore { try #require(try app().archive.setAsideStores().first) }

    func files() throws -> [String: Data] {
      var files: [String: Data] = [:]
      let names = FileManager.default.enumerator(atPath: directory.url.path)
      for case let name as String in try #require(names) {
        let url = directory.url.appendingPathComponent(name)
        files[name] = (try? Data(contentsOf: url)) ?? Data()
      }
      return files
    }
  }

  @Test(arguments: Lack.allCases)
  func `a store that was moved aside returns with every row when an update brings what it lacked`(lack: Lack) throws {
    let scene = try Scene(lack)
    let new = try scene.makeNewStore()
    let before = try scene.files()
    let old = try #require(try scene.app(isUpdate: false).archive.setAsideStores().first)
    guard case .incompatible(let error) = old.state else {
      Issue.record("expected that the app can't open it, not \(old.state)")
      return
    }
    #expect(error.code == old.notice?.code)
    #expect(error.storePath == old.storeURL.path)
    let aside = try scene.aside()
    guard case .migratable(let plan) = aside.state else {
      Issue.record("expected a plan, not \(aside.state)")
      return
    }
    #expect(plan.blockers.isEmpty)
    #expect(aside.versionName == "1")
    #expect(aside.versionChecksum == scene.first.versionChecksum())
    #expect(try scene.app().archive.pendingNotices() == [try #require(aside.notice)])
    // Listing writes nothing.
    #expect(try scene.files() == before)

    guard case .putBack(let migration?, let replaced?) = try scene.app().migrateSetAsideStore(aside) else {
      Issue.record("expected it to be migrated and to take the new store's place")
      return
    }
    #expect(migration.sourceChecksum == scene.first.versionChecksum())
    #expect(try StoreContents(of: scene.store, model: scene.second) == scene.direct)
    #expect(try ModelController(storeURL: scene.store).snapshot()?.model == scene.second)
    try scene.app().requireNothingToDo()
    // Newer rows are in a previous version; the set-aside store is in its place, with its own earlier version.
    #expect(try StoreContents(of: replaced.storeURL, model: scene.second) == new)
    #expect(try scene.app().archive.previousVersions() == [replaced])
    #expect(try StoreContents(of: aside.storeURL, model: scene.second) == scene.direct)
    #expect(try StoreContents(of: migration.previousVersion.storeURL, model: scene.first) == scene.original)
    #expect(migration.previousVersion.storeURL.path.hasPrefix(aside.folderURL.path))
    #expect(try ModelController(snapshotURL: aside.snapshotURL).snapshot()?.model == scene.second)

    guard case .putBack(_?, let name) = try scene.aside().state else {
      Issue.record("expected that it has returned")
      return
    }
    #expect(name == replaced.id)
    #expect(try scene.app().archive.pendingNotices() == [])
    let after = try scene.files()
    guard case .putBackBefore(let again) = try scene.app().migrateSetAsideStore(aside) else {
      Issue.record("expected that it has returned before")
      return
    }
    #expect(again == replaced.id)
    #expect(try scene.files() == after)

    _ = try scene.app().archive.restorePreviousVersion(replaced.id)
    #expect(try StoreContents(of: scene.store, model: scene.second) == new)
  }

  @Test func `a store returns where there is none`() throws {
    let scene = try Scene()
    guard case .putBack(_?, nil) = try scene.app().migrateSetAsideStore(scene.aside()) else {
      Issue.record("expected it to be migrated, and nothing in its place")
      return
    }
    #expect(try StoreContents(of: scene.store, model: scene.second) == scene.direct)
    #expect(try scene.app().archive.previousVersions() == [])
    #expect(try ModelController(storeURL: scene.store).snapshot()?.model == scene.second)
    try scene.app().requireNothingToDo()
    #expect(try Connection(reading: scene.store).firstValue("PRAGMA journal_mode")?.text == "wal")
  }

  @Test func `it can be migrated where it lies, for an app that wants both`() throws {
    let scene = try Scene()
    let new = try scene.makeNewStore()
    let store = try Data(contentsOf: scene.store)
    guard case .migrated = try scene.app().migrateSetAsideStoreWhereItLies(scene.aside()) else {
      Issue.record("expected a migration")
      return
    }
    #expect(try Data(contentsOf: scene.store) == store)
    let aside = try scene.aside()
    guard case .upToDate = aside.state else {
      Issue.record("expected the current model, not \(aside.state)")
      return
    }
    let opened = try PersistentStore.open(at: aside.storeURL, model: scene.second)
    let context = ManagedObjectContext(store: opened)
    #expect(try context.count(ObjectFetchRequest("Person")) == scene.direct.objects["Person"]?.count)
    // The store does not return while the app writes to it: those changes would be missing.
    let holder = try Connection(path: aside.storeURL.path, mode: .readWrite)
    try holder.execute("BEGIN IMMEDIATE")
    let error = try #require(throws: MigrationAssistantError.self) { try scene.app().migrateSetAsideStore(aside) }
    #expect(error.code == "storeInUse")
    #expect(error.storePath == aside.storeURL.path)
    try holder.execute("ROLLBACK")
    try holder.close()
    try Scene.addPerson("Late", to: context)
    try context.save()
    try opened.close()
    #expect(try StoreContents(of: scene.store, model: scene.second) == new)
    guard case .putBack(nil, let replaced?) = try scene.app().migrateSetAsideStore(aside) else {
      Issue.record("expected it to return without a migration")
      return
    }
    #expect(try StoreContents(of: scene.store, model: scene.second).count == scene.direct.count + 1)
    #expect(try StoreContents(of: replaced.storeURL, model: scene.second) == new)
  }

  @Test func `a store that is in use keeps its place`() throws {
    let scene = try Scene()
    let new = try scene.makeNewStore()
    let opened = try PersistentStore.open(at: scene.store, model: scene.second)
    let aside = try scene.aside()
    let error = try #require(throws: MigrationAssistantError.self) { try scene.app().migrateSetAsideStore(aside) }
    #expect(error.code == "storeInUse")
    #expect(error.storePath == scene.store.path)
    try opened.close()
    #expect(try StoreContents(of: scene.store, model: scene.second) == new)
    // A store that was migrated in its place is not migrated again.
    guard case .putBack(nil, _?) = try scene.app().migrateSetAsideStore(aside) else {
      Issue.record("expected it to return")
      return
    }
    #expect(try StoreContents(of: scene.store, model: scene.second) == scene.direct)
  }

  enum Fault: CaseIterable, Sendable {
    case notDatabase, truncated, noStore, link, pages, pagesOfCurrent, folder

    var code: String {
      switch self {
      case .notDatabase, .truncated: "unreadableStore"
      case .pages: "failed"
      case .noStore, .link, .pagesOfCurrent, .folder: "noSuchVersion"
      }
    }
  }

  @Test(arguments: Fault.allCases)
  func `a set that is damaged changes nothing`(fault: Fault) throws {
    let scene = try Scene()
    let new = try scene.makeNewStore()
    let aside = try scene.aside()
    let file = aside.storeURL
    let elsewhere = scene.directory.file("Elsewhere.sqlite")
    switch fault {
    case .notDatabase: try Data(repeating: 7, count: 20_000).write(to: file)
    case .truncated: try Data(contentsOf: file).prefix(20_000).write(to: file)
    case .noStore: try FileManager.default.removeItem(at: file)
    case .link:
      try FileManager.default.moveItem(at: file, to: elsewhere)
      try FileManager.default.createSymbolicLink(at: file, withDestinationURL: elsewhere)
    case .pagesOfCurrent, .pages:
      if fault == .pagesOfCurrent { _ = try scene.app().migrateSetAsideStoreWhereItLies(aside) }
      try Self.damage("ZCAR", of: file)
    case .folder: try FileManager.default.removeItem(at: aside.folderURL)
    }
    let bytes = fault == .folder ? nil : try? Data(contentsOf: file)
    if fault != .folder {
      let state = try scene.aside().state
      switch (state, fault) {
      case (.incompatible, _), (.migratable, .pages), (.upToDate, .pagesOfCurrent): break
      default: Issue.record("expected another state than \(state)")
      }
    }
    let error = try #require(throws: MigrationAssistantError.self) { try scene.app().migrateSetAsideStore(aside) }
    #expect(error.code == fault.code, "\(error)")
    #expect(error.errorDescription?.isEmpty == false)
    #expect(try StoreContents(of: scene.store, model: scene.second) == new)
    if fault != .folder { #expect((try? Data(contentsOf: file)) == bytes) }
    #expect(try scene.app().archive.previousVersions() == [])
    try scene.app().requireNothingToDo()
  }

  private static func damage(_ table: String, of url: URL) throws {
    let connection = try Connection(path: url.path, mode: .readWrite)
    let pageSize = Int(try connection.firstInteger("PRAGMA page_size") ?? 4096)
    let root = Int(
      try connection.firstInteger("SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'") ?? 0)
    try connection.close()
    var bytes = try Data(contentsOf: url)
    for offset in 0..<pageSize { bytes[(root - 1) * pageSize + offset] = 0xA5 }
    try bytes.write(to: url)
  }

  @Test func `a new store that can't be read is moved aside itself`() throws {
    let scene = try Scene()
    try Data(repeating: 7, count: 20_000).write(to: scene.store)
    guard case .putBack(_?, nil) = try scene.app().migrateSetAsideStore(scene.aside()) else {
      Issue.record("expected it to return, and nothing that can be a version")
      return
    }
    #expect(try StoreContents(of: scene.store, model: scene.second) == scene.direct)
    let sets = try scene.app().archive.setAsideStores()
    #expect(sets.count == 2)
    #expect(try sets.contains { try Data(contentsOf: $0.storeURL) == Data(repeating: 7, count: 20_000) })
  }

  @Test func `the store that returns has the permissions of the one that was there`() throws {
    func mode(_ url: URL) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }
    let scene = try Scene()
    try scene.makeNewStore()
    let aside = try scene.aside()
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: scene.store.path)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: aside.storeURL.path)
    _ = try scene.app().migrateSetAsideStore(aside)
    #expect(try mode(scene.store) == 0o640)
    #expect(try mode(aside.storeURL) == 0o600)
    // Otherwise the permissions are its own.
    let other = try Scene()
    let lone = try other.aside()
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: lone.storeURL.path)
    _ = try other.app().migrateSetAsideStore(lone)
    #expect(try mode(other.store) == 0o600)
  }

  @Test func `the rows that a store held before are kept through all later migrations`() throws {
    let scene = try Scene()
    let new = try scene.makeNewStore()
    guard case .putBack(_, let replaced?) = try scene.app().migrateSetAsideStore(scene.aside()) else {
      Issue.record("expected it to return")
      return
    }
    var entities = scene.second.entities
    for name in ["one", "two"] {
      let added = Make.attribute(name)
      entities[0].attributes.append(added)
      let app = scene.app(model: try ManagedObjectModel(entities: entities))
      guard case .migrated(let report) = try app.migrateStore(), case .upToDate = try app.migrateStore() else {
        Issue.record("expected a migration and a later launch")
        return
      }
      // All other versions are removed once a newer one has proven itself.
      let versions = try app.archive.previousVersions()
      #expect(versions.map(\.id) == [report.previousVersion.id, replaced.id] && versions[1].isPinned)
    }
    #expect(try StoreContents(of: replaced.storeURL, model: scene.second) == new)
  }
}
