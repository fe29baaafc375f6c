import CHeirloomSQLite

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
