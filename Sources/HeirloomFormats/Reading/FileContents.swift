import Foundation
import HeirloomModel

/// Reads model files: regular ones only, with limited size.
enum FileContents {
  /// In bytes.
  static let limit = 64 << 20

  enum Kind {
    case file
    case folder
    case special
  }

  /// Follows symbolic links.
  static func kind(_ path: String) throws(ModelReadingError) -> Kind {
    var status = stat()
    guard stat(path, &status) == 0 else { throw failure(path) }
    return kind(status.st_mode)
  }

  static func bytes(_ path: String, limit: Int = limit) throws(ModelReadingError) -> [UInt8] {
    // Without O_NONBLOCK, opening a named pipe would wait forever.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(path) }
    switch kind(status.st_mode) {
    case .file: break
    case .folder: throw ModelReadingError(path: path, problem: .notModel(.folder))
    case .special: throw ModelReadingError(path: path, problem: .notModel(.specialFile))
    }
    let size = Int(exactly: status.st_size) ?? .max
    guard size <= limit else { throw ModelReadingError(path: path, problem: .tooLarge(byteCount: size, limit: limit)) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw failure(path) }
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
      // The file may grow while it is read.
      guard bytes.count <= limit else {
        throw ModelReadingError(path: path, problem: .tooLarge(byteCount: bytes.count, limit: limit))
      }
    }
  }

  static func names(in folder: String) throws(ModelReadingError) -> [String] {
    do {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      return names.filter { !$0.hasPrefix(".") }.ordered { NaturalOrder.precedes($0, $1) }
    } catch {
      throw ModelReadingError(path: folder, problem: .unreadable(reason: "its content can't be listed"))
    }
  }

  static func exists(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0
  }

  /// True even for a broken link.
  static func isNamed(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  private static func kind(_ mode: mode_t) -> Kind {
    switch mode & S_IFMT {
    case S_IFREG: .file
    case S_IFDIR: .folder
    default: .special
    }
  }

  /// Must directly follow the failed system call, since it reads `errno`.
  private static func failure(_ path: String) -> ModelReadingError {
    let code = errno
    if code == ENOENT || code == ENOTDIR { return ModelReadingError(path: path, problem: .missing) }
    return ModelReadingError(path: path, problem: .unreadable(reason: String(cString: strerror(code))))
  }
}
