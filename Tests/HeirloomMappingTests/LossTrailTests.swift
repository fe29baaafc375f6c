import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

/// The causes of a jump's loss among the losses of its steps, each entity's own objects on their way.
struct LossTrailTests {
  /// Versions in which `P.a` moves down to `C` and then goes.
  private static func versions() throws -> [ManagedObjectModel] {
    try [("P", 1), ("C", 2), ("", 3)].map { owner, version in
      try ManagedObjectModel(
        entities: ["P", "C"].map { name in
          Make.entity(
            name, name == owner ? [Make.attribute("a")] : name == "P" ? [] : [Make.attribute("k\(version)")],
            parent: name == "P" ? nil : "P")
        })
    }
  }

  private static func losses(_ versions: [ManagedObjectModel]) -> [[DataEffect]] {
    zip(versions, versions.dropFirst()).map { source, destination in
      MappingInference(from: source, to: destination).effects.filter { $0.properties == ["a"] }
    }
  }

  @Test func `the objects of each entity that has a property have causes of their own`() throws {
    let versions = try Self.versions()
    let trail = LossTrail(through: versions, losses: Self.losses(versions))
    func causes(_ entity: String) -> [String] {
      trail.causes(of: .values, losing: "a", of: entity).map { "\($0.hop) \($0.effect.entity)" }
    }
    #expect(causes("P") == ["0 P", "1 C"])
    #expect(trail.starting(at: 1).causes(of: .values, losing: "a", of: "C").map(\.effect.entity) == ["C"])
  }

  @Test func `a loss that no step explains for the objects of one entity has no causes`() throws {
    let versions = try Self.versions()
    // Nobody knows what code of the second step loses.
    let losses = [Self.losses(versions)[0], []]
    #expect(LossTrail(through: versions, losses: losses).causes(of: .values, losing: "a", of: "P").isEmpty)
  }

  @Test func `an order that goes with its relationship has its cause in the step that drops it`() throws {
    let versions = try [(true, 1), (false, 1), (false, 2)].map { hasList, version in
      try ManagedObjectModel(entities: [
        Make.entity(
          "A", version == 1 ? [] : [Make.attribute("k")], hasList ? [Make.toMany("bs", "B", "a", ordered: true)] : []),
        Make.entity("B", [], [Make.toOne("a", "A", hasList ? "bs" : nil)]),
      ])
    }
    let losses = zip(versions, versions.dropFirst()).map { MappingInference(from: $0, to: $1).effects }
    let causes = LossTrail(through: versions, losses: losses).causes(of: .order, losing: "bs", of: "A")
    #expect(causes.map(\.hop) == [0] && causes.map(\.effect.kind) == [.orderDropped])
  }
}
