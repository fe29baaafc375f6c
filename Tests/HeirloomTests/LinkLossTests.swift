import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Links that go are counted as links, by either side's account.
struct LinkLossTests {
  /// A next version of a model of owners and things, and what the links lose.
  struct Change: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let before: [RelationshipDescription]
    let after: [RelationshipDescription?]
    /// Statements that make the links: three of each entity are there.
    let links: [String]
    let lost: [String: [Int64]]

    func model(_ relationships: [RelationshipDescription?]) throws -> ManagedObjectModel {
      try ManagedObjectModel(
        entities: zip(["Owner", "Thing"], relationships).map {
          Make.entity($0, [Make.attribute("name")], [$1].compactMap { $0 })
        })
    }
  }

  private static let oneToOne = [Make.toOne("thing", "Thing", "owner"), Make.toOne("owner", "Owner", "thing")]
  private static let oneToMany = [Make.toMany("things", "Thing", "owner"), Make.toOne("owner", "Owner", "things")]
  private static let manyToMany = [Make.toMany("things", "Thing", "owners"), Make.toMany("owners", "Owner", "things")]
  /// The first pair agrees; the second is in the owner's row alone, the third in the thing's.
  private static let oneSided = [
    "UPDATE ZOWNER SET ZTHING = Z_PK WHERE Z_PK < 3", "UPDATE ZTHING SET ZOWNER = Z_PK WHERE Z_PK <> 2",
  ]

  private static func transient(_ relationship: RelationshipDescription) -> RelationshipDescription {
    var relationship = relationship
    relationship.isTransient = true
    return relationship
  }

  static let changes = [
    Change(
      testDescription: "one-to-one stays", before: oneToOne,
      after: [Make.toOne("thing", "Thing", "holder"), Make.toOne("holder", "Owner", "thing", id: "owner")],
      links: oneSided, lost: [:]),
    Change(
      testDescription: "one side becomes to-many", before: oneToOne,
      after: [Make.toMany("things", "Thing", "owner", id: "thing"), Make.toOne("owner", "Owner", "things")],
      links: oneSided,
      lost: ["Owner.thing": [1]]),
    Change(
      testDescription: "one side is dropped", before: oneToOne, after: [nil, Make.toOne("owner", "Owner")],
      links: oneSided, lost: ["Owner.thing": [1]]),
    Change(
      testDescription: "a key that leads to no object is no link", before: oneToOne,
      after: [nil, Make.toOne("owner", "Owner")], links: ["UPDATE ZOWNER SET ZTHING = 77"], lost: [:]),
    Change(
      testDescription: "to-many becomes to-one", before: oneToMany,
      after: [Make.toOne("thing", "Thing", "owner", id: "things"), oneToMany[1]],
      links: ["UPDATE ZTHING SET ZOWNER = 2"],
      lost: ["Owner.thing": [1, 2]]),
    Change(
      testDescription: "to-many is dropped", before: oneToMany, after: [nil, nil],
      links: ["UPDATE ZTHING SET ZOWNER = 2"], lost: ["Owner.things": [1, 3], "Thing.owner": [3]]),
    Change(
      testDescription: "the inverse of a many-to-many becomes transient", before: manyToMany,
      after: [manyToMany[0], transient(manyToMany[1])],
      links: ["INSERT INTO Z_1THINGS VALUES (1, 1), (1, 2), (2, 1), (2, 2)"], lost: ["Owner.things": [1, 2]]),
    // To a store, neither has an inverse: two links of the owners, and two of the things.
    Change(
      testDescription: "a relationship is dropped whose inverse doesn't name it",
      before: [oneToOne[0], Make.toOne("owner", "Owner")], after: [nil, Make.toOne("owner", "Owner")], links: oneSided,
      lost: ["Owner.thing": [2]]),
    Change(
      testDescription: "many-to-many is dropped", before: manyToMany, after: [nil, nil],
      links: ["INSERT INTO Z_1THINGS VALUES (1, 1), (1, 2), (2, 2)"],
      lost: ["Owner.things": [2, 3], "Thing.owners": [2, 3]]),
    Change(
      testDescription: "many-to-many is dropped, and a row leads to no object", before: manyToMany, after: [nil, nil],
      links: ["INSERT INTO Z_1THINGS VALUES (1, 1), (1, 77), (88, 2)"],
      lost: ["Owner.things": [1], "Thing.owners": [1]]),
    Change(
      testDescription: "many-to-many becomes to-one, and a row leads to no object", before: manyToMany,
      after: [Make.toOne("thing", "Thing", "owners", id: "things"), Make.toMany("owners", "Owner", "thing")],
      links: ["INSERT INTO Z_1THINGS VALUES (1, 1), (1, 77), (2, 1), (2, 3), (3, 88)"], lost: ["Owner.thing": [1]]),
    Change(
      testDescription: "to-many is dropped, and a key leads to no object", before: oneToMany, after: [nil, nil],
      links: ["UPDATE ZTHING SET ZOWNER = 2", "UPDATE ZTHING SET ZOWNER = 77 WHERE Z_PK = 3"],
      lost: ["Owner.things": [1, 2], "Thing.owner": [2]]),
    // Three links: of both sides, of the owner's and of the thing's.
    Change(
      testDescription: "both sides of one-to-one are dropped", before: oneToOne, after: [nil, nil], links: oneSided,
      lost: ["Owner.thing": [3], "Thing.owner": [3]]),
  ]

  @Test(arguments: [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `links between objects of an entity that leaves its tree are counted`(builder: BuilderChoice) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(_ parent: String?) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Make.entity(
          "Plant", [Make.attribute("name")], [Make.toMany("near", "Plant", "far"), Make.toMany("far", "Plant", "near")]),
        Make.entity("Moss", [Make.attribute("kind")], parent: parent),
      ])
    }
    let before = try model("Plant")
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: before))
      let mosses = try (0..<3).map { _ in try context.insert("Moss") }
      let plant = try context.insert("Plant")
      mosses[0][toMany: "near"] = [mosses[1], mosses[2]]
      mosses[1][toMany: "near"] = [plant]
      plant[toMany: "near"] = [mosses[2], plant]
      try context.save()
    }
    let assistant = MigrationAssistant(url, from: before, to: try model(nil), .withBothProofs, builder: builder)
    let report = try assistant.migrate()
    // The two between mosses are told by the side that goes, by both names; the two with the plant by the one that stays.
    let told = report.plan.losses.filter { $0.kind != .objects }.map {
      "\($0.kind) \($0.name) \($0.rows) \($0.links ?? $0.rows)"
    }
    #expect(
      told.sorted() == [
        "links Plant.far 2 2", "links Plant.near 1 2", "linksWithoutRoom Plant.far 1 1",
        "linksWithoutRoom Plant.near 1 1",
      ])
  }

  @Test(arguments: [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `a relationship that leads to a new entity of the same tree keeps no link to objects that go`(
    builder: BuilderChoice
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(_ name: String, _ links: String) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Make.entity("Plant", [Make.attribute("name")], [Make.toMany(links, name, "far", id: "near")]),
        Make.entity("Grass", [Make.attribute("kind")], parent: "Plant"),
        Make.entity(name, [Make.attribute("size")], [Make.toMany("far", "Plant", links)], parent: "Grass"),
      ])
    }
    let before = try model("Moss", "near")
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: before))
      let mosses = try (0..<2).map { _ in try context.insert("Moss") }
      let plants = try (0..<2).map { _ in try context.insert("Plant") }
      plants[0][toMany: "near"] = mosses
      plants[1][toMany: "near"] = [mosses[0]]
      try context.save()
    }
    let assistant = MigrationAssistant(
      url, from: before, to: try model("Reed", "close"), .withBothProofs, builder: builder)
    let report = try assistant.migrate()
    let told = report.plan.losses.map { "\($0.kind) \($0.name) \($0.rows) \($0.links ?? $0.rows)" }
    #expect(told.sorted() == ["linksWithoutRoom Plant.close 2 3", "objects Moss 2 2"])
    let store = try Connection(reading: url)
    #expect(try store.firstInteger("SELECT COUNT(*) FROM ZPLANT") == 2)
    let joins = try store.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'Z_1%CLOSE' OR name LIKE 'Z_3%FAR'")
    for name in joins.compactMap({ $0.first?.text }) {
      #expect(try store.firstInteger("SELECT COUNT(*) FROM \(name)") == 0)
    }
  }

  /// The name of the other entity decides from which side the pairs are gathered.
  @Test(arguments: ["B", "Z"], [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `links that one side alone has are there or counted where two one-to-one relationships become one`(
    other: String, builder: BuilderChoice
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let before = try ManagedObjectModel(entities: [
      Make.entity("P", [Make.attribute("name")], isAbstract: true),
      Make.entity("C", [], [Make.toOne("x", other, "p")], parent: "P"),
      Make.entity("E", [], [Make.toOne("x", other, "q")], parent: "P"),
      Make.entity(other, [Make.attribute("name")], [Make.toOne("p", "C", "x"), Make.toOne("q", "E", "x")]),
    ])
    let after = try ManagedObjectModel(entities: [
      Make.entity("P", [Make.attribute("name")], [Make.toOne("x", other, "p")], isAbstract: true),
      Make.entity("C", [], parent: "P"), Make.entity("E", [], parent: "P"),
      Make.entity(other, [Make.attribute("name")], [Make.toOne("p", "P", "x")]),
    ])
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: before))
      for entity in ["C", "C", "E", "E", other, other, other, other] { _ = try context.insert(entity) }
      try context.save()
    }
    let plain = try Connection(path: url.path, mode: .readWrite)
    // Objects of C have the keys 1 and 2, those of E 3 and 4: each of the four relationships has a link.
    try plain.execute("UPDATE ZP SET ZX = 1 WHERE Z_PK = 1")
    try plain.execute("UPDATE ZP SET ZX1 = 2 WHERE Z_PK = 3")
    try plain.execute("UPDATE Z\(other) SET ZP = 2 WHERE Z_PK = 3")
    try plain.execute("UPDATE Z\(other) SET ZQ = 4 WHERE Z_PK = 4")
    try plain.close()
    let assistant = MigrationAssistant(url, from: before, to: after, .withBothProofs, builder: builder)
    let report = try assistant.migrate()
    let store = try Connection(reading: url)
    let there = try store.firstInteger(
      "SELECT COUNT(*) FROM (SELECT Z_PK, ZX FROM ZP WHERE ZX IS NOT NULL UNION"
        + " SELECT ZP, Z_PK FROM Z\(other) WHERE ZP IS NOT NULL)")
    let told = report.plan.losses.reduce(Int64(0)) { $0 + ($1.links ?? $1.rows) }
    #expect(there == 2)
    #expect(told == 2, "\(report.plan.losses)")
  }

  @Test(arguments: changes, [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `each link that goes is counted`(change: Change, builder: BuilderChoice) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let before = try change.model(change.before)
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: before))
      for entity in ["Owner", "Thing"] { for _ in 0..<3 { _ = try context.insert(entity) } }
      try context.save()
    }
    for statement in change.links { try Connection(path: url.path, mode: .readWrite).execute(statement) }
    let assistant = MigrationAssistant(
      url, from: before, to: try change.model(change.after), .withBothProofs, builder: builder)
    let report = try assistant.migrate()
    var lost: [String: [Int64]] = [:]
    for loss in report.plan.losses { lost[loss.name] = [loss.rows] + (loss.links.map { [$0] } ?? []) }
    #expect(lost == change.lost)
  }
}
