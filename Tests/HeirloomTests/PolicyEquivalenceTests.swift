import Foundation
import Heirloom
import TestSupport
import Testing

/// The standard policy, compared with SQL: both must make the same objects.
struct PolicyEquivalenceTests {
  /// The entity mappings that run object by object.
  enum Share: String, CaseIterable, CustomTestStringConvertible {
    case all, first, last

    var testDescription: String { rawValue }
  }

  static func mapping(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, _ share: Share
  ) throws -> MappingModel {
    var mapping = try MappingModel.inferred(from: source, to: destination)
    let indices = mapping.entityMappings.indices.filter {
      mapping.entityMappings[$0].sourceEntityName != nil && mapping.entityMappings[$0].destinationEntityName != nil
    }
    let chosen =
      switch share {
      case .all: indices
      case .first: Array(indices.prefix(max(1, indices.count / 2)))
      case .last: Array(indices.suffix(max(1, indices.count / 2)))
      }
    for index in chosen {
      mapping.entityMappings[index].entityMigrationPolicyClassName = "Standard"
      mapping.entityMappings[index].mappingType = .custom
    }
    return mapping
  }

  @Test(
    arguments: InferableChangeTests.changes + InferableChangeTests.arrivals, LongTests.areOn ? Share.allCases : [.all])
  func `the standard policy makes what SQL makes`(change: InferableChangeTests.Change, share: Share) throws {
    let directory = try TemporaryDirectory()
    let source = try ManagedObjectModel(entities: change.before)
    let destination = try ManagedObjectModel(entities: change.after)
    let store = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: store, model: source, objects: 7, seed: 18)
    let other = directory.file("Other.sqlite")
    try FileManager.default.copyItem(at: store, to: other)
    let history = ModelHistory(current: destination, earlier: [("1", source)])

    _ = try MigrationAssistant(store, history).migrateStore()

    var configuration = MigrationAssistant.Configuration()
    configuration.policies.register(EntityMigrationPolicy.self, named: "Standard")
    configuration.mappings = [try Self.mapping(from: source, to: destination, share)]
    let outcome = try MigrationAssistant(other, history, configuration).migrateStore()
    let report = try #require(outcome.report)
    #expect(!report.plan.mappingResults.isEmpty)
    let expected = try StoreContents(of: store, model: destination)
    let found = try StoreContents(of: other, model: destination)
    for (entity, objects) in expected.objects {
      let others = found.objects[entity] ?? [:]
      guard others.keys.sorted() == objects.keys.sorted() else {
        // Some objects that come from two trees get other keys, which may differ.
        #expect(Self.comesFromTwoTrees(entity, change), "\(entity): \(others.keys.sorted())")
        #expect(Self.values(of: others) == Self.values(of: objects), "\(entity)")
        continue
      }
      for (key, object) in objects where !Self.comesFromTwoTrees(entity, change) {
        #expect(others[key]?.values == object.values, "\(entity) \(key)")
        for relationship in destination.relationships(of: entity) {
          let name = relationship.name
          let isOwnInverse =
            relationship.inverseRelationship == name && relationship.destinationEntity == entity
          let links = { (objects: [Int64: StoreContents.StoredObject]) in
            // The direction in which a link of such a relationship is kept means nothing.
            isOwnInverse
              ? Set(
                (objects[key]?.links[name] ?? []) + objects.filter { $0.value.links[name]?.contains(key) == true }.keys
              )
              .sorted() : objects[key]?.links[name] ?? []
          }
          guard !Self.comesFromTwoTrees(relationship.destinationEntity, change) else { continue }
          #expect(links(others) == links(objects), "\(entity) \(key) \(name)")
        }
      }
    }
    #expect(Set(found.objects.keys) == Set(expected.objects.keys))
  }

  private static func values(of objects: [Int64: StoreContents.StoredObject]) -> [String] {
    objects.values.map { "\($0.values.sorted { $0.key < $1.key })" }.sorted()
  }

  private static func comesFromTwoTrees(_ entity: String, _ change: InferableChangeTests.Change) -> Bool {
    guard let source = try? ManagedObjectModel(entities: change.before),
      let destination = try? ManagedObjectModel(entities: change.after),
      let mapping = try? MappingModel.inferred(from: source, to: destination)
    else { return false }
    let root = destination.rootEntity(of: entity)?.name
    let mappings = mapping.entityMappings.filter {
      $0.destinationEntityName.flatMap { destination.rootEntity(of: $0)?.name } == root
    }
    return Set(mappings.compactMap { $0.sourceEntityName.flatMap { source.rootEntity(of: $0)?.name } }).count > 1
  }
}
