import Foundation
import HeirloomMigration
import HeirloomStore
import HeirloomVault

/// A file system that refuses calls on demand, and records all of them.
///
/// Where calls fail by their number, identifiers are numbers too, so that equal faults leave equal files.
final class FaultyFiles: FileOperations {
  enum Fault: Sendable {
    case none
    /// Counted from 1.
    case once(Int)
    /// The call of this number and all after it: to the vault, the process seems to have died.
    case forever(Int)
    case matching(@Sendable (FileError.Operation, String) -> Bool)
  }

  struct State {
    var calls: [(operation: FileError.Operation, path: String)] = []
    var hits = 0
    var identifiers = 0
  }

  private let system = POSIXFileOperations(followsLinks: false)
  private let fault: Fault
  private let code: Int32
  private let refusesLinks: Bool
  let losesProtection: Bool
  private let volumeKind: VolumeInformation.Kind?
  private let availableBytes: UInt64?
  private let state = Locked(State())

  init(
    _ fault: Fault = .none, code: Int32 = EIO, refusesLinks: Bool = false, losesProtection: Bool = false,
    volumeKind: VolumeInformation.Kind? = nil,
    availableBytes: UInt64? = nil
  ) {
    self.fault = fault
    self.code = code
    self.refusesLinks = refusesLinks
    self.losesProtection = losesProtection
    self.volumeKind = volumeKind
    self.availableBytes = availableBytes
  }

  var hits: Int { state.withLock(\.hits) }
  var calls: [(operation: FileError.Operation, path: String)] { state.withLock(\.calls) }

  func check(_ operation: FileError.Operation, _ path: String, _ other: String? = nil) throws(FileError) {
    let fails = state.withLock { state in
      state.calls.append((operation, path))
      let fails =
        switch fault {
        case .none: false
        case .once(let number): state.calls.count == number
        case .forever(let number): state.calls.count >= number
        case .matching(let matches): matches(operation, path)
        }
      if fails { state.hits += 1 }
      return fails
    }
    if fails { throw FileError(operation, path, to: other, code: code) }
  }

  func status(of path: String) throws(FileError) -> FileStatus? {
    try check(.status, path)
    return try system.status(of: path)
  }

  func names(in folder: String) throws(FileError) -> [String] {
    try check(.list, folder)
    return try system.names(in: folder)
  }

  func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError) {
    try check(.makeDirectory, path)
    try system.makeDirectory(path, attributes: attributes)
  }

  func removeDirectory(_ path: String) throws(FileError) {
    try check(.removeDirectory, path)
    try system.removeDirectory(path)
  }

  func makeEmptyFile(_ path: String, attributes: FileAttributes) throws(FileError) {
    try check(.write, path)
    try system.makeEmptyFile(path, attributes: attributes)
  }

  func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError) {
    do throws(FileError) {
      try check(.write, path)
    } catch {
      // A disk may fail in the middle, and then not even let the half be removed.
      try? system.writeNewFile(path, bytes: Array(bytes.prefix(bytes.count / 2)), attributes: attributes)
      throw error
    }
    try system.writeNewFile(path, bytes: bytes, attributes: attributes)
  }

  func synchronizeFile(_ path: String) throws(FileError) {
    try check(.synchronizeFile, path)
    try system.synchronizeFile(path)
  }

  func synchronizeDirectory(_ path: String) throws(FileError) {
    try check(.synchronizeDirectory, path)
    try system.synchronizeDirectory(path)
  }

  func link(_ path: String, to newPath: String) throws(FileError) {
    try check(.link, path, newPath)
    if refusesLinks { throw FileError(.link, path, to: newPath, code: EPERM) }
    try system.link(path, to: newPath)
  }

  func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) -> PassedOver {
    try check(.copy, path, newPath)
    return try system.copyFile(path, to: newPath, attributes: attributes)
  }

  func rename(_ path: String, to newPath: String) throws(FileError) {
    try check(.rename, path, newPath)
    try system.rename(path, to: newPath)
  }

  func setMode(_ mode: UInt32, of path: String) throws(FileError) {
    try check(.setMode, path)
    try system.setMode(mode, of: path)
  }

  func unlink(_ path: String) throws(FileError) {
    try check(.unlink, path)
    try system.unlink(path)
  }

  func setExcludedFromBackup(_ isExcluded: Bool, _ folder: String) throws(FileError) {
    try check(.giveAttributes, folder)
    try system.setExcludedFromBackup(isExcluded, folder)
  }

  func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
    try check(.read, path)
    return try system.readFile(path, limit: limit)
  }

  func readStart(of path: String, count: Int) throws(FileError) -> [UInt8] {
    try check(.read, path)
    return try system.readStart(of: path, count: count)
  }

  func resolvePath(_ path: String) throws(FileError) -> String {
    try check(.resolve, path)
    return try system.resolvePath(path)
  }

  func checkWritable(_ folder: String) throws(FileError) {
    try check(.checkWritable, folder)
    try system.checkWritable(folder)
  }

  func lock(_ path: String, timeout: Duration) throws(FileError) -> (any FileLock)? {
    try check(.lock, path)
    return try system.lock(path, timeout: timeout)
  }

  func hold(_ path: String) throws(FileError) -> any HeldFile {
    try check(.read, path)
    return FaultyHeldFile(files: self, path: path, held: try system.hold(path))
  }

  func volume(of path: String) throws(FileError) -> VolumeInformation {
    try check(.volume, path)
    let volume = try system.volume(of: path)
    return VolumeInformation(
      kind: volumeKind ?? volume.kind, fileSystemName: volume.fileSystemName,
      availableBytes: availableBytes ?? volume.availableBytes)
  }

  func uniqueIdentifier() -> String {
    switch fault {
    case .once, .forever: break
    case .none, .matching: return system.uniqueIdentifier()
    }
    let number = state.withLock { state in
      state.identifiers += 1
      return state.identifiers
    }
    let digits = String(number, radix: 16)
    // The first eight digits are part of the name of a version.
    return String(repeating: "0", count: 8 - digits.count) + digits + String(repeating: "f", count: 24)
  }
}

private final class FaultyHeldFile: HeldFile {
  let files: FaultyFiles
  let path: String
  let held: any HeldFile

  init(files: FaultyFiles, path: String, held: any HeldFile) {
    self.files = files
    self.path = path
    self.held = held
  }

  func status() throws(FileError) -> FileStatus {
    try files.check(.status, path)
    return try held.status()
  }

  func clone(to path: String, attributes: FileAttributes) throws(FileError) -> Bool {
    try files.check(.copy, self.path, path)
    return try held.clone(to: path, attributes: attributes)
  }

  func copy(to path: String, attributes: FileAttributes) throws(FileError) -> PassedOver {
    do throws(FileError) {
      try files.check(.copy, self.path, path)
    } catch {
      // Half a copy stays.
      try? POSIXFileOperations().writeNewFile(path, bytes: [0x53, 0x51], attributes: attributes)
      throw error
    }
    return try held.copy(to: path, attributes: attributes)
  }

  func copyWithoutSync(to path: String, attributes: FileAttributes, goesOn: CopyWatch) throws(FileError) {
    try files.check(.copy, self.path, path)
    try held.copyWithoutSync(to: path, attributes: attributes, goesOn: goesOn)
  }

  func sharedRanges(withCloneAt path: String) -> [Range<Int64>] {
    held.sharedRanges(withCloneAt: path)
  }

  func giveAttributes(to path: String) throws(FileError) -> PassedOver {
    try files.check(.giveAttributes, path)
    return try held.giveAttributes(to: path)
  }

  func giveProtection(to path: String) throws(FileError) -> PassedOver {
    try files.check(.giveAttributes, path)
    var left = try held.giveProtection(to: path)
    if files.losesProtection { left.note("the protection class") }
    return left
  }

  func synchronize() throws(FileError) {
    try files.check(.synchronizeFile, path)
    try held.synchronize()
  }

  func close() { held.close() }
}
