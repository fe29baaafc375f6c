#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// For output at a path that the user chose; a store's own files go through ``FileOperations``.
package final class DraftFile {
  private let path: String
  private let draft: String
  private let descriptor: FileDescriptor
  private var isComplete = false

  package init(for path: String) throws(FileError) {
    let files = POSIXFileOperations()
    guard try files.status(of: path) == nil else { throw FileError(.write, path, code: EEXIST) }
    self.path = path
    draft = "\(path).\(files.uniqueIdentifier()).tmp"
    descriptor = try FileDescriptor.makeNew(draft, attributes: FileAttributes(mode: 0o600), for: .write)
  }

  deinit {
    if !isComplete { try? POSIXFileOperations().unlink(draft) }
  }

  package func write(_ bytes: [UInt8]) throws(FileError) {
    let written = bytes.withUnsafeBytes { buffer in
      Result { () throws(FileError) in try descriptor.write(buffer, for: .write) }
    }
    try written.get()
  }

  /// Syncs the content first, and never replaces an existing file.
  package func complete() throws(FileError) {
    let files = POSIXFileOperations()
    try descriptor.synchronize(for: .write)
    try files.linkOrMove(draft, to: path)
    if try files.status(of: draft) != nil { try files.unlink(draft) }
    isComplete = true
    let folder = PathText.split(path).folder
    try files.synchronizeDirectory(folder.isEmpty ? "." : folder)
  }
}

extension POSIXFileOperations {
  /// Never use it on a store's main file: closing a file drops the locks that SQLite has on it in
  /// this process.
  package func readPieces(of path: String, _ body: ([UInt8]) throws -> Void) throws {
    let file = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .read)
    guard try file.status(for: .read).kind == .regular else {
      throw FileError(.read, path, code: EINVAL, reason: "it is not a regular file")
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while true {
      let count = try file.read(into: buffer, at: offset, for: .read)
      guard count > 0 else { return }
      try body(Array(buffer[..<count]))
      offset += Int64(count)
    }
  }
}
