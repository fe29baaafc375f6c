import Foundation
import Heirloom
import HeirloomMapping
import HeirloomMigration
import TestSupport
import Testing

/// The losses that a check of two models names, compared with those that a plan counts on rows.
///
/// A check has no store, so it names a loss if any store may have it. `HEIRLOOM_SEED=…` runs the case that a failure
/// named, or with `…-…` a range.
struct ForeseenLossTests {
  private static let parts = RandomSeeds.parts(quick: 96, long: 20_000)

  @Test(arguments: parts)
  func `a check names each loss that a plan counts, and no loss of content that is there and stays`(
    seeds: [UInt64]
  ) throws {
    for seed in seeds {
      let example = RandomCase(seed: seed)
      let (source, destination) = (try example.source.model(), try example.destination.model())
      let directory = try TemporaryDirectory()
      defer { withExtendedLifetime(directory) {} }
      let store = directory.file("Store.sqlite")
      try StoreGenerator.makeStore(at: store, model: source, objects: 6, seed: seed, isFull: true)
      let contents = try StoreContents(of: store, model: source)
      let assistant = MigrationAssistant(store, ModelHistory(current: destination, earlier: [("before", source)]))
      guard let plan = try? assistant.plan(), plan.hops.count == 1 else { continue }
      let foreseen = plan.mapping.effects(from: source, to: destination).filter { $0.kind.severity == .loss }
      let named = Set(foreseen.map { Loss($0.lossName, $0.kind.lossKind) })
      let counted = Set(plan.losses.map { Loss($0.name, $0.kind) })
      #expect(counted.isSubset(of: named), "HEIRLOOM_SEED=\(seed): only the plan has \(counted.subtracting(named))")
      for effect in foreseen where Self.isThere(effect, in: contents) {
        #expect(
          counted.contains(Loss(effect.lossName, effect.kind.lossKind)),
          "HEIRLOOM_SEED=\(seed): only the check has \(effect.lossName), \(effect.kind.code)")
      }
    }
  }

  /// Relationships of siblings that become one of their parent, with the sides' kinds, and inverses that aren't stored.
  private static let merged: [(name: String, before: [EntityDescription], after: [EntityDescription])] = {
    func tree(_ left: [RelationshipDescription], _ right: [RelationshipDescription], _ x: [RelationshipDescription])
      -> [EntityDescription]
    {
      [
        Make.entity("P", [Make.attribute("name")]), Make.entity("A", [], left, parent: "P"),
        Make.entity("B", [], right, parent: "P"), Make.entity("X", [Make.attribute("name")], x),
      ]
    }
    func joined(_ relationship: RelationshipDescription, _ x: [RelationshipDescription]) -> [EntityDescription] {
      [
        Make.entity("P", [Make.attribute("name")], [relationship]), Make.entity("A", parent: "P"),
        Make.entity("B", parent: "P"), Make.entity("X", [Make.attribute("name")], x),
      ]
    }
    var back = Make.toMany("as", "A", "bs")
    let manyToMany = [Make.entity("A", [], [Make.toMany("bs", "B", "as")]), Make.entity("B", [], [back])]
    back.isTransient = true
    return [
      (
        "one-to-one",
        tree(
          [Make.toOne("a", "X", "xa", id: "k")], [Make.toOne("b", "X", "xb", id: "k")],
          [Make.toOne("xa", "A", "a"), Make.toOne("xb", "B", "b")]),
        joined(Make.toOne("p", "X", "xa", id: "k"), [Make.toOne("xa", "P", "p")])
      ),
      (
        "to-many without inverse",
        tree([Make.toMany("as", "X", id: "k")], [Make.toMany("bs", "X", id: "k")], []),
        joined(Make.toMany("ps", "X", id: "k"), [])
      ),
      (
        "to-many that lose their inverses",
        tree(
          [Make.toMany("as", "X", "xa", id: "k")], [Make.toMany("bs", "X", "xb", id: "k")],
          [Make.toOne("xa", "A", "as"), Make.toOne("xb", "B", "bs")]),
        joined(Make.toMany("ps", "X", id: "k"), [])
      ),
      (
        "an inverse that becomes transient", manyToMany,
        [manyToMany[0], Make.entity("B", [Make.attribute("more")], [back])]
      ),
    ]
  }()

  @Test(arguments: merged.indices)
  func `links that several relationships bring to one are named by a check, and its trial expects them`(index: Int)
    throws
  {
    let (name, before, after) = Self.merged[index]
    let (source, destination) = (try ManagedObjectModel(entities: before), try ManagedObjectModel(entities: after))
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let store = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: store, model: source, objects: 6, seed: 7, isFull: true)
    let assistant = MigrationAssistant(store, ModelHistory(current: destination, earlier: [("before", source)]))
    let contents = try StoreContents(of: store, model: source)
    let plan = try #require(try assistant.plan())
    let named = plan.mapping.effects(from: source, to: destination).filter { $0.kind.severity == .loss }
    #expect(!plan.losses.isEmpty, "\(name): no object has two links")
    for loss in plan.losses {
      #expect(named.contains { $0.lossName == loss.name && $0.kind.lossKind == loss.kind }, "\(name): \(loss)")
    }
    // The trial of a check finds no other fault.
    let report = try assistant.migrate()
    let findings = try contents.findings(in: store, after: report.plan)
    #expect(findings.isEmpty, "\(name): \(findings)")
  }

  @Test func `objects that no condition of a mapping takes are named by a check, too`() throws {
    func model(_ names: String...) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: names.map { Make.entity($0, [Make.attribute("kind")]) })
    }
    let (source, destination) = (try model("Item"), try model("Large", "Small"))
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let store = directory.file("Store.sqlite")
    let context = ManagedObjectContext(store: try PersistentStore.create(at: store, model: source))
    for kind in ["s", "l", nil] { try context.insert("Item")["kind"] = kind.map { .string($0) } }
    try context.save()
    let mapping = try MappingModel.inferred(from: source, to: destination) {
      EntityMapping(from: "Item", to: "Small", where: "kind == 's'") { PropertyMapping("kind", copying: "kind") }
      EntityMapping(from: "Item", to: "Large", where: "kind == 'l'") { PropertyMapping("kind", copying: "kind") }
    }
    let assistant = MigrationAssistant(
      store, ModelHistory(current: destination, earlier: [("before", source)]), .init(mappings: [mapping]))
    let losses = try #require(try assistant.plan()).losses
    #expect(losses.map(\.name) == ["Item"] && losses.map(\.kind) == [.objects] && losses.map(\.rows) == [1])
    let named = mapping.effects(from: source, to: destination).filter { $0.kind.severity == .loss }
    #expect(named.map(\.lossName) == ["Item"] && named.map(\.kind) == [.objectsLeftOut])
  }

  private struct Loss: Hashable, CustomStringConvertible {
    let name: String
    let kind: LossKind?

    init(_ name: String, _ kind: LossKind?) { (self.name, self.kind) = (name, kind) }

    var description: String { "\(name) (\(kind?.rawValue ?? "none"))" }
  }

  /// Returns true if rows of a store surely lose what an effect is about.
  private static func isThere(_ effect: DataEffect, in contents: StoreContents) -> Bool {
    effect.rows.contains { rows in
      guard rows.takenBy.isEmpty, rows.notTakenBy.isEmpty else { return false }
      let objects = contents.objects[rows.entity, default: [:]].values
      let property = rows.properties.first.flatMap(\.self)
      return switch effect.kind {
      case .objectsDropped: !objects.isEmpty
      case .valuesDropped:
        property.map { name in objects.contains { $0.values[name].map { $0 != .null } ?? false } } ?? false
      case .orderDropped: property.map { name in objects.contains { $0.links[name, default: []].count > 1 } } ?? false
      case .foreignLinks(let targets):
        property.map { name in
          let keys = Set(objects.flatMap { $0.links[name, default: []] })
          return targets.contains { !keys.isDisjoint(with: contents.objects[$0, default: [:]].keys) }
        } ?? false
      default: false
      }
    }
  }
}
