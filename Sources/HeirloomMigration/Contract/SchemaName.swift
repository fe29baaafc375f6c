import HeirloomStore

/// The names of the two databases of a migration on the one connection that holds both.
package enum SchemaName {
  /// The store that is migrated.
  package static let store = "main"
  /// The candidate that is being built.
  package static let candidate = "candidate"
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
