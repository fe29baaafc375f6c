import Foundation

/// The place where a store keeps a large binary value: in the row, or in a file beside the store.
///
/// The first byte of the column is 1, followed by the data, or 2, followed by a file's name and a zero byte.
package enum ExternalStorage: Hashable, Sendable {
  /// The data themselves.
  case inline([UInt8])
  /// The name of a file in the store's folder of external data: a UUID in upper case.
  case file(String)

  static let inlineTag: UInt8 = 1
  static let fileTag: UInt8 = 2
  private static let nameLength = 36

  /// Reads the bytes of a column; `nil` if they have neither form.
  ///
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

  /// The bytes of the column.
  package var bytes: [UInt8] {
    switch self {
    case .inline(let data): [Self.inlineTag] + data
    case .file(let name): [Self.fileTag] + Array(name.utf8) + [0]
    }
  }

  /// Returns the folder of a store's external data, `.Name_SUPPORT/_EXTERNAL_DATA` beside it; it may not exist.
  package static func folder(forStoreAt path: String) -> String {
    let url = URL(fileURLWithPath: path)
    let name = url.deletingPathExtension().lastPathComponent
    return url.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT")
      .appendingPathComponent("_EXTERNAL_DATA").path
  }
}

extension ExternalStorage {
  /// Reads a file of external data; `nil` if it is missing or not a plain file.
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
