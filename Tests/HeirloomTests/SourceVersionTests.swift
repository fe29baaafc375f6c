import Foundation
import Heirloom
import TestSupport
import Testing

/// The version that made a store, when several have its hashes.
struct SourceVersionTests {
  private static func version(_ delegate: ClosureDelegate) -> String? {
    delegate.events.lazy.compactMap { if case .foundSourceModel(_, let version) = $0 { version } else { nil } }.first
  }

  private static func isInDoubt(_ delegate: ClosureDelegate) -> Bool {
    delegate.events.contains { if case .sourceModelUncertain = $0 { true } else { false } }
  }

  private static func history(_ later: [(name: String, model: ManagedObjectModel)] = []) throws -> ModelHistory {
    try ModelHistory(
      current: TwinVersions.current(), name: "3",
      earlier: TwinVersions.Version.allCases.map { ($0.rawValue, try TwinVersions.model($0)) }, later: later)
  }

  @Test(arguments: TwinVersions.evidence)
  func `an app's store is migrated from the version that made it`(evidence: TwinVersions.Evidence) throws {
    let one = try TwinVersions.model(.one)
    let two = try TwinVersions.model(.two)
    #expect(one.versionHashes() == two.versionHashes() && one != two)
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    try TwinVersions.makeStore(at: store, evidence)
    let assistant = try MigrationAssistant(store, Self.history())
    let delegate = ClosureDelegate(model: try evidence.given.map(TwinVersions.model))
    assistant.delegate = delegate
    let plan = try #require(try assistant.plan())
    #expect(plan.source == (try TwinVersions.model(evidence.expected)))
    #expect(plan.warnings.contains { $0.contains("It is unknown whether") } == evidence.isDoubtful)
    let report = try assistant.migrate()
    #expect(Self.version(delegate) == evidence.expected.rawValue)
    #expect(Self.isInDoubt(delegate) == evidence.isDoubtful)
    #expect(report.plan.warnings.contains { $0.contains("It is unknown whether") } == evidence.isDoubtful)
    #expect(try TwinVersions.values(in: store) == TwinVersions.expected(evidence.expected))
    // The previous version keeps the renaming identifiers, and so does the store that is restored.
    let kept = try #require(try assistant.archive.previousVersions().first)
    let snapshot = kept.storeURL.deletingLastPathComponent().appendingPathComponent("model.json.gz")
    #expect(try ModelSnapshot(contentsOf: snapshot).model == TwinVersions.model(evidence.expected))
  }

  @Test func `many stores of one process get each its own version`() throws {
    let directory = try TemporaryDirectory()
    let history = try Self.history()
    let stores = TwinVersions.evidence.filter { $0.given == nil }
    for (number, evidence) in (stores + stores).enumerated() {
      let store = directory.file("\(number).sqlite")
      try TwinVersions.makeStore(at: store, evidence)
      try MigrationAssistant(store, history).migrate()
      #expect(
        try TwinVersions.values(in: store) == TwinVersions.expected(evidence.expected), "\(evidence.testDescription)")
    }
  }

  @Test func `a model that is given decides even over the only version that is known`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    try TwinVersions.makeStore(at: store, .init(.two, identifiers: ["2"], cache: .two))
    let history = try ModelHistory(
      current: TwinVersions.current(), name: "3", earlier: [("2", TwinVersions.model(.two))])
    let assistant = MigrationAssistant(store, history)
    let delegate = ClosureDelegate(model: try TwinVersions.model(.one))
    assistant.delegate = delegate
    let report = try assistant.migrate()
    #expect(report.modelSource == .delegate)
    #expect(try TwinVersions.values(in: store) == ["A", "B"])
  }

  @Test func `a model that is given and doesn't fit is not believed`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    try TwinVersions.makeStore(at: store, .init(.one, identifiers: ["1"]))
    let assistant = try MigrationAssistant(store, Self.history())
    let delegate = ClosureDelegate(model: try ManagedObjectModel(entities: [EntityDescription(name: "Other")]))
    assistant.delegate = delegate
    let report = try assistant.migrate()
    #expect(report.modelSource == .file)
    #expect(try TwinVersions.values(in: store) == ["A", "B"])
  }

  @Test func `a later version with the hashes of an earlier one is newer if the store says so`() throws {
    let directory = try TemporaryDirectory()
    let history = try ModelHistory(
      current: TwinVersions.current(), name: "current", earlier: [("earlier", TwinVersions.model(.one))],
      later: [("later", TwinVersions.model(.two))])
    let (earlier, later) = (directory.file("Earlier.sqlite"), directory.file("Later.sqlite"))
    try TwinVersions.makeStore(at: earlier, .init(.one, identifiers: ["1"]))
    try TwinVersions.makeStore(at: later, .init(.two, identifiers: ["2"]))
    #expect(try MigrationAssistant(earlier, history).status() == .tooOld)
    #expect(try MigrationAssistant(later, history).status() == .tooNew)
    try MigrationAssistant(earlier, history).migrate()
    let error = #expect(throws: MigrationAssistantError.self) { try MigrationAssistant(later, history).migrateStore() }
    guard case .newerVersion(let newer) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(newer.versionName == "later")
  }

  @Test func `versions of equal content are one, and nothing is in doubt`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    try TwinVersions.makeStore(at: store, .init(.one))
    let history = try ModelHistory(
      current: TwinVersions.current(), name: "3",
      earlier: [("1", TwinVersions.model(.one)), ("1 again", TwinVersions.model(.one))])
    let assistant = MigrationAssistant(store, history)
    let delegate = ClosureDelegate()
    assistant.delegate = delegate
    try assistant.migrate()
    #expect(Self.version(delegate) == "1 again" && !Self.isInDoubt(delegate))
  }

  // MARK: - Reading

  @Test func `no version is read again for the next store, and one that is broken keeps none from its own`() throws {
    let directory = try TemporaryDirectory()
    let folder = directory.file("History")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    func file(_ name: String) -> URL { folder.appendingPathComponent(name + ".json") }
    func write(_ model: ManagedObjectModel, _ name: String) throws {
      try ModelSnapshot(model: model).encoded(.readable).write(to: file(name))
    }
    // These are more than are remembered, all of other hashes.
    for number in 10..<30 {
      let item = Make.entity("Item", [AttributeDescription(name: "number\(number)", type: .string)])
      try write(try ManagedObjectModel(entities: [item]), "0 \(number)")
    }
    for version in TwinVersions.Version.allCases { try write(TwinVersions.model(version), version.rawValue) }
    try write(TwinVersions.current(), "3")
    try Data("{}".utf8).write(to: file("0 10"))
    let history = try ModelHistory(contentsOf: folder)
    for (number, version) in [TwinVersions.Version.one, .two, .one].enumerated() {
      let store = directory.file("\(number).sqlite")
      try TwinVersions.makeStore(at: store, .init(version, identifiers: [version.rawValue]))
      try MigrationAssistant(store, history).migrate()
      #expect(try TwinVersions.values(in: store) == TwinVersions.expected(version))
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name != "3.json" {
        try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
      }
    }
  }

  @Test func `the lock's checksums spare the reading of versions that can't be it`() throws {
    let directory = try TemporaryDirectory()
    let folder = directory.file("History")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let item = Make.entity("Item", [AttributeDescription(name: "old", type: .string)])
    let oldest = try ManagedObjectModel(entities: [item])
    let models = [("0", oldest), ("1", try TwinVersions.model(.one)), ("2", try TwinVersions.current())]
    for (name, model) in models {
      try ModelSnapshot(model: model).encoded(.readable).write(to: folder.appendingPathComponent(name + ".json"))
    }
    let lock = models.map { "{\"name\": \"\($0.0)\", \"checksum\": \"\($0.1.versionChecksum())\"}" }
    try Data("{\"format\": 1, \"versions\": [\(lock.joined(separator: ","))]}".utf8)
      .write(to: folder.appendingPathComponent("lock.json"))
    let history = try ModelHistory(contentsOf: folder)
    #expect(history.versions(withHashes: try TwinVersions.model(.one).versionHashes()).compactMap(\.name) == ["1"])
    try ModelSnapshot(model: models[2].1).encoded(.readable).write(to: folder.appendingPathComponent("0.json"))
    // It is read for the first time now.
    #expect(try history.model(named: "0") == models[2].1)
  }
}

/// The pair of the corpus that has equal hashes and different renaming identifiers.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct CorpusTwinTests {
  private static let bundle = "wire-ios-data-model/models/zmessaging.xcdatamodeld"

  /// Covers 2.47.0: an attribute's renaming identifier was put on its entity, so no conversation continues from there.
  @Test(arguments: ["2.46.0", "2.47.0"], [true, false])
  func `conversations go where the version that made the store says`(number: String, hasIdentifiers: Bool) throws {
    let names = ["2.46.0", "2.47.0", "2.48.0"].map { "zmessaging\($0)" }
    let models = try names.map { name in
      try #require(try Corpus.versions(of: Self.bundle).first { $0.name == name }).model
    }
    #expect(models[0].versionHashes() == models[1].versionHashes())
    let made = try #require(zip(names, models).first { $0.0.hasSuffix(number) }).1
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let store = try PersistentStore.create(at: url, model: made)
    let context = ManagedObjectContext(store: store)
    let conversation = try context.insert("Conversation")
    try conversation.setValue(.double(7), forAttribute: "messageDestructionTimeout")
    try context.save()
    if !hasIdentifiers {
      var metadata = try StoreMetadata(connection: store.connection, path: url.path)
      metadata.versionIdentifiers = [""]
      try metadata.write(to: store.connection)
    }
    try store.close()
    let history = ModelHistory(
      current: models[2], name: names[2], earlier: [(names[0], models[0]), (names[1], models[1])])
    let plan = try #require(
      try MigrationAssistant(url, history).plan())
    #expect(plan.source.versionIdentifiers == [number])
    let mapping = plan.mapping.entityMappings.first { $0.destinationEntityName == "Conversation" }
    #expect((mapping?.sourceEntityName == "Conversation") == (number == "2.46.0"))
  }
}
