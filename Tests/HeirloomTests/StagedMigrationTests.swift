import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

struct StagedMigrationTests {
  /// Versions whose neighbours have inferred mappings: `note` is text, goes, and comes back as a number.
  ///
  /// No mapping can be inferred from the first to the third or fourth.
  struct Scene {
    let directory: TemporaryDirectory
    let models: [ManagedObjectModel]
    var store: URL { directory.file("Store.sqlite") }

    init() throws {
      directory = try TemporaryDirectory()
      let name = Make.attribute("name")
      models = try [
        [name, Make.attribute("note")],
        [name],
        [name, Make.attribute("note", .integer64)],
        [name, Make.attribute("note", .integer64), Make.attribute("extra")],
      ].map { try ManagedObjectModel(entities: [Make.entity("Item", $0)]) }
    }

    func makeStore(version: Int = 1) throws {
      try StoreGenerator.makeStore(at: store, model: models[version - 1], objects: 9, seed: 5)
      try ModelController(storeURL: store).archive(models[version - 1])
    }

    func reference(_ version: Int) -> ManagedObjectModelReference {
      ManagedObjectModelReference(model: models[version - 1], versionChecksum: checksum(version))
    }

    func checksum(_ version: Int) -> String { models[version - 1].versionChecksum() }

    func custom(
      _ from: Int, _ to: Int, will: CustomMigrationStage.Handler? = nil, did: CustomMigrationStage.Handler? = nil
    ) -> CustomMigrationStage {
      let stage = CustomMigrationStage(migratingFrom: reference(from), to: reference(to), label: "\(from) to \(to)")
      stage.willMigrateHandler = will
      stage.didMigrateHandler = did
      return stage
    }

    func light(_ versions: Int...) -> LightweightMigrationStage { LightweightMigrationStage(versions.map(checksum)) }

    /// Makes stages in the notation `[1,2] 2>3`.
    func stages(_ text: String) -> [StoreMigrationStage] {
      text.split(separator: " ").map { stage in
        let numbers = stage.split { !$0.isNumber }.compactMap { Int($0) }
        return stage.contains(">")
          ? custom(numbers[0], numbers[1]) : LightweightMigrationStage(numbers.map(checksum))
      }
    }

    func assistant(_ stages: [StoreMigrationStage]?, to version: Int) throws -> MigrationAssistant {
      let assistant = MigrationAssistant(store, ModelHistory(current: models[version - 1]))
      assistant.stagedManager = try stages.map { try StagedMigrationManager($0) }
      return assistant
    }

    @discardableResult
    func migrate(_ stages: [StoreMigrationStage]?, to version: Int) throws -> MigrationReport? {
      guard case .migrated(let report) = try assistant(stages, to: version).migrateStore() else { return nil }
      return report
    }

    func values(_ name: String, version: Int) throws -> [AttributeValue?] {
      let context = ManagedObjectContext(
        store: try PersistentStore.open(at: store, model: models[version - 1], isReadOnly: true))
      return try context.fetch(ObjectFetchRequest("Item")).map { $0[name] }
    }
  }

  /// Checks Core Data's treatment of such stages, as its users measured it (Apple's developer forum, thread 804902).
  @Test(arguments: [
    ("", 1, 2, true), ("", 2, 3, true), ("", 3, 4, true), ("", 1, 3, false), ("", 1, 4, false), ("", 2, 4, true),
    ("[1,2,3]", 1, 3, false), ("[1] [2] [3]", 1, 3, false), ("1>2 [3]", 1, 3, true), ("[1] 2>3", 1, 3, true),
    ("1>2 2>3", 1, 3, true), ("1>2 [3,4]", 1, 4, true), ("[3,4] 1>2", 1, 4, false), ("[1,2] [3,4]", 1, 4, false),
    ("[1] 2>3 [4]", 1, 4, true), ("[1,4] 2>3", 1, 4, true), ("2>3 [1,4]", 1, 4, false),
  ])
  func `the matrix of Core Data's users`(text: String, from: Int, to: Int, succeeds: Bool) throws {
    let scene = try Scene()
    try scene.makeStore(version: from)
    let before = try Data(contentsOf: scene.store)
    let stages = text.isEmpty ? nil : scene.stages(text)
    guard succeeds else {
      let error = try #require(throws: MigrationAssistantError.self) { try scene.migrate(stages, to: to) }
      #expect(error.coreDataCode == (text == "[3,4] 1>2" ? 134506 : 134190))
      #expect(try Data(contentsOf: scene.store) == before)
      return
    }
    let names = try scene.values("name", version: from)
    let report = try #require(try scene.migrate(stages, to: to))
    #expect(report.destinationChecksum == scene.checksum(to))
    #expect(try scene.values("name", version: to) == names)
    #expect(try scene.migrate(stages, to: to) == nil)
  }

  @Test(arguments: [("1>2", 2, 1), ("1>2 2>3", 3, 2)])
  func `the space that is told counts the store between two hops`(text: String, to: Int, stores: Int64) throws {
    let scene = try Scene()
    try scene.makeStore()
    let plan = try #require(try scene.assistant(scene.stages(text), to: to).plan())
    let size = try Int64(Data(contentsOf: scene.store).count)
    #expect(plan.bytesBuilt == size * stores)
    #expect(plan.bytesNeeded == size * stores + size * stores / 10 + MigrationPlan.bytesReserved)
  }

  @Test func `code runs in order, with the objects of the model before and after each step`() throws {
    let scene = try Scene()
    try scene.makeStore()
    let calls = Locked<[String]>([])
    @Sendable func record(_ context: ManagedObjectContext, _ what: String) {
      calls.withLock { $0.append("\(what) on \(context.store.model.versionChecksum())") }
    }
    let stages = [(1, 2), (2, 3)].map { from, to in
      scene.custom(from, to, will: { record($0, "will \(from) to \(to)") }, did: { record($0, "did \(from) to \(to)") })
    }
    try scene.migrate(stages, to: 4)
    #expect(
      calls.withLock { $0 } == [
        "will 1 to 2 on \(scene.checksum(1))", "did 1 to 2 on \(scene.checksum(2))",
        "will 2 to 3 on \(scene.checksum(2))", "did 2 to 3 on \(scene.checksum(3))",
      ])
  }

  @Test func `what code saves is in the store, and the version that is kept knows nothing of it`() throws {
    let scene = try Scene()
    try scene.makeStore()
    let notes = try scene.values("note", version: 1)
    let lengths = Locked<[Int64: Int64]>([:])
    let first = scene.custom(
      1, 2,
      will: { context in
        for item in try context.fetch(ObjectFetchRequest("Item")) {
          if case .string(let text)? = item["note"] {
            let key = try #require(item.objectID).primaryKey
            lengths.withLock { $0[key] = Int64(text.utf8.count) }
          }
          item["name"] = .string("seen")
        }
        try context.save()
      })
    let second = scene.custom(
      2, 3,
      did: { context in
        for item in try context.fetch(ObjectFetchRequest("Item")) {
          let key = try #require(item.objectID).primaryKey
          item["note"] = lengths.withLock { $0[key] }.map { .integer($0) }
        }
        let new = try context.insert("Item")
        new["name"] = .string("new")
        try context.save()
      })
    let report = try #require(try scene.migrate([first, second], to: 3))
    let texts = Int64(notes.count { $0 != nil })
    #expect(report.plan.losses.map(\.rows) == [texts])
    #expect(report.plan.hops.last?.rows == [EntityRows(entity: "Item", before: 9, after: 10)])
    let expected: [AttributeValue?] = notes.map { note in
      if case .string(let text)? = note { .integer(Int64(text.utf8.count)) } else { nil }
    }
    #expect(try scene.values("note", version: 3) == expected + [nil])
    #expect(
      try scene.values("name", version: 3) == Array(repeating: .string("seen"), count: 9) + [.string("new")])
    let controller = try scene.assistant(nil, to: 3)
    let kept = try controller.archive.previousVersions()
    #expect(kept.map(\.versionChecksum) == [scene.checksum(1)])
    _ = try controller.archive.restorePreviousVersion(kept[0].id)
    #expect(try scene.values("note", version: 1) == notes)
    #expect(try !scene.values("name", version: 1).contains(.string("seen")))
  }

  /// A store in which a name is missing, and a hop to a model that requires it.
  private struct Required {
    let directory: TemporaryDirectory
    let models: [ManagedObjectModel]
    var store: URL { directory.file("Store.sqlite") }

    init(_ names: [String?]) throws {
      directory = try TemporaryDirectory()
      models = try [true, false].map {
        try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name", optional: $0)])])
      }
      try PersistentStore.make(at: store, model: models[0]) { context in
        for name in names { try context.insert("Item")["name"] = name.map(AttributeValue.string) }
      }
    }

    func migrate(_ handler: CustomMigrationStage.Handler?, decisions: [DataDecision] = []) throws -> MigrationOutcome {
      let references = models.map { ManagedObjectModelReference(model: $0, versionChecksum: $0.versionChecksum()) }
      let stage = CustomMigrationStage(migratingFrom: references[0], to: references[1])
      stage.willMigrateHandler = handler
      let assistant = MigrationAssistant(store, ModelHistory(current: models[1]), .init(decisions: decisions))
      assistant.stagedManager = try StagedMigrationManager([stage])
      return try assistant.migrateStore()
    }

    func names() throws -> [AttributeValue?] {
      let context = ManagedObjectContext(
        store: try PersistentStore.open(at: store, model: models[1], isReadOnly: true))
      return try context.fetch(ObjectFetchRequest("Item")).map { $0["name"] }
    }
  }

  @Test func `code before a step mends what would stand in its way`() throws {
    let scene = try Required(["a", nil, "c"])
    // Without code, or with code that mends nothing, the rows are counted and nothing is changed.
    let mendsNothing: CustomMigrationStage.Handler = { _ in }
    for handler in [nil, mendsNothing] {
      let error = try #require(throws: MigrationAssistantError.self) { try scene.migrate(handler) }
      guard case .decisionNeeded(_, let plan) = error else { throw error }
      #expect(plan.blockers.map(\.rows) == [1])
    }
    let outcome = try scene.migrate { context in
      for item in try context.fetch(ObjectFetchRequest("Item", where: "name == nil")) { item["name"] = .string("none") }
      try context.save()
    }
    let report = try #require(outcome.report)
    #expect(report.plan.blockers.isEmpty)
    #expect(try scene.names() == ["a", "none", "c"].map { .string($0) })
  }

  @Test func `what code leaves is for decisions, counted after it`() throws {
    let scene = try Required(["a", nil, nil])
    let outcome = try scene.migrate(
      { context in
        try context.fetch(ObjectFetchRequest("Item", where: "name == nil")).first?["name"] = .string("by code")
        try context.save()
      }, decisions: [DataDecision(entity: "Item", property: "name", .fill(.string("by decision")))])
    let report = try #require(outcome.report)
    #expect(report.plan.decisions.map(\.filled) == [1])
    #expect(try scene.names() == ["a", "by code", "by decision"].map { .string($0) })
  }

  @Test func `a step that can't be inferred asks the delegate for its mapping, and runs its code around it`() throws {
    let scene = try Scene()
    try scene.makeStore()
    let steps = Locked(0)
    let count: CustomMigrationStage.Handler = { _ in steps.withLock { $0 += 1 } }
    let stage = scene.custom(1, 3, will: count, did: count)
    var asked: [[String]] = []
    let assistant = try scene.assistant([stage, scene.light(4)], to: 4)
    assistant.delegate = ClosureDelegate(mapping: { source, destination, _ in
      asked.append([source.versionChecksum(), destination.versionChecksum()])
      return try MappingModel.inferred(from: source, to: destination) {
        EntityMapping(from: "Item", to: "Item") {
          PropertyMapping("name", expression: "$source.name")
          PropertyMapping("note", expression: "length:($source.note)")
        }
      }
    })
    let notes = try scene.values("note", version: 1)
    _ = try assistant.migrateStore()
    #expect(asked == [[scene.checksum(1), scene.checksum(3)]])
    #expect(steps.withLock { $0 } == 2)
    let lengths: [AttributeValue?] = notes.map {
      if case .string(let text)? = $0 { .integer(Int64(text.utf16.count)) } else { nil }
    }
    #expect(try scene.values("note", version: 4) == lengths)
  }

  /// Uses of an entity and of properties that a handler's model lacks, each with what it asks for.
  private static let misplacedUses:
    [(
      call: String, asksFor: String,
      use: @Sendable (ManagedObjectContext, (entity: String, names: [String])) throws -> Void
    )] = [
      ("insert", "entity", { _ = try $0.insert($1.entity) }),
      ("fetch", "entity", { _ = try $0.fetch($1.entity) }),
      ("request", "entity", { _ = try $0.fetch(ObjectFetchRequest($1.entity)) }),
      ("count", "entity", { _ = try $0.count($1.entity) }),
      ("count a request", "entity", { _ = try $0.count(ObjectFetchRequest($1.entity)) }),
      ("value", "text", { _ = try $0.fetch("Item")[0].value(forAttribute: $1.names[0]) }),
      ("set", "text", { try $0.fetch("Item")[0].set("x", for: $1.names[0]) }),
      ("read by subscript", "text", { _ = try $0.fetch("Item")[0][$1.names[0]] }),
      (
        "subscript", "text",
        {
          try $0.fetch("Item")[0][$1.names[0]] = .string("x")
          try $0.save()
        }
      ),
      ("to-one", "link", { _ = try $0.fetch("Item")[0].object(forRelationship: $1.names[1]) }),
      (
        "append", "links",
        {
          let item = try $0.fetch("Item")[0]
          item[toMany: $1.names[2]].append(item)
          try $0.save()
        }
      ),
      ("condition", "text", { _ = try $0.fetch(ObjectFetchRequest("Item", where: "\($1.names[0]) == nil")) }),
    ]

  @Test(arguments: misplacedUses.indices, [StageHandlerKind.willMigrate, .didMigrate])
  func `code that uses what only the other version has is told where it belongs`(
    index: Int, kind: StageHandlerKind
  ) throws {
    let directory = try TemporaryDirectory()
    // Each version has an entity and properties of its own.
    let models = try ["Old", "New"].map { name in
      var item = Make.entity("Item", [Make.attribute("name"), Make.attribute("text\(name)")])
      item.relationships = [("link", 1), ("links", 0)].map { relationship, count in
        var description = RelationshipDescription(name: relationship + name, destinationEntity: "Item")
        (description.maxCount, description.isOptional) = (count, true)
        return description
      }
      return try ManagedObjectModel(entities: [item, Make.entity("\(name)Part", [Make.attribute(name)])])
    }
    let url = directory.file("Store.sqlite")
    try PersistentStore.make(at: url, model: models[0]) { context in
      _ = try context.insert("Item")
    }
    let use = Self.misplacedUses[index]
    let (own, other, word) =
      kind == .willMigrate ? ("Old", "New", "didMigrateHandler") : ("New", "Old", "willMigrateHandler")
    let handler: CustomMigrationStage.Handler = {
      try use.use($0, ("\(other)Part", ["text\(other)", "link\(other)", "links\(other)"]))
    }
    let references = models.map { ManagedObjectModelReference(model: $0, versionChecksum: $0.versionChecksum()) }
    let stage = CustomMigrationStage(migratingFrom: references[0], to: references[1])
    if kind == .willMigrate { stage.willMigrateHandler = handler } else { stage.didMigrateHandler = handler }
    let assistant = MigrationAssistant(url, ModelHistory(current: models[1]))
    assistant.stagedManager = try StagedMigrationManager([stage])
    let error = try #require(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    guard case .failed(_, .stageFailed(let failure)) = error else { throw error }
    let subject = use.asksFor == "entity" ? "entity \"\(other)Part\"" : "property \"Item.\(use.asksFor)\(other)\""
    let version = kind == .willMigrate ? "the next version" : "the previous version"
    let seen = kind == .willMigrate ? "current model" : "next model"
    let model = references[own == "Old" ? 0 : 1].description
    #expect(
      failure.cause
        == "The \(kind.rawValue) handler of stage 1 failed: It used the \(subject), which exists only in \(version);"
        + " \(kind.rawValue)Handler runs with the stage's \(seen), \(model): use it in \(word).", "\(use.call)")
  }

  @Test func `a name that neither version has is told as it is`() throws {
    let scene = try Scene()
    try scene.makeStore()
    let stage = scene.custom(1, 2, will: { _ = try $0.insert("Itm") })
    let error = try #require(throws: MigrationAssistantError.self) { try scene.migrate([stage], to: 2) }
    guard case .failed(_, .stageFailed(let failure)) = error else { throw error }
    #expect(failure.underlying as? ManagedObjectError == .unknownEntity("Itm", nearest: "Item"))
  }

  struct OwnError: Error, Equatable {}

  @Test(arguments: ["throws", "leaves changes", "breaks a rule"], [StageHandlerKind.willMigrate, .didMigrate])
  func `code that fails is named, and leaves nothing behind`(mistake: String, kind: StageHandlerKind) throws {
    let scene = try Scene()
    try scene.makeStore()
    let before = try Data(contentsOf: scene.store)
    let handler: CustomMigrationStage.Handler = { context in
      try context.insert("Item")["name"] = .string("of a run that fails")
      switch mistake {
      case "throws":
        try context.save()
        throw OwnError()
      case "breaks a rule":
        try context.insert("Item")["name"] = .integer(1)
        try context.save()
      default: break
      }
    }
    let failing = scene.custom(
      2, 3, will: kind == .willMigrate ? handler : nil, did: kind == .didMigrate ? handler : nil)
    let stages = [scene.light(1), failing]
    let error = try #require(throws: MigrationAssistantError.self) { try scene.migrate(stages, to: 3) }
    guard case .failed(_, .stageFailed(let failure)) = error else { throw error }
    #expect(failure.handler == kind)
    #expect(failure.stage == "stage 2 (2 to 3)")
    if mistake == "throws" { #expect(failure.underlying as? OwnError == OwnError()) }
    if mistake == "leaves changes" { #expect(failure.underlying as? StageHandlerError == .unsavedChanges) }
    #expect(error.coreDataCode == 134110)
    #expect(error.description.contains("\(kind.rawValue) handler of stage 2 (2 to 3)"))
    #expect(try Data(contentsOf: scene.store) == before)
    let left = try FileManager.default.subpathsOfDirectory(atPath: scene.store.path + ".heirloom")
    #expect(left.filter { !["lock", "incoming", "previous", "model.json.gz"].contains($0) } == [])
    failing.willMigrateHandler = nil
    failing.didMigrateHandler = nil
    try scene.migrate(stages, to: 3)
    #expect(try scene.values("name", version: 3).count == 9)
  }

  @Test func `cancelling stops the code of a stage`() throws {
    let scene = try Scene()
    try scene.makeStore()
    let before = try Data(contentsOf: scene.store)
    let progress = Locked<Progress?>(nil)
    let stage = scene.custom(1, 2, will: { _ in progress.withLock { $0?.cancel() } })
    let assistant = try scene.assistant([stage], to: 2)
    progress.withLock { $0 = assistant.progress }
    let error = try #require(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    #expect(error.code == "cancelled")
    #expect(try Data(contentsOf: scene.store) == before)
  }

  @Test func `a store of a version that no stage starts at, and an edited model, are refused`() throws {
    let scene = try Scene()
    try scene.makeStore()
    let before = try Data(contentsOf: scene.store)
    let unknown = try #require(throws: MigrationAssistantError.self) {
      try scene.migrate([scene.custom(2, 3)], to: 4)
    }
    guard case .failed(_, .unfitStages(let error)) = unknown else { throw unknown }
    #expect(error.violations == [.unknownVersion(checksum: scene.checksum(1))])
    #expect(unknown.coreDataCode == 134504)

    let edited = CustomMigrationStage(
      migratingFrom: scene.reference(1),
      to: ManagedObjectModelReference(model: scene.models[1], versionChecksum: scene.checksum(4)))
    let refused = try #require(throws: MigrationAssistantError.self) { try scene.migrate([edited], to: 3) }
    guard case .failed(_, .unfitStages(let error)) = refused, case .editedModel? = error.violations.first else {
      throw refused
    }
    #expect(refused.coreDataCode == 134504)
    #expect(try Data(contentsOf: scene.store) == before)
  }

  @Test func `a store that nobody else knows is told by the models that stages name`() throws {
    let scene = try Scene()
    try scene.makeStore()
    try FileManager.default.removeItem(atPath: scene.store.path + ".heirloom")
    #expect(throws: MigrationAssistantError.self) { try scene.migrate([scene.light(1), scene.custom(2, 3)], to: 3) }
    let report = try #require(try scene.migrate([scene.custom(1, 2), scene.light(3)], to: 3))
    #expect(report.modelSource == .file)
  }

  @Test func `a store whose hashes are of another kind is refused`() throws {
    let scene = try Scene()
    try scene.makeStore()
    let connection = try Connection(path: scene.store.path, mode: .readWrite)
    var metadata = try StoreMetadata(connection: connection, path: scene.store.path)
    metadata.otherValues["NSStoreModelVersionHashesVersion"] = .integer(4)
    try metadata.write(to: connection)
    try connection.close()
    let before = try Data(contentsOf: scene.store)
    let error = try #require(throws: MigrationAssistantError.self) {
      try scene.migrate([scene.custom(1, 2)], to: 2)
    }
    #expect(error.coreDataCode == 134505)
    #expect(try Data(contentsOf: scene.store) == before)
  }
}
