import HeirloomStore

/// The names of the two databases of a migration on the one connection that holds both.
package enum SchemaName {
  /// The store that is migrated.
  package static let store = "main"
  /// The candidate that is being built.
  package static let candidate = "candidate"

  /// Returns a table of the store for a `FROM`, whose rows are read from the table itself.
  ///
  /// An index that lacks entries hides rows from whatever is counted or gathered by it, and SQLite takes one for all that
  /// it can: `COUNT(*)`, a condition, a join.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - alias: The name of its row as SQL; `nil` for the table's.
  ///   - usesIndexes: True to let SQLite take an index after all.
  ///   - database: The database that has the table.
  /// - Returns: The table as SQL.
  static func rows(
    of table: String, as alias: String? = nil, usesIndexes: Bool = false, in database: String = store
  ) -> String {
    "\(quote(database)).\(quote(table))" + (alias.map { " AS \($0)" } ?? "") + (usesIndexes ? "" : " NOT INDEXED")
  }
}

/// Puts the candidate's schema name into a `CREATE` statement.
///
/// The text that SQLite keeps does not hold it.
func statementInCandidate(_ sql: String) -> String {
  // The name follows the words; for a trigger SQLite forbids a schema name on the table, which is the trigger's own.
  for words in [
    "CREATE TABLE ", "CREATE UNIQUE INDEX ", "CREATE INDEX ", "CREATE VIRTUAL TABLE ", "CREATE TRIGGER ",
    "CREATE VIEW ",
  ] where sql.uppercased().hasPrefix(words) {
    return sql.prefix(words.count) + quote(SchemaName.candidate) + "." + sql.dropFirst(words.count)
  }
  return sql
}
