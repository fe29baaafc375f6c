import Foundation
import Heirloom
import HeirloomSupport
import TestSupport
import Testing

/// The mapping models that real apps shipped, carried out.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct CorpusMappingTests {
  static let files = Corpus.mappingPaths.filter { !$0.hasSuffix(".cdm") }

  /// A substitute for a policy: the corpus has none of those that the mapping models name.
  ///
  /// It does what the standard policy does, and gives required values, as the apps' own policies must have done.
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

  @Test(arguments: LongTests.selection(of: files, every: 3)) func `runs on a generated store of its source version`(
    path: String
  ) throws {
    let read = try MappingModelFile.read(Corpus.folder.appendingPathComponent(path).path).read
    let (source, destination) = try Corpus.models(of: read, in: String(path.prefix { $0 != "/" }))
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    var generator = StoreGenerator(objectsPerEntity: 5, seed: 29)
    // Objects without a value that is now required are another matter: see the tests of data decisions.
    generator.isFull = true
    try generator.makeStore(at: store, model: source)

    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [read.mappingModel]
    for name in read.mappingModel.policyNames {
      configuration.policies.register(StandIn.self, named: name)
    }
    let assistant = MigrationAssistant(store, from: source, to: destination, configuration)
    // Some required links have no object from the generator, or lead to one that the mapping leaves out. Core Data
    // refuses to save such objects.
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
    let report = try assistant.migrate()
    let after = try StoreContents(of: store, model: destination)
    #expect(try StoreContents(of: report.previousVersion.storeURL, model: source) == before)
    let findings = try StoreVerification.report(onStoreAt: store.path).findings
    #expect(findings.filter { $0.severity == .error }.isEmpty, "\(findings)")

    let mapping = read.mappingModel.completed(from: source, to: destination)
    for entity in destination.entities where !entity.isAbstract {
      let mappings = mapping.entityMappings(toEntity: entity.name)
      let expected = mappings.compactMap(\.sourceEntityName).reduce(0) { $0 + (before.objects[$1]?.count ?? 0) }
      #expect(after.objects[entity.name]?.count ?? 0 == expected, "\(entity.name)")
      for attribute in destination.attributes(of: entity.name) where attribute.composite == nil {
        // Copied values are there, as often as before, whatever the keys.
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
    try assistant.requireNothingToDo()
  }

  @Test func `what a real mapping model leaves out is dropped and told, with what its editor forgot`() throws {
    let path = "dashsync-ios/mappings/MappingFrom6To7Model.xcmappingmodel"
    let read = try MappingModelFile.read(Corpus.folder.appendingPathComponent(path).path).read
    let (source, destination) = try Corpus.models(of: read, in: "dashsync-ios")
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: store, model: source, objects: 5, seed: 29, isFull: true)
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [read.mappingModel]
    for name in read.mappingModel.policyNames {
      configuration.policies.register(EntityMigrationPolicy.self, named: name)
    }
    let plan = try #require(
      try MigrationAssistant(store, from: source, to: destination, configuration).plan())
    // These property mappings were orphaned in the editor: Xcode's compiler doesn't see them, and they are the policy's
    // alone.
    let forgotten = ["previousOperatorBLSPublicKeys", "previousSimplifiedMasternodeEntryHashes", "previousValidity"]
    for name in forgotten { #expect(read.warnings.contains { $0.place.hasPrefix("\"\(name)\"") }) }
    #expect(
      plan.warnings.contains { text in
        text.contains("values that the policy \"DSDeleteEntityMigrationPolicy\" doesn't read")
          && forgotten.allSatisfy(text.contains)
      })
    // These entities have no entity mapping.
    for name in ["CloseTransaction", "RegistrationTransaction", "ResetTransaction", "TopupTransaction"] {
      #expect(
        plan.losses.contains { $0.entity == "DSBlockchainUser\(name)Entity" && $0.property == nil && $0.rows == 5 })
    }
  }

  // MARK: Comparisons with Core Data's results

  /// A policy that makes a section of a note's text, as the example's own policy does.
  final class Sectioning: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let post = try manager.createDestinationInstance(forSource: source, in: mapping)
      let section = try manager.destinationContext.insert("Section")
      section["body"] = source["content"]
      section[toOne: "post"] = post
    }
  }

  @Test func `an attribute that Xcode's editor lists is matched by name, as Core Data's own file shows`() throws {
    // The renaming identifiers differ, "color" and none; Core Data kept the colours with this mapping model.
    let project = "core-data-migration-revised"
    let name = "CoreDataMigration_Example"
    try Corpus.withCopy(of: "\(project)/stores/\(name)_2.sqlite") { store in
      try Corpus.withCopy(of: "\(project)/stores/\(name)_3.sqlite") { expected in
        let models = try ["\(name) 2", "\(name) 3"].map { try Corpus.model($0, in: project) }
        let history = ModelHistory(
          current: models[1], name: "\(name) 3", earlier: [(name: "\(name) 2", model: models[0])])
        var configuration = MigrationAssistant.Configuration()
        configuration.mappings = [
          try history.mappingModel(
            contentsOf: Corpus.folder.appendingPathComponent(
              "\(project)/mappings/Migration2to3ModelMapping.xcmappingmodel"))
        ]
        configuration.policies.register(Sectioning.self, named: "CoreDataMigration_Example.Post2ToPost3MigrationPolicy")
        let assistant = MigrationAssistant(store, history, configuration)
        try assistant.migrate()
        func posts(_ url: URL) throws -> [String: [String]] {
          let opened = try PersistentStore.open(at: url, model: models[1], isReadOnly: true)
          defer { try? opened.close() }
          var found: [String: [String]] = [:]
          for post in try ManagedObjectContext(store: opened).fetch("Post") {
            guard case .string(let id)? = post["postID"] else { continue }
            let bodies = post[toMany: "sections"].map { "\($0["body"] ?? .string(""))" }
            found[id] = ["\(post["hexColor"] ?? .string(""))", "\(post["date"] ?? .date(0))"] + bodies
          }
          return found
        }
        let made = try posts(store)
        #expect(made.count == 10)
        // Two posts are newer than the migration.
        #expect(
          try posts(expected).filter { made[$0.key] != nil }.mapValues { $0.prefix(2) }
            == made.mapValues { $0.prefix(2) })
      }
    }
  }

  /// Returns objects without their keys: their values, and the values of the objects that they lead to.
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
        let assistant = MigrationAssistant(store, history, configuration)
        let report = try assistant.migrate()
        #expect(report.plan.hops.count == to - from)
        #expect(
          try Self.fingerprints(of: store, model: current) == Self.fingerprints(of: expected, model: current))
        try assistant.requireNothingToDo()
      }
    }
  }
}
