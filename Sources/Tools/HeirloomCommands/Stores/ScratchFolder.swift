import Foundation
import Heirloom

/// A private temporary folder for one run of the tool, removed with the value's last reference.
///
/// A killed run leaves its folder behind, and the next run removes it. The folder is locked while
/// its run lives. Folders that are locked, belong to another user or have another name are left
/// alone.
final class ScratchFolder {
  let path: String
  private let parent: String
  private let descriptor: Int32

  /// 32 hexadecimal digits follow.
  private static let prefix = "heirloom-scratch."

  init(_ console: Console) throws {
    parent = try Self.parent(console)
    Self.sweep(parent)
    let files = POSIXFileOperations()
    while true {
      let path = PathText.join(parent, Self.prefix + files.uniqueIdentifier())
      guard mkdir(path, 0o700) == 0 else { throw FileError(.makeDirectory, path, code: errno) }
      let descriptor = Self.folder(path, in: AT_FDCWD)
      guard descriptor >= 0 else {
        // Another run may have removed it as abandoned.
        guard errno == ENOENT else { throw FileError(.makeDirectory, path, code: errno) }
        continue
      }
      // On a file system without locks, no folder is removed as abandoned either.
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK,
        try files.status(of: path)?.identity == Self.status(descriptor)?.identity
      else {
        close(descriptor)
        continue
      }
      (self.path, self.descriptor) = (path, descriptor)
      return
    }
  }

  deinit {
    Self.empty(descriptor)
    rmdir(path)
    close(descriptor)
  }

  static func parent(_ console: Console) throws -> String {
    let named = console.environment["TMPDIR", default: ""]
    return try console.path(named.isEmpty ? FileManager.default.temporaryDirectory.path : named)
  }

  private static func sweep(_ parent: String) {
    let names = (try? POSIXFileOperations().names(in: parent)) ?? []
    let outer = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard outer >= 0 else { return }
    defer { close(outer) }
    for name in names where name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 32 {
      let descriptor = folder(name, in: outer)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      guard let status = status(descriptor), status.owner == geteuid(), status.mode & 0o077 == 0,
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
      else { continue }
      empty(descriptor)
      unlinkat(outer, name, AT_REMOVEDIR)
    }
  }

  private static func folder(_ name: String, in outer: Int32) -> Int32 {
    openat(outer, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
  }

  private static func status(_ descriptor: Int32) -> (identity: FileStatus.Identity, owner: UInt32, mode: UInt32)? {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    let identity = FileStatus.Identity(
      device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino))
    return (identity, UInt32(status.st_uid), UInt32(status.st_mode))
  }

  /// Through descriptors, so no path or symbolic link is followed.
  private static func empty(_ descriptor: Int32, depth: Int = 0) {
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard depth < 64, copy >= 0 else { return }
    guard let list = fdopendir(copy) else {
      close(copy)
      return
    }
    defer { closedir(list) }
    while let entry = readdir(list) {
      withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) { name in
          guard strcmp(name, ".") != 0, strcmp(name, "..") != 0, unlinkat(descriptor, name, 0) != 0 else { return }
          let inner = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
          guard inner >= 0 else { return }
          empty(inner, depth: depth + 1)
          close(inner)
          unlinkat(descriptor, name, AT_REMOVEDIR)
        }
      }
    }
  }
}
