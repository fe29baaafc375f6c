internal import CHeirloomSQLite
import Foundation

extension Connection {
  /// SQLite's limit in bytes, less the ending `-journal`.
  package static var pathByteLimit: Int {
    guard let files = sqlite3_vfs_find(nil) else { return .max }
    return Int(files.pointee.mxPathname) - 8
  }
}

extension SQLiteError {
  /// Only the message about a path that is too long contains this.
  static let pathLimitWords = "SQLite opens paths of"

  /// SQLite itself reports only that it can't open the file, and counts after resolving links.
  static func pathLimit(of path: String) -> SQLiteError? {
    let limit = Connection.pathByteLimit
    let count = max(path.utf8.count, DatabaseFile.resolved(path)?.utf8.count ?? 0)
    guard count > limit else { return nil }
    return SQLiteError(
      extendedCode: SQLITE_CANTOPEN, message: "its path has \(count) bytes, and \(pathLimitWords) \(limit) at most")
  }
}
