import CHeirloomSQLite

extension Connection {
  /// Through SQLite's own handle: closing another one would drop this process's locks.
  package func readStart(byteCount: Int32) -> [UInt8]? {
    readFile(at: 0, byteCount: byteCount)
  }

  package func readFile(at offset: Int64, byteCount: Int32) -> [UInt8]? {
    guard byteCount >= 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(byteCount))
    guard let handle, heirloom_sqlite_read(handle, "main", &bytes, byteCount, offset) == SQLITE_OK else { return nil }
    return bytes
  }
}
