import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// An app that returns to an earlier release, as with TestFlight, and finds a store that is ahead of it.
struct GoingBackTests {
  enum Change: String, CaseIterable, Sendable {
    /// Something was added, which going back would lose.
    case addition
    /// A type changed: no mapping back can be inferred.
    case conversion
    /// Something was added, and no trace of the newer model is left.
    case withoutModel
    /// A required attribute is gone: objects made since have no value for it.
    case requirement
  }

  /// A store that a newer release migrated, beside the release before.
  struct Scene {
    let directory: TemporaryDirectory
    let old: ManagedObjectModel
    let new: ManagedObjectModel
    let before: StoreContents
    var store: URL { directory.file("Journal.sqlite") }

    init(_ change: Change) throws {
      directory = try TemporaryDirectory()
      let name = Make.attribute("name")
      let must = Make.attribute("must", optional: change != .requirement)
      let more = Make.attribute("more")
      old = try ManagedObjectModel(entities: [Make.entity("Item", [name, must])])
      let attributes =
        switch change {
        case .addition, .withoutModel: [name, must, more]
        case .conversion: [Make.attribute("name", .date), must, more]
        case .requirement: [name, more]
        }
      new = try ManagedObjectModel(entities: [Make.entity("Item", attributes)])
      let store = directory.file("Journal.sqlite")
      try StoreGenerator.makeStore(at: store, model: old, objects: 50, seed: 3)
      before = try StoreContents(of: store, model: old)
      let newer = assistant(new, earlier: [("1", old)])
      newer.delegate = ClosureDelegate(mapping: { _, _, need in
        guard !need.obstacles.isEmpty else { return nil }
        return MappingModel(entityMappings: [
          EntityMapping(
            from: "Item", to: "Item", mappingType: .transform, attributeMappings: [PropertyMapping(name: "name")])
        ])
      })
      _ = try newer.migrateStore()
      try ModelController(storeURL: store).archive(new)
      let opened = try PersistentStore.open(at: store, model: new)
      let context = ManagedObjectContext(store: opened)
      for object in try context.fetch(ObjectFetchRequest("Item")).prefix(7) {
        try object.setValue(.string("made by the newer app"), forAttribute: "more")
      }
      try context.save()
      try opened.close()
      if change == .withoutModel {
        try FileManager.default.removeItem(at: ModelController(storeURL: store).snapshotURL)
        try Connection.execute("DELETE FROM Z_MODELCACHE", on: store.path)
      }
    }

    func assistant(
      _ current: ManagedObjectModel, earlier: [(name: String, model: ManagedObjectModel)] = [],
      later: [(name: String, model: ManagedObjectModel)] = [], policy: IncompatibleStorePolicy = .throw
    ) -> MigrationAssistant {
      return MigrationAssistant(
        store, ModelHistory(current: current, earlier: earlier, later: later),
        .init(incompatibleStore: policy, storeTimeout: .seconds(0.2)))
    }
  }

  private func newerStore(_ assistant: MigrationAssistant) throws -> NewerStore {
    let error = try #require(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    guard case .newerVersion(let newer) = error else { throw error }
    #expect(error.code == "newerVersion" && error.coreDataCode == 134_100)
    #expect(error.storePath == newer.storePath)
    if let version = newer.previousVersion { #expect(error.recoverySuggestion?.contains(version.id) == true) }
    return newer
  }

  /// A store that a newer release made, so that no earlier version was kept, and its snapshot; the lock may lack the
  /// current version.
  @Test(arguments: [true, false])
  func `a release refuses to lose what a version has that its history lacks`(isShipped: Bool) throws {
    let directory = try TemporaryDirectory()
    let name = Make.attribute("name")
    let old = try ManagedObjectModel(entities: [Make.entity("Item", [name])])
    let current = try ManagedObjectModel(entities: [Make.entity("Item", [name, Make.attribute("size")])])
    let new = try ManagedObjectModel(entities: [
      Make.entity("Item", [name, Make.attribute("more")]), Make.entity("Tag", [name]),
    ])
    let shipped = isShipped ? [("1", old), ("2", current)] : [("1", old)]
    let locked = try LossConsentTests.history(shipped, in: directory)
    let history = ModelHistory(current: current, name: "2", earlier: [("1", old)]).locked(by: locked.lock)
    let store = directory.file("Journal.sqlite")
    try StoreGenerator.makeStore(at: store, model: new, objects: 5, seed: 3)
    try ModelController(storeURL: store).archive(new)
    let before = try FileContents(of: store)
    let assistant = MigrationAssistant(store, history)
    let error = try #require(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    guard case .unknownVersion(_, let plan?, _) = error else { throw error }
    #expect(plan.losses.map(\.name).sorted() == ["Item.more", "Tag"])
    #expect(try FileContents(of: store) == before)
  }

  @Test func `what the newer release wrote stays when the update comes again`() throws {
    let scene = try Scene(.addition)
    let archive = scene.assistant(scene.old).archive
    let kept = try #require(try archive.restorePreviousVersion().previous)
    #expect(kept.isPinned)
    // The update migrates the older store, and its later launches prune.
    for _ in 0..<3 {
      _ = try scene.assistant(scene.new, earlier: [("1", scene.old)]).migrateStore()
      try ModelController(storeURL: scene.store).archive(scene.new)
    }
    #expect(try archive.previousVersions().map(\.id).contains(kept.id))
    let opened = try PersistentStore.open(at: kept.storeURL, model: scene.new)
    defer { try? opened.close() }
    let rows = try ManagedObjectContext(store: opened).fetch(
      ObjectFetchRequest("Item", where: "more == %@", "made by the newer app"))
    #expect(rows.count == 7)
    try archive.releasePreviousVersion(kept.id)
    #expect(try archive.previousVersions().first { $0.id == kept.id }?.isPinned == false)
  }

  @Test(arguments: Change.allCases, [IncompatibleStorePolicy.throw, .setAside])
  func `an app that doesn't know the newer version is offered what was kept, and one call brings it back`(
    change: Change, policy: IncompatibleStorePolicy
  ) throws {
    let scene = try Scene(change)
    let app = scene.assistant(scene.old, policy: policy)
    #expect(try app.status() == .tooNew)
    let picture = FolderPicture(of: scene.directory.url)
    let newer = try newerStore(app)
    #expect(FolderPicture(of: scene.directory.url).differences(from: picture) == [])
    #expect(newer.versionName == nil && newer.versionChecksum == scene.new.versionChecksum())
    let version = try #require(newer.previousVersion)
    #expect(version.versionChecksum == scene.old.versionChecksum())
    #expect(try version.objectCount() == 50)
    #expect(abs(version.date.timeIntervalSinceNow) < 600)

    let result = try app.archive.restorePreviousVersion(version.id)
    #expect(try StoreContents(of: scene.store, model: scene.old) == scene.before)
    let kept = try #require(result.previous)
    #expect(try kept.objectCount() == 50)
    #expect(try app.status() == .current)
    try app.requireNothingToDo()
  }

  /// A store of version 1 that jumped to 3: what was kept is of version 1, which release 2 migrates itself.
  @Test func `an app between the store's version and the kept one is offered the kept one`() throws {
    let scene = try Scene(.addition)
    let between = try ManagedObjectModel(entities: [
      Make.entity("Item", [Make.attribute("name"), Make.attribute("must"), Make.attribute("between")])
    ])
    // The newer release has the version between in its history.
    let newer = scene.assistant(scene.new, earlier: [("1", scene.old), ("2", between)])
    try FileManager.default.removeItem(at: newer.modelController.snapshotURL)
    try newer.modelController.archive(scene.new)
    let app = scene.assistant(between, earlier: [("1", scene.old)])
    let store = try newerStore(app)
    let version = try #require(store.previousVersion)
    #expect(version.versionChecksum == scene.old.versionChecksum())
    _ = try app.archive.restorePreviousVersion(version.id)
    try app.migrate()
    #expect(try StoreContents(of: scene.store, model: between).objects.values.map(\.count) == [50])
  }

  @Test(arguments: Change.allCases)
  func `who went back and forth again is not taken for going back`(change: Change) throws {
    let scene = try Scene(change)
    let app = scene.assistant(scene.old)
    _ = try app.archive.restorePreviousVersion(newerStore(app).previousVersion?.id)
    // The version kept then is the newer one; the store still goes there.
    let newer = scene.assistant(scene.new, earlier: change == .withoutModel ? [("1", scene.old)] : [])
    #expect(try newer.status() == .tooOld)
    if change == .conversion {
      let error = try #require(throws: MigrationAssistantError.self) { try scene.assistant(scene.new).migrateStore() }
      #expect(error.code == "mappingNeeded")
    } else {
      try newer.migrate()
    }
  }

  @Test(arguments: [IncompatibleStorePolicy.throw, .setAside])
  func `a newer version of the history is refused without a lock, a folder or a byte`(
    policy: IncompatibleStorePolicy
  ) throws {
    let scene = try Scene(.addition)
    // This is as if another program had made the store: nothing of ours is beside it.
    try FileManager.default.removeItem(atPath: scene.store.path + ".heirloom")
    let picture = FolderPicture(of: scene.directory.url)
    let app = scene.assistant(scene.old, later: [("2", scene.new)], policy: policy)
    let newer = try newerStore(app)
    #expect(newer.versionName == "2" && newer.previousVersion == nil)
    #expect(try app.status() == .tooNew)
    var options = PersistentStoreOptions()
    options.migration.incompatibleStore = policy
    let opening = #expect(throws: MigrationAssistantError.self) {
      try PersistentStore.open(at: scene.store, history: app.history, options: options)
    }
    #expect(opening?.code == "newerVersion")
    #expect(FolderPicture(of: scene.directory.url).differences(from: picture) == [])
    #expect(picture.names.allSatisfy { !$0.contains("heirloom") })
  }

  @Test func `where going back loses nothing the store is simply migrated`() throws {
    let scene = try Scene(.addition)
    try Connection.execute("UPDATE ZITEM SET ZMORE = NULL", on: scene.store.path)
    try scene.assistant(scene.old).migrate()
    #expect(try StoreContents(of: scene.store, model: scene.old).count == 50)
  }

  /// A decision of an earlier release, each of which rows of a newer version need.
  static let decisions: [DataDecision] = [
    DataDecision(entity: "Item", property: "size", .fill(.integer(0))),
    DataDecision(entity: "Item", property: "size", .quarantine),
    DataDecision(entity: "Item", property: "name", .quarantine),
    DataDecision(entity: "Item", constraint: ["code"], .keepNewest(by: nil)),
    DataDecision(entity: "Item", constraint: ["code"], .merge(by: nil)),
    DataDecision(entity: "Item", constraint: ["code"], .quarantine),
  ]

  @Test(arguments: decisions, [true, false])
  func `a decision about rows says nothing about whose store it is`(decision: DataDecision, isKnown: Bool) throws {
    let directory = try TemporaryDirectory()
    func model(isNew: Bool) throws -> ManagedObjectModel {
      var item = Make.entity(
        "Item",
        [
          Make.attribute("name", optional: isNew), Make.attribute("code"),
          Make.attribute("size", isNew ? .integer64 : .integer16),
        ])
      if !isNew { item.uniquenessConstraints = [["code"]] }
      return try ManagedObjectModel(entities: [item])
    }
    let (old, new) = (try model(isNew: false), try model(isNew: true))
    let url = directory.file("Journal.sqlite")
    try PersistentStore.make(at: url, model: new) { context in
      for number in 0..<4 {
        let item = try context.insert("Item")
        let property = decision.properties[0]
        item["name"] = property == "name" && number == 0 ? nil : .string("\(number)")
        item["size"] = .integer(property == "size" && number == 0 ? 5_000_000_000 : 1)
        item["code"] = .string(property == "code" && number < 2 ? "same" : "\(number)")
      }
    }
    // Without a lock, a model that was archived beside the store may be one that the history no longer has.
    if isKnown { try ModelController(storeURL: url).archive(new) }
    let before = try FileContents(of: url)
    var configuration = MigrationAssistant.Configuration()
    configuration.decisions = [decision]
    let assistant = MigrationAssistant(
      url, ModelHistory(current: old, name: "1", later: isKnown ? [("2", new)] : []), configuration)
    let error = try #require(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    #expect(error.code == (isKnown ? "newerVersion" : "unknownVersion"))
    #expect(try FileContents(of: url) == before)
    // Once the store is accepted as the app's, the decision is carried out.
    configuration.migratesUnknownVersions = true
    let accepting = MigrationAssistant(url, assistant.history, configuration)
    guard !isKnown else { return }
    guard case .migrated(let report) = try accepting.migrateStore() else { throw error }
    #expect(report.plan.decisions.map { $0.filled + $0.removed } == [1])
  }
}
