package import Foundation
package import HeirloomModel
import HeirloomStore
import Testing

/// A store whose rows and links record their entities, to be damaged in these records.
///
/// Notes are in a table of one entity, circles in one of an abstract root and one more. Four kinds
/// of animals share a table, so that a to-one relationship to them has the entity's number beside
/// its key.
package struct NumberedStore {
  package let directory: TemporaryDirectory
  package private(set) var url: URL

  /// The tables whose rows can be of one entity alone.
  package static let sole = [(table: "ZNOTE", entity: "Note"), (table: "ZSHAPE", entity: "Circle")]
  /// The to-one relationships to animals; `column` is the name without its prefix.
  package static let links = [
    (table: "ZOWNER", name: "Owner.pet", column: "PET"), (table: "ZVISIT", name: "Visit.animal", column: "ANIMAL"),
    (table: "ZPHOTO", name: "Photo.subject", column: "SUBJECT"),
    (table: "ZCHIP", name: "Chip.animal", column: "ANIMAL"),
    (table: "ZANIMAL", name: "Animal.mother", column: "MOTHER"),
  ]
  /// Values that number no entity of these tables, as SQL.
  package static let wrongNumbers = [
    "NULL", "'text'", "x'00ff'", "1.5", "0", "-1", "99", "\(Int64.max)",
    "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Visit')",
  ]
  /// Values that are no highest key of tables with ten rows or fewer, as SQL.
  package static let wrongMaxima = ["NULL", "'many'", "x'00'", "1.5", "-9", "0", "1"]
  /// Rows in each table.
  package static let count: Int64 = 8

  /// `addsFirst` adds an entity whose name comes first, so that all others have other numbers.
  package static func model(addsFirst: Bool = false, addsColumn: Bool = false) throws -> ManagedObjectModel {
    var entities = [
      Make.entity("Note", [Make.attribute("title")]),
      Make.entity("Shape", [Make.attribute("title")], isAbstract: true), Make.entity("Circle", parent: "Shape"),
      Make.entity(
        "Animal", [Make.attribute("title")],
        [
          Make.toMany("visits", "Visit", "animal"), Make.toMany("photos", "Photo", "subject", ordered: true),
          Make.toOne("chip", "Chip", "animal"), Make.toOne("mother", "Animal", "children"),
          Make.toMany("children", "Animal", "mother"),
        ]),
      Make.entity("Cat", parent: "Animal"), Make.entity("Dog", parent: "Animal"),
      Make.entity("Poodle", parent: "Dog"),
      Make.entity(
        "Owner", [Make.attribute("title")] + (addsColumn ? [Make.attribute("street")] : []),
        [Make.toOne("pet", "Animal")]),
      Make.entity("Visit", [Make.attribute("title")], [Make.toOne("animal", "Animal", "visits")]),
      Make.entity("Photo", [Make.attribute("title")], [Make.toOne("subject", "Animal", "photos")]),
      Make.entity("Chip", [Make.attribute("title")], [Make.toOne("animal", "Animal", "chip")]),
    ]
    if addsFirst { entities.append(Make.entity("Aardvark")) }
    return try ManagedObjectModel(entities: entities)
  }

  package init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("Zoo.sqlite")
    let store = try PersistentStore.create(at: url, model: Self.model())
    let context = ManagedObjectContext(store: store)
    let kinds = ["Animal", "Cat", "Dog", "Poodle"]
    var animals: [ManagedObject] = []
    for index in 0..<Int(Self.count) {
      let animal = try context.insert(kinds[index % 4])
      animals.append(animal)
      try animal.setObject(animals[index / 2], forRelationship: "mother")
      var made = [animal]
      for (entity, relationship) in [("Owner", "pet"), ("Visit", "animal"), ("Photo", "subject"), ("Chip", "animal")] {
        let object = try context.insert(entity)
        made.append(object)
        try object.setObject(animal, forRelationship: relationship)
      }
      made.append(try context.insert("Note"))
      made.append(try context.insert("Circle"))
      for object in made { try object.setValue(.string("\(object.entityName) \(index)"), forAttribute: "title") }
    }
    try context.save()
    try store.close()
    // No other row has the keys of these two tables' rows.
    try change(
      """
      UPDATE ZNOTE SET Z_PK = Z_PK + 100; UPDATE ZSHAPE SET Z_PK = -2 * Z_PK; UPDATE ZSHAPE SET Z_PK = -Z_PK;
      UPDATE Z_PRIMARYKEY SET Z_MAX = 108 WHERE Z_NAME = 'Note'; UPDATE Z_PRIMARYKEY SET Z_MAX = 16 WHERE Z_NAME = 'Shape';
      """)
  }

  package func at(_ url: URL) -> NumberedStore {
    var other = self
    other.url = url
    return other
  }

  /// As another program would; everything ends up in the main file.
  package func change(_ sql: String) throws {
    let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
    try connection.executeScript(sql)
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try connection.close()
  }

  /// Gives some rows of a table of one entity another number.
  package static func changeRows(to literal: String) -> String {
    sole.map { "UPDATE \($0.table) SET Z_ENT = \(literal) WHERE Z_PK % 4 = 2" }.joined(separator: ";")
  }

  /// Puts another number beside two keys of animals in each table; animals are the first entity.
  package static func changeLinks(to literal: String) -> String {
    links.map { "UPDATE \($0.table) SET Z1_\($0.column) = \(literal) WHERE Z_PK % 4 = 1" }.joined(separator: ";")
  }

  /// Reads by SQL alone, with the names of entities in place of numbers, and without the columns
  /// that only a later version has.
  package static func rows(of url: URL) throws -> [String] {
    let connection = try Connection(path: url.path, mode: .readOnly)
    var names: [SQLiteValue: String] = [:]
    for row in try connection.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") { names[row[0]] = row[1].text }
    var lines: [String] = []
    for table in sole.map(\.table) + links.map(\.table) {
      let columns = try connection.rows("SELECT name FROM pragma_table_info('\(table)')").compactMap { $0[0].text }
        .filter { $0 != "ZSTREET" }.sorted()
      for row in try connection.rows("SELECT \(columns.joined(separator: ", ")) FROM \(table) ORDER BY Z_PK") {
        let values = zip(columns, row).map { column, value in
          let isNumber = column == "Z_ENT" || column.firstMatch(of: #/^Z\d+_/#) != nil
          let name = column.replacing(#/^Z\d+_/#, with: "Z#_")
          return "\(name)=\(isNumber ? names[value] ?? "\(value)" : "\(value)")"
        }
        lines.append("\(table) \(values.sorted().joined(separator: " "))")
      }
    }
    return lines
  }

  /// Entities whose record of the highest key is no whole number, or below a key that is there.
  package static func recordsBehind(in url: URL) throws -> [String] {
    let connection = try Connection(path: url.path, mode: .readOnly)
    return try ["Note", "Shape", "Animal", "Owner", "Visit", "Photo", "Chip"].filter { name in
      let record = try connection.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)'")
      let highest = try connection.rows("SELECT MAX(Z_PK) FROM Z\(name.uppercased())")[0][0].integer ?? 0
      return record.count != 1 || (record[0][0].integer ?? -1) < highest
    }
  }
}
