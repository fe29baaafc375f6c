import Foundation
import Heirloom
import HeirloomStore
import TestSupport

/// Columns of no model in every table of a store, with the names that statements of Heirloom's own use.
///
/// Each value is a text that no other cell has. It names its column and its row.
struct ForeignNames {
  /// The names of a table's numbers, which a column can hide.
  static let rowNumbers = ["rowid", "_rowid_", "oid"]

  /// Extracts the lower-case words of the SQL in source files: names of columns, tables and
  /// results, and some words.
  ///
  /// The folders are below `Sources`.
  static func inSources(_ folders: [String]) throws -> [String] {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources").standardized
    // These are put together from a letter and a number.
    var names: Set = ["c0", "c1", "c7", "k0", "k1", "t0", "t1", "v0", "v1", "u0", "u1", "was name", "was zname"]
    for folder in folders {
      let files = FileManager.default.enumerator(at: sources.appending(path: folder), includingPropertiesForKeys: nil)
      for case let file as URL in files ?? .init() where file.pathExtension == "swift" {
        for line in try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")) { add(wordsOf: line, to: &names) }
      }
    }
    return names.subtracting(rowNumbers).sorted()
  }

  private static func add(wordsOf line: Data, to names: inout Set<String>) {
    // Each second part between quotation marks is a literal, or what an interpolation quotes.
    let parts = line.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
    guard parts.count > 1 else { return }
    let words = parts.indices.filter { $0 % 2 == 1 }.flatMap { index in
      parts[index].split { byte in
        !(UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "_"))
      }.map { String(decoding: $0, as: UTF8.self) }
    }
    guard words.contains(where: ["SELECT", "FROM", "WHERE", "AS", "ON", "BY", "SET", "TABLE"].contains) else { return }
    names.formUnion(words.filter { $0 == $0.lowercased() && !($0.first?.isNumber ?? true) })
  }

  /// The tables of objects and of links, as plain SQL finds them, with the columns of each row's key.
  static func tables(_ connection: Connection) throws -> [(name: String, keys: [String], columns: [String])] {
    try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").compactMap { row in
      let name = row[0].text ?? ""
      let columns = try connection.rows("SELECT name FROM pragma_table_info(?1) ORDER BY cid", [.text(name)])
        .compactMap { $0[0].text }
      if columns.contains("Z_PK") { return (name, ["Z_PK"], columns) }
      guard name.contains(#/^Z_\d+[A-Z]/#) else { return nil }
      let keys = columns.filter { $0.contains(#/^(Z_\d+[A-Z]|REFLEXIVE$)/#) }
      // A migration may give the entities other numbers.
      return (name, keys.sorted { $0.replacing(#/\d+/#, with: "") < $1.replacing(#/\d+/#, with: "") }, columns)
    }
  }

  /// Gives each cell of the new columns a value; returns all values.
  @discardableResult
  static func plant(_ names: [String], in url: URL) throws -> Set<String> {
    let connection = try Connection(path: url.path, mode: .readWrite)
    try connection.registerCoreDataFunctions()
    try connection.execute("BEGIN")
    for table in try tables(connection) {
      let there = Set(table.columns.map { $0.lowercased() })
      let new = names.filter { !there.contains($0.lowercased()) }
      guard !new.isEmpty else { continue }
      // A table made anew is as `ALTER TABLE` leaves it, which reads the schema anew for each column.
      let found = try connection.rows(
        "SELECT sql FROM sqlite_schema WHERE tbl_name = ?1 AND sql NOT NULL ORDER BY type = 'table' DESC",
        [.text(table.name)]
      ).compactMap { $0[0].text }
      let sql = found[0]
      let end = sql.range(of: ", PRIMARY KEY (", options: .backwards)?.lowerBound ?? sql.lastIndex(of: ")")
      guard let end else { continue }
      let row = table.keys.map(quote).joined(separator: " || '/' || ")
      let family = family(table.name)
      let columns = (table.columns + new).map(quote).joined(separator: ", ")
      let values = table.columns.map(quote) + new.map { "'<\(family).\($0) ' || \(row) || '>'" }
      let statements = [
        "CREATE TEMP TABLE former AS SELECT * FROM main.\(quote(table.name))", "DROP TABLE main.\(quote(table.name))",
        sql[..<end] + new.map { ", \(quote($0)) VARCHAR" }.joined() + sql[end...],
        "INSERT INTO \(quote(table.name)) (\(columns)) SELECT \(values.joined(separator: ", ")) FROM temp.former",
        "DROP TABLE temp.former",
      ]
      for statement in statements + found.dropFirst() { try connection.execute(statement) }
    }
    try connection.execute("COMMIT")
    try connection.close()
    return try values(in: url)
  }

  /// Reads all planted values, with a check that each is in the row that it names.
  static func values(in url: URL) throws -> Set<String> {
    let connection = try Connection(reading: url, options: .inspecting)
    var found: Set<String> = []
    for table in try tables(connection) {
      let foreign = table.columns.filter { !table.keys.contains($0) }
      for start in stride(from: 0, to: foreign.count, by: 500) {
        let part = foreign[start..<min(start + 500, foreign.count)]
        let list = (table.keys + part).map(quote).joined(separator: ", ")
        for row in try connection.rows("SELECT \(list) FROM \(quote(table.name))") {
          for value in row.dropFirst(table.keys.count) {
            guard let text = value.text, text.hasPrefix("<"), text.hasSuffix(">") else { continue }
            found.insert(text)
          }
        }
      }
    }
    return found
  }

  /// The name of a table without entity numbers.
  private static func family(_ table: String) -> String { table.replacing(#/^Z_\d+/#, with: "Z_") }

  /// Returns the values that stand in another row than they name, or in another table.
  static func misplaced(in url: URL) throws -> [String] {
    let connection = try Connection(reading: url, options: .inspecting)
    var found: [String] = []
    for table in try tables(connection) {
      let row = table.keys.map(quote).joined(separator: " || '/' || ")
      let family = family(table.name)
      for name in table.columns where !table.keys.contains(name) {
        let wrong = try connection.rows(
          "SELECT \(quote(name)) FROM \(quote(table.name)) WHERE \(quote(name)) LIKE '<%>' AND \(quote(name)) <>"
            + " ?1 || \(row) || '>'", [.text("<\(family).\(name) ")])
        found += wrong.compactMap { $0[0].text }
      }
    }
    return found
  }
}
