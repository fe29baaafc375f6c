import Foundation

extension StoreReading {
  /// Opens a store for an inspection that leaves no side files, if possible.
  ///
  /// To read a store in WAL mode, SQLite creates the side files, and a read-only connection leaves
  /// them behind. If there is no `-wal`, no process has the store open and the main file is the
  /// whole store; a `-shm` without a `-wal` holds nothing. The same is true of an empty `-wal`
  /// alone, which Apple's SQLite leaves. The file is then read as immutable, and again in the usual
  /// way if it changed meanwhile. The body may be called twice; it must not keep the connection.
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

private struct UndisturbedFile: Equatable {
  private let file: FileStamp

  /// `nil` if there is no file, or if side files may have content or be in use.
  init?(_ path: String) {
    guard let name = DatabaseFile.resolved(path) else { return nil }
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
