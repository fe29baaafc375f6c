import Foundation
import HeirloomMigration
import TestSupport

/// A migration that carries, changes and loses some of everything, and whose books balance.
struct BalancedExample {
  let source: XMLModel
  let destination: XMLModel
  let before: Contents
  let told: [ToldLoss]
  let account: [ListedLine]
  let url: URL
  private let directory: TemporaryDirectory

  private static func relationship(_ name: String, _ entity: String, _ inverse: String, many: Bool = true)
    -> XMLModel.Relationship
  {
    XMLModel.Relationship(
      name: name, identifier: name, destination: entity, inverse: inverse, inverseEntity: entity, isToMany: many)
  }

  private static func attribute(_ name: String, _ type: String = "String", id: String? = nil) -> XMLModel.Attribute {
    XMLModel.Attribute(name: name, identifier: id ?? name, type: type)
  }

  init(by builder: BuilderChoice) throws {
    directory = try TemporaryDirectory()
    url = directory.file("Store.sqlite")
    var source = XMLModel(entities: [
      XMLModel.Entity(
        name: "Note", identifier: "Note",
        attributes: [
          Self.attribute("title"), Self.attribute("size", "Integer 64"), Self.attribute("amount", "Double"),
          Self.attribute("gone"),
        ],
        relationships: [
          Self.relationship("author", "Person", "notes", many: false), Self.relationship("tags", "Tag", "notes"),
        ]),
      XMLModel.Entity(
        name: "Person", identifier: "Person", attributes: [Self.attribute("name")],
        relationships: [
          Self.relationship("notes", "Note", "author"), Self.relationship("card", "Card", "owner", many: false),
        ]),
      XMLModel.Entity(
        name: "Card", identifier: "Card", attributes: [Self.attribute("code")],
        relationships: [Self.relationship("owner", "Person", "card", many: false)]),
      XMLModel.Entity(
        name: "Tag", identifier: "Tag", attributes: [Self.attribute("name")],
        relationships: [Self.relationship("notes", "Note", "tags")]),
      XMLModel.Entity(name: "Draft", identifier: "Draft", attributes: [Self.attribute("text")]),
      XMLModel.Entity(name: "Long", identifier: "Long", parent: "Tag", attributes: [Self.attribute("text")]),
    ])
    let folder = try ModelFolder(source, named: "source", in: directory)
    source = folder.xml
    self.source = source
    try folder.makeEmptyStore(at: url)
    let layout = Layout(source, stored: try Contents(of: url.path).numbers)
    func number(_ entity: String) -> Int64 { layout.numbers[entity] ?? 0 }
    try Database(url.path, isWritable: true).execute([
      "ALTER TABLE ZNOTE ADD COLUMN ZLEFTOVER TEXT", "ALTER TABLE Z_\(number("Note"))TAGS ADD COLUMN ZWHEN TEXT",
      "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, \(number("Person")), 1, 'a'), (2, \(number("Person")), 1, 'b')",
      "INSERT INTO ZCARD (Z_PK, Z_ENT, Z_OPT, ZOWNER) VALUES (1, \(number("Card")), 1, 1)",
      "UPDATE ZPERSON SET ZCARD = 1 WHERE Z_PK = 1",
      "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, \(number("Tag")), 1, 't'), (2, \(number("Long")), 1, 'u')",
      "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZSIZE, ZAMOUNT, ZGONE, ZAUTHOR, ZLEFTOVER)"
        + " VALUES (1, \(number("Note")), 1, 'x', 7, 0.5, 'g', 1, 'l'), (3, \(number("Note")), 1, 'y', 8, 2.0, 'h', 2, 'm')",
      "INSERT INTO Z_\(number("Note"))TAGS VALUES (1, 1, 'w'), (1, 2, NULL), (3, 2, 'w')",
      "INSERT INTO ZDRAFT (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (1, \(number("Draft")), 1, 'd'), (2, \(number("Draft")), 1, 'e')",
      "CREATE TABLE notes_of_the_app (text)", "INSERT INTO notes_of_the_app VALUES ('x')",
      "UPDATE Z_PRIMARYKEY SET Z_MAX = 3",
    ])
    before = try Contents(of: url.path)

    var next = source
    next.entities.removeAll { $0.name == "Draft" }
    next.rename(entity: "Person", to: "Writer")
    for index in next.entities.indices where next.entities[index].name == "Note" {
      next.entities[index].attributes = [
        Self.attribute("heading", id: "title"), Self.attribute("size", "Integer 64"),
        Self.attribute("amount", "Integer 32"),
      ]
    }
    let nextFolder = try ModelFolder(next, named: "destination", in: directory)
    destination = nextFolder.xml
    let migration = try AccountedMigration(url, from: folder, to: nextFolder, by: builder)
    guard let told = migration.told else { throw CocoaError(.featureUnsupported) }
    (self.told, account) = (told, migration.account)
  }

  func imbalances(of account: [ListedLine]) throws -> [Imbalance] {
    try Accountant(from: source, before, to: destination, Contents(of: url.path), told: told)
      .imbalances(of: account)
  }

  /// Balances after statements that corrupt the migrated store, and with what is told changed.
  func imbalances(after statements: [String] = [], told change: ([ToldLoss]) -> [ToldLoss] = { $0 }) throws
    -> [Imbalance]
  {
    let copy = directory.file("Copy-\(UUID().uuidString).sqlite")
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: url.path + suffix) {
      try Data(contentsOf: URL(fileURLWithPath: url.path + suffix))
        .write(to: URL(fileURLWithPath: copy.path + suffix))
    }
    if !statements.isEmpty { try Database(copy.path, isWritable: true).execute(statements) }
    return try Accountant(
      from: source, before, to: destination, Contents(of: copy.path), told: change(told)
    ).imbalances()
  }
}
