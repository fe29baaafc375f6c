import Foundation
import Heirloom
import HeirloomOutput

/// A consistent copy of a store in its own folder, removed with the value's last reference.
final class StoreClone {
  private let folder: ScratchFolder
  let path: String
  let originalPath: String

  /// Other processes may have the store open; `bytesNeeded` must remain free beside the copy.
  init(of path: String, bytesNeeded: Int64, console: Console) throws {
    let location = try StoreLocation(resolving: path, files: POSIXFileOperations())
    originalPath = path
    // Made before the space is measured, because it removes the folders of killed runs.
    folder = try ScratchFolder(console)
    self.path = PathText.join(folder.path, location.name)
    try Self.checkRoom(in: ScratchFolder.parent(console), for: location, bytesNeeded: bytesNeeded)
    try copyDatabase(location, console: console)
    try copy(location.support, to: location.supportName, console: console)
    try copySnapshot(location)
    try checkCancellation(console)
  }

  /// An error about the copy becomes a failure about the store.
  func translate(_ error: any Error, advice: MigrationAdvice? = nil) -> CommandFailure {
    var failure = CommandFailure(error, advice: advice)
    func translated(_ text: String) -> String {
      text.replacing(shellWord(path), with: shellWord(originalPath)).replacing(path, with: originalPath)
    }
    failure.message = translated(failure.message)
    failure.suggestion = failure.suggestion.map(translated)
    if let list = failure.list { failure.list = (translated(list.headline), list.items) }
    failure.advice = failure.advice.map(translated)
    failure.storeAt = originalPath
    return failure
  }

  private func checkCancellation(_ console: Console) throws {
    guard console.interruption.isInterrupted else { return }
    throw MigrationAssistantError.failed(storePath: originalPath, .cancelled)
  }

  private func copyDatabase(_ location: StoreLocation, console: Console) throws {
    do throws(StoreError) {
      try StoreReading.withQuietConnection(toStoreAt: location.path) { connection throws(StoreError) in
        do throws(SQLiteError) {
          // The first attempt may have left a file.
          try? FileManager.default.removeItem(atPath: path)
          // Page by page, because a copy that SQLite rebuilds would have other faults than the
          // store, or none.
          try connection.backUp(to: path) { console.interruption.isInterrupted }
        } catch {
          throw StoreError(error, path: location.path)
        }
      }
    } catch {
      guard console.interruption.isInterrupted else { throw error }
      throw MigrationAssistantError.failed(storePath: originalPath, .cancelled)
    }
  }

  /// Only folders and regular files belong there.
  private func copy(_ folder: String, to name: String, console: Console) throws {
    let files = POSIXFileOperations()
    let attributes = FileAttributes(mode: 0o700)
    guard try files.status(of: folder)?.kind == .directory else { return }
    let copy = PathText.join(self.folder.path, name)
    try files.makeDirectory(copy, attributes: attributes)
    for case let inner as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
      try checkCancellation(console)
      let source = PathText.join(folder, inner)
      switch try files.status(of: source)?.kind {
      case .directory: try files.makeDirectory(PathText.join(copy, inner), attributes: attributes)
      case .regular: try files.copyFile(source, to: PathText.join(copy, inner), attributes: attributes)
      default: break
      }
    }
  }

  /// The snapshot may be the only source of the store's model.
  private func copySnapshot(_ location: StoreLocation) throws {
    let files = POSIXFileOperations()
    guard try files.status(of: location.snapshot) != nil else { return }
    let companion = path + StoreLocation.companionSuffix
    try files.makeDirectory(companion, attributes: FileAttributes(mode: 0o700))
    try files.copyFile(
      location.snapshot, to: PathText.join(companion, StoreLocation.snapshotName),
      attributes: FileAttributes(mode: 0o600))
  }

  private static func checkRoom(in folder: String, for location: StoreLocation, bytesNeeded: Int64) throws {
    var size = bytesNeeded
    for path in [location.path, location.path + "-wal"] { size += fileSize(path) }
    if let names = FileManager.default.enumerator(atPath: location.support) {
      for case let name as String in names { size += fileSize(PathText.join(location.support, name)) }
    }
    let available = try POSIXFileOperations().volume(of: folder).availableBytes
    guard available >= UInt64(clamping: size) else {
      throw CommandFailure(
        exitCode: .failed, code: "notEnoughSpace", coreDataCode: 640,
        message:
          "A rehearsal needs \(sizeText(size)) in \(folder), \(sizeText(MigrationPlan.bytesReserved)) of them to stay free for"
          + " everything else, where \(sizeText(Int64(clamping: available))) are left.",
        suggestion: "Name a folder on a larger volume in the environment variable TMPDIR.", storeAt: location.path)
    }
  }

  private static func fileSize(_ path: String) -> Int64 {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
  }
}
