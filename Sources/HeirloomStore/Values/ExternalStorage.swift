import Foundation

/// The column has the byte 1 and the data, or the byte 2, a file's name and a zero byte.
package enum ExternalStorage: Hashable, Sendable {
  case inline([UInt8])
  /// A UUID in upper case.
  case file(String)

  static let inlineTag: UInt8 = 1
  static let fileTag: UInt8 = 2
  private static let nameLength = 36

  /// A name that is not a UUID is rejected, because it could point out of the folder.
  package init?(_ bytes: [UInt8]) {
    guard let tag = bytes.first else {
      self = .inline([])
      return
    }
    switch tag {
    case Self.inlineTag:
      self = .inline(Array(bytes.dropFirst()))
    case Self.fileTag where bytes.count == Self.nameLength + 2 && bytes.last == 0:
      let name = String(decoding: bytes[1...Self.nameLength], as: UTF8.self)
      guard UUID(uuidString: name) != nil else { return nil }
      self = .file(name)
    default:
      return nil
    }
  }

  package var bytes: [UInt8] {
    switch self {
    case .inline(let data): [Self.inlineTag] + data
    case .file(let name): [Self.fileTag] + Array(name.utf8) + [0]
    }
  }

  /// The folder may not exist.
  package static func folder(forStoreAt path: String) -> String {
    let url = URL(fileURLWithPath: path)
    let name = url.deletingPathExtension().lastPathComponent
    return url.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT")
      .appendingPathComponent("_EXTERNAL_DATA").path
  }
}

extension ExternalStorage {
  package static func contents(ofFile path: String) -> [UInt8]? {
    // The folder may have been tampered with: links out of it are not followed.
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { _ = Foundation.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size >= 0,
      let size = Int(exactly: status.st_size)
    else { return nil }
    var isComplete = true
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let start = buffer.baseAddress.map { UnsafeMutableRawPointer($0 + count) }
        let result = Foundation.read(descriptor, start, size - count)
        if result < 0 && errno == EINTR { continue }
        guard result > 0 else {
          isComplete = false
          return
        }
        count += result
      }
    }
    return isComplete ? bytes : nil
  }
}
