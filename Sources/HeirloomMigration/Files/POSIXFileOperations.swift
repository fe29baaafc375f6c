#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The file system by its POSIX calls.
///
/// Foundation's moves and copies are not used anywhere near a store: they neither sync folders nor keep a file at the
/// store's path at each instant.
package struct POSIXFileOperations: FileOperations {
  /// Creates the operations; they hold no state.
  package init() {}

  package func status(of path: String) throws(FileError) -> FileStatus? {
    try FileDescriptor.checkPath(path, for: .status)
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let code = errno
      if code == ENOENT || code == ENOTDIR { return nil }
      throw FileError(.status, path, code: code)
    }
    return FileStatus(status)
  }

  package func names(in folder: String) throws(FileError) -> [String] {
    try FileDescriptor.checkPath(folder, for: .list)
    guard let stream = opendir(folder) else { throw FileError(.list, folder, code: errno) }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      // Only errno tells the end from a failure.
      errno = 0
      guard let entry = readdir(stream) else {
        let code = errno
        guard code == 0 else { throw FileError(.list, folder, code: code) }
        return names.sorted()
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
  }

  package func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError) {
    try FileDescriptor.checkPath(path, for: .makeDirectory)
    guard mkdir(path, mode_t(truncatingIfNeeded: attributes.mode)) == 0 else {
      throw FileError(.makeDirectory, path, code: errno)
    }
    do throws(FileError) {
      let folder = try FileDescriptor(path, flags: O_RDONLY | O_DIRECTORY, for: .makeDirectory)
      try folder.apply(attributes, for: .makeDirectory)
    } catch {
      _ = rmdir(path)
      throw error
    }
  }

  package func removeDirectory(_ path: String) throws(FileError) {
    try FileDescriptor.checkPath(path, for: .removeDirectory)
    guard rmdir(path) == 0 else { throw FileError(.removeDirectory, path, code: errno) }
  }

  package func makeEmptyFile(_ path: String, attributes: FileAttributes) throws(FileError) {
    _ = try FileDescriptor.makeNew(path, attributes: attributes, for: .write)
  }

  package func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError) {
    let new = try FileDescriptor.makeNew(path, attributes: attributes, for: .write)
    // `withUnsafeBytes` would erase the error's type.
    let written = bytes.withUnsafeBytes { buffer in
      Result { () throws(FileError) in
        try new.write(buffer, for: .write)
        try new.synchronize(for: .write)
      }
    }
    do throws(FileError) {
      try written.get()
    } catch {
      _ = Self.removeName(path)
      throw error
    }
  }

  package func synchronizeFile(_ path: String) throws(FileError) {
    // O_NONBLOCK: a named pipe put in the file's place must not hang us.
    let file = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .synchronizeFile)
    try file.synchronize(for: .synchronizeFile)
  }

  package func synchronizeFile(_ path: String, while work: () throws -> Void) throws {
    let sync = EarlySync(of: path)
    do {
      try work()
    } catch {
      // What the work found counts; the file must be closed before anybody else opens it.
      try? sync.wait()
      throw error
    }
    try sync.wait()
  }

  package func synchronizeDirectory(_ path: String) throws(FileError) {
    let folder = try FileDescriptor(path, flags: O_RDONLY | O_DIRECTORY, for: .synchronizeDirectory)
    try folder.synchronize(for: .synchronizeDirectory)
  }

  package func link(_ path: String, to newPath: String) throws(FileError) {
    try FileDescriptor.checkPath(path, for: .link)
    try FileDescriptor.checkPath(newPath, for: .link)
    // Flags 0: a symbolic link is linked itself, not followed.
    guard linkat(AT_FDCWD, path, AT_FDCWD, newPath, 0) == 0 else {
      throw FileError(.link, path, to: newPath, code: errno)
    }
  }

  package func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) {
    let held = try hold(path)
    defer { held.close() }
    #if canImport(Darwin)
      if try held.clone(to: newPath, attributes: attributes) { return }
    #endif
    try held.copy(to: newPath, attributes: attributes)
  }

  package func rename(_ path: String, to newPath: String) throws(FileError) {
    try FileDescriptor.checkPath(path, for: .rename)
    try FileDescriptor.checkPath(newPath, for: .rename)
    guard renameat(AT_FDCWD, path, AT_FDCWD, newPath) == 0 else {
      throw FileError(.rename, path, to: newPath, code: errno)
    }
  }

  package func unlink(_ path: String) throws(FileError) {
    try FileDescriptor.checkPath(path, for: .unlink)
    guard Self.removeName(path) else { throw FileError(.unlink, path, code: errno) }
  }

  package func setMode(_ mode: UInt32, of path: String) throws(FileError) {
    try FileDescriptor.checkPath(path, for: .setMode)
    // By the path and not by a descriptor: closing one drops SQLite's locks.
    guard fchmodat(AT_FDCWD, path, mode_t(truncatingIfNeeded: mode), AT_SYMLINK_NOFOLLOW) == 0 else {
      throw FileError(.setMode, path, code: errno)
    }
  }

  package func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
    let file = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .read)
    let status = try file.status(for: .read)
    guard status.kind == .regular else {
      throw FileError(.read, path, code: EINVAL, reason: "it is a \(status.kind.rawValue), not a file")
    }
    guard status.size <= Int64(limit) else {
      throw FileError(.read, path, code: EFBIG, reason: "it has \(status.size) bytes, more than \(limit)")
    }
    var bytes: [UInt8] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = try file.read(into: buffer, at: Int64(bytes.count), for: .read)
      guard count > 0 else { return bytes }
      // The file may grow while it is read.
      guard bytes.count + count <= limit else {
        throw FileError(.read, path, code: EFBIG, reason: "it has more than \(limit) bytes")
      }
      bytes.append(contentsOf: buffer[..<count])
    }
  }

  package func readStart(of path: String, count: Int) throws(FileError) -> [UInt8] {
    let file = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .read)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, count), alignment: 16)
    defer { buffer.deallocate() }
    return Array(buffer[..<min(try file.read(into: buffer, at: 0, for: .read), max(0, count))])
  }

  package func resolvePath(_ path: String) throws(FileError) -> String {
    try FileDescriptor.checkPath(path, for: .resolve)
    guard let resolved = realpath(path, nil) else { throw FileError(.resolve, path, code: errno) }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  package func checkWritable(_ folder: String) throws(FileError) {
    try FileDescriptor.checkPath(folder, for: .checkWritable)
    // Reading belongs to it: a folder's names are brought to the disk by a descriptor that reads.
    guard access(folder, R_OK | W_OK | X_OK) == 0 else { throw FileError(.checkWritable, folder, code: errno) }
  }

  package func lock(_ path: String, timeout: Duration) throws(FileError) -> (any FileLock)? {
    let clock = ContinuousClock()
    let deadline = clock.now + timeout
    while true {
      let file = try Self.openLock(path)
      let held = try file.status(for: .lock)
      guard held.kind == .regular else {
        throw FileError(.lock, path, code: EINVAL, reason: "it is a \(held.kind.rawValue), not a file")
      }
      if flock(file.number, LOCK_EX | LOCK_NB) == 0 {
        // Someone may have replaced the file since it was opened; a lock on a file without a name locks nobody out.
        if try status(of: path)?.identity == held.identity { return POSIXFileLock(file) }
      } else {
        let code = errno
        guard code == EWOULDBLOCK || code == EINTR else { throw FileError(.lock, path, code: code) }
      }
      guard clock.now < deadline else { return nil }
      var pause = timespec(tv_sec: 0, tv_nsec: 10_000_000)
      nanosleep(&pause, nil)
    }
  }

  /// Opens a lock file, which another user may have made: reading is enough for `flock(2)` on a local volume.
  private static func openLock(_ path: String) throws(FileError) -> FileDescriptor {
    do throws(FileError) {
      return try FileDescriptor(path, flags: O_RDWR | O_CREAT | O_NONBLOCK, mode: 0o666, for: .lock)
    } catch {
      guard error.code == EACCES else { throw error }
      return try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .lock)
    }
  }

  package func hold(_ path: String) throws(FileError) -> any HeldFile {
    let file = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .read)
    let kind = try file.status(for: .read).kind
    guard kind == .regular else {
      throw FileError(.read, path, code: EINVAL, reason: "it is a \(kind.rawValue), not a file")
    }
    return POSIXHeldFile(file)
  }

  package func volume(of path: String) throws(FileError) -> VolumeInformation {
    try FileDescriptor.checkPath(path, for: .volume)
    var room = statvfs()
    guard statvfs(path, &room) == 0 else { throw FileError(.volume, path, code: errno) }
    let blocks = UInt64(room.f_bavail).multipliedReportingOverflow(by: UInt64(room.f_frsize))
    let name = Self.fileSystemName(of: path)
    return VolumeInformation(
      kind: VolumeInformation.kind(ofFileSystem: name), fileSystemName: name,
      availableBytes: blocks.overflow ? .max : blocks.partialValue)
  }

  package func uniqueIdentifier() -> String {
    var generator = SystemRandomNumberGenerator()
    return [generator.next(), generator.next()].map { (half: UInt64) in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  private static func fileSystemName(of path: String) -> String {
    #if canImport(Darwin)
      var volume = statfs()
      guard statfs(path, &volume) == 0 else { return "" }
      return withUnsafeBytes(of: &volume.f_fstypename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    #else
      // glibc's <sys/vfs.h> is not visible from Swift, and the table's names say more than numbers would.
      let files = POSIXFileOperations()
      guard let path = try? files.resolvePath(path),
        let table = try? files.readFile("/proc/self/mountinfo", limit: 4 << 20)
      else { return "" }
      return VolumeInformation.fileSystemName(of: path, inMountTable: String(decoding: table, as: UTF8.self)) ?? ""
    #endif
  }

  /// Stands apart since the method of the same name hides the system's function.
  private static func removeName(_ path: String) -> Bool {
    unlinkat(AT_FDCWD, path, 0) == 0
  }
}
