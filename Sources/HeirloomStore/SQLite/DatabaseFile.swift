import Foundation

/// The files of a database, as the operating system reports them.
enum DatabaseFile {
  /// Returns the size of a file, in bytes; `nil` if there is none.
  static func size(of path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }
}
