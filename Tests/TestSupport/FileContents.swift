package import Foundation
package import HeirloomStore

/// The whole content of a store's file, for comparing two files that must be equal.
///
/// What may differ is left out: the generation in the metadata, the order of things in the file,
/// and SQLite's list of the highest keys when it is empty.
package struct FileContents: Equatable {
  /// Table and statement of each object of the schema, by kind and name.
  package var schema: [String: String] = [:]
  /// By table; rows with hidden keys are in the order of these.
  package var rows: [String: [[SQLiteValue]]] = [:]
  /// The metadata, the numbers in the file's header that an app may set, and SQLite's findings.
  package var header: [String] = []

  package init(of url: URL) throws {
    let connection = try Connection(path: url.path, mode: .readOnly, options: .inspecting)
    let actual = try ActualSchema(of: connection)
    for object in actual.objects {
      schema["\(object.kind.rawValue) \(object.name)"] = "\(object.table): \(object.sql ?? "")"
    }
    for table in actual.tables where !table.isVirtual {
      let name = quote(table.name)
      let hasHiddenKey = (try? connection.execute("SELECT rowid FROM \(name) LIMIT 0")) != nil
      let found = try connection.rows(
        hasHiddenKey ? "SELECT rowid, * FROM \(name) ORDER BY rowid" : "SELECT * FROM \(name) ORDER BY 1")
      // A table of links has no meaningful key of its own.
      let isJoin = actual.objects.contains { $0.table == table.name && $0.name.hasPrefix("sqlite_autoindex_Z_") }
      let plain = isJoin ? found.map { Array($0.dropFirst()) }.sorted { "\($0)" < "\($1)" } : found
      // Columns that two builders order differently would be another result: the schema shows it.
      if table.name != "Z_METADATA" { rows[table.name] = plain }
    }
    if rows["sqlite_sequence"]?.isEmpty == true {
      rows["sqlite_sequence"] = nil
      schema["table sqlite_sequence"] = nil
    }
    var metadata = try StoreMetadata(connection: connection, path: url.path)
    metadata.generation = nil
    header = [metadata.identifier, "\(Data(try metadata.propertyList()).base64EncodedString())"]
    for pragma in ["user_version", "application_id", "page_size", "auto_vacuum", "encoding", "journal_mode"] {
      header.append("\(pragma) \(try connection.firstValue("PRAGMA \(pragma)") ?? .null)")
    }
    header.append("\(try connection.firstValue("PRAGMA integrity_check") ?? .null)")
  }

  /// At most one line for each object.
  package func differences(from other: FileContents) -> [String] {
    var lines: [String] = []
    for name in Set(schema.keys).union(other.schema.keys).sorted() where schema[name] != other.schema[name] {
      lines.append("\(name): \(schema[name] ?? "missing") | \(other.schema[name] ?? "missing")")
    }
    for name in Set(rows.keys).union(other.rows.keys).sorted() where rows[name] != other.rows[name] {
      let first = zip(rows[name] ?? [], other.rows[name] ?? []).first { $0 != $1 }
      lines.append(
        "\(name): \(rows[name]?.count ?? -1) | \(other.rows[name]?.count ?? -1) rows, \(first.map { "\($0)" } ?? "")")
    }
    if header != other.header { lines.append("\(header) | \(other.header)") }
    return lines
  }
}
