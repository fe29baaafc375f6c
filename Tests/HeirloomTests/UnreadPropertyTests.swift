import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// A policy × what it reads: what no property mapping takes and code never read is a loss, told and pinned after the run.
struct UnreadPropertyTests {
  enum Reader: String, CaseIterable, Sendable {
    case nothing, title, titleOfSome, everything, byMapping, byDefault, pastMapping, authorByItsInverse

    /// True if a property mapping takes the title.
    var isMapped: Bool { [.byMapping, .byDefault, .pastMapping].contains(self) }

    var policy: EntityMigrationPolicy.Type {
      switch self {
      case .nothing: Nothing.self
      case .title: Title.self
      case .titleOfSome: TitleOfSome.self
      case .everything: Everything.self
      case .byMapping: EntityMigrationPolicy.self
      case .byDefault: Default.self
      case .pastMapping: PastMapping.self
      case .authorByItsInverse: Inverse.self
      }
    }
  }

  class Nothing: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {}

    func make(_ text: String?, _ source: ManagedObject, _ mapping: EntityMapping, _ manager: MigrationManager) throws {
      let entry = try manager.destinationContext.insert("Entry")
      entry["text"] = text.map { .string($0) }
      try manager.associate(source: source, destination: entry, for: mapping)
    }
  }

  final class Title: Nothing {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try make(try source.string("title"), source, mapping, manager)
    }
  }

  /// It makes nothing of most objects, after it has read their titles.
  final class TitleOfSome: Nothing {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      guard let title = try source.string("title"), title.utf8.count % 2 == 0 else { return }
      try make(title, source, mapping, manager)
    }
  }

  final class Default: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }
  }

  /// It makes objects without what the mapping says of them.
  final class PastMapping: Nothing {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try make("empty", source, mapping, manager)
    }
  }

  final class Everything: Nothing {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let author = try source.object(forRelationship: "author")?.string("name") ?? ""
      try make("\(source["title"] as Any) \(source["mood"] as Any) \(author)", source, mapping, manager)
    }
  }

  final class Inverse: Nothing {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try make("\(source["title"] as Any) \(source["mood"] as Any)", source, mapping, manager)
    }

    override func endInstanceCreation(for mapping: EntityMapping, manager: MigrationManager) throws {
      for author in try manager.sourceContext.fetch("Author") { _ = try author.objects(forRelationship: "notes") }
    }
  }

  private struct Scene {
    let directory: TemporaryDirectory
    let url: URL
    let source: ManagedObjectModel
    let mapping: MappingModel
    let history: ModelHistory
    let titles: Int64
    let moods: Int64
    let authored: Int64

    init(_ reader: Reader) throws {
      directory = try TemporaryDirectory()
      url = directory.file("Store.sqlite")
      source = try ManagedObjectModel(entities: [
        Make.entity(
          "Note", [Make.attribute("title"), Make.attribute("mood")], [Make.toOne("author", "Author", "notes")]),
        Make.entity("Author", [Make.attribute("name")], [Make.toMany("notes", "Note", "author")]),
      ])
      let destination = try ManagedObjectModel(entities: [
        Make.entity("Entry", [Make.attribute("text")]), Make.entity("Author", [Make.attribute("name")]),
      ])
      try StoreGenerator.makeStore(at: url, model: source, objects: 20, seed: 5)
      let plain = try Connection(path: url.path, mode: .readWrite)
      try plain.execute("UPDATE ZNOTE SET ZMOOD = NULL WHERE Z_PK % 4 = 0")
      titles = try plain.firstInteger("SELECT COUNT(ZTITLE) FROM ZNOTE") ?? 0
      moods = try plain.firstInteger("SELECT COUNT(ZMOOD) FROM ZNOTE") ?? 0
      authored = try plain.firstInteger("SELECT COUNT(ZAUTHOR) FROM ZNOTE") ?? 0
      #expect(try plain.firstInteger("SELECT COUNT(*) FROM ZNOTE") == 20)
      #expect(moods > 0 && authored > 0)
      try plain.close()
      mapping = try MappingModel.inferred(from: source, to: destination) {
        EntityMapping(from: "Note", to: "Entry", policy: reader.policy) {
          if reader.isMapped { PropertyMapping("text", copying: "title") }
        }
      }
      history = ModelHistory(current: destination, earlier: [("1", source)])
    }

    func assistant(_ losses: LossPolicy = .keepVersion) -> MigrationAssistant {
      return MigrationAssistant(url, history, .init(mappings: [mapping], losses: losses))
    }

    /// The losses that there have to be, as `kind name rows links`.
    func expected(_ reader: Reader) -> [String] {
      let mood = "values Note.mood \(moods)"
      let author = "links Note.author \(authored)"
      return switch reader {
      case .nothing: ["objects Note 20"]
      case .title, .titleOfSome, .byMapping, .byDefault: [mood, author]
      case .pastMapping: [mood, "values Note.title \(titles)", author]
      case .everything, .authorByItsInverse: []
      }
    }
  }

  private static func words(_ losses: [MigrationLoss]) -> [String] {
    losses.map { "\($0.kind) \($0.name) \($0.rows)" }
  }

  @Test(arguments: Reader.allCases)
  func `what code never read is a loss, and pins the previous version`(_ reader: Reader) throws {
    let scene = try Scene(reader)
    let report = try scene.assistant().migrate()
    let expected = scene.expected(reader)
    #expect(Self.words(report.plan.losses) == expected)
    #expect(report.plan.unconsentedLosses.count == expected.count)
    let kept = try StoreArchive(storeURL: scene.url).previousVersions()
    #expect(kept.map(\.isPinned) == [!expected.isEmpty])
  }

  @Test func `without consent, nothing is swapped where losses stop a migration`() throws {
    let scene = try Scene(.title)
    let before = try Data(contentsOf: scene.url)
    let error = #expect(throws: MigrationAssistantError.self) { try scene.assistant(.stop).migrateStore() }
    guard case .lossesNotConsented(_, let plan) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(Self.words(plan.losses) == scene.expected(.title))
    #expect(try Data(contentsOf: scene.url) == before)
    #expect(try StoreArchive(storeURL: scene.url).previousVersions().isEmpty)
  }

  @Test func `a configuration that accepts losses accepts these`() throws {
    let scene = try Scene(.title)
    let report = try scene.assistant(.accept).migrate()
    #expect(report.plan.losses.map(\.consent) == [.configuration, .configuration])
    #expect(try StoreArchive(storeURL: scene.url).previousVersions().map(\.isPinned) == [false])
  }

  final class TextAlone: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let object = try manager.destinationContext.insert(mapping.destinationEntityName ?? "")
      object["text"] = source["text"]
      try manager.associate(source: source, destination: object, for: mapping)
    }
  }

  @Test func `what code leaves of one attribute is counted over all entities that have it`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(_ names: [String]) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Make.entity("P", names.map { Make.attribute($0) }), Make.entity("Q", parent: "P"),
      ])
    }
    let (source, destination) = (try model(["text", "size"]), try model(["text"]))
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: source))
      for entity in ["P", "Q", "Q"] { try context.insert(entity)["size"] = .string("large") }
      try context.save()
    }
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [
      try MappingModel.inferred(from: source, to: destination) {
        for entity in ["P", "Q"] { EntityMapping(from: entity, to: entity, policy: TextAlone.self) }
      }
    ]
    let assistant = MigrationAssistant(url, from: source, to: destination, configuration)
    let report = try assistant.migrate()
    #expect(Self.words(report.plan.losses) == ["values P.size 3"])
  }

  @Test(arguments: [true, false])
  func `the lock is asked about the losses of each hop before they stop a migration`(isAcknowledged: Bool) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    // Names that differ, so that no inferred property mapping takes the value.
    let models = try [("First", "size"), ("Second", "extent"), ("Third", "")].map { name, other in
      try ManagedObjectModel(entities: [
        Make.entity(
          name,
          [Make.attribute("text")] + (other.isEmpty ? [] : [Make.attribute(other, value: .string("small"))]))
      ])
    }
    try StoreGenerator.makeStore(at: url, model: models[0], objects: 4, seed: 3)
    try Connection.execute("UPDATE ZFIRST SET ZSIZE = 'large'", on: url.path)
    let names = ["1", "2", "3"]
    var configuration = MigrationAssistant.Configuration()
    configuration.losses = .stop
    configuration.mappings = try zip(models, models.dropFirst()).map { source, destination in
      try MappingModel.inferred(from: source, to: destination) {
        EntityMapping(from: source.entities[0].name, to: destination.entities[0].name, policy: TextAlone.self)
      }
    }
    let history = try LossConsentTests.history(
      Array(zip(names, models)).map { (name: $0, model: $1) },
      acknowledging: [("1", "2", ["First.size"])] + (isAcknowledged ? [("2", "3", ["Second.extent"])] : []),
      in: directory)
    let assistant = MigrationAssistant(url, history, configuration)
    guard isAcknowledged else {
      #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
      #expect(try StoreMetadata(contentsOf: url).versionHashes == models[0].versionHashes())
      // Where losses stop nothing, the version before all hops alone holds what a later one lost.
      configuration.losses = .keepVersion
      let keeping = MigrationAssistant(url, history, configuration)
      try keeping.migrate()
      let kept = try keeping.archive.previousVersions()
      #expect(kept.map(\.isPinned) == [true])
      #expect(kept.flatMap(\.alone).map { "\($0.entity).\($0.property ?? "")" } == ["Second.extent"])
      return
    }
    let report = try assistant.migrate()
    #expect(Self.words(report.plan.losses) == ["values First.size 4", "values Second.extent 4"])
    #expect(report.plan.losses.map(\.consent) == [.lock, .lock])
  }
}
