import Foundation
import HeirloomMigration
import HeirloomStore
import HeirloomVault
import TestSupport

/// A mistake in the protocol; only tests make one.
enum ProtocolMutant: String, CaseIterable, Sendable {
  case candidateNotSynced = "no fsync of the candidate"
  case attributesNotKept = "no attributes for the candidate"
  case attributesAfterSync = "attributes after the fsync of the candidate"
  case folderNotSyncedBeforeLink = "no folder sync before the link"
  case folderNotSyncedAfterLink = "no folder sync after the link"
  case folderNotSyncedAfterRename = "no folder sync after the rename"
  case parentNotSynced = "folder made but parent not synced"
  case noLink = "no link"
  case renameAwayThenIn = "rename away then in"
  case inPlaceWithUnsyncedClone = "in place with an unsynced clone"
  case coldJournalKept = "cold journal not cleaned"
  case snapshotInPlace = "snapshot written in place"
  case pruneWithoutRename = "version removed file by file"
}

/// A file system through which the vault does something else than intended.
final class MutantFiles: ForwardingFiles {
  let base: any FileOperations
  private let trace: SystemTrace
  private let mutant: ProtocolMutant?
  private let atCommit: Commit
  private let store: String
  private let progress = Locked(Progress())

  /// The result of the rename to the store.
  enum Commit {
    case passes
    case fails
    /// The process dies: no later call is made either.
    case dies
  }

  private struct Progress {
    var hasLinked = false
    var hasRenamed = false
    /// The folder whose own name is to be synced next.
    var unsyncedParent: String?
    /// The held store whose attributes the candidate gets too late.
    var unsetAttributes: (any HeldFile)?
    /// The previous version's store that is not what the vault takes it for.
    var pretended: String?
  }

  init(_ base: any FileOperations, trace: SystemTrace, mutant: ProtocolMutant? = nil, atCommit: Commit = .passes) {
    self.base = base
    self.trace = trace
    self.mutant = mutant
    self.atCommit = atCommit
    store = trace.root + "/" + CrashApp.storeName
  }

  private func isKeptStore(_ path: String) -> Bool {
    path.hasPrefix(store + StoreLocation.companionSuffix + "/previous/") && path.hasSuffix("/" + CrashApp.storeName)
  }

  func status(of path: String) throws(FileError) -> FileStatus? {
    if mutant == .coldJournalKept, path == store + "-journal" { return nil }
    if progress.withLock({ $0.pretended }) == path { return try base.status(of: store) }
    return try base.status(of: path)
  }

  func synchronizeFile(_ path: String) throws(FileError) {
    if mutant == .candidateNotSynced, path.contains("/incoming/") { return }
    try base.synchronizeFile(path)
  }

  func hold(_ path: String) throws(FileError) -> any HeldFile {
    let held = try base.hold(path)
    guard mutant == .attributesNotKept || mutant == .attributesAfterSync else { return held }
    return MutantHeldFile(held) { [progress] in progress.withLock { progress in progress.unsetAttributes = held } }
  }

  func synchronizeDirectory(_ path: String) throws(FileError) {
    let leavesOut = progress.withLock { progress in
      switch mutant {
      case .folderNotSyncedBeforeLink: return !progress.hasLinked
      case .folderNotSyncedAfterLink: return progress.hasLinked && !progress.hasRenamed
      case .folderNotSyncedAfterRename: return progress.hasRenamed && path == trace.root
      case .parentNotSynced:
        defer { if progress.unsyncedParent == path { progress.unsyncedParent = nil } }
        return progress.unsyncedParent == path
      default: return false
      }
    }
    if !leavesOut { try base.synchronizeDirectory(path) }
  }

  func makeDirectory(_ path: String, attributes: FileAttributes) throws(FileError) {
    try base.makeDirectory(path, attributes: attributes)
    if path == store + StoreLocation.companionSuffix {
      progress.withLock { $0.unsyncedParent = trace.root }
    }
  }

  func link(_ path: String, to newPath: String) throws(FileError) {
    guard path == store, isKeptStore(newPath) else { return try base.link(path, to: newPath) }
    switch mutant {
    case .noLink: progress.withLock { $0.pretended = newPath }
    case .inPlaceWithUnsyncedClone:
      let bytes = try base.readFile(path, limit: 1 << 26)
      try makeUnsynced(newPath, bytes)
      progress.withLock { $0.pretended = newPath }
    default: try base.link(path, to: newPath)
    }
    progress.withLock { $0.hasLinked = true }
  }

  private func makeUnsynced(_ path: String, _ bytes: [UInt8]) throws(FileError) {
    try base.makeEmptyFile(path, attributes: FileAttributes(mode: 0o644))
    try overwrite(path, bytes)
  }

  private func overwrite(_ path: String, _ bytes: [UInt8]) throws(FileError) {
    guard let handle = FileHandle(forWritingAtPath: path) else { throw FileError(.write, path, code: EIO) }
    handle.write(Data(bytes))
    handle.truncateFile(atOffset: UInt64(bytes.count))
    handle.closeFile()
    let relative = trace.relative(path)
    for start in stride(from: 0, to: bytes.count, by: 4_096) {
      let page = Array(bytes[start..<min(start + 4_096, bytes.count)])
      trace.record(.write(.path(relative), offset: start, bytes: page))
    }
    trace.record(.truncate(.path(relative), size: bytes.count))
  }

  func rename(_ path: String, to newPath: String) throws(FileError) {
    if mutant == .pruneWithoutRename, newPath.contains("/.pruned-") {
      // The first file goes while the version still has its name.
      for name in try base.names(in: path) where name == CrashApp.storeName {
        try base.unlink(path + "/" + name)
      }
      return try base.rename(path, to: newPath)
    }
    if mutant == .snapshotInPlace, newPath == store + StoreLocation.companionSuffix + "/model.json.gz",
      try base.status(of: newPath) != nil
    {
      let bytes = try base.readFile(path, limit: 1 << 26)
      try base.unlink(path)
      return try overwrite(newPath, bytes)
    }
    guard newPath == store else { return try base.rename(path, to: newPath) }
    switch atCommit {
    case .passes: break
    case .dies:
      trace.die()
      fallthrough
    case .fails: throw FileError(.rename, path, to: newPath, code: EIO)
    }
    switch mutant {
    case .attributesAfterSync:
      _ = try progress.withLock { $0.unsetAttributes }?.giveAttributes(to: path)
      try base.rename(path, to: newPath)
    case .renameAwayThenIn:
      try base.rename(store, to: store + ".old")
      try base.rename(path, to: newPath)
      try base.unlink(store + ".old")
    case .inPlaceWithUnsyncedClone:
      try overwrite(store, try base.readFile(path, limit: 1 << 26))
      try base.unlink(path)
      try base.synchronizeFile(store)
    default: try base.rename(path, to: newPath)
    }
    progress.withLock { $0.hasRenamed = true }
  }
}

/// A held file that keeps its attributes to itself.
private final class MutantHeldFile: ForwardingHeldFile {
  let held: any HeldFile
  private let whenAsked: @Sendable () -> Void

  init(_ held: any HeldFile, whenAsked: @escaping @Sendable () -> Void) {
    self.held = held
    self.whenAsked = whenAsked
  }

  func giveAttributes(to path: String) throws(FileError) -> PassedOver {
    whenAsked()
    return PassedOver()
  }
}
