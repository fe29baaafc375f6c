internal import CHeirloomSQLite

extension Connection {
  /// The length of the longest path of a database that SQLite opens, in bytes: its limit without the ending `-journal`.
  package static var pathByteLimit: Int {
    guard let files = sqlite3_vfs_find(nil) else { return .max }
    return Int(files.pointee.mxPathname) - 8
  }
}
