import Foundation
import HeirloomMigration
import HeirloomVault
import TestSupport

/// The file system, with each call recorded in a trace, or made to fail by it.
final class TracedFiles: ForwardingFiles {
  let trace: SystemTrace
  private let refusesLinks: Bool
  let base: any FileOperations = POSIXFileOperations(followsLinks: false)

  /// `refusesLinks` stands for FAT.
  init(_ trace: SystemTrace, refusesLinks: Bool = false) {
    self.trace = trace
    self.refusesLinks = refusesLinks
  }

  private func check(
    _ operation: FileError.Operation, _ path: String, _ other: String? = nil, _ kinds: SystemTrace.Kind...
  ) throws(FileError) {
    // Swift can't forward variadic arguments.
    let code =
      switch kinds.count {
      case 1: trace.refusal(kinds[0])
      case 2: trace.refusal(kinds[0], kinds[1])
      default: trace.refusal(kinds[0], kinds[1], kinds[2])
      }
    if let code { throw FileError(operation, path, to: other, code: code) }
  }

  /// All forwarded calls only read.
  func willCall(_ operation: FileError.Operation, _ path: String, _ other: String?) throws(FileError) {
    try check(operation, path, other, .read)
  }

  func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError) {
    try check(.makeDirectory, path, nil, .grow, .name)
    try base.makeDirectory(path, attributes: attributes)
    trace.record(.makeDirectory(trace.relative(path)))
  }

  func removeDirectory(_ path: String) throws(FileError) {
    try check(.removeDirectory, path, nil, .name)
    try base.removeDirectory(path)
    trace.record(.removeDirectory(trace.relative(path)))
  }

  func makeEmptyFile(_ path: String, attributes: FileAttributes) throws(FileError) {
    try check(.write, path, nil, .grow, .name)
    try base.makeEmptyFile(path, attributes: attributes)
    trace.record(.create(trace.relative(path)))
  }

  func writeNewFile(_ path: String, bytes: [UInt8], attributes: FileAttributes) throws(FileError) {
    do throws(FileError) {
      try check(.write, path, nil, .grow, .name, .write)
      try check(.write, path, nil, .synchronize)
    } catch {
      // A disk may fail in the middle, and then not even let the half be removed.
      try? base.writeNewFile(path, bytes: Array(bytes.prefix(bytes.count / 2)), attributes: attributes)
      throw error
    }
    try base.writeNewFile(path, bytes: bytes, attributes: attributes)
    recordNewFile(path, bytes: bytes)
  }

  /// Name, content and sync are recorded apart, since a crash may come after each.
  fileprivate func recordNewFile(_ path: String, bytes: [UInt8], isSynchronized: Bool = true) {
    let path = trace.relative(path)
    trace.record(.create(path))
    if !bytes.isEmpty { trace.record(.write(.path(path), offset: 0, bytes: bytes)) }
    recordNote(of: path)
    if isSynchronized { trace.record(.synchronize(.path(path))) }
  }

  fileprivate func recordNote(of path: String) {
    let note = FileNote.read(trace.root + "/" + path)
    if !note.isEmpty { trace.record(.setNote(path, note)) }
  }

  fileprivate func content(_ path: String) -> [UInt8] { (try? base.readFile(path, limit: 1 << 26)) ?? [] }

  func synchronizeFile(_ path: String) throws(FileError) {
    try check(.synchronizeFile, path, nil, .synchronize)
    try base.synchronizeFile(path)
    trace.record(.synchronize(.path(trace.relative(path))))
  }

  func synchronizeDirectory(_ path: String) throws(FileError) {
    try check(.synchronizeDirectory, path, nil, .synchronize)
    try base.synchronizeDirectory(path)
    trace.record(.synchronizeDirectory(trace.relative(path)))
  }

  func link(_ path: String, to newPath: String) throws(FileError) {
    try check(.link, path, newPath, .grow, .name)
    if refusesLinks { throw FileError(.link, path, to: newPath, code: EPERM) }
    try base.link(path, to: newPath)
    trace.record(.link(trace.relative(path), trace.relative(newPath)))
  }

  func copyFile(_ path: String, to newPath: String, attributes: FileAttributes) throws(FileError) -> PassedOver {
    try check(.copy, path, newPath, .grow, .name, .write)
    try check(.copy, path, newPath, .synchronize)
    let left = try base.copyFile(path, to: newPath, attributes: attributes)
    recordNewFile(newPath, bytes: content(newPath))
    return left
  }

  func rename(_ path: String, to newPath: String) throws(FileError) {
    try check(.rename, path, newPath, .name)
    try base.rename(path, to: newPath)
    trace.record(.rename(trace.relative(path), trace.relative(newPath)))
  }

  // The model of the disk has no permissions.
  func setMode(_ mode: UInt32, of path: String) throws(FileError) {
    try check(.setMode, path, nil, .name)
    try base.setMode(mode, of: path)
  }

  func unlink(_ path: String) throws(FileError) {
    try check(.unlink, path, nil, .name)
    try base.unlink(path)
    trace.record(.unlink(trace.relative(path)))
  }

  // The model of the disk has no marks of folders: a mark is set anew where it is missing.
  func setExcludedFromBackup(_ isExcluded: Bool, _ folder: String) throws(FileError) {
    try check(.giveAttributes, folder, nil, .write)
    try base.setExcludedFromBackup(isExcluded, folder)
  }

  func lock(_ path: String, timeout: Duration) throws(FileError) -> (any FileLock)? {
    let isNew = try base.status(of: path) == nil
    if isNew {
      try check(.lock, path, nil, .grow, .name)
    } else {
      try check(.lock, path, nil, .read)
    }
    let lock = try base.lock(path, timeout: timeout)
    if isNew { trace.record(.create(trace.relative(path))) }
    return lock
  }

  func hold(_ path: String) throws(FileError) -> any HeldFile {
    try check(.read, path, nil, .read)
    return TracedHeldFile(files: self, path: path, held: try base.hold(path))
  }

  func uniqueIdentifier() -> String { trace.nextIdentifier() }

  /// The store, held open beside SQLite.
  private final class TracedHeldFile: ForwardingHeldFile {
    private let files: TracedFiles
    private let path: String
    let held: any HeldFile

    init(files: TracedFiles, path: String, held: any HeldFile) {
      self.files = files
      self.path = path
      self.held = held
    }

    func status() throws(FileError) -> FileStatus {
      try files.check(.status, path, nil, .read)
      return try held.status()
    }

    func clone(to path: String, attributes: FileAttributes) throws(FileError) -> Bool {
      try files.check(.copy, self.path, path, .grow, .name)
      guard try held.clone(to: path, attributes: attributes) else {
        #if !canImport(Darwin)
          // The file is made before the system says that it can't share blocks.
          files.trace.record(.create(files.trace.relative(path)))
          files.trace.record(.unlink(files.trace.relative(path)))
        #endif
        return false
      }
      files.recordNewFile(path, bytes: files.content(path), isSynchronized: false)
      return true
    }

    func copy(to path: String, attributes: FileAttributes) throws(FileError) -> PassedOver {
      try files.check(.copy, self.path, path, .grow, .name, .write)
      try files.check(.copy, self.path, path, .synchronize)
      let left = try held.copy(to: path, attributes: attributes)
      files.recordNewFile(path, bytes: files.content(path))
      return left
    }

    func copyWithoutSync(to path: String, attributes: FileAttributes, goesOn: CopyWatch) throws(FileError) {
      try files.check(.copy, self.path, path, .grow, .name, .write)
      try held.copyWithoutSync(to: path, attributes: attributes, goesOn: goesOn)
      let name = files.trace.relative(path)
      files.trace.record(.create(name))
      files.trace.record(.write(.path(name), offset: 0, bytes: files.content(path)))
    }

    func giveAttributes(to path: String) throws(FileError) -> PassedOver {
      try files.check(.giveAttributes, path, nil, .write)
      let left = try held.giveAttributes(to: path)
      files.recordNote(of: files.trace.relative(path))
      return left
    }

    func synchronize() throws(FileError) {
      try files.check(.synchronizeFile, path, nil, .synchronize)
      try held.synchronize()
      files.trace.record(.synchronize(.path(files.trace.relative(path))))
    }
  }
}
