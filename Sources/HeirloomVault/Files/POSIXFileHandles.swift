import HeirloomStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A lock by `flock(2)`, which the kernel frees when the process dies.
final class POSIXFileLock: FileLock {
  private let descriptor: Locked<FileDescriptor?>

  init(_ descriptor: FileDescriptor) {
    self.descriptor = Locked(descriptor)
  }

  func close() {
    // Closing the only descriptor of an open file releases its lock.
    descriptor.withLock { $0 = nil }
  }
}

final class POSIXHeldFile: HeldFile {
  private let path: String
  private let walk: PathWalk
  private let descriptor: Locked<FileDescriptor?>

  init(_ descriptor: FileDescriptor, by walk: PathWalk) {
    path = descriptor.path
    self.walk = walk
    self.descriptor = Locked(descriptor)
  }

  func status() throws(FileError) -> FileStatus {
    try open(for: .status).status(for: .status)
  }

  func clone(to path: String, attributes: FileAttributes) throws(FileError) -> Bool {
    let held = try open(for: .copy)
    #if canImport(Darwin)
      // Without CLONE_ACL, the folder's access list would replace the file's: see clonefile(2).
      let cloned = try walk.call(path, for: .copy) { folder, name in
        fclonefileat(held.number, folder, name, UInt32(CLONE_NOFOLLOW | CLONE_ACL))
      }
      guard cloned.value == 0 else {
        // A file system, a sandbox or an older system may refuse to clone a file that can be copied.
        let code = cloned.code
        guard code == ENOSPC || code == EDQUOT || code == EIO else { return false }
        throw FileError(.copy, held.path, to: path, code: code)
      }
      do throws(FileError) {
        let new = try FileDescriptor(path, flags: O_RDONLY, for: .copy, by: walk)
        try new.apply(try attributes.owned(likeFolderOf: path, by: walk), for: .copy)
        return true
      } catch {
        walk.removeName(path)
        throw error
      }
    #else
      let new = try FileDescriptor.makeNew(path, attributes: attributes, for: .copy, by: walk)
      do throws(FileError) {
        if try held.shareBlocks(with: new) { return true }
      } catch {
        walk.removeName(path)
        throw error
      }
      guard walk.removeName(path) else { throw FileError(.unlink, path, code: errno) }
      return false
    #endif
  }

  func copy(to path: String, attributes: FileAttributes) throws(FileError) -> PassedOver {
    try open(for: .copy).copy(to: path, attributes: attributes, by: walk)
  }

  func copyWithoutSync(to path: String, attributes: FileAttributes, goesOn: CopyWatch) throws(FileError) {
    _ = try open(for: .copy).copy(to: path, attributes: attributes, isSynchronized: false, by: walk, goesOn: goesOn)
  }

  func sharedRanges(withCloneAt path: String) -> [Range<Int64>] {
    guard let held = try? open(for: .status),
      let clone = try? FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .status, by: walk)
    else { return [] }
    return held.sharedRanges(withClone: clone)
  }

  func giveAttributes(to path: String) throws(FileError) -> PassedOver {
    let held = try open(for: .giveAttributes)
    // O_NONBLOCK: a named pipe put in the file's place must not hang us.
    let other = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .giveAttributes, by: walk)
    return try held.giveAttributes(to: other, with: try held.status(for: .giveAttributes).attributesBesideList)
  }

  func giveProtection(to path: String) throws(FileError) -> PassedOver {
    var left = PassedOver()
    #if canImport(Darwin)
      let other = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .giveAttributes, by: walk)
      if try !open(for: .giveAttributes).giveProtection(to: other) { left.note("the protection class") }
    #endif
    return left
  }

  func synchronize() throws(FileError) {
    try open(for: .synchronizeFile).synchronize(for: .synchronizeFile)
  }

  func close() {
    descriptor.withLock { $0 = nil }
  }

  private func open(for operation: FileError.Operation) throws(FileError) -> FileDescriptor {
    guard let held = descriptor.withLock({ $0 }) else {
      throw FileError(operation, path, code: EBADF, reason: "the file was closed")
    }
    return held
  }
}
