import HeirloomStore
package import HeirloomVault

/// The file system up to a number of calls; after that each fails, as if the process had died.
package final class StoppingFiles: FileOperations {
  private let left: Locked<Int>
  private let system = POSIXFileOperations(followsLinks: false)

  /// Files whose path ends so can't be copied, as if the disk couldn't read them.
  private let unreadable: String?

  package init(after count: Int = .max, unreadable: String? = nil) {
    left = Locked(count)
    self.unreadable = unreadable
  }

  private func check(_ path: String) throws(FileError) {
    let isOver = left.withLock { left in
      left -= 1
      return left < 0
    }
    if isOver { throw FileError(.write, path, code: 5) }
  }

  package func status(of path: String) throws(FileError) -> FileStatus? {
    try check(path)
    return try system.status(of: path)
  }

  package func names(in folder: String) throws(FileError) -> [String] {
    try check(folder)
    return try system.names(in: folder)
  }

  package func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError) {
    try check(path)
    try system.makeDirectory(path, attributes: attributes)
  }

  package func removeDirectory(_ path: String) throws(FileError) {
    try check(path)
    try system.removeDirectory(path)
  }

  package func makeEmptyFile(_ path: String, attributes: FileAttributes) throws(FileError) {
    try check(path)
    try system.makeEmptyFile(path, attributes: attributes)
  }

  package func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError) {
    try check(path)
    try system.writeNewFile(path, bytes: bytes, attributes: attributes)
  }

  package func synchronizeFile(_ path: String) throws(FileError) {
    try check(path)
    try system.synchronizeFile(path)
  }

  package func synchronizeDirectory(_ path: String) throws(FileError) {
    try check(path)
    try system.synchronizeDirectory(path)
  }

  package func link(_ path: String, to newPath: String) throws(FileError) {
    try check(path)
    try system.link(path, to: newPath)
  }

  package func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) -> PassedOver
  {
    try check(path)
    if let unreadable, path.hasSuffix(unreadable) { throw FileError(.copy, path, code: 5) }
    return try system.copyFile(path, to: newPath, attributes: attributes)
  }

  package func rename(_ path: String, to newPath: String) throws(FileError) {
    try check(path)
    try system.rename(path, to: newPath)
  }

  package func unlink(_ path: String) throws(FileError) {
    try check(path)
    try system.unlink(path)
  }

  package func setMode(_ mode: UInt32, of path: String) throws(FileError) {
    try check(path)
    try system.setMode(mode, of: path)
  }

  package func setExcludedFromBackup(_ isExcluded: Bool, _ folder: String) throws(FileError) {
    try check(folder)
    try system.setExcludedFromBackup(isExcluded, folder)
  }

  package func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
    try check(path)
    return try system.readFile(path, limit: limit)
  }

  package func readStart(of path: String, count: Int) throws(FileError) -> [UInt8] {
    try check(path)
    return try system.readStart(of: path, count: count)
  }

  package func resolvePath(_ path: String) throws(FileError) -> String {
    try check(path)
    return try system.resolvePath(path)
  }

  package func checkWritable(_ folder: String) throws(FileError) {
    try check(folder)
    try system.checkWritable(folder)
  }

  package func lock(_ path: String, timeout: Duration) throws(FileError) -> (any FileLock)? {
    try check(path)
    return try system.lock(path, timeout: timeout)
  }

  package func hold(_ path: String) throws(FileError) -> any HeldFile {
    try check(path)
    return try system.hold(path)
  }

  package func volume(of path: String) throws(FileError) -> VolumeInformation {
    try check(path)
    return try system.volume(of: path)
  }

  package func uniqueIdentifier() -> String { system.uniqueIdentifier() }
}
