import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMapping
import HeirloomStore
import TestSupport
import Testing

/// Consent to what a jump loses, held against the same store's run step by step: the jump consents to no more.
struct ConsentWayTests {
  /// A property that moves in a hierarchy before it goes.
  enum Move: String, CaseIterable, Sendable {
    case toOneChild, toTwoChildren, renamedBefore, upThenDown, upOutOfTwo, links

    /// The entities that have the property in each version, with its name there.
    private var places: [[String: String]] {
      switch self {
      case .toOneChild: [["P": "a"], ["C": "a"], [:]]
      case .toTwoChildren: [["P": "a"], ["C": "a", "D": "a"], ["D": "a"]]
      case .renamedBefore: [["P": "a"], ["P": "b"], ["C": "b"], [:]]
      case .upThenDown: [["C": "a"], ["P": "a"], ["C": "a"], [:]]
      case .upOutOfTwo: [["C": "a", "D": "a"], ["P": "a"], ["D": "a"]]
      case .links: [["P": "t"], ["C": "t"], [:]]
      }
    }

    func models() throws -> [ManagedObjectModel] {
      try places.enumerated().map { version, places in
        // No version is like another one.
        let marks = (0...version).map { Make.attribute("mark\($0)") }
        let entities = ["P", "C", "D"].map { name in
          let own = places[name]
          let attributes = self == .links ? [] : own.map { [Make.attribute($0, id: $0 == "b" ? "a" : nil)] } ?? []
          let links = self == .links ? own.map { [Make.toOne($0, "T", "ps")] } ?? [] : []
          return Make.entity(name, attributes + (name == "P" ? marks : []), links, parent: name == "P" ? nil : "P")
        }
        let owner = places.keys.first
        let back = self == .links ? owner.map { [Make.toMany("ps", $0, "t")] } ?? [] : []
        return try ManagedObjectModel(entities: entities + [Make.entity("T", [Make.attribute("n")], back)])
      }
    }
  }

  /// `step` counts from 0.
  private struct Loss: Hashable {
    let step: Int
    let name: String
    let kind: LossKind
  }

  private static func history(
    _ models: [ManagedObjectModel], acknowledging losses: Set<Loss> = [], current: Int? = nil
  ) -> ModelHistory {
    var lock = VersionLock(versions: models.enumerated().map { VersionLock.Entry(name: "\($0)", model: $1) })
    for loss in losses { lock.acknowledge(loss.name, kind: loss.kind, from: "\(loss.step)", to: "\(loss.step + 1)") }
    let last = current ?? models.count - 1
    return ModelHistory(
      current: models[last], name: "\(last)", earlier: models[..<last].enumerated().map { ("\($0)", $1) }
    ).locked(by: lock)
  }

  private static func fill(_ url: URL, _ model: ManagedObjectModel, _ entities: [String]) throws {
    try PersistentStore.make(at: url, model: model) { context in
      let target = model.entity(named: "T") == nil ? nil : try context.insert("T")
      for name in entities {
        let object = try context.insert(name)
        if model.attribute(named: "a", of: name) != nil { object["a"] = .string("x") }
        if model.relationship(named: "t", of: name) != nil { object[toOne: "t"] = target }
      }
    }
  }

  private static func stepLosses(_ url: URL, _ models: [ManagedObjectModel]) throws -> Set<Loss> {
    var losses: Set<Loss> = []
    for step in models.indices.dropLast() {
      guard case .migrated(let report) = try MigrationAssistant(url, history(models, current: step + 1)).migrateStore()
      else {
        Issue.record("step \(step) did nothing")
        return []
      }
      losses.formUnion(report.plan.losses.map { Loss(step: step, name: $0.name, kind: $0.kind) })
    }
    return losses
  }

  @Test(arguments: Move.allCases, [["P", "C", "D"], ["C"], ["P"], ["D"]])
  func `a jump consents to no more than its steps`(move: Move, entities: [String]) throws {
    let directory = try TemporaryDirectory()
    let (url, other) = (directory.file("Jump.sqlite"), directory.file("Steps.sqlite"))
    let models = try move.models()
    for url in [url, other] { try Self.fill(url, models[0], entities) }
    let lost = try Self.stepLosses(other, models)
    let possible = models.indices.dropLast().flatMap { step in
      MappingInference(from: models[step], to: models[step + 1]).effects.compactMap { effect in
        effect.kind.lossKind.map { Loss(step: step, name: effect.lossName, kind: $0) }
      }
    }
    #expect(lost.isSubset(of: possible))
    for choice in 0..<(1 << possible.count) {
      let acknowledged = Set(possible.indices.filter { choice >> $0 & 1 == 1 }.map { possible[$0] })
      let plan = try #require(try MigrationAssistant(url, Self.history(models, acknowledging: acknowledged)).plan())
      let isConsented = plan.unconsentedLosses.isEmpty
      let words = "\(acknowledged.map { "\($0.step) \($0.name) \($0.kind)" }.sorted()): \(plan.losses)"
      #expect(!isConsented || plan.losses.isEmpty || lost.isSubset(of: acknowledged), "\(words)")
      // With rows of each entity, a jump that all steps consent to needs no other word. A link's loss may be told for one
      // side in a step and for both in a jump, and nobody follows the other side: that asks for more, never for less.
      if entities.count == 3, move != .links { #expect(isConsented == lost.isSubset(of: acknowledged), "\(words)") }
    }
  }

  // MARK: - Versions that are equal

  /// Versions "0" and "2" are alike: "1" drops `E.a`, "2" has it again, and "3" drops it once more.
  private static func twins(areTold: Bool) throws -> [ManagedObjectModel] {
    try [["a", "b"], ["b"], ["a", "b"], ["b", "q"]].enumerated().map { version, names in
      try ManagedObjectModel(
        entities: [Make.entity("E", names.map { Make.attribute($0) })],
        versionIdentifiers: areTold ? ["v\(version)"] : [])
    }
  }

  @Test(arguments: [(0, false), (0, true), (2, false), (2, true)], [[], [0], [2], [0, 2]])
  func `of equal versions, each one's way has to be acknowledged, unless the store tells its own`(
    store: (maker: Int, areTold: Bool), steps: [Int]
  ) throws {
    let (maker, areTold) = store
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let models = try Self.twins(areTold: areTold)
    try Self.fill(url, models[maker], ["E"])
    let acknowledged = Set(steps.map { Loss(step: $0, name: "E.a", kind: .values) })
    let plan = try #require(try MigrationAssistant(url, Self.history(models, acknowledging: acknowledged)).plan())
    #expect(plan.losses.map(\.name) == ["E.a"])
    let needed = areTold ? [maker] : [0, 2]
    #expect(plan.unconsentedLosses.isEmpty == needed.allSatisfy(steps.contains))
  }

  @Test func `a version that was shipped twice in a row has one way`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let all = try Self.twins(areTold: false)
    let models = [all[0], all[2], all[3]]
    try Self.fill(url, models[0], ["E"])
    let acknowledged: Set = [Loss(step: 1, name: "E.a", kind: .values)]
    let plan = try #require(try MigrationAssistant(url, Self.history(models, acknowledging: acknowledged)).plan())
    #expect(plan.losses.map(\.name) == ["E.a"] && plan.unconsentedLosses.isEmpty)
  }
}
