import Foundation
import Heirloom
import HeirloomMapping
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

/// Each change of a relationship × the side whose objects code makes: links and orders that are not there are told.
///
/// The links are counted in the columns of both stores, by the tests' own SQL.
struct CodeRelationshipTests {
  /// A relationship `A.b` and its inverse `B.a`.
  struct Shape: Hashable, CustomTestStringConvertible, Sendable {
    enum Side: Character, CaseIterable {
      case none = "-", one = "1", many = "n", ordered = "o"
      var isMany: Bool { self == .many || self == .ordered }
    }

    let b: Side
    let a: Side
    /// True if some links are stored in the column of one side only.
    var isOneSided = false
    var testDescription: String { "\(b.rawValue):\(a.rawValue)\(isOneSided ? " one-sided" : "")" }

    static let all = Side.allCases.flatMap { b in Side.allCases.map { Shape(b: b, a: $0) } }
      .filter { $0.b != .none || $0.a != .none }

    func model(_ more: [AttributeDescription]) throws -> ManagedObjectModel {
      func relationship(_ side: Side, _ name: String, _ entity: String, _ inverse: String?) -> [RelationshipDescription]
      {
        switch side {
        case .none: []
        case .one: [Make.toOne(name, entity, inverse)]
        case .many, .ordered: [Make.toMany(name, entity, inverse, ordered: side == .ordered)]
        }
      }
      return try ManagedObjectModel(entities: [
        Make.entity("A", [Make.attribute("n")] + more, relationship(b, "b", "B", a == .none ? nil : "a")),
        Make.entity("B", [Make.attribute("n")] + more, relationship(a, "a", "A", b == .none ? nil : "b")),
      ])
    }

    func makeStore(at url: URL) throws {
      let store = try PersistentStore.create(at: url, model: model([]))
      let context = ManagedObjectContext(store: store)
      let (a, b) = (try (0..<5).map { _ in try context.insert("A") }, try (0..<5).map { _ in try context.insert("B") })
      try context.save()
      func link(_ owners: [ManagedObject], _ name: String, _ targets: [ManagedObject], _ places: [[Int]]) throws {
        for (owner, places) in zip(owners, places) where !places.isEmpty {
          if (name == "b" ? self.b : self.a).isMany {
            try owner.setObjects(places.map { targets[$0] }, forRelationship: name)
          } else {
            try owner.setObject(targets[places[0]], forRelationship: name)
          }
        }
      }
      switch (self.b.isMany, self.a.isMany) {
      case (true, true):
        try link(a, "b", b, [[2, 0, 1], [1, 4, 0], [2]])
        if self.a == .ordered { try link(b, "a", a, [[1, 0], [], [2, 0]]) }
      case (true, false): try link(a, "b", b, [[2, 0, 1], [4]])
      case (false, true): try link(b, "a", a, [[2, 0, 1], [4]])
      case (false, false) where self.b == .none: try link(b, "a", a, [[0], [0], [3]])
      case (false, false): try link(a, "b", b, self.a == .none ? [[0], [0], [3]] : [[0], [2], [3]])
      }
      try context.save()
      try store.close()
      guard isOneSided else { return }
      try Connection.execute(
        "UPDATE ZA SET ZB = NULL WHERE Z_PK = 1", "UPDATE ZB SET ZA = NULL WHERE Z_PK = 3", on: url.path)
    }
  }

  /// The links of a store by the keys of A and B, and the orders of each side.
  struct Links: Equatable {
    var pairs: Set<[Int64]> = []
    var ofA: [Int64: [Int64]] = [:]
    var ofB: [Int64: [Int64]] = [:]

    init(_ url: URL) throws {
      let connection = try Connection(reading: url, options: .inspecting)
      defer { try? connection.close() }
      func columns(_ table: String) throws -> [String] {
        try connection.rows("SELECT name FROM pragma_table_info('\(table)')").compactMap(\.[0].text)
      }
      var found: [(a: Int64, b: Int64, placeOfB: Int64?, placeOfA: Int64?)] = []
      func read(_ table: String, _ a: String, _ b: String, _ placeOfB: String?, _ placeOfA: String?) throws {
        let rows = try connection.rows(
          "SELECT \(a), \(b), \(placeOfB ?? "NULL"), \(placeOfA ?? "NULL") FROM \(table)"
            + " WHERE \(a) IN (SELECT Z_PK FROM ZA) AND \(b) IN (SELECT Z_PK FROM ZB)")
        for row in rows {
          found.append((row[0].integer ?? 0, row[1].integer ?? 0, row[2].integer, row[3].integer))
        }
      }
      for name in try columns("ZA") where name == "ZB" || name.contains(#/^Z\d+A$/#) {
        let order = "Z_FOK_\(name.dropFirst())"
        try read("ZA", "Z_PK", name, nil, try columns("ZA").contains(order) ? order : nil)
      }
      for name in try columns("ZB") where name == "ZA" || name.contains(#/^Z\d+B$/#) {
        let order = "Z_FOK_\(name.dropFirst())"
        try read("ZB", name, "Z_PK", try columns("ZB").contains(order) ? order : nil, nil)
      }
      let joins = try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table'").compactMap(\.[0].text)
      for table in joins where table.contains(#/^Z_\d/#) {
        let names = try columns(table)
        guard let a = names.first(where: { $0.hasPrefix("Z_1") }), let b = names.first(where: { $0.hasPrefix("Z_2") })
        else { continue }
        try read(
          table, a, b, names.first { $0.hasPrefix("Z_FOK_2") }, names.first { $0.hasPrefix("Z_FOK_1") })
      }
      pairs = Set(found.map { [$0.a, $0.b] })
      for (owner, links) in Dictionary(grouping: found.filter { $0.placeOfB != nil }, by: \.a) {
        ofA[owner] = links.sorted { ($0.placeOfB ?? 0) < ($1.placeOfB ?? 0) }.map(\.b)
      }
      for (owner, links) in Dictionary(grouping: found.filter { $0.placeOfA != nil }, by: \.b) {
        ofB[owner] = links.sorted { ($0.placeOfA ?? 0) < ($1.placeOfA ?? 0) }.map(\.a)
      }
    }

    /// Returns the owners that keep several links, but not their order.
    func disordered(in other: Links) -> Int {
      func count(_ orders: [Int64: [Int64]], _ others: [Int64: [Int64]], _ pair: (Int64, Int64) -> [Int64]) -> Int {
        orders.count { owner, targets in
          let kept = targets.filter { other.pairs.contains(pair(owner, $0)) }
          return kept.count > 1 && (others[owner] ?? []).filter(kept.contains) != kept
        }
      }
      return count(ofA, other.ofA) { [$0, $1] } + count(ofB, other.ofB) { [$1, $0] }
    }
  }

  final class Default: EntityMigrationPolicy {}

  final class RelatesSome: EntityMigrationPolicy {
    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      guard (destination.objectID?.primaryKey ?? 0).isMultiple(of: 2) else { return }
      try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    }
  }

  final class Unlinks: EntityMigrationPolicy {
    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
      let name = destination.entityName == "A" ? "b" : "a"
      guard (destination.objectID?.primaryKey ?? 0) == 1,
        let relationship = manager.destinationModel.relationship(named: name, of: destination.entityName)
      else { return }
      if relationship.isToMany {
        try destination.setObjects([], forRelationship: name)
      } else {
        try destination.setObject(nil, forRelationship: name)
      }
    }
  }

  static let shapes = LongTests.selection(of: Shape.all, every: 2) + [Shape(b: .one, a: .one, isOneSided: true)]

  @Test(.slow("stores of each shape, migrated to every other by several policies"), arguments: shapes)
  func `links and orders that code doesn't keep are told`(_ shape: Shape) throws {
    let base = try TemporaryDirectory()
    let original = base.file("Original.sqlite")
    try shape.makeStore(at: original)
    let before = try Links(original)
    #expect(before.pairs.count >= 3)
    let policies: [EntityMigrationPolicy.Type] = [Default.self, RelatesSome.self, Unlinks.self]
    var number = Shape.all.firstIndex(of: shape) ?? 0
    for after in Shape.all {
      for entities in [["A"], ["B"], ["A", "B"]] {
        for policy in policies {
          number += 1
          guard LongTests.areOn || number.isMultiple(of: 17) else { continue }
          let url = base.file("\(number).sqlite")
          try FileManager.default.copyItem(at: original, to: url)
          let losses = try Self.losses(ofMigrating: url, shape, after, policy, entities)
          let links = try Links(url)
          let name: Comment =
            "to \(after.testDescription) by \(policy) of \(entities): \(losses.map { "\($0.kind) \($0.name) \($0.amount) \($0.reason)" })"
          let missing = before.pairs.subtracting(links.pairs).count
          #expect(links.pairs.isSubset(of: before.pairs), name)
          let told = losses.filter { $0.kind == .links || $0.kind == .linksWithoutRoom }
            .reduce(0) { $0 + ($1.links ?? $1.rows) }
          // Where code makes both ends, both names are told.
          #expect(told >= missing && told <= 2 * missing, "\(missing) missing, \(told) told, \(name)")
          let disordered = before.disordered(in: links)
          let orders = losses.filter { $0.kind == .order }.reduce(0) { $0 + $1.rows }
          #expect(
            orders >= disordered && (orders == 0 || disordered + missing > 0), "\(disordered) disordered, \(name)")
          #expect(losses.allSatisfy { [.links, .linksWithoutRoom, .order].contains($0.kind) }, name)
        }
      }
    }
  }

  @Test(arguments: [["A"], ["B"], ["A", "B"]])
  func `links without room and orders are told by the same names and kinds as without code`(entities: [String]) throws {
    for (before, after, expected) in [
      (Shape(b: .many, a: .one), Shape(b: .one, a: .one), ["linksWithoutRoom A.b 2"]),
      (Shape(b: .ordered, a: .one), Shape(b: .many, a: .one), ["order A.b 1"]),
      (Shape(b: .many, a: .many), Shape(b: .many, a: .one), ["linksWithoutRoom B.a 3"]),
    ] {
      let directory = try TemporaryDirectory()
      let urls = ["code.sqlite", "plain.sqlite"].map { directory.file($0) }
      for (url, entities) in zip(urls, [entities, []]) {
        try before.makeStore(at: url)
        let losses = try Self.losses(ofMigrating: url, before, after, Default.self, entities)
        #expect(losses.map { "\($0.kind) \($0.name) \($0.links ?? $0.rows)" } == expected, "\(entities)")
      }
    }
  }

  private static func losses(
    ofMigrating url: URL, _ before: Shape, _ after: Shape, _ policy: EntityMigrationPolicy.Type, _ entities: [String]
  ) throws -> [MigrationLoss] {
    let (source, destination) = (try before.model([]), try after.model([Make.attribute("mood")]))
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [
      try MappingModel.inferred(from: source, to: destination) {
        for entity in entities { EntityMapping(from: entity, to: entity, policy: policy) }
      }
    ]
    let outcome = try MigrationAssistant(url, from: source, to: destination, configuration).migrateStore()
    let report = try #require(outcome.report)
    #expect(report.previousVersion.isPinned == !report.plan.losses.isEmpty)
    return report.plan.losses
  }
}
