import Foundation
import Heirloom
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing

/// Jumps from a random model over a random version to a third, each compared with two hops one after the other.
///
/// `HEIRLOOM_LONG_TESTS=1` runs a thousand; `HEIRLOOM_SEED=…` runs the one that a failure named, or with `…-…` a range.
struct RandomJumpTests {
  private static let parts = RandomSeeds.parts(quick: 24, long: 1000)

  /// Changes that may undo each other, or cut off things that the next version has room for again.
  private static let twisted: [RandomEdit] = [
    .booleanInteger, .otherNumbers, .integer16To64, .integer64ToDouble, .requiredToOptional, .defaultOnly,
    .optionalToRequiredWithDefault, .transientToPersistent, .persistentToTransient, .renameAttribute, .swapNames,
    .renameWithoutIdentifier, .reuseName, .removeAttribute, .addAttributeWithDefault, .addOptionalAttribute,
    .toOneToMany, .toManyToOne, .unorderedToOrdered, .orderedToUnordered, .addInverse, .removeInverse,
    .separateInverses, .renameRelationship, .removeRelationship, .moveRelationshipUp, .moveRelationshipDown,
    .moveAttributeUp, .moveAttributeDown, .addElement, .removeElement, .renameElement, .renameEntity, .insertParent,
    .removeParent, .moveEntityIn, .moveEntityOut, .removeEntity, .addEntity, .abstractToConcrete, .booleanInteger,
    .otherNumbers, .integer64ToDouble, .integer16To64,
  ]

  @Test(.slow("random stores, each migrated by a jump and by two steps"), arguments: parts)
  func `a jump comes to what the two steps come to`(seeds: [UInt64]) throws {
    for seed in seeds {
      var random = SplitMix64(seed: seed &* 0x51_7cc1 &+ 7)
      let isSmall = !seed.isMultiple(of: 4)
      let example = RandomCase(seed: seed)
      var models = [isSmall ? RandomModel(smallUsing: &random) : example.source]
      var edits: [[RandomEdit]] = []
      let kinds =
        isSmall
        ? Self.twisted
        : RandomEdit.allCases.filter { $0.isHarmless || $0 == .otherNumbers || $0.rawValue.hasPrefix("moveE") }
      for _ in 0..<2 {
        var next = models[models.count - 1]
        let made = (0..<2 + random.below(5)).map { _ in kinds[random.below(kinds.count)] }
          .filter { $0.apply(to: &next, using: &random) }
        models.append(next)
        edits.append(made)
      }
      let problems: [String]
      do {
        problems = try RandomJump(seed: seed, objects: example.objects, models: models).problems()
      } catch {
        problems = ["\(error)"]
      }
      guard !problems.isEmpty else { continue }
      let names = edits.map { $0.map(\.rawValue).joined(separator: ", ") }.joined(separator: " | ")
      Issue.record("HEIRLOOM_SEED=\(seed) [\(names)]:\n  \(problems.prefix(6).joined(separator: "\n  "))")
    }
  }
}

private struct RandomJump {
  let seed: UInt64
  let objects: Int
  let models: [RandomModel]

  func problems() throws -> [String] {
    let versions = try models.map { try $0.model() }
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let (stepped, jumped) = (directory.file("Stepped.sqlite"), directory.file("Jumped.sqlite"))
    try StoreGenerator.makeStore(at: stepped, model: versions[0], objects: objects, seed: seed, isVaried: true)
    try models[0].deriveValues(inStoreAt: stepped)
    try FileManager.default.copyItem(at: stepped, to: jumped)
    var losses: [MigrationLoss] = []
    var movesKeys = false
    do {
      for step in [[versions[0], versions[1]], [versions[1], versions[2]]] {
        guard let plan = try migrate(stepped, over: step) else { continue }
        losses += plan.losses
        movesKeys = movesKeys || plan.warnings.contains { $0.contains("is added to each key") }
      }
    } catch is MigrationAssistantError {
      // If a hop can't be taken, nothing is asked of the jump.
      return []
    }
    try migrate(jumped, over: versions)
    let (expected, found) = (
      RowOracle.normal(try StoreContents(of: stepped, model: versions[2]), versions[2]),
      RowOracle.normal(try StoreContents(of: jumped, model: versions[2]), versions[2])
    )
    // A jump leaves keys alone that only a version on the path had no room for.
    if movesKeys, found.objects.mapValues({ $0.keys.sorted() }) != expected.objects.mapValues({ $0.keys.sorted() }) {
      let (counts, wanted) = (found.objects.mapValues(\.count), expected.objects.mapValues(\.count))
      return counts == wanted ? [] : ["\(counts), expected \(wanted)"]
    }
    let relationships = Set(versions.flatMap { $0.entities.flatMap { $0.relationships.map(\.name) } })
    return found.differences(
      from: expected, mayHaveMoreLinks: losses.contains { $0.property.map(relationships.contains) ?? false })
  }

  @discardableResult
  private func migrate(_ store: URL, over versions: [ManagedObjectModel]) throws -> MigrationPlan? {
    guard let first = versions.first, let last = versions.last, first.versionHashes() != last.versionHashes() else {
      return nil
    }
    let earlier = versions.dropLast().enumerated().map { (name: "v\($0.offset)", model: $0.element) }
    let assistant = MigrationAssistant(store, ModelHistory(current: last, earlier: earlier), .withBothProofs)
    guard case .migrated(let report) = try assistant.migrateStore() else { return nil }
    return report.plan
  }
}

extension StoreContents {
  /// A jump doesn't cut off links and orders for which only versions on the path had no room.
  fileprivate func differences(from expected: StoreContents, mayHaveMoreLinks: Bool) -> [String] {
    var differences: [String] = []
    for entity in Set(objects.keys).union(expected.objects.keys).sorted() {
      let (new, old) = (objects[entity, default: [:]], expected.objects[entity, default: [:]])
      if Set(new.keys) != Set(old.keys) {
        differences.append("\(entity) has \(new.keys.sorted()), expected \(old.keys.sorted())")
      }
      for (key, object) in old.sorted(by: { $0.key < $1.key }) {
        guard let other = new[key] else { continue }
        for path in object.values.keys.sorted() where object.values[path] != other.values[path] {
          differences.append(
            "\(entity) \(key) \(path): \(other.values[path] ?? .null), expected \(object.values[path] ?? .null)")
        }
        for name in Set(object.links.keys).union(other.links.keys).sorted()
        where object.links[name] != other.links[name] {
          let (old, new) = (Set(object.links[name, default: []]), Set(other.links[name, default: []]))
          if mayHaveMoreLinks, new.isSuperset(of: old) { continue }
          differences.append(
            "\(entity) \(key) \(name) → \(other.links[name] ?? []), expected \(object.links[name] ?? [])")
        }
      }
    }
    return differences
  }
}
