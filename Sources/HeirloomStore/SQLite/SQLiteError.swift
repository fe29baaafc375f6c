import CHeirloomSQLite
package import HeirloomFormats

/// An error that SQLite reports.
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
  /// The code of a file that is not a database (`SQLITE_NOTADB`).
  package static let notDatabaseCode: Int32 = SQLITE_NOTADB

  /// The code of a disk that fails (`SQLITE_IOERR`).
  package static let inputOutputCode: Int32 = SQLITE_IOERR

  /// The code of a database that can't be written (`SQLITE_READONLY`).
  package static let readOnlyCode: Int32 = SQLITE_READONLY

  /// Returns the error of a file that the system lets no process open, as Apple's SQLite gives it.
  static func denied(sql: String? = nil) -> SQLiteError {
    SQLiteError(extendedCode: SQLITE_AUTH, message: "authorization denied", sql: sql)
  }

  /// Returns the error of a schema in which an object's first page is also another's.
  static func sharedPage(of name: String) -> SQLiteError {
    SQLiteError(
      extendedCode: SQLITE_CORRUPT, message: "malformed database schema (\(name)) - its first page is another object's")
  }

  /// True if another connection has locked the database (`SQLITE_BUSY`, `SQLITE_LOCKED`).
  package var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
  /// True if a constraint was violated (`SQLITE_CONSTRAINT`).
  package var isConstraint: Bool { code == SQLITE_CONSTRAINT }
  /// True if a text, a value or a row is too long (`SQLITE_TOOBIG`).
  package var isTooBig: Bool { code == SQLITE_TOOBIG }
  /// True if the operation was interrupted (`SQLITE_INTERRUPT`).
  package var isInterrupt: Bool { code == SQLITE_INTERRUPT && !isExpired }
  /// True if the disk is full (`SQLITE_FULL`), or has no room for the `-shm` (`SQLITE_IOERR_SHMSIZE`).
  package var isFull: Bool { code == SQLITE_FULL || extendedCode == SQLITE_IOERR | (19 << 8) }
  /// True if the file is not a database (`SQLITE_NOTADB`).
  package var isNotDatabase: Bool { code == SQLITE_NOTADB }
  /// True if the database's structure is damaged (`SQLITE_CORRUPT`).
  package var isCorrupt: Bool { code == SQLITE_CORRUPT }
  /// True if a file could not be opened or created (`SQLITE_CANTOPEN`).
  package var isCannotOpen: Bool { code == SQLITE_CANTOPEN }
  /// True if the file system failed (`SQLITE_IOERR`).
  package var isInputOutput: Bool { code == SQLITE_IOERR }
  /// True if the system lets no process open a file: on Apple's systems, while its protection class denies access.
  ///
  /// Apple's SQLite has `SQLITE_AUTH` for opening and `SQLITE_IOERR_AUTH` for reading:
  /// https://github.com/groue/GRDB.swift/issues/571, https://www.sqlite.org/rescode.html
  package var isDenied: Bool { code == SQLITE_AUTH || extendedCode == SQLITE_IOERR | (28 << 8) }
  /// True if the error is about the file's content; more room, other permissions or a retry won't help.
  package var isAboutContent: Bool {
    switch code {
    case SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: true
    // SQLITE_IOERR_SHORT_READ, _DATA, _CORRUPTFS: https://www.sqlite.org/rescode.html
    case SQLITE_IOERR: [2, 32, 33].contains(extendedCode >> 8)
    default: false
    }
  }
  /// True if a connection that may write must roll back a hot journal (`SQLITE_READONLY_ROLLBACK`).
  package var needsRecovery: Bool { extendedCode == SQLITE_READONLY | (3 << 8) }
  /// True if writing was needed and not allowed (`SQLITE_READONLY`).
  package var isReadOnly: Bool { code == SQLITE_READONLY }
}

extension SQLiteError: ExplainedError {
  /// SQLite's message, its code, and the statement.
  package var cause: String {
    if isExpired { return "Reading of the file was stopped: \(message)." }
    let statement = sql.map { " in \"\($0.prefix(400))\"" } ?? ""
    return "SQLite reports \"\(message)\" (code \(extendedCode))\(statement)."
  }

  package var help: ErrorHelp {
    if isBusy { return ErrorHelp(.unchanged, "Close the store elsewhere and try again.") }
    if isFull { return ErrorHelp(.unchanged, "Free some room on the volume, then try again.") }
    if isDenied { return ErrorHelp(.unchanged, ErrorWords.deniedAdvice) }
    if isReadOnly || isCannotOpen {
      return ErrorHelp(.unchanged, "Check the permissions of the file and its folder, then try again.")
    }
    guard isCorrupt || isNotDatabase else { return ErrorHelp(.unchanged, "Verify the store.", [.verification]) }
    return ErrorHelp(
      .described("The file and those beside it hold the data that can be recovered."),
      "Keep them as they are, and salvage the store into a new file.", [.salvage])
  }
}
