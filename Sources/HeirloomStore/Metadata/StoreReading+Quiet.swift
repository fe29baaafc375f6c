import CHeirloomSQLite
import Foundation

extension StoreReading {
  /// Opens a store for an inspection that leaves no side files, if possible.
  ///
  /// To read a store in WAL mode, SQLite creates the side files, and a read-only connection leaves them behind. If
  /// there is no `-wal`, no process has the store open and the main file is the whole store; a `-shm` without a `-wal`
  /// holds nothing. The same is true of an empty `-wal` alone, which Apple's SQLite leaves. The file is then read as
  /// immutable, and again in the usual way if it changed meanwhile. The body may be called a second time; it must not
  /// keep the connection.
  package static func withQuietConnection<Value>(
    toStoreAt path: String, _ body: (Connection) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    try checkFile(path)
    if let before = UndisturbedFile(path),
      let connection = try? Connection(path: path, mode: .immutable, options: .inspecting),
      connection.headerJournalMode == .wal
    {
      do throws(StoreError) {
        let value = try body(connection)
        if UndisturbedFile(path) == before { return value }
      } catch {
        if UndisturbedFile(path) == before { throw error }
      }
    }
    return try withConnection(toStoreAt: path, body)
  }
}

/// The state of a database file without side files, for noticing a change.
private struct UndisturbedFile: Equatable {
  private let file: FileStamp

  /// Reads the state; `nil` if there is no file, or if side files may have content or be in use.
  init?(_ path: String) {
    // SQLite keeps the side files beside the file that a symbolic link points to.
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    let name = String(cString: resolved)
    var status = stat()
    if lstat(name + "-journal", &status) == 0 { return nil }
    if lstat(name + "-wal", &status) == 0 {
      if status.st_mode & S_IFMT != S_IFREG || status.st_size > 0 { return nil }
      if lstat(name + "-shm", &status) == 0 { return nil }
    }
    guard let file = FileStamp(name) else { return nil }
    self.file = file
  }
}

extension Connection {
  /// Returns the first bytes of the main file as they are; `nil` if they can't be read.
  ///
  /// They are read through SQLite's own handle: closing another one would drop this process's locks.
  package func readStart(byteCount: Int32) -> [UInt8]? {
    readFile(at: 0, byteCount: byteCount)
  }

  /// Returns bytes of the main file as they are; `nil` if they can't be read, or there are fewer.
  package func readFile(at offset: Int64, byteCount: Int32) -> [UInt8]? {
    guard byteCount >= 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(byteCount))
    guard let handle, heirloom_sqlite_read(handle, "main", &bytes, byteCount, offset) == SQLITE_OK else { return nil }
    return bytes
  }
}
