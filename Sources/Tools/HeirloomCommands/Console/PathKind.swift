import Foundation

/// The kind of file at a path, as far as it affects how the path is read.
enum PathKind {
  case missing
  case unreadable(String)
  case folder
  /// A file that starts like an SQLite database.
  case database
  case emptyFile
  case file
  case special

  /// The file isn't opened.
  static func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  init(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      let isMissing = errno == ENOENT || errno == ENOTDIR
      self = isMissing ? .missing : .unreadable(String(cString: strerror(errno)))
      return
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: self = .folder
    case S_IFREG:
      guard status.st_size > 0 else {
        self = .emptyFile
        return
      }
      // The magic string at the start of each database:
      // https://www.sqlite.org/fileformat2.html#magic_header_string
      let magic = Array("SQLite format 3\0".utf8)
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        self = .unreadable(String(cString: strerror(errno)))
        return
      }
      // No SQLite connection of this process has the file open, so closing it drops no locks.
      defer { close(descriptor) }
      var start = [UInt8](repeating: 0, count: magic.count)
      let count = start.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
      self = count == magic.count && start == magic ? .database : .file
    default: self = .special
    }
  }
}
