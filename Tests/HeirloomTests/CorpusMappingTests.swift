import Foundation
import Heirloom
import TestSupport
import Testing

/// The mapping models that real apps shipped, carried out.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct CorpusMappingTests {
  static let files = Corpus.mappingPaths.filter { !$0.hasSuffix(".cdm") }

  /// Stands in for a policy: none of those that the mapping models name is in the corpus.
  ///
  /// It does what the standard one does, and gives what apps' own policies must have given to values that are required.
  final class StandIn: EntityMigrationPolicy {
    private var calls = 0

    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let object = try manager.createDestinationInstance(forSource: source, in: mapping)
      for attribute in manager.destinationModel.attributes(of: object.entityName)
      where !attribute.isOptional && !attribute.isTransient && object[attribute.name] == nil {
        switch attribute.type {
        case .string: object[attribute.name] = .string("stand-in \(source.objectID?.primaryKey ?? 0)")
        case .date: object[attribute.name] = .date(0)
        default: object[attribute.name] = .integer(1)
        }
      }
    }

    override func call(
      _ selector: String, _ arguments: [EvaluatedValue], manager: MigrationManager
    ) throws -> EvaluatedValue? {
      calls += 1
      switch selector {
      case "defaultCoreIdentifierForGameType:", "migrateIdentifier": return .string("\(selector) \(calls)")
      case "migrateSaveStateType:": return .integer(2)
      default: return nil
      }
    }
  }

  /// The policies for which there are stand-ins.
  static let absentPolicies: Set<String> = [
    "Advanced_EvolutionDemo_V2_FromV1MigrationPolicy", "CoreDataMigration_Example.Post2ToPost3MigrationPolicy",
    "DSAccountEntity6To7MigrationPolicy", "DSDeleteEntityMigrationPolicy", "DSMerkleBlockEntity6To7MigrationPolicy",
    "GameControllerInputMappingMigrationPolicy", "Migrations.Country5ToCountry6Policy",
    "OEDBImageMigrationPolicy", "OEDBRomMigrationPolicy", "OEDBSaveStateMigrationPolicy",
    "REPLACE_AT_RUNTIME.V2to3MakerPolicy", "SaveStateToSaveStateMigrationPolicy",
  ]

  @Test func `names each policy that the corpus lacks`() throws {
    var names: Set<String> = []
    for path in Self.files {
      let lacking = try MappingModelFile.read(Corpus.folder.appendingPathComponent(path).path).read.mappingModel
        .policyNames
      if !lacking.isEmpty { print("policies replaced in \(path): \(lacking.joined(separator: ", "))") }
      names.formUnion(lacking)
    }
    #expect(names == Self.absentPolicies)
    let projects = Set(Self.files.map { String($0.prefix { $0 != "/" }) })
    #expect(
      projects.isSuperset(of: [
        "delta", "openemu", "objcio-core-data", "core-data-migration-revised", "dashsync-ios", "jsqcoredatakit",
        "corestore",
      ]))
  }

  /// The two versions that a mapping model names.
  static func models(
    of read: ReadMappingModel, in project: String
  ) throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
    func model(_ path: String?) throws -> ManagedObjectModel {
      let end = try #require(path).split(separator: "/").suffix(2).joined(separator: "/")
      let found = Corpus.modelPaths.first { $0.hasPrefix("\(project)/models/") && $0.hasSuffix("/\(end)") }
      return try Corpus.model(at: Corpus.folder.appendingPathComponent(try #require(found)).path)
    }
    return (try model(read.sourceModelPath), try model(read.destinationModelPath))
  }

  @Test(arguments: files) func `runs on a generated store of its source version`(path: String) throws {
    let read = try MappingModelFile.read(Corpus.folder.appendingPathComponent(path).path).read
    let (source, destination) = try Self.models(of: read, in: String(path.prefix { $0 != "/" }))
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    var generator = StoreGenerator(objectsPerEntity: 5, seed: 29)
    // Objects without a value that is required now are another matter: see the tests of data decisions.
    generator.isFull = true
    try generator.makeStore(at: store, model: source)

    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [read.mappingModel]
    for name in read.mappingModel.policyNames {
      configuration.policies.register(StandIn.self, named: name)
    }
    let assistant = MigrationAssistant(
      storeURL: store, modelController: ModelController(storeURL: store),
      history: ModelHistory(current: destination, earlier: [("1", source)]), configuration: configuration)
    // Required links that the generator had no object for, or that lead to what the mapping leaves out: Core Data refuses to
    // save such objects.
    let opened = try PersistentStore.open(at: store, model: source)
    let context = ManagedObjectContext(store: opened)
    let blocked = Set(try assistant.plan()?.blockers.filter { $0.kind == "missingLink" }.map(\.entity) ?? [])
    for entity in source.entities where !entity.isAbstract {
      let links = source.relationships(of: entity.name).filter { !$0.isToMany && !$0.isOptional && !$0.isTransient }
      for object in try context.fetch(entity.name, includesSubentities: false)
      where blocked.contains(entity.name) || links.contains(where: { object[toOne: $0.name] == nil }) {
        try context.delete(object)
      }
    }
    try context.save()
    try opened.close()
    let before = try StoreContents(of: store, model: source)
    guard case .migrated(let report) = try assistant.migrateStore() else {
      Issue.record("expected a migration")
      return
    }
    let after = try StoreContents(of: store, model: destination)
    #expect(try StoreContents(of: report.retained.storeURL, model: source) == before)
    let findings = try StoreVerification.report(onStoreAt: store.path).findings
    #expect(findings.filter { $0.severity == .error }.isEmpty, "\(findings)")

    let mapping = read.mappingModel.completed(from: source, to: destination)
    for entity in destination.entities where !entity.isAbstract {
      let mappings = mapping.entityMappings(toEntity: entity.name)
      let expected = mappings.compactMap(\.sourceEntityName).reduce(0) { $0 + (before.objects[$1]?.count ?? 0) }
      #expect(after.objects[entity.name]?.count ?? 0 == expected, "\(entity.name)")
      for attribute in destination.attributes(of: entity.name) where attribute.composite == nil {
        // What is copied is there, as often as before, whatever the keys.
        var wanted: [String] = []
        var isCopied = !mappings.isEmpty
        for mapping in mappings {
          guard case .attribute(let name)? = mapping.attributeMapping(named: attribute.name)?.form,
            let sourceName = mapping.sourceEntityName, let old = source.attribute(named: name, of: sourceName),
            old.type == attribute.type, !old.isTransient, !attribute.isTransient,
            old.isOptional == attribute.isOptional || attribute.isOptional
          else {
            isCopied = false
            break
          }
          wanted += (before.objects[sourceName] ?? [:]).values.map { "\($0.values[name] ?? .null)" }
        }
        guard isCopied else { continue }
        let found = (after.objects[entity.name] ?? [:]).values.map { "\($0.values[attribute.name] ?? .null)" }
        #expect(found.sorted() == wanted.sorted(), "\(entity.name).\(attribute.name)")
      }
    }
    guard case .upToDate = try assistant.migrateStore() else {
      Issue.record("expected nothing to do")
      return
    }
  }

  // MARK: Against what Core Data made

  /// Objects without their keys: values, and the values of what they lead to.
  private static func fingerprints(of store: URL, model: ManagedObjectModel) throws -> [String] {
    let contents = try StoreContents(of: store, model: model)
    func own(_ entity: String, _ object: StoreContents.StoredObject) -> String {
      "\(entity) \(object.values.sorted { $0.key < $1.key })"
    }
    var names: [String: [Int64: String]] = [:]
    for (entity, objects) in contents.objects {
      let root = model.rootEntity(of: entity)?.name ?? entity
      for (key, object) in objects { names[root, default: [:]][key] = own(entity, object) }
    }
    var found: [String] = []
    for (entity, objects) in contents.objects {
      for object in objects.values {
        var text = own(entity, object)
        for relationship in model.relationships(of: entity).sorted(by: { $0.name < $1.name }) {
          let root = model.rootEntity(of: relationship.destinationEntity)?.name ?? ""
          let related = (object.links[relationship.name] ?? []).map { names[root]?[$0] ?? "nothing" }
          text += " \(relationship.name): \(relationship.isOrdered ? related : related.sorted())"
        }
        found.append(text)
      }
    }
    return found.sorted()
  }

  @Test(arguments: [(2, 3), (3, 4), (4, 5), (2, 4), (3, 5), (2, 5)])
  func `makes of a store what Core Data made of it with the same mapping models`(from: Int, to: Int) throws {
    let project = "objcio-core-data"
    let stores = "\(project)/stores"
    try Corpus.withCopy(of: "\(stores)/Moody \(from).moody") { store in
      try Corpus.withCopy(of: "\(stores)/Moody \(to).moody") { expected in
        let earlier = try (from..<to).map { version in
          (name: "Moody \(version)", model: try Corpus.model("Moody \(version)", in: project))
        }
        let current = try Corpus.model("Moody \(to)", in: project)
        let history = ModelHistory(current: current, name: "Moody \(to)", earlier: earlier)
        var configuration = MigrationAssistant.Configuration()
        configuration.mappings = try (from..<to).map { version in
          let name = "\(project)/mappings/Moody \(version)-Moody \(version + 1).xcmappingmodel"
          return try history.mappingModel(contentsOf: Corpus.folder.appendingPathComponent(name))
        }
        let assistant = MigrationAssistant(
          storeURL: store, modelController: ModelController(storeURL: store),
          history: history, configuration: configuration)
        guard case .migrated(let report) = try assistant.migrateStore() else {
          Issue.record("expected a migration")
          return
        }
        #expect(report.plan.following.count == to - from - 1)
        #expect(
          try Self.fingerprints(of: store, model: current) == Self.fingerprints(of: expected, model: current))
        guard case .upToDate = try assistant.migrateStore() else {
          Issue.record("expected nothing to do")
          return
        }
      }
    }
  }
}
