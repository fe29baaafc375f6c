#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension FileDescriptor {
  func copyTimes(to new: FileDescriptor) throws(FileError) {
    var original = stat()
    guard fstat(number, &original) == 0 else { throw FileError(.copy, path, to: new.path, code: errno) }
    #if canImport(Darwin)
      let times = [original.st_atimespec, original.st_mtimespec]
    #else
      let times = [original.st_atim, original.st_mtim]
    #endif
    _ = futimens(new.number, times)
  }
}

extension FileAttributes {
  /// For a file that is being built or has no access list yet.
  package var forOwner: FileAttributes { FileAttributes(mode: mode & 0o700, owner: owner, group: group) }

  /// Adds the folder's owner if none is given: a run as superuser must not leave files that an
  /// ordinary run can't read.
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
  @discardableResult
  func removeName(_ path: String) -> Bool {
    (try? call(path, for: .unlink) { folder, name in unlinkat(folder, name, 0) })?.value == 0
  }
}
