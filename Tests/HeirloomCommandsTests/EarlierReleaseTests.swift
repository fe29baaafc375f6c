import Foundation
import Heirloom
import TestSupport
import Testing

/// An earlier release of an app that opens the store of a later one, in the app and by the tool.
struct EarlierReleaseTests {
  /// The versions that the store had, the last one being what it is now; it was created with the first.
  struct Route: Hashable, CustomTestStringConvertible {
    let versions: [Int]
    var last: Int { versions[versions.count - 1] }
    var testDescription: String { versions.map(String.init).joined(separator: " → ") }

    static let all: [Route] = (2...4).flatMap { last in
      (0..<(1 << (last - 1))).map { bits in
        Route(versions: (1..<last).filter { bits & (1 << ($0 - 1)) != 0 } + [last])
      }
    }
  }

  /// What is there of the store's model.
  enum Trace: String, CaseIterable {
    case both, snapshot, cache, neither
  }

  /// Each version adds something, and the fourth changes a type, so that nothing can be inferred.
  private static func model(_ version: Int) throws -> ManagedObjectModel {
    func attribute(_ name: String, _ type: AttributeType = .string) -> AttributeDescription {
      Make.attribute(name, type)
    }
    var item = Make.entity("Item", [attribute("name"), attribute("kind", version < 4 ? .string : .binary)])
    item.attributes += (2...4).filter { $0 <= version }.map { attribute("added\($0)") }
    let extra = Make.entity("Extra", [attribute("text")])
    return try ManagedObjectModel(entities: version < 3 ? [item] : [item, extra])
  }

  /// The release's version, and those before unless it ships its own alone.
  private static func history(_ release: Int, isAlone: Bool = false) throws -> ModelHistory {
    let earlier = try (isAlone ? release..<release : 1..<release).map { (name: "\($0)", model: try model($0)) }
    var history = ModelHistory(current: try model(release), name: "\(release)", earlier: earlier)
    if release == 4, !isAlone {
      try history.step(from: "3", to: "4") {
        EntityMapping(from: "Item", to: "Item") { PropertyMapping("kind") }
      }
    }
    return history
  }

  private static func writeModels(of release: Int, isAlone: Bool = false, locked: Bool, to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let models = try (isAlone ? release...release : 1...release).map { ("\($0)", try model($0)) }
    for (name, model) in models {
      try Data(ModelSnapshot(model: model, archivedAt: Date(timeIntervalSince1970: 0)).bytes(.readable))
        .write(to: folder.appendingPathComponent("\(name).json"))
    }
    guard locked else { return }
    let lock = VersionLock(versions: models.map { VersionLock.Entry(name: $0.0, model: $0.1) })
    try Data(lock.encoded()).write(to: folder.appendingPathComponent("lock.json"))
  }

  /// Each release of the route has written to the store.
  private static func makeStore(_ route: Route, isPlain: Bool = false, at url: URL) throws {
    for version in route.versions {
      let history = try history(version)
      let store = try PersistentStore.open(at: url, history: history)
      let context = ManagedObjectContext(store: store)
      let item = try context.insert("Item")
      item["name"] = .string("of \(version)")
      if version < 4 { item["kind"] = .string("plain") }
      if !isPlain {
        for object in try context.fetch("Item") where version > 1 { object["added\(version)"] = .string("later") }
        if version >= 3 { try context.insert("Extra")["text"] = .string("later") }
      }
      try context.save()
      try store.close()
    }
  }

  private static func leave(_ trace: Trace, at url: URL) throws {
    if trace == .cache || trace == .neither {
      try FileManager.default.removeItem(at: ModelController(storeURL: url).snapshotURL)
    }
    if trace == .snapshot || trace == .neither {
      try Connection.execute("DELETE FROM Z_MODELCACHE", on: url.path)
    }
  }

  private static func names(_ url: URL) throws -> [String] {
    try Connection(reading: url).rows("SELECT ZNAME FROM ZITEM ORDER BY Z_PK")
      .compactMap { $0[0].text }
  }

  @Test(arguments: Route.all)
  func `a store of a later release is refused as it is, by app and tool`(route: Route) throws {
    let directory = try TemporaryDirectory()
    let made = directory.file("Made")
    try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
    try Self.makeStore(route, at: made.appendingPathComponent("Journal.sqlite"))
    let cases = (1..<route.last).flatMap { release in
      Trace.allCases.flatMap { trace in (0..<4).map { (release, trace, $0 & 1 == 0, $0 & 2 == 0) } }
    }
    let start = route.versions.reduce(0, +) % 5
    for (number, (release, trace, locked, isAlone)) in cases.enumerated()
    where LongTests.areOn || number % 5 == start {
      let name = "\(release) \(trace)\(locked ? " locked" : "")\(isAlone ? " alone" : "")"
      let folder = directory.file(name)
      try FileManager.default.copyItem(at: made, to: folder)
      let url = folder.appendingPathComponent("Journal.sqlite")
      try Self.leave(trace, at: url)
      let models = folder.appendingPathComponent("Models")
      try Self.writeModels(of: release, isAlone: isAlone, locked: locked, to: models)
      let before = StoreBytes(of: url)
      let kept = try StoreArchive(storeURL: url).previousVersions().map(\.id)
      let codes = trace == .neither ? ["noModel", "newerVersion"] : ["unknownVersion", "newerVersion"]

      let assistant = MigrationAssistant(url, try ModelHistory(contentsOf: models))
      let error = #expect(throws: MigrationAssistantError.self, "\(name)") { try assistant.migrateStore() }
      #expect(codes.contains(error?.code ?? ""), "\(name): \(error?.code ?? "")")
      let status = try assistant.status()
      #expect(status == .unknown || status == .tooNew, "\(name)")
      #expect(StoreBytes(of: url) == before, "\(name)")

      for command in ["plan", "migrate"] {
        let outcome = Tool(directory: folder)(command, "Journal.sqlite", "--to", "Models", "--accept-losses", "--json")
        #expect(outcome.code == 5, "\(name) \(command): \(outcome.output)")
        #expect(codes.contains(try outcome.failure()["code"] as? String ?? ""), "\(name) \(command)")
      }
      #expect(StoreBytes(of: url) == before, "\(name)")
      #expect(try StoreArchive(storeURL: url).previousVersions().map(\.id) == kept, "\(name)")
    }
  }

  @Test(arguments: [(1, 2), (1, 3), (2, 3)], [Trace.both, .snapshot, .cache])
  func `a store that loses nothing goes back to an earlier release`(releases: (Int, Int), trace: Trace) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Journal.sqlite")
    try Self.makeStore(Route(versions: [releases.1]), isPlain: true, at: url)
    try Self.leave(trace, at: url)
    let assistant = MigrationAssistant(url, try Self.history(releases.0))
    let report = try assistant.migrate()
    #expect(report.plan.losses.isEmpty)
    #expect(try Self.names(url) == ["of \(releases.1)"])
  }

  @Test func `who accepts the version consents to no loss, so the later release's store is pinned`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Journal.sqlite")
    try Self.makeStore(Route(versions: [3]), at: url)
    let assistant = MigrationAssistant(url, try Self.history(2))
    assistant.delegate = ClosureDelegate(decision: { _ in .proceed(acceptingUnknownVersion: true) })
    let report = try assistant.migrate()
    #expect(report.plan.unconsentedLosses.map(\.name).sorted() == ["Extra", "Item.added3"])
    #expect(report.previousVersion.isPinned)
  }

  private static func assistant(ofRelease release: Int, isAlone: Bool = true, at url: URL) throws -> MigrationAssistant
  {
    MigrationAssistant(url, try history(release, isAlone: isAlone))
  }

  @Test func `a restored version is still known to be later, and so is one that the tool made`() throws {
    let directory = try TemporaryDirectory()
    let restored = directory.file("Restored.sqlite")
    try Self.makeStore(Route(versions: [3, 4]), at: restored)
    _ = try StoreArchive(storeURL: restored).restorePreviousVersion()
    let migrated = directory.file("Migrated.sqlite")
    try Self.makeStore(Route(versions: [1]), at: migrated)
    try Self.writeModels(of: 3, locked: false, to: directory.file("Models"))
    #expect(Tool(directory: directory.file("."))("migrate", "Migrated.sqlite", "--to", "Models").code == 0)
    let store = try PersistentStore.open(at: migrated, model: Self.model(3))
    let context = ManagedObjectContext(store: store)
    try context.insert("Extra")["text"] = .string("later")
    try context.save()
    try store.close()
    for url in [restored, migrated] {
      let before = StoreBytes(of: url)
      let assistant = try Self.assistant(ofRelease: 2, at: url)
      let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
      #expect(error?.code == "newerVersion")
      #expect(try assistant.status() == .tooNew)
      #expect(StoreBytes(of: url) == before)
    }
  }

  /// A snapshot of an earlier Heirloom has no record: then it is the last-used model of an app with one model.
  @Test func `without the record a release with its own model alone takes a snapshot for its own`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Journal.sqlite")
    try Self.makeStore(Route(versions: [3]), at: url)
    try FileManager.default.removeItem(at: ModelController(storeURL: url).snapshotURL)
    try ModelController(storeURL: url).archive(Self.model(3))
    let assistant = try Self.assistant(ofRelease: 2, at: url)
    #expect(try assistant.status() == .tooOld)
    let report = try assistant.migrate()
    #expect(report.plan.unconsentedLosses.map(\.name).sorted() == ["Extra", "Item.added3"])
    #expect(report.previousVersion.isPinned)
  }

  @Test(arguments: [true, false])
  func `a mapping that names all entities of a version makes it known`(namesAll: Bool) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Journal.sqlite")
    try Self.makeStore(Route(versions: [3]), at: url)
    try Self.leave(.cache, at: url)
    let mapping = try MappingModel.inferred(from: Self.model(3), to: Self.model(2))
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [
      namesAll ? mapping : MappingModel(entityMappings: mapping.entityMappings.filter { $0.sourceEntityName == "Item" })
    ]
    let assistant = MigrationAssistant(url, try Self.history(2), configuration)
    guard namesAll else {
      let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
      #expect(error?.code == "unknownVersion")
      return
    }
    let report = try assistant.migrate()
    #expect(report.previousVersion.isPinned)
  }

  @Test(arguments: [(3, Trace.cache, true), (3, .snapshot, false), (2, .cache, false), (2, .snapshot, false)])
  func `a store is moved aside only where no mapping can be made for it and nothing shows that it is later`(
    release: Int, trace: Trace, isMoved: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Journal.sqlite")
    try Self.makeStore(Route(versions: [release + 1]), at: url)
    try Self.leave(trace, at: url)
    let before = StoreBytes(of: url)
    let assistant = MigrationAssistant(url, try Self.history(release), .init(incompatibleStore: .setAside))
    guard isMoved else {
      let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
      #expect(error?.code == (trace == .cache ? "unknownVersion" : "newerVersion"))
      #expect(StoreBytes(of: url) == before)
      return
    }
    guard case .setAside(let notice) = try assistant.migrateStore() else {
      Issue.record("the store was not moved")
      return
    }
    #expect(notice.reason.contains("may come from a newer app"))
    #expect(try assistant.archive.pendingNotices().count == 1)
  }

  @Test func `the missing conversion comes after the unknown version`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Journal.sqlite")
    try Self.makeStore(Route(versions: [4]), at: url)
    try Self.leave(.cache, at: url)
    let assistant = MigrationAssistant(url, try Self.history(3))
    for error in [
      #expect(throws: MigrationAssistantError.self) { try assistant.plan() },
      #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() },
    ] {
      guard case .unknownVersion(_, nil, let obstacles) = error else { throw try #require(error) }
      #expect(obstacles.map(\.property) == ["kind"])
      #expect(error?.cause.contains("may come from a newer app, and no mapping can be inferred") == true)
    }
  }
}
