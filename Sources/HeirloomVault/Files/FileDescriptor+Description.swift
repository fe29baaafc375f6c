#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  internal import CHeirloomFiles
  import Musl
#else
  internal import CHeirloomFiles
  import Glibc
#endif

extension FileDescriptor {
  /// Gives a copy the times and the extended attributes of its original.
  ///
  /// Attributes that can't be set are left out, unless that would let more people read the copy.
  /// Rights that a program gets through its file (set-user-ID, capabilities) are never copied.
  func copyDescription(to new: FileDescriptor) throws(FileError) {
    var original = stat()
    var made = stat()
    guard fstat(number, &original) == 0, fstat(new.number, &made) == 0 else {
      throw FileError(.copy, path, to: new.path, code: errno)
    }
    var mode = made.st_mode & 0o777
    #if canImport(Darwin)
      _ = fcopyfile(number, new.number, nil, copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR))
      let times = [original.st_atimespec, original.st_mtimespec]
    #else
      // With an access list, the group bits are the most that anybody in the list may do, not the group's own rights.
      if !copyExtendedAttributes(to: new) { mode &= ~0o070 }
      let times = [original.st_atim, original.st_mtim]
    #endif
    guard fchmod(new.number, mode) == 0 else { throw FileError(.copy, path, to: new.path, code: errno) }
    _ = futimens(new.number, times)
  }

  #if !canImport(Darwin)
    private static let accessList = "system.posix_acl_access"
    /// Linux's limit for a list of names and for a value, in bytes.
    private static let attributeByteLimit = 65_536

    /// Copies the extended attributes as far as possible.
    ///
    /// - Returns: False when the copy lacks an access list.
    private func copyExtendedAttributes(to new: FileDescriptor) -> Bool {
      var names = [CChar](repeating: 0, count: Self.attributeByteLimit)
      let length = flistxattr(number, &names, names.count)
      guard length > 0 else { return true }
      var value = [UInt8](repeating: 0, count: Self.attributeByteLimit)
      var isComplete = true
      for name in names[..<length].split(separator: 0) {
        // Labels and capabilities are the system's to give, not ours.
        if String(decoding: name.map(UInt8.init(bitPattern:)), as: UTF8.self).hasPrefix("security.") { continue }
        let size = fgetxattr(number, Array(name) + [0], &value, value.count)
        let isSet = size >= 0 && fsetxattr(new.number, Array(name) + [0], value, size, 0) == 0
        if !isSet, name.map(UInt8.init(bitPattern:)) == Array(Self.accessList.utf8) { isComplete = false }
      }
      return isComplete
    }
  #endif
}

extension FileAttributes {
  /// Returns these attributes, with the folder's owner where none is given and the superuser makes the file.
  ///
  /// A run with more rights must not leave files that a run without them can't read.
  func owned(likeFolderOf path: String, by walk: PathWalk) throws(FileError) -> FileAttributes {
    guard owner == nil, !walk.followsLinks, geteuid() == 0 else { return self }
    var status = stat()
    let answer = try walk.call(PathText.join(PathText.split(path).folder, "."), for: .status) {
      folder, name in
      fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW)
    }
    guard answer.value == 0 else { return self }
    return FileAttributes(mode: mode, owner: UInt32(status.st_uid), group: UInt32(status.st_gid))
  }
}

extension PathWalk {
  /// Removes a name, if it can.
  @discardableResult
  func removeName(_ path: String) -> Bool {
    (try? call(path, for: .unlink) { folder, name in unlinkat(folder, name, 0) })?.value == 0
  }
}
