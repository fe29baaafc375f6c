import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Links of objects that are merged: one to a merged object becomes one to its survivor, and what can't be is told.
struct MergedObjectTests {
  /// Links of four items and of the tags 1 to 4, of which 3 and 2 become one, 3.
  struct Links: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let made: [String]
    /// The links that are left: `relationship owner target`.
    let left: [String]
    var lost: [String] = []
  }

  static let links = [
    Links(
      testDescription: "many-to-many between the two", made: ["INSERT INTO Z_2FRIENDS VALUES (2, 3), (1, 2)"],
      left: ["friends 1 3"], lost: ["Tag.friends 1"]),
    Links(
      testDescription: "many-to-many to itself", made: ["INSERT INTO Z_2FRIENDS VALUES (2, 2)"],
      left: ["friends 3 3"]),
    Links(
      testDescription: "to-one of the twin to the survivor", made: ["UPDATE ZTAG SET ZPARENT = 3 WHERE Z_PK = 2"],
      left: [], lost: ["Tag.parent 1"]),
    Links(
      testDescription: "to-one of the survivor to the twin", made: ["UPDATE ZTAG SET ZPARENT = 2 WHERE Z_PK = 3"],
      left: [], lost: ["Tag.parent 1"]),
    Links(
      testDescription: "to-one of each to the other", made: ["UPDATE ZTAG SET ZPARENT = 5 - Z_PK WHERE Z_PK IN (2, 3)"],
      left: [], lost: ["Tag.parent 2"]),
    Links(
      testDescription: "to-one of the twin to itself",
      made: ["UPDATE ZTAG SET ZPARENT = 2 WHERE Z_PK IN (1, 2)"], left: ["parent 1 3", "parent 3 3"]),
    Links(
      testDescription: "to-one of the survivor to the twin, which has another",
      made: ["UPDATE ZTAG SET ZPARENT = iif(Z_PK = 3, 2, 4) WHERE Z_PK IN (2, 3)"], left: ["parent 3 4"],
      lost: ["Tag.parent 1"]),
    Links(
      testDescription: "without an inverse, of the survivor to the twin, which has another",
      made: ["UPDATE ZTAG SET Z2KIN = iif(Z_PK = 3, 2, 4) WHERE Z_PK IN (2, 3)"], left: ["kin 3 4"],
      lost: ["Tag.kin 1"]),
    Links(
      testDescription: "without an inverse, of the twin to the survivor",
      made: ["UPDATE ZTAG SET Z2KIN = 3 WHERE Z_PK = 2"], left: [], lost: ["Tag.kin 1"]),
    Links(
      testDescription: "one-to-one, stored by items alone", made: ["UPDATE ZITEM SET ZTAG = Z_PK"],
      left: ["tag 1 1", "tag 3 3", "tag 4 4"], lost: ["Item.tag 1"]),
    Links(
      testDescription: "one-to-one of the twin, stored by items alone",
      made: ["UPDATE ZITEM SET ZTAG = Z_PK WHERE Z_PK = 2"], left: ["tag 2 3"]),
    Links(
      testDescription: "one-to-one, the survivor's stored by its item alone",
      made: ["UPDATE ZITEM SET ZTAG = Z_PK WHERE Z_PK IN (2, 3)", "UPDATE ZTAG SET ZITEM = 2 WHERE Z_PK = 2"],
      left: ["tag 3 3"], lost: ["Item.tag 1"]),
    Links(
      testDescription: "one-to-one, the survivor's stored by itself alone",
      made: ["UPDATE ZITEM SET ZTAG = 2 WHERE Z_PK = 2", "UPDATE ZTAG SET ZITEM = 3 WHERE Z_PK = 3"],
      left: ["item 3 3"], lost: ["Item.tag 1"]),
    Links(
      testDescription: "one-to-one, stored by both",
      made: ["UPDATE ZITEM SET ZTAG = Z_PK", "UPDATE ZTAG SET ZITEM = Z_PK"],
      left: ["item 1 1", "item 3 3", "item 4 4", "tag 1 1", "tag 3 3", "tag 4 4"], lost: ["Item.tag 1"]),
  ]

  private static func model(isUnique: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      Make.entity("Item", [Make.attribute("title")], [Make.toOne("tag", "Tag", "item")]),
      Make.entity(
        "Tag", [Make.attribute("name")],
        [
          Make.toOne("item", "Item", "tag"), Make.toOne("parent", "Tag", "children"),
          Make.toMany("children", "Tag", "parent"), Make.toMany("friends", "Tag", "fans"),
          Make.toMany("fans", "Tag", "friends"), Make.toMany("kin", "Tag"),
        ], unique: isUnique ? [["name"]] : []),
    ])
  }

  private static func links(_ url: URL) throws -> [String] {
    let store = try Connection(reading: url)
    let queries = [
      "SELECT 'friends', Z_2FANS, Z_2FRIENDS FROM Z_2FRIENDS", "SELECT 'parent', Z_PK, ZPARENT FROM ZTAG",
      "SELECT 'kin', Z_PK, Z2KIN FROM ZTAG", "SELECT 'tag', Z_PK, ZTAG FROM ZITEM",
      "SELECT 'item', Z_PK, ZITEM FROM ZTAG",
    ]
    return try queries.flatMap { try store.rows($0) }.compactMap { row in
      guard let owner = row[1].integer, let target = row[2].integer else { return nil }
      return "\(row[0].text ?? "") \(owner) \(target)"
    }.sorted()
  }

  @Test(arguments: links, [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `each link to a merged object is one to its survivor, or told`(links: Links, builder: BuilderChoice) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Tags.sqlite")
    let before = try Self.model(isUnique: false)
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: before))
      for _ in 0..<4 { _ = try context.insert("Item") }
      for name in ["a", "b", "b", "c"] { try context.insert("Tag").set(name, for: "name") }
      try context.save()
    }
    for statement in links.made { try Connection(path: url.path, mode: .readWrite).execute(statement) }
    let assistant = DataDecisionTests.assistant(
      url, before, try Self.model(isUnique: true), [DataDecision(entity: "Tag", property: "name", .merge())],
      builder: builder)
    let report = try assistant.migrate()
    #expect(try Self.links(url) == links.left)
    let told = report.plan.losses.filter { $0.kind != .objects }
    #expect(told.map { "\($0.name) \($0.rows)" }.sorted() == links.lost)
    #expect(told.allSatisfy { $0.kind == .links && $0.consent == .decision })
  }

  /// A value that one of the merged objects has in the store comes before one that a default or a decision gives.
  @Test(
    arguments: ["default", "fill", "compute"], [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `a value of a merged object comes before one that is made up for the survivor`(
    maker: String, builder: BuilderChoice
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Tags.sqlite")
    func model(isLater: Bool) throws -> ManagedObjectModel {
      var author = Make.attribute("author", optional: !isLater)
      if isLater, maker == "default" { author.defaultValue = .string("made up") }
      return try ManagedObjectModel(entities: [
        Make.entity("Tag", [Make.attribute("name"), author], unique: isLater ? [["name"]] : [])
      ])
    }
    let before = try model(isLater: false)
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: before))
      // Of each name the last stays.
      for (name, author) in [
        ("a", "Ada"), ("a", nil), ("b", nil), ("b", "Bob"), ("c", nil), ("c", nil), ("d", "Dan"), ("d", "Eve"),
        ("e", "made up"), ("e", "Fay"), ("f", "Gus"), ("f", nil), ("f", nil), ("g", nil), ("h", "Hal"),
        ("h", "made up"),
      ] {
        let tag = try context.insert("Tag")
        try tag.set(name, for: "name")
        try tag.set(author, for: "author")
      }
      try context.save()
    }
    var decisions = [DataDecision(entity: "Tag", property: "name", .merge())]
    if maker == "fill" { decisions.append(DataDecision(entity: "Tag", property: "author", .fill(.string("made up")))) }
    if maker == "compute" { decisions.append(DataDecision(entity: "Tag", property: "author", .compute("\"made up\""))) }
    let assistant = DataDecisionTests.assistant(
      url, before, try model(isLater: true), decisions, builder: builder)
    try assistant.migrate()
    let rows = try Connection(reading: url).rows("SELECT ZNAME, ZAUTHOR FROM ZTAG ORDER BY ZNAME")
    #expect(
      rows.map { "\($0[0].text ?? "") \($0[1].text ?? "")" } == [
        "a Ada", "b Bob", "c made up", "d Eve", "e Fay", "f Gus", "g made up", "h made up",
      ])
  }
}
