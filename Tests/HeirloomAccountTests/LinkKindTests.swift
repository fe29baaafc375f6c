import Foundation
import HeirloomMigration
import TestSupport
import Testing

/// Every kind of relationship × where its links are stored × every kind that it may become, balanced by the accountant.
struct LinkKindTests {
  enum Side: String, CaseIterable, Sendable {
    case none, one, many, ordered
  }

  enum Place: String, CaseIterable, Sendable {
    /// The owners' rows alone, the targets' rows alone, both, or both with different links.
    case owners, targets, both, contradictory
    /// All of these, by chance.
    case seeded
  }

  struct Kind: Hashable, Sendable {
    let own: Side
    let inverse: Side
    /// True if both sides are there and are no inverses of each other.
    var isSeparate = false
    /// True if both sides have another name, with the first as their identifier.
    var isRenamed = false
    /// True if the inverse is transient, so that no store holds its side.
    var isInverseTransient = false
    /// True if the inverse doesn't name the relationship as its own: to a store, neither has an inverse.
    var isUnreturned = false
    /// True if both sides hold links of their own.
    var isApart: Bool { isSeparate || isUnreturned }

    static let all: [Kind] = Side.allCases.flatMap { own in
      Side.allCases.flatMap { inverse in
        let kinds = [Kind(own: own, inverse: inverse, isRenamed: own == inverse)]
        guard own != .none, inverse != .none else { return kinds }
        return kinds + [
          Kind(own: own, inverse: inverse, isSeparate: true, isRenamed: own != inverse),
          Kind(own: own, inverse: inverse, isInverseTransient: true),
          Kind(own: own, inverse: inverse, isUnreturned: true),
        ]
      }
    }
  }

  struct Example: Sendable, CustomStringConvertible {
    let source: Kind
    let place: Place
    /// True if owners and targets are of one entity.
    let isReflexive: Bool
    let destination: Kind
    let builder: BuilderChoice

    var description: String {
      "\(source) in \(place)\(isReflexive ? ", reflexive," : "") to \(destination): \(builder)"
    }
  }

  private static func model(_ kind: Kind, isReflexive: Bool) -> XMLModel {
    let (owner, target) = ("Owner", isReflexive ? "Owner" : "Thing")
    func relationship(_ name: String, _ side: Side, to entity: String, inverse: (name: String, side: Side))
      -> XMLModel.Relationship
    {
      var relationship = XMLModel.Relationship(
        name: kind.isRenamed ? name + "New" : name, identifier: name, destination: entity)
      (relationship.isToMany, relationship.isOrdered) = (side == .many || side == .ordered, side == .ordered)
      relationship.isTransient = kind.isInverseTransient && name == "back"
      if inverse.side != .none, !kind.isSeparate, !kind.isUnreturned || name == "next" {
        relationship.inverse = kind.isRenamed ? inverse.name + "New" : inverse.name
        relationship.inverseEntity = entity
      }
      return relationship
    }
    var entities = [XMLModel.Entity(name: "Owner", identifier: "Owner")]
    if !isReflexive { entities.append(XMLModel.Entity(name: "Thing", identifier: "Thing")) }
    for index in entities.indices {
      entities[index].attributes = [XMLModel.Attribute(name: "name", identifier: "name", type: "String")]
    }
    if kind.own != .none {
      entities[0].relationships.append(relationship("next", kind.own, to: target, inverse: ("back", kind.inverse)))
    }
    if kind.inverse != .none {
      entities[entities.count - 1].relationships.append(
        relationship("back", kind.inverse, to: owner, inverse: ("next", kind.own)))
    }
    return XMLModel(entities: entities)
  }

  /// Of a one-to-one relationship.
  private static func statements(_ place: Place, isReflexive: Bool) -> [String] {
    let things = isReflexive ? "ZOWNER" : "ZTHING"
    // In a reflexive store, no object leads to itself.
    let shift = isReflexive ? 3 : 0
    var statements = (1...6).map { "INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (\($0), 1, 1, 'o\($0)')" }
    if !isReflexive {
      statements += (1...6).map { "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (\($0), 2, 1, 't\($0)')" }
    }
    statements.append("UPDATE Z_PRIMARYKEY SET Z_MAX = 6")
    if place != .targets {
      statements += (1...3).map { "UPDATE ZOWNER SET ZNEXT = \($0 + shift) WHERE Z_PK = \($0)" }
    }
    if place != .owners {
      let turn = place == .contradictory ? 1 : 0
      statements += (1...3).map { "UPDATE \(things) SET ZBACK = \(($0 - 1 + turn) % 3 + 1) WHERE Z_PK = \($0 + shift)" }
    }
    return statements
  }

  private static func problems(of example: Example) throws -> [String] {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let url = directory.file("Store.sqlite")
    let source = try ModelFolder(
      model(example.source, isReflexive: example.isReflexive), named: "source", in: directory)
    let destination = try ModelFolder(
      model(example.destination, isReflexive: example.isReflexive), named: "destination", in: directory)
    try source.makeEmptyStore(at: url)
    let rows =
      try example.place == .seeded
      ? SeededStore(source.xml, emptyStoreAt: url.path, rows: 6, random: SplitMix64(seed: 3)).statements
      : statements(example.place, isReflexive: example.isReflexive)
    try Database(url.path, isWritable: true).execute(rows)
    let before = try Contents(of: url.path)
    let migration = try AccountedMigration(url, from: source, to: destination, by: example.builder)
    if case .refused = migration { return ["refused"] }
    guard let told = migration.told else { return [] }
    let accountant = try Accountant(
      from: source.xml, before, to: destination.xml, Contents(of: url.path), told: told)
    let imbalances = accountant.imbalances()
    // Links of two relationships that become one are told by one of the names, and once where both had one.
    if example.source.isApart, !example.destination.isApart, imbalances.allSatisfy({ $0.kind == "links" }) {
      let lost = accountant.lostLinks(
        joining: Layout.Name(entity: "Owner", property: "next"),
        Layout.Name(entity: example.isReflexive ? "Owner" : "Thing", property: "back"))
      if lost.count == told.filter({ $0.kind == .links }).reduce(0, { $0 + $1.amount }) { return [] }
    }
    return imbalances.isEmpty ? [] : imbalances.map(\.description) + ["told: \(told)"]
  }

  private static let oneToOne = [false, true].flatMap { isReflexive in
    [Place.owners, .targets, .both, .contradictory].flatMap { place in
      // A quick run has all kinds for links of one side, and a part of the others.
      let isWhole = (place == .owners || place == .targets) && !isReflexive
      let kinds = isWhole ? Kind.all : LongTests.selection(of: Kind.all, every: 4)
      return kinds.enumerated().flatMap { index, destination in
        // In a quick run the builders take turns.
        (LongTests.areOn ? SeededAccountTests.builders : [SeededAccountTests.builders[index % 2]]).map { builder in
          Example(
            source: Kind(own: .one, inverse: .one), place: place, isReflexive: isReflexive, destination: destination,
            builder: builder)
        }
      }
    }
  }

  /// The other kinds, one in 79 in a quick run: their links are stored once, whatever their kind.
  private static let others = LongTests.selection(
    of: [false, true].flatMap { isReflexive in
      Kind.all.filter {
        $0.own != .none
          && !($0.own == .one && $0.inverse == .one && !$0.isSeparate && !$0.isInverseTransient && !$0.isUnreturned)
      }
      .flatMap { source in
        Kind.all.enumerated().map { index, destination in
          Example(
            source: Kind(
              own: source.own, inverse: source.inverse, isSeparate: source.isSeparate,
              isInverseTransient: source.isInverseTransient, isUnreturned: source.isUnreturned), place: .seeded,
            isReflexive: isReflexive, destination: destination, builder: SeededAccountTests.builders[index % 2])
        }
      }
    }, every: 199)

  @Test func `each link of a one-to-one relationship goes on, or is told, whichever side stores it`() throws {
    for example in Self.oneToOne {
      let problems = try Self.problems(of: example)
      if !problems.isEmpty { Issue.record("\(example)\n  \(problems.joined(separator: "\n  "))") }
    }
  }

  @Test func `each link of any other relationship goes on, or is told`() throws {
    for example in Self.others {
      let problems = try Self.problems(of: example)
      if !problems.isEmpty { Issue.record("\(example)\n  \(problems.joined(separator: "\n  "))") }
    }
  }
}
