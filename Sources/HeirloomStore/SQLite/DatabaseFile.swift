internal import CHeirloomSQLite
import Foundation

enum DatabaseFile {
  static func size(of path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// `nil` if there is no file.
  static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// SQLite keeps the side files beside the file that a symbolic link points to.
  static func size(ofSideFile suffix: String, of path: String) -> Int64? {
    size(of: (resolved(path) ?? path) + suffix)
  }
}

extension Connection {
  /// Truncates a copy after the last page; no connection to the copy may be open.
  ///
  /// A crash leaves bytes after the last page of a file that was growing. SQLite ignores them; a
  /// candidate, which is checked page by page, must not have them.
  package func cutCopy(at path: String, likeDatabase database: String) throws(SQLiteError) {
    // SQLite takes the number of pages from the header, or from the file's length if the header's isn't maintained.
    guard let pageSize = try firstInteger("PRAGMA \(quote(database)).page_size"),
      let pageCount = try firstInteger("PRAGMA \(quote(database)).page_count"), pageCount > 0,
      let size = DatabaseFile.size(of: path), size > pageSize * pageCount
    else { return }
    let copy = try Connection(path: path, mode: .readWrite, options: .building)
    try copy.check(heirloom_sqlite_truncate(try copy.openHandle(), "main", pageSize * pageCount), sql: nil)
    try copy.close()
  }
}
