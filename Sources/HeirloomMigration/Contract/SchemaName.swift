import HeirloomStore

/// The schema names of both databases on a migration's one connection.
package enum SchemaName {
  package static let store = "main"
  package static let candidate = "candidate"

  /// The rows are read from the table itself: an index that lacks entries hides rows from a query,
  /// and SQLite uses indexes wherever it can: for `COUNT(*)`, a condition, a join.
  static func rows(
    of table: String, as alias: String? = nil, usesIndexes: Bool = false, in database: String = store
  ) -> String {
    "\(quote(database)).\(quote(table))" + (alias.map { " AS \($0)" } ?? "") + (usesIndexes ? "" : " NOT INDEXED")
  }
}

/// SQLite doesn't store the schema's name in the schema table.
func statementInCandidate(_ sql: String) -> String {
  // The name follows these words; the table of a trigger must not have a schema name, as it is in the trigger's schema.
  for words in [
    "CREATE TABLE ", "CREATE UNIQUE INDEX ", "CREATE INDEX ", "CREATE VIRTUAL TABLE ", "CREATE TRIGGER ",
    "CREATE VIEW ",
  ] where sql.uppercased().hasPrefix(words) {
    return sql.prefix(words.count) + quote(SchemaName.candidate) + "." + sql.dropFirst(words.count)
  }
  return sql
}
