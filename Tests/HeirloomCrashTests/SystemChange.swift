/// A change of files below a folder, as the system was asked for it.
///
/// Paths are relative to the folder. SQLite's changes of an open file name the handle, as the file's name may change.
enum SystemChange: Hashable, Sendable {
  enum File: Hashable, Sendable {
    case path(String)
    case handle(UInt64)
  }

  case makeDirectory(String)
  case removeDirectory(String)
  case create(String)
  /// SQLite opened a file, and made it if it may and there was none.
  case open(handle: UInt64, path: String, makes: Bool)
  case write(File, offset: Int, bytes: [UInt8])
  case truncate(File, size: Int)
  /// An attribute was set, for which a note stands; see ``FileNote``.
  case setNote(String, [UInt8])
  case synchronize(File)
  case synchronizeDirectory(String)
  case link(String, String)
  case rename(String, String)
  case unlink(String)

  var isSynchronization: Bool {
    switch self {
    case .synchronize, .synchronizeDirectory: true
    default: false
    }
  }

  /// A sync and an opening change no file.
  var isMutation: Bool {
    switch self {
    case .synchronize, .synchronizeDirectory, .open(_, _, makes: false): false
    default: true
    }
  }
}

extension SystemChange: CustomStringConvertible {
  var description: String {
    switch self {
    case .makeDirectory(let path): "make the folder \(path)"
    case .removeDirectory(let path): "remove the folder \(path)"
    case .create(let path): "make \(path)"
    case .open(_, let path, let makes): "open \(path)\(makes ? " or make it" : "")"
    case .write(let file, let offset, let bytes): "write \(bytes.count) bytes at \(offset) of \(file)"
    case .truncate(let file, let size): "cut \(file) to \(size) bytes"
    case .setNote(let path, _): "set an attribute of \(path)"
    case .synchronize(let file): "sync \(file)"
    case .synchronizeDirectory(let path): "sync the folder “\(path)”"
    case .link(let path, let other): "link \(path) to \(other)"
    case .rename(let path, let other): "rename \(path) to \(other)"
    case .unlink(let path): "unlink \(path)"
    }
  }
}
