import HeirloomMigration
import HeirloomVault
import TestSupport

/// The file system, which claims to have space, so that the first write without space fails and not the check before.
struct RoomyFiles: ForwardingFiles {
  let base: any FileOperations = POSIXFileOperations()
  /// The kind that the volume claims to be; `nil` for its own.
  var kind: VolumeInformation.Kind?

  func volume(of path: String) throws(FileError) -> VolumeInformation {
    let volume = try base.volume(of: path)
    return VolumeInformation(kind: kind ?? volume.kind, fileSystemName: volume.fileSystemName, availableBytes: .max)
  }

  func link(_ path: String, to newPath: String) throws(FileError) {
    // FAT and the file systems of many programs have no second names.
    guard kind == nil else { throw FileError(.link, path, to: newPath, code: 1) }
    try base.link(path, to: newPath)
  }
}
