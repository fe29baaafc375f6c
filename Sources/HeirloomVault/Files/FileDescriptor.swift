#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An open file, closed when its last reference is released.
package final class FileDescriptor: Sendable {
  package let number: Int32
  package let path: String

  /// `O_CLOEXEC` and `O_NOFOLLOW` are added to the flags: child processes must not inherit the
  /// descriptor, since a lock would live on in them.
  package init(
    _ path: String, flags: Int32, mode: UInt32 = 0, for operation: FileError.Operation, by walk: PathWalk = PathWalk()
  ) throws(FileError) {
    while true {
      let opened = try walk.call(path, for: operation) { folder, name in
        openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW, mode_t(truncatingIfNeeded: mode))
      }
      if opened.value >= 0 {
        number = opened.value
        self.path = path
        return
      }
      guard opened.code == EINTR else { throw FileError(operation, path, code: opened.code) }
    }
  }

  deinit {
    _ = close(number)
  }

  package static func makeNew(
    _ path: String, attributes: FileAttributes, for operation: FileError.Operation, by walk: PathWalk = PathWalk()
  ) throws(FileError) -> FileDescriptor {
    let new = try FileDescriptor(path, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600, for: operation, by: walk)
    do throws(FileError) {
      try new.apply(try attributes.owned(likeFolderOf: path, by: walk), for: operation)
    } catch {
      walk.removeName(path)
      throw error
    }
    return new
  }

  /// A NUL character would end the path early in C.
  static func checkPath(_ path: String, for operation: FileError.Operation) throws(FileError) {
    guard !path.utf8.contains(0), !path.isEmpty else {
      throw FileError(operation, path, code: EINVAL, reason: "the path is empty or holds a NUL character")
    }
  }

  package func status(for operation: FileError.Operation) throws(FileError) -> FileStatus {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw FileError(operation, path, code: errno) }
    var read = FileStatus(status)
    read.hasAccessList = read.mode & 0o070 != 0 && hasAccessList
    return read
  }

  func apply(_ attributes: FileAttributes, for operation: FileError.Operation) throws(FileError) {
    var mode = attributes.mode & 0o3777
    // The owner first: a change of owner clears bits of the mode.
    if let owner = attributes.owner, let group = attributes.group, fchown(number, owner, group) != 0,
      fchown(number, uid_t.max, group) != 0, try status(for: operation).group != group
    {
      // The file's present group gets no more rights than others have.
      mode = mode & ~0o070 | mode & (mode << 3) & 0o070
    }
    guard fchmod(number, mode_t(truncatingIfNeeded: mode)) == 0 else {
      throw FileError(operation, path, code: errno)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, for operation: FileError.Operation) throws(FileError) {
    var offset = 0
    while offset < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
      #if canImport(Darwin)
        let count = Darwin.write(number, rest.baseAddress, rest.count)
      #elseif canImport(Musl)
        let count = Musl.write(number, rest.baseAddress, rest.count)
      #else
        let count = Glibc.write(number, rest.baseAddress, rest.count)
      #endif
      if count > 0 {
        offset += count
      } else {
        let code = count == 0 ? EIO : errno
        guard code == EINTR else { throw FileError(operation, path, code: code) }
      }
    }
  }

  package func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, for operation: FileError.Operation
  ) throws(FileError) -> Int {
    while true {
      let count = pread(number, buffer.baseAddress, buffer.count, off_t(offset))
      if count >= 0 { return count }
      let code = errno
      guard code == EINTR else { throw FileError(operation, path, code: code) }
    }
  }

  package static func haveSameContent(_ path: String, _ other: String) throws(FileError) -> Bool {
    let walk = PathWalk(followsLinks: false)
    let descriptors = try [path, other].map { path throws(FileError) in
      try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .read, by: walk)
    }
    var buffers = [[UInt8]](repeating: [UInt8](repeating: 0, count: 1 << 18), count: 2)
    var place: Int64 = 0
    while true {
      var counts = [0, 0]
      for index in 0...1 { counts[index] = try descriptors[index].fill(&buffers[index], from: place) }
      let isSame = buffers[0].withUnsafeBytes { first in
        buffers[1].withUnsafeBytes { second in
          first.baseAddress.flatMap { first in second.baseAddress.map { memcmp(first, $0, counts[0]) } } == 0
        }
      }
      guard counts[0] == counts[1], isSame else { return false }
      guard counts[0] > 0 else { return true }
      place += Int64(counts[0])
    }
  }

  private func fill(_ buffer: inout [UInt8], from place: Int64) throws(FileError) -> Int {
    var filled = 0
    while filled < buffer.count {
      var failure: FileError?
      let count = buffer.withUnsafeMutableBytes { bytes -> Int in
        do throws(FileError) {
          let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
          return try read(into: rest, at: place + Int64(filled), for: .read)
        } catch {
          failure = error
          return 0
        }
      }
      if let failure { throw failure }
      guard count > 0 else { break }
      filled += count
    }
    return filled
  }

  /// A failed sync is not tried again: the system may have marked the lost pages as clean, so a
  /// second call would report success (Rebello et al., “Can applications recover from fsync
  /// failures?”, 2020).
  func synchronize(for operation: FileError.Operation) throws(FileError) {
    #if canImport(Darwin)
      // fsync(2) on Apple's systems leaves the data in the drive's cache.
      repeat {
        if fcntl(number, F_FULLFSYNC) == 0 { return }
      } while errno == EINTR
      let refusal = errno
      // On Apple's systems EOPNOTSUPP differs from ENOTSUP, and network volumes return it.
      guard [ENOTSUP, EOPNOTSUPP, EINVAL, ENOTTY].contains(refusal) else {
        throw FileError(operation, path, code: refusal)
      }
    #endif
    while fsync(number) != 0 {
      let code = errno
      // Some file systems can't sync folders.
      if operation == .synchronizeDirectory, [EINVAL, ENOTSUP, EOPNOTSUPP].contains(code) { return }
      guard code == EINTR else { throw FileError(operation, path, code: code) }
    }
  }

  /// A synced copy is not written to again, so it gets the times and the extended attributes too;
  /// until then, only its owner can open it.
  func copy(
    to newPath: String, attributes: FileAttributes, isSynchronized: Bool = true, by walk: PathWalk = PathWalk(),
    goesOn: CopyWatch = { _ in true }
  ) throws(FileError) -> PassedOver {
    let new = try FileDescriptor.makeNew(
      newPath, attributes: isSynchronized ? attributes.forOwner : attributes, for: .copy, by: walk)
    do throws(FileError) {
      #if canImport(Darwin)
        // The content must not be on the disk under another class, not even for a while.
        _ = giveProtection(to: new)
      #endif
      try copyContent(to: new, goesOn: goesOn)
      guard isSynchronized else { return PassedOver() }
      let left = try giveAttributes(to: new, with: try attributes.owned(likeFolderOf: newPath, by: walk))
      try copyTimes(to: new)
      try new.synchronize(for: .copy)
      return left
    } catch {
      walk.removeName(newPath)
      throw error
    }
  }

  /// The number of bytes copied by one system call, which takes a few milliseconds.
  private static let copiedAtOnce: Int64 = 1 << 23

  /// Shared blocks aren't reported to `goesOn`; if it returns false, the copy ends with
  /// `ECANCELED`.
  func copyContent(to new: FileDescriptor, goesOn: CopyWatch = { _ in true }) throws(FileError) {
    if try shareBlocks(with: new) { return }
    var offset: Int64 = 0
    func advance(by count: Int) throws(FileError) {
      offset += Int64(count)
      guard goesOn(Int64(count)) else { throw FileError(.copy, path, to: new.path, code: ECANCELED) }
    }
    #if !canImport(Darwin)
      let size = try status(for: .copy).size
      while offset < size {
        var place = off_t(offset)
        let count = sendfile(new.number, number, &place, Int(clamping: min(size - offset, Self.copiedAtOnce)))
        if count < 0, errno == EINTR { continue }
        // If sendfile doesn't work on this file system, the loop below continues at this offset.
        guard count > 0 else { break }
        try advance(by: count)
      }
    #endif
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = try read(into: buffer, at: offset, for: .copy)
      guard count > 0 else { return }
      try new.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), for: .copy)
      try advance(by: count)
    }
  }

  /// Throws if the file system can share blocks but failed, such as for lack of space.
  func shareBlocks(with new: FileDescriptor) throws(FileError) -> Bool {
    #if canImport(Darwin)
      return false
    #else
      // FICLONE, _IOW(0x94, 9, int): see ioctl_ficlone(2).
      let code = ioctl(new.number, 0x4004_9409 as UInt, number) == 0 ? 0 : errno
      switch code {
      case 0: return true
      case ENOSPC, EDQUOT, EIO: throw FileError(.copy, path, to: new.path, code: code)
      default: return false
      }
    #endif
  }
}

extension FileStatus {
  init(_ status: stat) {
    let kind: Kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      case S_IFIFO: .pipe
      case S_IFSOCK: .socket
      case S_IFCHR, S_IFBLK: .device
      default: .other
      }
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    self.init(
      kind: kind, size: Int64(status.st_size),
      identity: Identity(
        device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino)),
      linkCount: UInt64(truncatingIfNeeded: status.st_nlink), mode: UInt32(status.st_mode & 0o7777),
      owner: UInt32(status.st_uid), group: UInt32(status.st_gid), modificationTime: Int64(time.tv_sec),
      modificationNanoseconds: Int64(time.tv_nsec))
  }
}
