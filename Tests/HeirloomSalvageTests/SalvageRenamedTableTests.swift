import Foundation
import Heirloom
import TestSupport
import Testing
import HeirloomSalvage

/// Salvage of stores whose tables were renamed by a statement, with whatever indexes they have, and of names taken twice.
struct SalvageRenamedTableTests {
  private let directory: TemporaryDirectory
  private let url: URL
  private let model: ManagedObjectModel

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("Diary.sqlite")
    model = try ManagedObjectModel(entities: [
      Make.entity("Folder", [Make.attribute("name")], [Make.toMany("notes", "Note", "folder")]),
      Make.entity(
        "Note", [Make.attribute("text")],
        [Make.toOne("folder", "Folder", "notes"), Make.toMany("labels", "Label", "notes")]),
      Make.entity("Label", [Make.attribute("title")], [Make.toMany("notes", "Note", "labels")], unique: [["title"]]),
    ])
    let store = try PersistentStore.create(at: url, model: model)
    let context = ManagedObjectContext(store: store)
    let folder = try context.insert("Folder")
    let labels = try (0..<3).map { number in
      let label = try context.insert("Label")
      try label.setValue(.string("label \(number)"), forAttribute: "title")
      return label
    }
    for number in 0..<20 {
      let note = try context.insert("Note")
      try note.setValue(.string("note \(number)"), forAttribute: "text")
      try note.setObject(folder, forRelationship: "folder")
      try note.setObjects(Array(labels.prefix(number % 3 + 1)), forRelationship: "labels")
    }
    try context.save()
    try store.connection.execute("PRAGMA journal_mode = DELETE")
    try store.close()
  }

  private func execute(_ sql: String) throws {
    let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
    try connection.executeScript(sql)
    try connection.close()
  }

  private func rows(_ path: String) throws -> [String: [[SQLiteValue]]] {
    let connection = try Connection(path: path, mode: .readOnly)
    defer { try? connection.close() }
    var rows: [String: [[SQLiteValue]]] = [:]
    for table in PhysicalSchema(model: model).tables {
      let columns = table.columns.map { quote($0.name) }.joined(separator: ", ")
      rows[table.name] = try connection.rows("SELECT \(columns) FROM \(quote(table.name)) ORDER BY 1, 2")
    }
    return rows
  }

  private func salvage(_ name: String = "Salvaged") throws -> (report: SalvageReport, output: URL) {
    let output = directory.file(name + ".sqlite")
    return (try StoreSalvage(storeURL: url, models: [model]).run(to: output), output)
  }

  private static let changes = ["S", "_old", "", "X"]

  @Test(arguments: changes, [false, true])
  func `a table that a statement renamed is known, with its indexes`(ending: String, dropsIndexes: Bool) throws {
    let tables = PhysicalSchema(model: model).tables.map(\.name)
    #expect(tables.count == 4)
    let expected = try rows(url.path)
    for table in tables {
      let name = ending.isEmpty ? "archive" : ending == "X" ? "X" + table.dropFirst() : table + ending
      let before = try Data(contentsOf: url)
      if dropsIndexes {
        let connection = try Connection(reading: url)
        let names = try connection.rows(
          "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL AND tbl_name = ?1", [.text(table)])
        try connection.close()
        for row in names { try execute("DROP INDEX \(quote(row[0].text ?? ""))") }
      }
      try execute("ALTER TABLE \(quote(table)) RENAME TO \(quote(name))")
      let (report, output) = try salvage(table)
      #expect(try rows(output.path) == expected, "\(table)")
      #expect(!report.isComplete && report.leftOut.count == 1 && report.leftOut[0].contains(name), "\(report.leftOut)")
      let found = try Connection(reading: output).rows(
        "SELECT 1 FROM sqlite_schema WHERE name = ?1", [.text(name)])
      #expect(found.isEmpty)
      try before.write(to: url)
    }
  }

  @Test func `two tables that may both be the one that is gone are left as they are`() throws {
    try execute("ALTER TABLE ZNOTE RENAME TO archive; CREATE TABLE other AS SELECT * FROM archive")
    let (report, output) = try salvage()
    #expect(report.tables.contains { $0.table == "ZNOTE" && !$0.isPresent && $0.rows == 0 })
    for table in ["archive", "other"] {
      #expect(try Connection(reading: output).firstInteger("SELECT COUNT(*) FROM \(table)") == 20)
    }
  }

  @Test func `each name that the model needs may be an app's, and no row of the model is lost`() throws {
    let expected = try rows(url.path)
    let schema = PhysicalSchema(model: model)
    let before = try Data(contentsOf: url)
    #expect(schema.indexes.count >= 3)
    var count = 0
    for name in schema.indexes.map(\.name) {
      for statement in [
        "CREATE TABLE mine (x); INSERT INTO mine VALUES (1); CREATE INDEX \(quote(name)) ON mine (x)",
        "CREATE TABLE \(quote(name)) (x)",
        "CREATE TABLE mine (x); CREATE INDEX \(quote(name.lowercased())) ON mine (x)",
        "CREATE VIEW \(quote(name)) AS SELECT 1",
      ] {
        try execute("DROP INDEX IF EXISTS \(quote(name)); \(statement)")
        count += 1
        let (report, output) = try salvage("\(count)")
        #expect(try rows(output.path) == expected, "\(statement)")
        #expect(
          report.leftOut.contains { $0.lowercased().contains(name.lowercased()) }, "\(statement): \(report.leftOut)")
        let made = try Connection(reading: output).rows(
          "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?1", [.text(name)])
        #expect(made.count == 1, "\(statement)")
        try before.write(to: url)
      }
    }
  }
}
