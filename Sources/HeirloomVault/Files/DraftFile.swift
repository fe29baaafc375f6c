#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A new file that gets its name when it is complete, and leaves nothing if it isn't.
///
/// It is for output that a person asked for at a place of theirs. A store's own files go through ``FileOperations``.
package final class DraftFile {
  private let path: String
  private let draft: String
  private let descriptor: FileDescriptor
  private var isComplete = false

  /// Makes the file under a name that nobody can guess, for this user alone to read.
  ///
  /// - Parameter path: The file's name once it is complete; nothing may be there.
  /// - Throws: `FileError`.
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

  /// Writes bytes at the end.
  package func write(_ bytes: [UInt8]) throws(FileError) {
    let written = bytes.withUnsafeBytes { buffer in
      Result { () throws(FileError) in try descriptor.write(buffer, for: .write) }
    }
    try written.get()
  }

  /// Brings the content to the disk and gives the file its name, without replacing another program's file.
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
  /// Reads a file in pieces of a MiB at most.
  ///
  /// Never use it on a store's main file: closing a file drops the locks that SQLite has on it in this process.
  ///
  /// - Parameters:
  ///   - path: The file; a symbolic link is not followed.
  ///   - body: Receives each piece.
  /// - Throws: `FileError`, or the body's error.
  package func readPieces(of path: String, _ body: ([UInt8]) throws -> Void) throws {
    let file = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .read)
    guard try file.status(for: .read).kind == .regular else {
      throw FileError(.read, path, code: EINVAL, reason: "it is no file")
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
