import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import TestSupport
import HeirloomSalvage

/// An app of three versions, the first of which made the store: a real one if the corpus is present.
struct CrashApp: Sendable {
  /// The models of the versions; the second adds an attribute, the third another and an entity that renumbers all others.
  private(set) var models: [ManagedObjectModel]
  /// A store of the first version: one file in rollback mode.
  let store: [UInt8]
  var code: CrashScenario.Code = .none
  var deferral: CrashScenario.Deferral = .none
  let decisions: [DataDecision]

  static let storeName = "Journal.sqlite"
  /// A small real store: two related entities, 145 objects.
  private static let corpusPath = "coredataplus/stores/SampleModel_V1.sqlite"

  static let shared: Result<CrashApp, any Error> = Result { try CrashApp(isDeciding: false) }
  /// The app whose second version drops an attribute of cars, and whose third drops the cars.
  static let dropping: Result<CrashApp, any Error> = Result {
    var app = try CrashApp(isDeciding: false)
    app.models = try dropping(from: app.models[0])
    return app
  }
  /// The app whose third version has no place for some rows.
  static let deciding: Result<CrashApp, any Error> = Result { try CrashApp(isDeciding: true) }

  private init(isDeciding: Bool) throws {
    let directory = try QuickFolder()
    let url = directory.url.appendingPathComponent(Self.storeName)
    let first: ManagedObjectModel
    if Corpus.isPresent {
      let source = Corpus.folder.appendingPathComponent(Self.corpusPath)
      for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: source.path + suffix) {
        try Data(contentsOf: URL(fileURLWithPath: source.path + suffix))
          .write(to: URL(fileURLWithPath: url.path + suffix))
      }
      guard let model = try StoreModelCache.model(inStoreAt: url) else { throw CrashFailure("the store has no model") }
      first = model
    } else {
      first = try Self.model()
      try StoreGenerator.makeStore(at: url, model: first, objects: 200, seed: 7)
    }
    let connection = try Connection(path: url.path, mode: .readWrite)
    guard try connection.firstValue("PRAGMA journal_mode=DELETE")?.text == "delete" else {
      throw CrashFailure("the store can't leave WAL mode")
    }
    try connection.close()
    store = Array(try Data(contentsOf: url))
    var models = try Self.versions(from: first)
    decisions = isDeciding ? [try Self.narrow(&models[2])] : []
    self.models = models
    withExtendedLifetime(directory) {}
  }

  private static func model() throws -> ManagedObjectModel {
    let person = Make.entity("Person", [AttributeDescription(name: "name", type: .string)])
    var car = EntityDescription(name: "Car")
    let number = Make.attribute("number")
    car.attributes = [number]
    return try ManagedObjectModel(entities: [person, car])
  }

  private static func versions(from first: ManagedObjectModel) throws -> [ManagedObjectModel] {
    var entities = first.entities
    guard let index = entities.firstIndex(where: { $0.superentity == nil }) else { return [first] }
    func add(_ name: String) {
      let added = Make.attribute(name, .integer64)
      entities[index].attributes.append(added)
    }
    add("addedInSecond")
    let second = try ManagedObjectModel(entities: entities)
    add("addedInThird")
    let entity = Make.entity("AAAdded", [AttributeDescription(name: "name", type: .string)])
    return [first, second, try ManagedObjectModel(entities: entities + [entity])]
  }

  private static func dropping(from first: ManagedObjectModel) throws -> [ManagedObjectModel] {
    var entities = first.entities
    guard let index = entities.firstIndex(where: { $0.name == "Car" }) else { throw CrashFailure("there are no cars") }
    let name = entities[index].attributes.contains { $0.name == "maker" } ? "maker" : "number"
    entities[index].attributes.removeAll { $0.name == name }
    let second = try ManagedObjectModel(entities: entities)
    let tree = Set(second.entityTree(from: "Car").map(\.name))
    entities.removeAll { tree.contains($0.name) }
    for index in entities.indices {
      entities[index].relationships.removeAll { tree.contains($0.destinationEntity) }
    }
    let added = Make.attribute("addedInThird")
    entities[0].attributes.append(added)
    entities[0].indexes.append(
      FetchIndexDescription(name: "byAdded", elements: [FetchIndexElementDescription(property: "addedInThird")]))
    return [first, second, try ManagedObjectModel(entities: entities)]
  }

  /// Narrows a model to what not all cars have, different models or a number, and returns the decision for it.
  private static func narrow(_ model: inout ManagedObjectModel) throws -> DataDecision {
    var entities = model.entities
    guard let index = entities.firstIndex(where: { $0.name == "Car" }) else { throw CrashFailure("there are no cars") }
    let name: String
    if entities[index].attributes.contains(where: { $0.name == "model" }) {
      name = "model"
      entities[index].uniquenessConstraints.append(["model"])
    } else {
      name = "number"
      guard let number = entities[index].attributes.firstIndex(where: { $0.name == name }) else {
        throw CrashFailure("cars have no number")
      }
      entities[index].attributes[number].isOptional = false
    }
    model = try ManagedObjectModel(entities: entities)
    return DataDecision(entity: "Car", property: name, .quarantine)
  }

  // MARK: Launches

  /// Makes the two calls of a launch; versions count from 1.
  @discardableResult
  func launch(
    _ version: Int, in folder: String, files: any FileOperations = POSIXFileOperations(),
    builder: BuilderChoice = .automatic, archives: Bool = true
  ) throws -> MigrationOutcome {
    let (assistant, controller) = assistant(
      version, in: folder, files: files, builder: builder)
    let outcome = try assistant.migrateStore()
    if archives { try controller.archive(models[version - 1]) }
    return outcome
  }

  /// Tests the previous versions of a folder whose files were written anew, and so have other times than a real disk's.
  func testVersionsAnew(in folder: String) throws {
    try vault(in: folder).testVersions()
  }

  func assistant(
    _ version: Int, in folder: String, files: any FileOperations = POSIXFileOperations(),
    builder: BuilderChoice = .automatic
  ) -> (MigrationAssistant, ModelController) {
    let url = URL(fileURLWithPath: folder).appendingPathComponent(Self.storeName)
    let controller = ModelController(storeURL: url, files: files)
    let history = ModelHistory(
      current: models[version - 1], name: "\(version)",
      earlier: models.prefix(version - 1).enumerated().map { ("\($0 + 1)", $1) })
    var configuration = MigrationAssistant.Configuration()
    configuration.lockTimeout = .seconds(1)
    configuration.storeTimeout = .seconds(0.02)
    configuration.mappings = (try? mappings) ?? []
    configuration.policies.register(EntityMigrationPolicy.self, named: "Standard")
    if version == 3 { configuration.decisions = decisions }
    var builder = builder
    if deferral != .none {
      configuration.defersLightweightMigration = deferral == .leaves || version == 2
      // Small stores would otherwise be made anew.
      builder = .always(.cloneAndAlter)
    }
    let assistant = MigrationAssistant(
      storeURL: url, modelController: controller, history: history, configuration: configuration, files: files,
      builder: builder)
    if code == .stages, version == 3 { assistant.stagedManager = try? StagedMigrationManager(stages) }
    return (assistant, controller)
  }

  private var stages: [StoreMigrationStage] {
    zip(models, models.dropFirst()).enumerated().map { index, pair in
      let stage = CustomMigrationStage(
        migratingFrom: ManagedObjectModelReference(model: pair.0, versionChecksum: pair.0.versionChecksum()),
        to: ManagedObjectModelReference(model: pair.1, versionChecksum: pair.1.versionChecksum()))
      let attribute = index == 0 ? "addedInSecond" : "addedInThird"
      stage.didMigrateHandler = { try Self.set(attribute, to: 1, in: $0) }
      if index > 0 { stage.willMigrateHandler = { try Self.set("addedInSecond", to: 2, in: $0) } }
      return stage
    }
  }

  private static func set(_ attribute: String, to value: Int64, in context: ManagedObjectContext) throws {
    let model = context.store.model
    guard let entity = model.entities.first(where: { $0.attributes.contains { $0.name == attribute } }) else {
      throw CrashFailure("no entity has \(attribute)")
    }
    for object in try context.fetch(ObjectFetchRequest(entity.name)) { object[attribute] = .integer(value) }
    try context.save()
  }

  private var mappings: [MappingModel] {
    get throws {
      let pairs: [(Int, Int)] =
        switch code {
        case .none, .stages: []
        case .policies: [(0, 1), (0, 2), (1, 2)]
        case .hops: [(0, 1), (1, 2)]
        }
      return try pairs.map { from, to in
        var mapping = try MappingModel.inferred(from: models[from], to: models[to])
        for index in mapping.entityMappings.indices where mapping.entityMappings[index].sourceEntityName != nil {
          mapping.entityMappings[index].mappingType = .custom
          mapping.entityMappings[index].entityMigrationPolicyClassName = "Standard"
        }
        return mapping
      }
    }
  }

  func cleanUp(in folder: String) throws {
    let url = URL(fileURLWithPath: folder).appendingPathComponent(Self.storeName)
    let store = try PersistentStore.open(at: url, model: models[2])
    try store.finishDeferredLightweightMigration()
    try store.close()
  }

  static let salvagedName = "Salvaged.sqlite"

  func salvage(
    in folder: String, as name: String = salvagedName, files: any FileOperations = POSIXFileOperations()
  ) throws {
    let url = URL(fileURLWithPath: folder)
    let salvage = StoreSalvage(
      storeURL: url.appendingPathComponent(Self.storeName),
      candidates: [StoreModelCandidate(source: .file("1"), model: models[0])], files: files)
    _ = try salvage.run(to: url.appendingPathComponent(name))
  }

  /// Does what an app does that finds no store.
  func makeStore(in folder: String) throws {
    let url = URL(fileURLWithPath: folder).appendingPathComponent(Self.storeName)
    try PersistentStore.make(at: url, model: models[2]) { context in
      try context.insert("AAAdded")["name"] = .string("written since")
    }
    try ModelController(storeURL: url).archive(models[2])
  }

  func vault(in folder: String, files: any FileOperations = POSIXFileOperations()) throws -> StoreVault {
    let location = try StoreLocation(resolving: folder + "/" + Self.storeName, files: POSIXFileOperations())
    return StoreVault(location, files: files)
  }
}

/// A failure after which a test can't go on.
struct CrashFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A folder in memory if the system has such a place: ten thousands of states with a dozen syncs each are quick there.
final class QuickFolder: Sendable {
  let url: URL

  var path: String { url.path }

  private static let parent: URL = {
    let memory = URL(fileURLWithPath: "/dev/shm")
    let parent =
      FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
    return parent.resolvingSymlinksInPath()
  }()

  init() throws {
    url = Self.parent.appendingPathComponent("heirloom-crash-\(UUID().uuidString)", isDirectory: true)
    guard mkdir(url.path, 0o700) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }
}
