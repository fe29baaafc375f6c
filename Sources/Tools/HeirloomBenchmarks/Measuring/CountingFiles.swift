import Heirloom
import HeirloomStore

/// Counts the calls that change, sync, hold or lock, without SQLite's for its own files.
final class CountingFiles: FileOperations {
  private let files = POSIXFileOperations()
  private let state = Locked(0)

  /// Syncs, locks, holds of a store, and calls that make, change or remove a file, a folder or a name.
  var count: Int { state.withLock { $0 } }

  private func counted() -> POSIXFileOperations {
    state.withLock { $0 += 1 }
    return files
  }

  func status(of path: String) throws(FileError) -> FileStatus? { try files.status(of: path) }
  func names(in folder: String) throws(FileError) -> [String] { try files.names(in: folder) }
  func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8] { try files.readFile(path, limit: limit) }
  func readStart(of path: String, count: Int) throws(FileError) -> [UInt8] {
    try files.readStart(of: path, count: count)
  }
  func resolvePath(_ path: String) throws(FileError) -> String { try files.resolvePath(path) }
  func checkWritable(_ folder: String) throws(FileError) { try files.checkWritable(folder) }
  func volume(of path: String) throws(FileError) -> VolumeInformation { try files.volume(of: path) }
  func uniqueIdentifier() -> String { files.uniqueIdentifier() }

  func hold(_ path: String) throws(FileError) -> any HeldFile { try counted().hold(path) }
  func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError) {
    try counted().makeDirectory(path, attributes: attributes)
  }
  func removeDirectory(_ path: String) throws(FileError) { try counted().removeDirectory(path) }
  func makeEmptyFile(_ path: String, attributes: FileAttributes) throws(FileError) {
    try counted().makeEmptyFile(path, attributes: attributes)
  }
  func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError) {
    try counted().writeNewFile(path, bytes: bytes, attributes: attributes)
  }
  func synchronizeFile(_ path: String) throws(FileError) { try counted().synchronizeFile(path) }
  func synchronizeFile(_ path: String, while work: () throws -> Void) throws {
    try counted().synchronizeFile(path, while: work)
  }
  func synchronizeDirectory(_ path: String) throws(FileError) { try counted().synchronizeDirectory(path) }
  func link(_ path: String, to newPath: String) throws(FileError) { try counted().link(path, to: newPath) }
  func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) -> PassedOver {
    try counted().copyFile(path, to: newPath, attributes: attributes)
  }
  func setExcludedFromBackup(_ isExcluded: Bool, _ folder: String) throws(FileError) {
    try counted().setExcludedFromBackup(isExcluded, folder)
  }
  func rename(_ path: String, to newPath: String) throws(FileError) { try counted().rename(path, to: newPath) }
  func setMode(_ mode: UInt32, of path: String) throws(FileError) { try counted().setMode(mode, of: path) }
  func unlink(_ path: String) throws(FileError) { try counted().unlink(path) }
  func lock(_ path: String, timeout: Duration) throws(FileError) -> (any FileLock)? {
    try counted().lock(path, timeout: timeout)
  }
}
