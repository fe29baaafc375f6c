import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

struct AssociationTests {
  /// A policy that makes parts of items, by the item's key, and compares the manager's findings with its own record.
  final class Splitting: EntityMigrationPolicy {
    private var parts: [ManagedObjectID] = []
    private var partsOfItem: [Int64: [ManagedObjectID]] = [:]
    private var itemsOfPart: [ManagedObjectID: [Int64]] = [:]
    private var visited: [ManagedObjectID] = []

    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let key = try #require(source.objectID).primaryKey
      // There are long runs, many parts of one item, items without parts, and two entities in turns.
      let count = key % 50 == 0 ? 260 : key > 120 ? 1 : Int(key % 4)
      for place in 0..<count {
        let entity = key % 31 == 0 && place % 2 == 1 ? "Piece" : "Part"
        let part = try manager.destinationContext.insert(entity)
        try part.set("\(key) \(place)", for: "name")
        try associate(source, part, mapping, manager)
      }
      // Some parts come from several items: from the one before, or from one long ago.
      for number in [1, 40] where key % 13 == 5 && parts.count > 50 {
        let id = parts[parts.count - number]
        guard itemsOfPart[id]?.contains(key) != true else { continue }
        let part = try #require(try manager.destinationContext.object(with: id))
        try associate(source, part, mapping, manager)
      }
    }

    private func associate(
      _ source: ManagedObject, _ part: ManagedObject, _ mapping: EntityMapping, _ manager: MigrationManager
    ) throws {
      try manager.associate(source: source, destination: part, for: mapping)
      let (key, id) = (try #require(source.objectID).primaryKey, try #require(part.objectID))
      if itemsOfPart[id] == nil { parts.append(id) }
      partsOfItem[key, default: []].append(id)
      itemsOfPart[id, default: []].append(key)
    }

    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let id = try #require(destination.objectID)
      visited.append(id)
      let found = try manager.sourceInstances(forEntityMappingNamed: mapping.name, destinationInstances: [destination])
      #expect(found.compactMap { $0.objectID?.primaryKey } == itemsOfPart[id])
      #expect(throws: MigrationManagerError.self) {
        try manager.associate(source: found[0], destination: destination, for: mapping)
      }
    }

    override func performCustomValidation(for mapping: EntityMapping, manager: MigrationManager) throws {
      #expect(visited == parts)
      let copying = try #require(manager.mappingModel.entityMappings.first { $0.destinationEntityName == "Item" }).name
      for source in try manager.sourceContext.fetch("Item") {
        let parts = try manager.destinationInstances(forEntityMappingNamed: mapping.name, sourceInstances: [source])
        #expect(parts.compactMap(\.objectID) == partsOfItem[try #require(source.objectID).primaryKey] ?? [])
        let items = try manager.destinationInstances(forEntityMappingNamed: copying, sourceInstances: [source])
        #expect(items.map(\.objectID?.primaryKey) == [source.objectID?.primaryKey])
      }
    }
  }

  final class Following: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let made = try manager.createDestinationInstance(forSource: source, in: mapping)
      #expect(made.objectID?.primaryKey == source.objectID?.primaryKey)
    }
  }

  private let directory: TemporaryDirectory
  private let source: ManagedObjectModel
  private let destination: ManagedObjectModel
  private var store: URL { directory.file("Store.sqlite") }

  init() throws {
    directory = try TemporaryDirectory()
    let item = Make.entity("Item", [Make.attribute("name")])
    source = try ManagedObjectModel(entities: [item])
    destination = try ManagedObjectModel(entities: [
      item, Make.entity("Part", [Make.attribute("name")]), Make.entity("Piece", [Make.attribute("name")]),
    ])
    let created = try PersistentStore.create(at: store, model: source)
    let context = ManagedObjectContext(store: created)
    let items = try (1...260).map { number in
      let object = try context.insert("Item")
      object["name"] = .string("item \(number)")
      return object
    }
    try context.save()
    for item in items where (item.objectID?.primaryKey ?? 0) % 70 < 3 { try context.delete(item) }
    try context.save()
    try created.close()
  }

  private func migrate(_ given: EntityMapping) throws -> MigrationReport? {
    var configuration = MigrationAssistant.Configuration()
    var mapping = try MappingModel.inferred(from: source, to: destination)
    mapping.entityMappings.removeAll { $0.destinationEntityName == given.destinationEntityName }
    mapping.entityMappings.append(given)
    configuration.mappings = [mapping.completed(from: source, to: destination)]
    let outcome = try MigrationAssistant(store, from: source, to: destination, configuration).migrateStore()
    guard case .migrated(let report) = outcome else { return nil }
    return report
  }

  @Test func `what a policy associated is found from both sides, each in its order`() throws {
    let report = try #require(try migrate(EntityMapping(from: "Item", to: "Part", policy: Splitting.self)))
    let result = try #require(report.plan.mappingResults.first)
    #expect(result.sourceObjects == 249 && result.destinationObjects > 1400)
  }

  @Test func `objects that a policy carries over one by one leave none behind`() throws {
    let report = try #require(try migrate(EntityMapping(from: "Item", to: "Item", policy: Following.self)))
    #expect(report.plan.mappingResults.map(\.leftBehind) == [0])
  }

  @Test func `a policy carries over objects with the highest and the lowest keys that there are`() throws {
    try Connection.execute(
      "UPDATE ZITEM SET Z_PK = 9223372036854775807 WHERE Z_PK = 260",
      "UPDATE ZITEM SET Z_PK = -9223372036854775807 WHERE Z_PK = 4",
      "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807", on: store.path)
    let before = try StoreContents(of: store, model: source).objects["Item"]?.keys.sorted()
    let report = try #require(try migrate(EntityMapping(from: "Item", to: "Item", policy: Following.self)))
    #expect(report.plan.mappingResults.map(\.leftBehind) == [0])
    #expect(try StoreContents(of: store, model: destination).objects["Item"]?.keys.sorted() == before)
  }
}
