internal import CHeirloomSQLite

extension Connection {
  /// The longest database path that SQLite opens, in bytes: its limit less the ending `-journal`.
  package static var pathByteLimit: Int {
    guard let files = sqlite3_vfs_find(nil) else { return .max }
    return Int(files.pointee.mxPathname) - 8
  }
}
