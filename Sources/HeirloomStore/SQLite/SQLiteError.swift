import CHeirloomSQLite
package import HeirloomFormats

/// Bound values are users' data and never part of it.
package struct SQLiteError: Error, Hashable, Sendable {
  package let extendedCode: Int32
  package let message: String
  package let sql: String?

  package init(extendedCode: Int32, message: String, sql: String? = nil) {
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
  }

  package var code: Int32 { extendedCode & 0xff }
}

extension SQLiteError {
  package static let notDatabaseCode: Int32 = SQLITE_NOTADB

  package static let inputOutputCode: Int32 = SQLITE_IOERR

  package static let readOnlyCode: Int32 = SQLITE_READONLY

  /// As Apple's SQLite reports a file that the system lets no process open.
  static func denied(sql: String? = nil) -> SQLiteError {
    SQLiteError(extendedCode: SQLITE_AUTH, message: "authorization denied", sql: sql)
  }

  static func sharedPage(of name: String) -> SQLiteError {
    SQLiteError(
      extendedCode: SQLITE_CORRUPT, message: "malformed database schema (\(name)) - its first page is another object's")
  }

  package var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
  package var isConstraint: Bool { code == SQLITE_CONSTRAINT }
  package var isTooBig: Bool { code == SQLITE_TOOBIG }
  package var isInterrupt: Bool { code == SQLITE_INTERRUPT && !isExpired }
  /// Also without room for the `-shm` (19, `SQLITE_IOERR_SHMSIZE`).
  package var isFull: Bool { code == SQLITE_FULL || extendedCode == SQLITE_IOERR | (19 << 8) }
  package var isNotDatabase: Bool { code == SQLITE_NOTADB }
  package var isCorrupt: Bool { code == SQLITE_CORRUPT }
  package var isCannotOpen: Bool { code == SQLITE_CANTOPEN }
  package var isInputOutput: Bool { code == SQLITE_IOERR }
  /// The system lets no process open a file: on Apple's systems, while the device is locked.
  ///
  /// Apple's SQLite has `SQLITE_AUTH` for opening and `SQLITE_IOERR_AUTH` (28) for reading:
  /// https://github.com/groue/GRDB.swift/issues/571, https://www.sqlite.org/rescode.html
  package var isDenied: Bool { code == SQLITE_AUTH || extendedCode == SQLITE_IOERR | (28 << 8) }
  /// More room, other permissions or a retry won't help.
  package var isAboutContent: Bool {
    switch code {
    case SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: true
    // SQLITE_IOERR_SHORT_READ, _DATA, _CORRUPTFS: https://www.sqlite.org/rescode.html
    case SQLITE_IOERR: [2, 32, 33].contains(extendedCode >> 8)
    default: false
    }
  }
  /// A connection that may write must roll back a hot journal (`SQLITE_READONLY_ROLLBACK`).
  package var needsRecovery: Bool { extendedCode == SQLITE_READONLY | (3 << 8) }
  package var isReadOnly: Bool { code == SQLITE_READONLY }
}

extension SQLiteError: ExplainedError {
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
