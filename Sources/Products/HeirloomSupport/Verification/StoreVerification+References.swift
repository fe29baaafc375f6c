import HeirloomModel
import HeirloomStore

extension StoreVerification {
  /// Looks for unknown entities only: history may refer to deleted objects.
  func checkReferences(_ schema: PhysicalSchema) {
    for reference in actual.entityReferences {
      let column = quote(reference.column)
      // Core Data leaves the old name of a renamed entity in the table of entities.
      let known: String
      if reference.isName {
        known = schema.entities.map { quoteLiteral($0.name) }.joined(separator: ", ")
      } else {
        guard actual.table(named: PhysicalName.primaryKeyTable)?.column(named: PhysicalName.entity) != nil else {
          continue
        }
        known = "SELECT \(quote(PhysicalName.entity)) FROM \(quote(PhysicalName.primaryKeyTable))"
      }
      let rows = reading("the table \(reference.table)") { connection throws(SQLiteError) in
        try connection.rows(
          "SELECT \(column), COUNT(*) FROM \(quote(reference.table)) WHERE \(column) NOT NULL AND \(column) NOT IN (\(known))"
            + " GROUP BY \(column) ORDER BY \(column)")
      }
      guard let rows, !rows.isEmpty else { continue }
      let count = rows.reduce(Int64(0)) { $0 + ($1[1].integer ?? 0) }
      let names = rows.map { row in row[0].text.map { "\"\($0)\"" } ?? row[0].integer.map(String.init) ?? "no number" }
      add(
        .warning, .unknownEntityReference,
        "\(reference.table) has \(counted(count, "row")) whose \(reference.column) belongs to no entity of the store"
          + " (\(listed(names))): \(reference.table == PhysicalName.changeTable ? "a reader of persistent history" : "CloudKit mirroring")"
          + " can't determine their entity, and attributes them to another one that later has that \(reference.isName ? "name" : "number")."
          + " No object is affected; a migration that renumbers entities leaves them out.")
    }
  }
}
