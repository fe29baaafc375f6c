#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// In a shared folder any user may create names beside a store; the vault acts on those of trusted
/// users only.
struct Trust {
  let location: StoreLocation
  let files: any FileOperations

  func isTrusted(_ status: FileStatus) throws(FileError) -> Bool {
    if status.owner == geteuid() || status.owner == 0 { return true }
    let folder = try files.status(of: location.directory)
    let store = try files.status(of: location.path)
    if status.owner == (store ?? folder)?.owner { return true }
    // In a folder shared by a group, each member may replace the store, which then belongs to the one who migrated it
    // last. Users outside the group can't create a file with that group.
    guard let folder, folder.mode & 0o1022 == 0o020 else { return false }
    return status.group == folder.group
  }

  func checkOwner(of path: String) throws(VaultError) {
    let owner = try VaultError.wrapping { () throws(FileError) -> UInt32? in
      guard let status = try files.status(of: path) else { return nil }
      return try isTrusted(status) ? nil : status.owner
    }
    if let owner { throw .foreignOwner(path: path, owner: owner) }
  }

  /// In a sticky folder (only a name's owner removes it) no other user may add names.
  ///
  /// The owner is the store's, also when the superuser creates the folder: the app must be able to
  /// continue.
  func companionAttributes(in folder: FileStatus, store: FileStatus?) -> FileAttributes {
    let mode = folder.attributes.mode
    return FileAttributes(
      mode: mode & 0o1000 != 0 ? mode & ~0o022 : mode, owner: store?.owner ?? folder.owner,
      group: mode & 0o2000 != 0 ? folder.group : store?.group ?? folder.group)
  }

  /// The folder, and the one inside it that holds the files, may be links: an app that moved its
  /// data to another volume left one behind.
  ///
  /// Throws for a link whose target is no folder, or that must not be followed.
  func supportFolder() throws(FileError) -> SupportFolder {
    let path = try followed(location.support)
    let data = PathText.join(path, SupportFolder.dataName)
    let target = try followed(data)
    return SupportFolder(path: path, data: target == data ? nil : target)
  }

  /// Through another link, a user could make a privileged process keep, add and remove files in
  /// places that the user has no access to.
  private func followed(_ path: String) throws(FileError) -> String {
    guard let link = try files.status(of: path), link.kind == .symbolicLink else { return path }
    let target: String
    do throws(FileError) {
      target = try files.resolvePath(path)
    } catch {
      throw FileError(.resolve, path, code: error.code, reason: "it is a broken symbolic link")
    }
    guard let folder = try files.status(of: target), folder.kind == .directory else {
      throw FileError(.resolve, path, code: ENOTDIR, reason: "it is a symbolic link whose target is not a folder")
    }
    guard link.owner == geteuid() || link.owner == 0 || link.owner == folder.owner, try isTrusted(link) else {
      throw FileError(
        .resolve, path, code: EPERM,
        reason:
          "it is a symbolic link of the user \(link.owner) to a folder of the user \(folder.owner), and is not followed"
      )
    }
    return target
  }

  func objection(toFolder folder: String) throws(FileError) -> String? {
    guard let status = try files.status(of: folder) else { return "it vanished" }
    guard status.kind == .directory else { return "it is a \(status.kind.rawValue)" }
    return try isTrusted(status) ? nil : "it belongs to the user \(status.owner), a stranger to the store"
  }
}
