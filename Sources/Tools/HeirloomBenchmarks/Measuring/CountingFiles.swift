import Heirloom
import HeirloomStore

/// Counts the calls that change or sync, without SQLite's for its own files.
final class CountingFiles: FileOperations {
  struct Counts: Hashable {
    var syncs = 0
    /// Calls that make, change or remove a file, a folder or a name.
    var changes = 0
    var locks = 0
  }

  private let files = POSIXFileOperations()
  private let state = Locked(Counts())

  var counts: Counts { state.withLock { $0 } }

  fileprivate func count(changes: Int = 0, syncs: Int = 0, locks: Int = 0) {
    state.withLock {
      $0.changes += changes
      $0.syncs += syncs
      $0.locks += locks
    }
  }

  // MARK: Looking

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

  // MARK: Changing

  func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError) {
    count(changes: 1)
    try files.makeDirectory(path, attributes: attributes)
  }

  func removeDirectory(_ path: String) throws(FileError) {
    count(changes: 1)
    try files.removeDirectory(path)
  }

  func makeEmptyFile(_ path: String, attributes: FileAttributes) throws(FileError) {
    count(changes: 1)
    try files.makeEmptyFile(path, attributes: attributes)
  }

  func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError) {
    count(changes: 1, syncs: 1)
    try files.writeNewFile(path, bytes: bytes, attributes: attributes)
  }

  func synchronizeFile(_ path: String) throws(FileError) {
    count(syncs: 1)
    try files.synchronizeFile(path)
  }

  func synchronizeFile(_ path: String, while work: () throws -> Void) throws {
    count(syncs: 1)
    try files.synchronizeFile(path, while: work)
  }

  func synchronizeDirectory(_ path: String) throws(FileError) {
    count(syncs: 1)
    try files.synchronizeDirectory(path)
  }

  func link(_ path: String, to newPath: String) throws(FileError) {
    count(changes: 1)
    try files.link(path, to: newPath)
  }

  func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) -> PassedOver {
    count(changes: 1, syncs: 1)
    return try files.copyFile(path, to: newPath, attributes: attributes)
  }

  func setExcludedFromBackup(_ isExcluded: Bool, _ folder: String) throws(FileError) {
    count(changes: 1)
    try files.setExcludedFromBackup(isExcluded, folder)
  }

  func rename(_ path: String, to newPath: String) throws(FileError) {
    count(changes: 1)
    try files.rename(path, to: newPath)
  }

  func setMode(_ mode: UInt32, of path: String) throws(FileError) {
    count(changes: 1)
    try files.setMode(mode, of: path)
  }

  func unlink(_ path: String) throws(FileError) {
    count(changes: 1)
    try files.unlink(path)
  }

  func lock(_ path: String, timeout: Duration) throws(FileError) -> (any FileLock)? {
    count(locks: 1)
    return try files.lock(path, timeout: timeout)
  }

  func hold(_ path: String) throws(FileError) -> any HeldFile {
    CountingHeldFile(try files.hold(path), counting: self)
  }
}

private final class CountingHeldFile: HeldFile {
  private let held: any HeldFile
  private let counter: CountingFiles

  init(_ held: any HeldFile, counting counter: CountingFiles) {
    self.held = held
    self.counter = counter
  }

  func status() throws(FileError) -> FileStatus { try held.status() }

  func clone(to path: String, attributes: FileAttributes) throws(FileError) -> Bool {
    counter.count(changes: 1, syncs: 1)
    return try held.clone(to: path, attributes: attributes)
  }

  func copy(to path: String, attributes: FileAttributes) throws(FileError) -> PassedOver {
    counter.count(changes: 1, syncs: 1)
    return try held.copy(to: path, attributes: attributes)
  }

  func copyWithoutSync(to path: String, attributes: FileAttributes, goesOn: CopyWatch) throws(FileError) {
    counter.count(changes: 1)
    try held.copyWithoutSync(to: path, attributes: attributes, goesOn: goesOn)
  }

  func sharedRanges(withCloneAt path: String) -> [Range<Int64>] {
    held.sharedRanges(withCloneAt: path)
  }

  func giveAttributes(to path: String) throws(FileError) -> PassedOver {
    counter.count(changes: 1)
    return try held.giveAttributes(to: path)
  }

  func giveProtection(to path: String) throws(FileError) -> PassedOver {
    counter.count(changes: 1)
    return try held.giveProtection(to: path)
  }

  func synchronize() throws(FileError) {
    counter.count(syncs: 1)
    try held.synchronize()
  }

  func close() { held.close() }
}
