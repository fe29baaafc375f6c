import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import HeirloomSupport
import TestSupport
import Testing

/// Stores that hold a configuration's part of a model: their metadata name the whole model, their tables only the part.
struct ConfigurationMigrationTests {
  private static func model(
    _ first: [EntityDescription], _ second: [EntityDescription], named names: [String] = ["first", "second"]
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: first + second,
      configurations: zip(names, [first, second]).map {
        ConfigurationDescription(name: $0, entityNames: $1.map(\.name))
      })
  }

  private static let zebra = Make.entity("Zebra", [Make.attribute("name")])
  private static let later = [
    Make.entity("Zebra", [Make.attribute("name"), Make.attribute("stripes", .integer16)]),
    // It sorts first, and would renumber all other entities if the store held it.
    Make.entity("AAAntelope", [Make.attribute("name")]),
  ]

  // MARK: Real stores

  /// Checks that a real store is migrated as a part of a larger model as it is by itself.
  static func check(_ run: CorpusRun) throws {
    // The same store is now a part of two models that change elsewhere too.
    let source = run.plan.source
    let models = [try model(source.entities, [zebra]), try model(run.history.current.entities, later)]
    for builder in [MigrationPlan.Builder.rebuild, .cloneAndAlter] {
      try Corpus.withCopy(of: run.store) { part in
        try adopt(models[0], part)
        let assistant = MigrationAssistant(part, from: models[0], to: models[1], builder: .always(builder))
        guard case .migrated(let report) = try assistant.migrateStore() else {
          Issue.record("\(run.name): expected a migration")
          return
        }
        #expect(report.plan.configuration == "first", run.name)
        #expect(try StoreContents(of: part, model: run.history.current) == run.after, run.name)
        #expect(try StoreContents(of: report.previousVersion.storeURL, model: source) == run.before, run.name)
        #expect(try StoreMetadata(contentsOf: part).versionHashes == models[1].versionHashes(), run.name)
        let verification = try StoreVerification.report(onStoreAt: part.path)
        #expect(verification.configuration == "first", run.name)
        // The corpus has stores without their external data.
        let errors = verification.findings.filter { $0.severity == .error && $0.kind != .missingExternalFile }
        #expect(errors.isEmpty, "\(errors.map(\.message))")
        guard case .upToDate = try assistant.migrateStore() else {
          Issue.record("\(run.name): expected nothing to do")
          return
        }
      }
    }
  }

  /// Makes a store claim that it was made with a model of which it holds a part.
  private static func adopt(_ model: ManagedObjectModel, _ store: URL) throws {
    let connection = try Connection(path: store.path, mode: .readWrite)
    var metadata = try StoreMetadata(connection: connection, path: store.path)
    metadata.adopt(model)
    try connection.execute("DELETE FROM Z_METADATA")
    try metadata.write(to: connection)
    if try connection.firstInteger("SELECT 1 FROM sqlite_schema WHERE name = 'Z_MODELCACHE'") != nil {
      try connection.execute("DELETE FROM Z_MODELCACHE")
      try connection.execute("INSERT INTO Z_MODELCACHE VALUES (?1)", [.blob(try ModelArchiveWriter.cache(model))])
    }
    try connection.close()
  }

  // MARK: Opening

  private static func makeStore(_ url: URL, _ model: ManagedObjectModel, _ configuration: String) throws {
    let store = try PersistentStore.create(at: url, model: model, configuration: configuration)
    let context = ManagedObjectContext(store: store)
    for entity in store.schema.entities where !entity.isAbstract {
      for number in 0..<5 { try context.insert(entity.name)["name"] = .string("\(entity.name) \(number)") }
    }
    try context.save()
    try store.close()
  }

  @Test func `both stores of an app are migrated when they are opened, each as its part`() throws {
    let directory = try TemporaryDirectory()
    let animal = Make.entity("Animal", [Make.attribute("name")])
    var (horse, pony) = (Make.entity("Horse", []), Make.entity("Pony", [Make.attribute("size", .integer16)]))
    horse.superentity = "Animal"
    pony.superentity = "Animal"
    var tall = Make.entity("Horse", [Make.attribute("height", .double)])
    tall.superentity = "Animal"
    let models = [
      try Self.model([animal, horse, pony], [Self.zebra]), try Self.model([animal, tall, pony], Self.later),
    ]
    let history = ModelHistory(current: models[1], earlier: [("1", models[0])])
    for (configuration, counts) in [("first", ["Animal": 15, "Pony": 5]), ("second", ["Zebra": 5, "AAAntelope": 0])] {
      let url = directory.file("\(configuration).sqlite")
      try Self.makeStore(url, models[0], configuration)
      var options = PersistentStoreOptions()
      options.configuration = configuration
      for launch in 1...2 {
        let bytes = try Data(contentsOf: url)
        let store = try PersistentStore.open(at: url, history: history, options: options)
        let context = ManagedObjectContext(store: store)
        for (entity, count) in counts { #expect(try context.count(ObjectFetchRequest(entity)) == count) }
        let found = try context.fetch(ObjectFetchRequest(configuration == "first" ? "Animal" : "Zebra"))
        #expect(Set(try found.map { try $0.string("name") }).count == found.count)
        try store.close()
        #expect(try Data(contentsOf: url) == bytes || launch == 1)
      }
      let report = try StoreVerification.report(onStoreAt: url.path)
      #expect(report.findings.isEmpty && report.configuration == configuration)
    }
  }

  @Test func `a configuration of some subentities is not taken for one of fewer`() throws {
    let animal = Make.entity("Animal", [Make.attribute("name")])
    var horse = Make.entity("Horse", [Make.attribute("height", .double)])
    horse.superentity = "Animal"
    let model = try ManagedObjectModel(
      entities: [animal, horse, Self.zebra],
      configurations: [
        ConfigurationDescription(name: "a few", entityNames: ["Animal"]),
        ConfigurationDescription(name: "more", entityNames: ["Animal", "Horse"]),
      ])
    let directory = try TemporaryDirectory()
    for configuration in ["a few", "more"] {
      let url = directory.file("\(configuration).sqlite")
      try Self.makeStore(url, model, configuration)
      #expect(try StoreVerification.report(onStoreAt: url.path).configuration == configuration)
    }
  }

  @Test(arguments: ["gone", "moved away", "moved here", "not closed"])
  func `a migration that would lead out of the part is refused`(_ fault: String) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let horse = Make.entity("Horse", [Make.attribute("name")])
    let source = try Self.model([horse], [Self.zebra])
    let destination =
      switch fault {
      case "gone": try Self.model([horse], Self.later, named: ["one", "second"])
      case "moved away": try Self.model([Self.later[1]], [horse, Self.later[0]])
      case "moved here": try Self.model([horse, Self.later[0]], [Self.later[1]])
      default:
        try Self.model(
          [Make.entity("Horse", [Make.attribute("name")], [Make.toOne("friend", "Zebra", nil)])], Self.later)
      }
    try Self.makeStore(url, source, "first")
    let before = try Data(contentsOf: url)
    let assistant = MigrationAssistant(url, from: source, to: destination)
    let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    guard case .failed(_, .unfitConfiguration("first", _))? = error else {
      Issue.record("another error: \(String(describing: error))")
      return
    }
    #expect(error?.coreDataCode == 134_020)
    #expect(try Data(contentsOf: url) == before)
  }

  @Test func `a configuration that lists an entity without its parent is migrated as that part`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(_ zebra: EntityDescription) throws -> ManagedObjectModel {
      var note = Make.entity("Note", [Make.attribute("text")])
      note.superentity = "Item"
      return try ManagedObjectModel(
        entities: [Make.entity("Item", [Make.attribute("name")]), note, zebra],
        configurations: [ConfigurationDescription(name: "first", entityNames: ["Note"])])
    }
    let models = [try model(Self.zebra), try model(Self.later[0])]
    try Self.makeStore(url, models[0], "first")
    let assistant = MigrationAssistant(url, from: models[0], to: models[1])
    let report = try assistant.migrate()
    #expect(report.plan.configuration == "first")
  }

  @Test func `a whole store that lost the tables of the other configuration is not taken for a part`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let horse = Make.entity("Horse", [Make.attribute("name")])
    let models = [try Self.model([horse], [Self.zebra]), try Self.model([horse], Self.later)]
    let store = try PersistentStore.create(at: url, model: models[0])
    try store.connection.execute("DROP TABLE ZZEBRA")
    try store.close()
    let before = try Data(contentsOf: url)
    let assistant = MigrationAssistant(url, from: models[0], to: models[1])
    let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    guard case .failed(_, .storeContradictsModel)? = error else {
      Issue.record("another error: \(String(describing: error))")
      return
    }
    #expect(try Data(contentsOf: url) == before)
  }

  @Test(arguments: ["corrupt", "half done"])
  func `what a configuration's store needs before it is opened is done all the same`(_ state: String) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let model = try Self.model([Make.entity("Horse", [Make.attribute("name")])], [Self.zebra])
    try Self.makeStore(url, model, "first")
    let left = URL(fileURLWithPath: url.path + ".heirloom/incoming/0123456789abcdef0123456789abcdef")
    if state == "corrupt" {
      try Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: url)
    } else {
      try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
    }
    var options = PersistentStoreOptions()
    options.configuration = "first"
    options.migration.incompatibleStore = .setAside
    let store = try PersistentStore.open(at: url, history: ModelHistory(current: model), options: options)
    #expect(try ManagedObjectContext(store: store).count("Horse") == (state == "corrupt" ? 0 : 5))
    try store.close()
    let assistant = MigrationAssistant(url, ModelHistory(current: model))
    #expect(try assistant.archive.pendingNotices().count == (state == "corrupt" ? 1 : 0))
    #expect(!FileManager.default.fileExists(atPath: left.path))
  }
}
