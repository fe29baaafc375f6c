import CHeirloomSQLite
import Foundation
import HeirloomFormats

package enum StoreReading {
  static let misuseCode: Int32 = SQLITE_MISUSE

  /// The body may be called twice, with another connection, if the first can't read.
  package static func withConnection<Value>(
    toStoreAt path: String, _ body: (Connection) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    try checkFile(path)
    do throws(StoreError) {
      return try body(try connection(path, .readOnly))
    } catch  where isFolderProblem(error) {
      // In a folder that can't be written to, SQLite can't create the side files of WAL mode. If they are empty, the
      // main file alone is the store, and nothing can change it there either.
      guard isComplete(path) else {
        throw StoreError(path: path, problem: hasRoom(beside: path) ? .unreadableLog : .diskFull)
      }
      let value = try body(try connection(path, .immutable))
      guard isComplete(path) else { throw StoreError(path: path, problem: .inUse) }
      return value
    }
  }

  /// SQLite rolls an interrupted change back, which a read-only connection can't.
  ///
  /// For the only copy of a store, the caller first checks ``RollbackJournal/objection`` and keeps
  /// the store as it is. If this throws, the store and its journal are unchanged.
  package static func undoInterruptedChange(ofStoreAt path: String) throws(StoreError) {
    try checkFile(path)
    try checkJournal(path)
    try checkLog(besideStoreAt: path)
    do throws(SQLiteError) {
      let connection = try Connection(path: path, mode: .readWrite, options: .inspecting)
      _ = try connection.firstInteger("SELECT COUNT(*) FROM sqlite_schema")
      try connection.close()
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Throws if the metadata can't be read now, which says nothing about them.
  package static func hasMetadata(_ connection: Connection) throws(SQLiteError) -> Bool {
    try metadata(of: connection) != nil
  }

  private static func metadata(of connection: Connection) throws(SQLiteError) -> StoreMetadata? {
    do throws(StoreError) {
      return try StoreMetadata(connection: connection, path: connection.path)
    } catch {
      switch error.problem {
      case .unreadable, .protected, .diskFull, .inUse, .readOnly, .needsRecovery:
        throw SQLiteError(extendedCode: SQLiteError.inputOutputCode, message: error.description)
      default: return nil
      }
    }
  }

  /// Throws if the store can't be read now, which says nothing about its generation.
  package static func generation(of connection: Connection) throws(SQLiteError) -> String? {
    try metadata(of: connection)?.generation
  }

  /// The store must not be held.
  package static func generation(ofStoreAt path: String) throws(SQLiteError) -> String? {
    try generation(of: Connection(path: path, mode: .readOnly, options: .inspecting.withoutLinks))
  }

  package static func give(_ generation: String, to connection: Connection) throws(SQLiteError) {
    guard var metadata = try metadata(of: connection) else { return }
    metadata.generation = generation
    try connection.transaction { () throws(SQLiteError) in try metadata.write(to: connection) }
  }

  /// Throws if SQLite would roll back a journal that can't be of this store.
  static func checkJournal(_ path: String) throws(StoreError) {
    guard let file = DatabaseFile.resolved(path) else { return }
    let objection = try RollbackJournal(besideDatabaseAt: file)?.objection
    if let objection { throw .refusedJournal(objection, path: path) }
  }

  private static func connection(_ path: String, _ mode: Connection.Mode) throws(StoreError) -> Connection {
    do throws(SQLiteError) {
      return try Connection(path: path, mode: mode, options: .inspecting)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  private static func isFolderProblem(_ error: StoreError) -> Bool {
    switch error.problem {
    case .unreadable, .readOnly, .diskFull: true
    default: false
    }
  }

  static func checkFile(_ path: String) throws(StoreError) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { throw StoreError(path: path, problem: .missing) }
      throw StoreError(path: path, problem: .unreadable(reason: String(cString: strerror(errno))))
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw StoreError(path: path, problem: .notFile) }
    // An empty file must not even be opened: SQLite deletes the `-wal` beside it.
    guard status.st_size > 0 else { throw StoreError(path: path, problem: .empty) }
    try checkSideFiles(path)
  }

  /// SQLite doesn't check them: a pipe would hang it, and through a link it would write elsewhere.
  private static func checkSideFiles(_ path: String) throws(StoreError) {
    guard let resolved = DatabaseFile.resolved(path) else { return }
    for suffix in ["-wal", "-shm", "-journal"] {
      let file = resolved + suffix
      var status = stat()
      guard lstat(file, &status) == 0 else { continue }
      let found: String
      if let kind = oddKind(status) {
        found = kind
      } else if suffix == "-shm", status.st_nlink > 1 {
        found = "a hard link to another file"
      } else {
        continue
      }
      throw StoreError(path: path, problem: .unusableSideFile(file, found: found))
    }
  }

  static func oddKind(_ status: stat) -> String? {
    switch status.st_mode & S_IFMT {
    case S_IFREG: nil
    case S_IFLNK: "a symbolic link"
    case S_IFDIR: "a folder"
    case S_IFIFO: "a named pipe"
    default: "not a plain file"
    }
  }

  /// The main file alone is the store.
  package static func isComplete(_ path: String) -> Bool {
    ["-wal", "-journal"].allSatisfy { (DatabaseFile.size(ofSideFile: $0, of: path) ?? 0) == 0 }
  }

  private static func hasRoom(beside path: String) -> Bool {
    var room = statvfs()
    guard statvfs(path, &room) == 0 else { return true }
    // The `-shm` takes at least 32 KiB. A file system without an inode table reports no inodes at all. The widths of
    // both fields differ between systems.
    let bytes = UInt64(room.f_bavail).multipliedReportingOverflow(by: UInt64(room.f_frsize))
    return (bytes.overflow || bytes.partialValue >= 32_768) && (room.f_files == 0 || room.f_favail > 0)
  }

  /// Returns `nil` if some pages may be in the `-wal`.
  package static func completeSize(of path: String) -> Int64? {
    (DatabaseFile.size(ofSideFile: "-wal", of: path) ?? 0) == 0 ? DatabaseFile.size(of: path) : nil
  }

  static func error(
    _ error: SQLiteError, connection: Connection, database: String, path: String
  ) -> StoreError {
    guard error.code == SQLITE_ERROR else { return StoreError(error, path: path) }
    // "No such table" has no code of its own: see which tables there are.
    do throws(SQLiteError) {
      let rows = try connection.rows(
        "SELECT name FROM \(quote(database)).sqlite_schema WHERE type = 'table' ORDER BY name LIMIT 1000")
      let tables = rows.compactMap(\.first?.text)
      if !tables.contains(PhysicalName.metadataTable) {
        return StoreError(path: path, problem: .notStore(tables: tables))
      }
    } catch let second {
      let isNewer = second.message.hasPrefix("unsupported file format")
      return isNewer ? StoreError(path: path, problem: .notDatabase) : StoreError(second, path: path)
    }
    return StoreError(path: path, problem: .invalidMetadata(reason: error.description))
  }
}
