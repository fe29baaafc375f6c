package enum JournalMode: String, Hashable, Sendable {
  case wal
  /// Any mode with a rollback journal: the header doesn't distinguish them.
  case rollback

  package init(header: [UInt8]) {
    // Byte 19 is the format's read version: https://www.sqlite.org/fileformat2.html#file_format_version_numbers
    self = header.count > 19 && header[19] == 2 ? .wal : .rollback
  }
}

extension Connection {
  /// Whatever mode the connection uses.
  package var headerJournalMode: JournalMode { JournalMode(header: readStart(byteCount: 20) ?? []) }

  /// Throws also if SQLite keeps another mode, as it does for a file without shared memory.
  package func setJournalMode(_ mode: JournalMode) throws(SQLiteError) {
    let name = mode == .wal ? "wal" : "delete"
    let found = try firstValue("PRAGMA journal_mode=\(name)")?.text
    guard found == name else {
      throw SQLiteError(
        extendedCode: 0, message: "SQLite keeps the journal mode \(found ?? "unknown") instead of \(name)")
    }
  }
}
