import HeirloomModel

#if canImport(Darwin)
  import Darwin
  import Foundation
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Foundation's moves and copies are not used anywhere near a store: they don't sync folders, and
/// don't keep a file at the store's path at each instant.
package struct POSIXFileOperations: FileOperations {
  private let walk: PathWalk

  /// `followsLinks` is about symbolic links among the folders of a path.
  package init(followsLinks: Bool = true) {
    walk = PathWalk(followsLinks: followsLinks)
  }

  package var withoutLinks: any FileOperations { POSIXFileOperations(followsLinks: false) }

  package func status(of path: String) throws(FileError) -> FileStatus? {
    var status = stat()
    let code: Int32
    do throws(FileError) {
      let answer = try walk.call(path, for: .status) { folder, name in
        fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW)
      }
      if answer.value == 0 { return FileStatus(status) }
      code = answer.code
    } catch {
      // There is no file behind a link that is not followed.
      guard [ENOENT, ENOTDIR, ELOOP].contains(error.code) else { throw error }
      return nil
    }
    if code == ENOENT || code == ENOTDIR { return nil }
    throw FileError(.status, path, code: code)
  }

  package func names(in folder: String) throws(FileError) -> [String] {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (walk.followsLinks ? 0 : O_NOFOLLOW)
    let opened = try walk.call(folder, for: .list) { parent, name in openat(parent, name, flags) }
    guard opened.value >= 0 else { throw FileError(.list, folder, code: opened.code) }
    guard let stream = fdopendir(opened.value) else {
      let code = errno
      _ = close(opened.value)
      throw FileError(.list, folder, code: code)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      // Only errno distinguishes the end from a failure.
      errno = 0
      guard let entry = readdir(stream) else {
        let code = errno
        guard code == 0 else { throw FileError(.list, folder, code: code) }
        return names.ordered()
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        PathText.text(of: Array(bytes.prefix { $0 != 0 }))
      }
      if name != ".", name != ".." { names.append(name) }
    }
  }

  package func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError) {
    let made = try walk.call(path, for: .makeDirectory) { folder, name in
      mkdirat(folder, name, mode_t(truncatingIfNeeded: attributes.mode & 0o700))
    }
    guard made.value == 0 else { throw FileError(.makeDirectory, path, code: made.code) }
    do throws(FileError) {
      let folder = try FileDescriptor(path, flags: O_RDONLY | O_DIRECTORY, for: .makeDirectory, by: walk)
      // Changing the owner would hand over a folder swapped in meanwhile, together with its content.
      if !walk.followsLinks, geteuid() == 0, try !names(in: path).isEmpty {
        throw FileError(.makeDirectory, path, code: EEXIST)
      }
      try folder.apply(attributes, for: .makeDirectory)
    } catch {
      _ = try? walk.call(path, for: .removeDirectory) { folder, name in unlinkat(folder, name, AT_REMOVEDIR) }
      throw error
    }
  }

  package func removeDirectory(_ path: String) throws(FileError) {
    let removed = try walk.call(path, for: .removeDirectory) { folder, name in unlinkat(folder, name, AT_REMOVEDIR) }
    guard removed.value == 0 else { throw FileError(.removeDirectory, path, code: removed.code) }
  }

  package func makeEmptyFile(_ path: String, attributes: FileAttributes) throws(FileError) {
    _ = try FileDescriptor.makeNew(path, attributes: attributes, for: .write, by: walk)
  }

  package func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError) {
    let new = try FileDescriptor.makeNew(path, attributes: attributes, for: .write, by: walk)
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
      walk.removeName(path)
      throw error
    }
  }

  package func synchronizeFile(_ path: String) throws(FileError) {
    // O_NONBLOCK: a named pipe put in the file's place must not hang us.
    let file = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .synchronizeFile, by: walk)
    try file.synchronize(for: .synchronizeFile)
  }

  package func synchronizeFile(_ path: String, while work: () throws -> Void) throws {
    let sync = EarlySync(of: path, by: self)
    do {
      try work()
    } catch {
      // The work's error takes precedence; the file must be closed before anyone else opens it.
      try? sync.wait()
      throw error
    }
    try sync.wait()
  }

  package func synchronizeDirectory(_ path: String) throws(FileError) {
    let folder = try FileDescriptor(path, flags: O_RDONLY | O_DIRECTORY, for: .synchronizeDirectory, by: walk)
    try folder.synchronize(for: .synchronizeDirectory)
  }

  package func link(_ path: String, to newPath: String) throws(FileError) {
    // Flags 0: a symbolic link is linked itself, not followed.
    try call(.link, path, newPath) { linkat($0, $1, $2, $3, 0) }
  }

  private func call(
    _ operation: FileError.Operation, _ path: String, _ newPath: String,
    _ body: (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>) -> Int32
  ) throws(FileError) {
    var inner: Result<(value: Int32, code: Int32), FileError>?
    let outer = try walk.call(path, for: operation) { folder, name in
      do throws(FileError) {
        inner = .success(
          try walk.call(newPath, for: operation) { newFolder, newName in body(folder, name, newFolder, newName) })
      } catch {
        inner = .failure(error)
      }
      return 0
    }
    let answer = try inner?.get() ?? outer
    guard answer.value == 0 else { throw FileError(operation, path, to: newPath, code: answer.code) }
  }

  @discardableResult
  package func copyFile(
    _ path: String, to newPath: String, attributes: FileAttributes
  ) throws(FileError) -> PassedOver {
    let held = try hold(path)
    defer { held.close() }
    #if canImport(Darwin)
      // A clone has all attributes of its original.
      if try held.clone(to: newPath, attributes: attributes) {
        do throws(FileError) {
          try FileDescriptor(newPath, flags: O_RDONLY, for: .copy, by: walk).synchronize(for: .copy)
        } catch {
          walk.removeName(newPath)
          throw error
        }
        return PassedOver()
      }
    #endif
    return try held.copy(to: newPath, attributes: attributes)
  }

  package func rename(_ path: String, to newPath: String) throws(FileError) {
    try call(.rename, path, newPath) { renameat($0, $1, $2, $3) }
  }

  package func unlink(_ path: String) throws(FileError) {
    let removed = try walk.call(path, for: .unlink) { folder, name in unlinkat(folder, name, 0) }
    guard removed.value == 0 else { throw FileError(.unlink, path, code: removed.code) }
  }

  package func setMode(_ mode: UInt32, of path: String) throws(FileError) {
    // By the path, not by a descriptor: closing a descriptor drops SQLite's locks.
    let changed = try walk.call(path, for: .setMode) { folder, name in
      fchmodat(folder, name, mode_t(truncatingIfNeeded: mode), AT_SYMLINK_NOFOLLOW)
    }
    guard changed.value == 0 else { throw FileError(.setMode, path, code: changed.code) }
  }

  package func setExcludedFromBackup(_ isExcluded: Bool, _ folder: String) throws(FileError) {
    try FileDescriptor(folder, flags: O_RDONLY | O_DIRECTORY, for: .giveAttributes, by: walk)
      .setExcludedFromBackup(isExcluded)
  }

  package func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
    let file = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .read, by: walk)
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
    let file = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .read, by: walk)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, count), alignment: 16)
    defer { buffer.deallocate() }
    return Array(buffer[..<min(try file.read(into: buffer, at: 0, for: .read), max(0, count))])
  }

  package func resolvePath(_ path: String) throws(FileError) -> String {
    try FileDescriptor.checkPath(path, for: .resolve)
    guard let resolved = realpath(PathText.bytes(of: path).map(CChar.init(bitPattern:)) + [0], nil) else {
      throw FileError(.resolve, path, code: errno)
    }
    defer { free(resolved) }
    return PathText.text(of: UnsafeRawBufferPointer(start: resolved, count: Int(clamping: strlen(resolved))))
  }

  package func checkWritable(_ folder: String) throws(FileError) {
    // Read permission is needed too: syncing a folder opens it for reading.
    let answer = try walk.call(folder, for: .checkWritable) { parent, name in
      faccessat(parent, name, R_OK | W_OK | X_OK, 0)
    }
    guard answer.value == 0 else { throw FileError(.checkWritable, folder, code: answer.code) }
  }

  package func lock(_ path: String, timeout: Duration) throws(FileError) -> (any FileLock)? {
    let clock = ContinuousClock()
    let deadline = clock.now + timeout
    while true {
      let file = try openLock(path)
      let held = try file.status(for: .lock)
      guard held.kind == .regular else {
        throw FileError(.lock, path, code: EINVAL, reason: "it is a \(held.kind.rawValue), not a file")
      }
      if flock(file.number, LOCK_EX | LOCK_NB) == 0 {
        // The file may have been replaced meanwhile, and a lock on a removed file excludes no other process.
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

  /// The file may belong to another user: on a local volume `flock(2)` needs only read permission.
  private func openLock(_ path: String) throws(FileError) -> FileDescriptor {
    do throws(FileError) {
      do throws(FileError) {
        return try FileDescriptor(path, flags: O_RDWR | O_NONBLOCK, for: .lock, by: walk)
      } catch {
        guard error.code == ENOENT else { throw error }
      }
      // The umask narrows the mode: users who could create the lock can also take it.
      let new = try FileDescriptor(
        path, flags: O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK, mode: 0o666, for: .lock, by: walk)
      let attributes = try FileAttributes(mode: try new.status(for: .lock).mode).owned(likeFolderOf: path, by: walk)
      if attributes.owner != nil { try new.apply(attributes, for: .lock) }
      return new
    } catch {
      // The file belongs to another user, or another process, perhaps another user's, created it first.
      guard error.code == EACCES || error.code == EEXIST else { throw error }
      return try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .lock, by: walk)
    }
  }

  package func hold(_ path: String) throws(FileError) -> any HeldFile {
    let file = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .read, by: walk)
    let kind = try file.status(for: .read).kind
    guard kind == .regular else {
      throw FileError(.read, path, code: EINVAL, reason: "it is a \(kind.rawValue), not a file")
    }
    return POSIXHeldFile(file, by: walk)
  }

  package func volume(of path: String) throws(FileError) -> VolumeInformation {
    try FileDescriptor.checkPath(path, for: .volume)
    var room = statvfs()
    guard statvfs(path, &room) == 0 else { throw FileError(.volume, path, code: errno) }
    let blocks = UInt64(room.f_bavail).multipliedReportingOverflow(by: UInt64(room.f_frsize))
    let free = blocks.overflow ? .max : blocks.partialValue
    let (name, isMountPoint) = Self.mount(of: path)
    return VolumeInformation(
      kind: VolumeInformation.kind(ofFileSystem: name), fileSystemName: name,
      availableBytes: max(free, Self.purgeableAndFreeBytes(of: path)), isMountPoint: isMountPoint)
  }

  /// macOS and iOS remove caches and copies of cloud files to make room, which the number of free
  /// blocks leaves out; 0 where that isn't reported, as on a Mac where no user is logged in.
  private static func purgeableAndFreeBytes(of path: String) -> UInt64 {
    #if os(macOS) || os(iOS)
      let key = URLResourceKey.volumeAvailableCapacityForImportantUsageKey
      let values = try? URL(fileURLWithPath: path).resourceValues(forKeys: [key])
      return UInt64(clamping: values?.volumeAvailableCapacityForImportantUsage ?? 0)
    #else
      return 0
    #endif
  }

  package func uniqueIdentifier() -> String {
    var generator = SystemRandomNumberGenerator()
    return [generator.next(), generator.next()].map { (half: UInt64) in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  private static func mount(of path: String) -> (fileSystemName: String, isAtPath: Bool) {
    #if canImport(Darwin)
      var volume = statfs()
      guard statfs(path, &volume) == 0 else { return ("", false) }
      // Darwin can't mount a single file.
      return (
        withUnsafeBytes(of: &volume.f_fstypename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }, false
      )
    #else
      // Swift doesn't import glibc's <sys/vfs.h>, and names are more precise than its numbers.
      let files = POSIXFileOperations()
      guard let path = try? files.resolvePath(path),
        let table = try? files.readFile("/proc/self/mountinfo", limit: 4 << 20)
      else { return ("", false) }
      return VolumeInformation.mount(of: path, inMountTable: String(decoding: table, as: UTF8.self)) ?? ("", false)
    #endif
  }
}
