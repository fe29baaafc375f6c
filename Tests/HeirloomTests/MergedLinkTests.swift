import Foundation
import Heirloom
import HeirloomMigration
import HeirloomStore
import HeirloomSupport
import TestSupport
import Testing

/// Relationships that become one: those of two entities one of their parent; two pairs a pair with one side of each.
struct MergedLinkTests {
  /// Two siblings C and E, each with a relationship to B, before and after their parent P gets one that continues both.
  struct Change: CustomTestStringConvertible, Sendable {
    /// True when the second relationship is also C's, and the new pair has one side of each of the two.
    let isOfOne: Bool
    /// The kinds of C's relationship, its inverse, E's, its inverse, P's and its inverse: a set bit is to-many.
    let bits: Int
    /// The name of the entity B, which decides what side names a table of links.
    let other: String

    var testDescription: String {
      let letters = (0..<6).map { isMany($0) ? "n" : "1" }
      return
        "\(letters[0]):\(letters[1]) and \(letters[2]):\(letters[3]) become \(letters[4]):\(letters[5]) with \(other)"
        + (isOfOne ? " of one" : "")
    }

    var builder: MigrationPlan.Builder { (bits ^ other.utf8.count).isMultiple(of: 2) ? .rebuild : .cloneAndAlter }

    func isMany(_ bit: Int) -> Bool { bits & (1 << bit) != 0 }

    func link(_ bit: Int, _ name: String, _ entity: String, _ inverse: String) -> RelationshipDescription {
      isMany(bit)
        ? Make.toMany(name, entity, inverse, ordered: (bits + bit).isMultiple(of: 3))
        : Make.toOne(name, entity, inverse)
    }

    func source() throws -> ManagedObjectModel {
      let name = Make.attribute("name")
      if isOfOne {
        return try ManagedObjectModel(entities: [
          Make.entity("C", [name], [link(0, "bs", other, "ps"), link(2, "ws", other, "es")]),
          Make.entity(other, [name], [link(1, "ps", "C", "bs"), link(3, "es", "C", "ws")]),
        ])
      }
      return try ManagedObjectModel(entities: [
        Make.entity("P", [name], isAbstract: true),
        Make.entity("C", [], [link(0, "bs", other, "ps")], parent: "P"),
        Make.entity("E", [], [link(2, "bs", other, "es")], parent: "P"),
        Make.entity(other, [name], [link(1, "ps", "C", "bs"), link(3, "es", "E", "bs")]),
      ])
    }

    func destination() throws -> ManagedObjectModel {
      let name = Make.attribute("name")
      if isOfOne {
        return try ManagedObjectModel(entities: [
          Make.entity("C", [name], [link(4, "bs", other, "es")]),
          Make.entity(other, [name], [link(5, "es", "C", "bs")]),
        ])
      }
      return try ManagedObjectModel(entities: [
        Make.entity("P", [name], [link(4, "bs", other, "ps")], isAbstract: true),
        Make.entity("C", [], parent: "P"), Make.entity("E", [], parent: "P"),
        Make.entity(other, [name], [link(5, "ps", "P", "bs")]),
      ])
    }
  }

  /// A link: the key of C or E, then that of B.
  private struct Link: Hashable {
    let owner: Int64
    let target: Int64
  }

  /// All kinds, or in a quick run a third of them, in which each kind of each end still occurs.
  static let changes: [Change] = (0..<64).filter { LongTests.areOn || $0.isMultiple(of: 3) }.flatMap { bits in
    ["B", "Z"].flatMap { other in [false, true].map { Change(isOfOne: $0, bits: bits, other: other) } }
  }

  @Test(arguments: changes) func `every link goes on, or the plan counts it`(change: Change) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let (source, destination) = (try change.source(), try change.destination())
    try StoreGenerator.makeStore(at: store, model: source, objects: 12, seed: UInt64(change.bits) + 1)
    let before = try StoreContents(of: store, model: source)
    let assistant = MigrationAssistant(
      store, ModelHistory(current: destination, earlier: [("before", source)]), builder: .always(change.builder))
    let report = try assistant.migrate()
    let after = try StoreContents(of: store, model: destination)
    let expected = links("bs", of: ["C", "E"], in: before).union(links("ws", of: ["C"], in: before))
    let found = links("bs", of: ["C", "E"], in: after)
    let inverse = change.isOfOne ? "es" : "ps"
    let backwards = Set(links(inverse, of: [change.other], in: after).map { Link(owner: $0.target, target: $0.owner) })
    var problems: [String] = []
    if expected.isEmpty { problems.append("there are no links") }
    if found != backwards {
      problems.append("the two sides differ in \(found.symmetricDifference(backwards).count) links")
    }
    if !found.isSubset(of: expected) { problems.append("\(found.subtracting(expected).count) links came from nowhere") }
    // A link is left out only if one of its ends has no room for it.
    let (owners, targets) = (Set(found.map(\.owner)), Set(found.map(\.target)))
    let free = expected.subtracting(found).filter { link in
      !(!change.isMany(4) && owners.contains(link.owner) || !change.isMany(5) && targets.contains(link.target))
    }
    if !free.isEmpty { problems.append("\(free.count) of \(expected.count) links are gone although there is room") }
    let named: Set = ["P.bs", "C.ws", "\(change.other).ps", "C.bs", "E.bs", "\(change.other).es"]
    let losses = report.plan.losses.filter { loss in
      named.contains("\(loss.entity).\(loss.property ?? "")") && !loss.reason.contains("order")
    }
    if losses.isEmpty != (found == expected) {
      problems.append("the plan counts \(losses.map { ($0.property, $0.rows) })")
    }
    problems += try StoreVerification.report(onStoreAt: store.path).findings.filter { $0.severity < .note }.map {
      "\($0)"
    }
    #expect(problems == [])
    withExtendedLifetime(directory) {}
  }

  private func links(_ name: String, of entities: [String], in contents: StoreContents) -> Set<Link> {
    Set(
      entities.flatMap { contents.objects[$0, default: [:]] }.flatMap { key, object in
        object.links[name, default: []].map { Link(owner: key, target: $0) }
      })
  }
}
