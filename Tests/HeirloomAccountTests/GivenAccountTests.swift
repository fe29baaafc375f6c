import Foundation
import Heirloom
import HeirloomMapping
import HeirloomMigration
import TestSupport
import Testing

/// Migrations by given mappings and by code, balanced by the accountant.
///
/// The product's versions lack the renaming identifiers, which the accountant's have: the mapping says instead what
/// continues what.
struct GivenAccountTests {
  private static let parts = RandomSeeds.parts(quick: 32, long: 10_000)
  private static let kinds: [SeededEdit] = [
    .renameEntity, .renameAttribute, .renameRelationship, .renameEntity, .renameAttribute, .renameRelationship,
    .dropAttribute, .dropEntity, .addAttribute, .addEntity, .changeType,
  ]

  @Test(arguments: parts)
  func `whatever was in the store is where a mapping says, or told`(seeds: [UInt64]) {
    for seed in seeds { balance(SeededCase(seed: seed, kinds: Self.kinds), policy: nil) }
  }

  @Test(arguments: parts)
  func `whatever was in the store is where code puts it, or told`(seeds: [UInt64]) {
    // Code over a damaged index of keys stops with an error that names it.
    for seed in seeds {
      balance(
        SeededCase(seed: seed, kinds: Self.kinds, isMarked: true, without: [.staleIndex]),
        policy: EntityMigrationPolicy.self)
    }
  }

  private func balance(_ example: SeededCase, policy: EntityMigrationPolicy.Type?) {
    let builder = SeededAccountTests.builders[Int(example.seed % 2)]
    do {
      let problems = try imbalances(example, policy, builder)
      if !problems.isEmpty { SeededAccountTests.report(example, builder, problems.map(\.description)) }
    } catch {
      SeededAccountTests.report(example, builder, ["\(error)"])
    }
  }

  private func imbalances(
    _ example: SeededCase, _ policy: EntityMigrationPolicy.Type?, _ builder: BuilderChoice
  ) throws -> [Imbalance] {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let url = directory.file("Store.sqlite")
    try example.makeStore(at: url, in: directory)
    let before = try Contents(of: url.path)
    let source = try ModelFolder(example.source, named: "source", in: directory)
    let destination = try ModelFolder(example.destination.withoutIdentifiers, named: "destination", in: directory)
    let inference = MappingInference(
      from: source.model, to: destination.model, given: Self.mappings(example, policy))
    // Between some types nothing is converted without code.
    guard inference.obstacles.isEmpty else { return [] }
    let mapping = try inference.mappingModel()
    let migration = try AccountedMigration(url, from: source, to: destination, by: builder, mappings: [mapping])
    guard let told = migration.told else { return [] }
    let accountant = Accountant(
      from: example.source, before, to: example.destination, try Contents(of: url.path), told: told,
      mark: policy == nil ? nil : SeededCase.mark)
    return accountant.imbalances() + accountant.imbalances(of: migration.account, isByCode: policy != nil)
  }

  /// Maps what the renaming identifiers match.
  private static func mappings(_ example: SeededCase, _ policy: EntityMigrationPolicy.Type?) -> [EntityMapping] {
    let matching = Matching(Layout(example.source), Layout(example.destination))
    return example.source.entities.compactMap { entity in
      guard let heir = matching.entities[entity.name] else { return nil }
      let attributes = (matching.source.attributes[entity.name] ?? []).compactMap { attribute in
        matching.heir(of: attribute.property, in: entity.name).map {
          PropertyMapping($0.property.name, copying: attribute.property.name)
        }
      }
      let relationships = (matching.source.relationships[entity.name] ?? []).compactMap { relationship in
        matching.heir(of: relationship.property, in: entity.name).map {
          PropertyMapping($0.property.name, linksOf: relationship.property.name)
        }
      }
      if let policy, !entity.isAbstract {
        return EntityMapping(
          from: entity.name, to: heir, policy: policy, attributeMappings: attributes,
          relationshipMappings: relationships)
      }
      return EntityMapping(
        from: entity.name, to: heir, attributeMappings: attributes, relationshipMappings: relationships)
    }
  }
}

extension XMLModel {
  fileprivate var withoutIdentifiers: XMLModel {
    var model = self
    for index in model.entities.indices {
      model.entities[index].identifier = model.entities[index].name
      for place in model.entities[index].attributes.indices {
        model.entities[index].attributes[place].identifier = model.entities[index].attributes[place].name
      }
      for place in model.entities[index].relationships.indices {
        model.entities[index].relationships[place].identifier = model.entities[index].relationships[place].name
      }
    }
    return model
  }
}
