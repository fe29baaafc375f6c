import CHeirloomSQLite

/// What SQLite reports when something fails.
///
/// Bound values are users' data and never part of it.
package struct SQLiteError: Error, Hashable, Sendable {
  /// The extended result code, such as 2067 for a violated uniqueness constraint.
  package let extendedCode: Int32
  /// SQLite's message, with names but without values.
  package let message: String
  /// The statement, if one was being run.
  package let sql: String?

  /// Creates an error.
  package init(extendedCode: Int32, message: String, sql: String? = nil) {
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
  }

  /// The result code without its details, such as 19 for any violated constraint.
  package var code: Int32 { extendedCode & 0xff }
}

extension SQLiteError {
  /// The code of a file that is no database (`SQLITE_NOTADB`).
  package static let notDatabaseCode: Int32 = SQLITE_NOTADB

  /// Whether another connection holds the database (`SQLITE_BUSY`, `SQLITE_LOCKED`).
  package var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
  /// Whether a constraint was violated (`SQLITE_CONSTRAINT`).
  package var isConstraint: Bool { code == SQLITE_CONSTRAINT }
  /// Whether the operation was interrupted (`SQLITE_INTERRUPT`).
  package var isInterrupt: Bool { code == SQLITE_INTERRUPT }
  /// Whether the disk is full (`SQLITE_FULL`).
  package var isFull: Bool { code == SQLITE_FULL }
  /// Whether the file is no database (`SQLITE_NOTADB`).
  package var isNotDatabase: Bool { code == SQLITE_NOTADB }
  /// Whether the database's structure is damaged (`SQLITE_CORRUPT`).
  package var isCorrupt: Bool { code == SQLITE_CORRUPT }
  /// Whether the file's content is at fault, and not the system, the disk's room or permissions.
  package var tellsDamage: Bool {
    code == SQLITE_CORRUPT || code == SQLITE_NOTADB || extendedCode == SQLITE_IOERR | (2 << 8)
  }
  /// Whether a file could not be opened or made (`SQLITE_CANTOPEN`).
  package var isCannotOpen: Bool { code == SQLITE_CANTOPEN }
  /// Whether the file system failed (`SQLITE_IOERR`).
  package var isInputOutput: Bool { code == SQLITE_IOERR }
  /// Whether a hot journal must be rolled back by a connection that may write (`SQLITE_READONLY_ROLLBACK`).
  package var needsRecovery: Bool { extendedCode == SQLITE_READONLY | (3 << 8) }
  /// Whether writing was needed and not allowed (`SQLITE_READONLY`).
  package var isReadOnly: Bool { code == SQLITE_READONLY }
}

extension SQLiteError: CustomStringConvertible {
  /// One sentence: SQLite's message, its code, and the statement.
  package var description: String {
    let statement = sql.map { " in \"\($0.prefix(400))\"" } ?? ""
    return "SQLite reports \"\(message)\" (code \(extendedCode))\(statement)."
  }
}
