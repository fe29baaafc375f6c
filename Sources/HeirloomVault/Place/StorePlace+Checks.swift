import Foundation
import HeirloomStore

extension StorePlace {
  func checkNotKept() throws(VaultError) {
    guard !configuration.worksOnKeptStore, let folder = StoreLocation.keptFolder(of: location.path) else { return }
    throw .keptStore(path: location.path, folder: folder)
  }

  /// SQLite's limit for the path of a file is far below the system's.
  func checkPathLength() throws(VaultError) {
    // With several hops, each candidate has a number.
    let longest = WorkFolder(
      place: self, identifier: WorkFolder.creationPrefix + String(repeating: "0", count: 32))
    let path = longest.candidate + "-hop99"
    guard path.utf8.count > Connection.pathByteLimit else { return }
    throw .file(
      FileError(
        .write, path, code: ENAMETOOLONG,
        reason: "it has \(path.utf8.count) bytes, and SQLite opens paths of \(Connection.pathByteLimit) at most"))
  }

  func checkLinks() throws(VaultError) {
    let store = try VaultError.wrapping { () throws(FileError) in try files.status(of: location.path) }
    if let store, store.linkCount > 1 { throw .hardLinked(path: location.path, linkCount: store.linkCount) }
  }

  /// Call it after recovery, which may correct the store's names and free space.
  func checkStore(bytesNeeded: UInt64, isKept: Bool = true) throws(VaultError) {
    try checkLinks()
    let volume = try VaultError.wrapping { () throws(FileError) in try files.volume(of: location.directory) }
    let previous = try VaultError.wrapping { () throws(FileError) in
      isKept ? try bytesToKeep(on: volume) : 0
    }
    let needed = configuration.bytesNeeded(toBuild: bytesNeeded, besides: previous)
    guard volume.availableBytes >= needed else {
      throw .notEnoughSpace(
        SpaceShortage(
          storePath: location.path, folder: location.directory, fileSystem: volume.fileSystemName, neededBytes: needed,
          previousVersionBytes: previous, reservedBytes: configuration.reservedBytes,
          availableBytes: volume.availableBytes))
    }
  }

  /// Unsafe volumes count as having no links; external data on another volume is copied in any
  /// case.
  private func bytesToKeep(on volume: VolumeInformation) throws(FileError) -> UInt64 {
    var bytes: Int64 = 0
    if !volume.kind.isSafe {
      for path in [location.path, location.path + "-wal"] {
        bytes = bytes.addingReportingOverflow(try files.status(of: path)?.size ?? 0).partialValue
      }
    }
    let support = try supportFolder()
    let device = try files.status(of: location.directory)?.identity.device
    let folders = try [files.status(of: support.path), files.status(of: support.data ?? support.path)]
    if !volume.kind.isSafe || folders.contains(where: { $0 != nil && $0?.identity.device != device }) {
      bytes = bytes.addingReportingOverflow(try tree.content(of: support).byteCount).partialValue
    }
    return UInt64(clamping: bytes)
  }
}
