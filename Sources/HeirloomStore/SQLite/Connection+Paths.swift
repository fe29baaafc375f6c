internal import CHeirloomSQLite
import Foundation

extension Connection {
  /// The longest database path that SQLite opens, in bytes: its limit less the ending `-journal`.
  package static var pathByteLimit: Int {
    guard let files = sqlite3_vfs_find(nil) else { return .max }
    return Int(files.pointee.mxPathname) - 8
  }
}

extension SQLiteError {
  /// Text that only the message about a path that is too long contains.
  static let pathLimitWords = "SQLite opens paths of"

  /// Returns the error of a path that is longer than SQLite opens; `nil` for a shorter one.
  ///
  /// SQLite itself reports only that it can't open the file. It counts the path after resolving links.
  static func pathLimit(of path: String) -> SQLiteError? {
    let limit = Connection.pathByteLimit
    let name = realpath(path, nil)
    defer { free(name) }
    let count = max(path.utf8.count, name.map { Int(clamping: strlen($0)) } ?? 0)
    guard count > limit else { return nil }
    return SQLiteError(
      extendedCode: SQLITE_CANTOPEN, message: "its path has \(count) bytes, and \(pathLimitWords) \(limit) at most")
  }
}
