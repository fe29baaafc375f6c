import HeirloomMigration
import HeirloomVault

/// The file system, which claims to have space, so that the first write without space fails and not the check before.
struct RoomyFiles: FileOperations {
  private let system = POSIXFileOperations()
  /// The kind that the volume claims to be; `nil` for its own.
  var kind: VolumeInformation.Kind?

  func volume(of path: String) throws(FileError) -> VolumeInformation {
    let volume = try system.volume(of: path)
    return VolumeInformation(kind: kind ?? volume.kind, fileSystemName: volume.fileSystemName, availableBytes: .max)
  }

  func status(of path: String) throws(FileError) -> FileStatus? { try system.status(of: path) }
  func names(in folder: String) throws(FileError) -> [String] { try system.names(in: folder) }
  func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError) {
    try system.makeDirectory(path, attributes: attributes)
  }
  func removeDirectory(_ path: String) throws(FileError) { try system.removeDirectory(path) }
  func makeEmptyFile(_ path: String, attributes: FileAttributes) throws(FileError) {
    try system.makeEmptyFile(path, attributes: attributes)
  }
  func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError) {
    try system.writeNewFile(path, bytes: bytes, attributes: attributes)
  }
  func synchronizeFile(_ path: String) throws(FileError) { try system.synchronizeFile(path) }
  func synchronizeDirectory(_ path: String) throws(FileError) { try system.synchronizeDirectory(path) }
  func link(_ path: String, to newPath: String) throws(FileError) {
    // FAT and the file systems of many programs have no second names.
    guard kind == nil else { throw FileError(.link, path, to: newPath, code: 1) }
    try system.link(path, to: newPath)
  }
  func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) -> PassedOver {
    try system.copyFile(path, to: newPath, attributes: attributes)
  }
  func rename(_ path: String, to newPath: String) throws(FileError) { try system.rename(path, to: newPath) }
  func unlink(_ path: String) throws(FileError) { try system.unlink(path) }
  func setMode(_ mode: UInt32, of path: String) throws(FileError) { try system.setMode(mode, of: path) }
  func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
    try system.readFile(path, limit: limit)
  }
  func readStart(of path: String, count: Int) throws(FileError) -> [UInt8] {
    try system.readStart(of: path, count: count)
  }
  func resolvePath(_ path: String) throws(FileError) -> String { try system.resolvePath(path) }
  func checkWritable(_ folder: String) throws(FileError) { try system.checkWritable(folder) }
  func lock(_ path: String, timeout: Duration) throws(FileError) -> (any FileLock)? {
    try system.lock(path, timeout: timeout)
  }
  func setExcludedFromBackup(_ isExcluded: Bool, _ folder: String) throws(FileError) {
    try system.setExcludedFromBackup(isExcluded, folder)
  }
  func hold(_ path: String) throws(FileError) -> any HeldFile { try system.hold(path) }
  func uniqueIdentifier() -> String { system.uniqueIdentifier() }
}
