import Foundation
package import HeirloomStore

/// The only code that replaces a store: it keeps the previous one and recovers from crashes.
///
/// There is one commit point, `rename(candidate, store)`. Before it the store is the old one,
/// and everything else may be removed. After it the store is the new one, and the old one is complete in `previous`.
/// The store's path always names one of the two. A loss of power may undo, each on its own, any of the names
/// that were created or removed since their folder was last synced: the calls are ordered so that any such loss can be
/// recovered.
///
/// A vault works on the caller's task, one operation at a time; the lock keeps other vaults out, in any process.
package struct StoreVault {
  /// The settings of a vault.
  package struct Configuration {
    /// The time to wait for another assistant.
    package var lockTimeout: Duration = .seconds(10)
    /// The time to wait for other processes to close the store.
    package var holdTimeout: Duration = .seconds(5)
    /// True to work also on volumes where the store survives the process's death, but maybe not a loss of power.
    package var allowUnsafeVolume = false
    /// True to continue where new files can't get the store's protection class.
    package var allowLostProtection = false
    /// The space that must stay free beyond the need, in bytes.
    package var reservedBytes: UInt64 = 64 << 20
    /// True to refuse a store whose `-wal` can't be read to its end; false to keep the log with the version.
    package var stopsAtUnreadableLog = false
    /// The seconds without a write after which a plan made before the hold is still valid for the held store.
    ///
    /// It is longer than the resolution of times (2 seconds) on any trusted file system.
    package var restTime: Double = 3
    /// True to exclude previous versions from backups, false to include them, `nil` to change nothing.
    package var excludesPreviousVersionsFromBackup: Bool?
    /// True to migrate a set-aside store in its folder; any other kept store is never changed.
    package var worksOnKeptStore = false
    /// The clock, which returns the time in seconds since 1970-01-01 UTC.
    package var now: () -> Int64 = { Int64(Date().timeIntervalSince1970) }

    /// Creates the settings for an app.
    package init() {}

    /// Returns the space in bytes that a volume must have for the files to be built, with a margin and the reserve.
    package func bytesNeeded(toBuild bytes: UInt64, besides kept: UInt64 = 0) -> UInt64 {
      // A tenth more, since the need is an estimate.
      [bytes / 10, reservedBytes, kept].reduce(bytes) { sum, part in
        let sum = sum.addingReportingOverflow(part)
        return sum.overflow ? .max : sum.partialValue
      }
    }
  }

  /// The caller's description of a swap before the candidate is built.
  package struct Replacement {
    /// The operation of the swap.
    package var operation: VaultManifest.Operation = .migration
    /// The bytes of a snapshot of the old store's model, kept with it.
    package var previousSnapshot: [UInt8]?
    /// The checksum of the old store's model, for display.
    package var previousChecksum: String?
    /// The name of the old store's version, for display; `nil` if it isn't known.
    package var previousName: String?
    /// The space that building takes without the reserve, in bytes.
    package var bytesNeeded: UInt64 = 0
    /// The name of the set-aside store that returns; `nil` for any other operation.
    var adoptedSet: String?
    /// The store's state before anything was counted in it, for `StoreHold.isAsSeen`.
    package var seen: StoreState?
    /// Creates a description.
    package init(
      operation: VaultManifest.Operation = .migration, previousSnapshot: [UInt8]? = nil,
      previousChecksum: String? = nil, previousName: String? = nil,
      bytesNeeded: UInt64 = 0, seen: StoreState? = nil
    ) {
      self.operation = operation
      self.previousSnapshot = previousSnapshot
      self.previousChecksum = previousChecksum
      self.previousName = previousName
      self.bytesNeeded = bytesNeeded
      self.seen = seen
    }
  }

  /// The store's location.
  package let location: StoreLocation
  /// The settings.
  package let configuration: Configuration

  let files: any FileOperations
  let handler: (VaultEvent) throws -> Void

  /// Creates a vault; nothing is read or written.
  ///
  /// An error that `events` throws before the swap ends the operation; a later error is ignored.
  package init(
    _ location: StoreLocation, files: any FileOperations = POSIXFileOperations(),
    configuration: Configuration = Configuration(), events: @escaping (VaultEvent) throws -> Void = { _ in }
  ) {
    self.location = location
    // The links in the store's path were resolved when it was located.
    self.files = files.withoutLinks
    self.configuration = configuration
    handler = events
  }

  var tree: FolderTree { FolderTree(files: files) { reportLeftOut($1, of: $0) } }

  /// Reports an event; an error of the receiver ends the operation.
  func emit(_ event: VaultEvent) throws {
    try handler(event)
  }

  /// Reports an event, and ignores an error of the receiver.
  func report(_ event: VaultEvent) {
    try? handler(event)
  }

  /// Returns true if an operation on a store is unfinished; takes no lock and writes nothing.
  ///
  /// It costs three reads of names. An operation of another process that is still running counts as well.
  package static func hasUnfinishedOperation(
    at location: StoreLocation, files: any FileOperations = POSIXFileOperations()
  ) throws(FileError) -> Bool {
    if try files.status(of: location.manifest) != nil { return true }
    guard try files.status(of: location.incoming)?.kind == .directory else { return false }
    return try files.names(in: location.incoming).contains(where: VersionName.isIdentifier)
  }

  /// Recovers from an interrupted operation.
  ///
  /// After ``VaultError/damagedManifest(path:reason:)`` or ``VaultError/storeMissing(path:previousVersions:)`` nothing
  /// was changed. After ``VaultError/file(_:)`` the next run continues.
  package func recover() throws {
    guard try files.status(of: location.companion) != nil else { return }
    try withLock(requiresStore: false) { try recoverHoldingLock() }
  }

  // MARK: The lock

  /// Runs an operation while no other vault works on the store.
  func withLock<Value>(requiresStore: Bool = true, _ body: () throws -> Value) throws -> Value {
    let lock = try takeLock(requiresStore: requiresStore)
    defer { lock.close() }
    return try VaultError.wrappingFileErrors(body)
  }

  /// Takes the lock that keeps other vaults out; it is held until it is closed or released.
  func takeLock(requiresStore: Bool) throws -> any FileLock {
    let (folder, store) = try checkPlace(requiresStore: requiresStore)
    return try VaultError.wrappingFileErrors {
      try tree.ensure(location.companion, like: folder, attributes: companionAttributes(in: folder, store: store))
      guard let lock = try files.lock(location.lock, timeout: configuration.lockTimeout) else {
        throw VaultError.vaultInUse(path: location.lock)
      }
      try emit(.locked)
      return lock
    }
  }

  /// Checks all conditions that can be checked before anything is created.
  private func checkPlace(requiresStore: Bool) throws(VaultError) -> (folder: FileStatus, store: FileStatus?) {
    try checkNotKept()
    let (folder, store) = try VaultError.wrapping { () throws(FileError) in
      (try files.status(of: location.directory), try files.status(of: location.path))
    }
    guard let folder, folder.kind == .directory else {
      throw .unusableFolder(path: location.directory, reason: "it is not a folder")
    }
    let volume = try VaultError.wrapping { () throws(FileError) in try files.volume(of: location.directory) }
    if let store {
      guard store.kind == .regular else { throw .notAFile(path: location.path, found: store.kind.rawValue) }
      // In an overlay, a file has the device of its layer until the first write moves it to the uppermost layer.
      guard store.identity.device == folder.identity.device || volume.fileSystemName == "overlay" else {
        throw .mountedStore(path: location.path)
      }
      let place = try VaultError.wrapping { () throws(FileError) in try files.volume(of: location.path) }
      guard !place.isMountPoint else { throw .mountedStore(path: location.path) }
    } else if requiresStore {
      try throwStoreMissing()
    }
    for path in [
      location.companion, location.previous, location.incoming, location.incompatible, location.quarantine,
    ] {
      if let reason = try tree.objection(to: path, on: folder) { throw .unusableFolder(path: path, reason: reason) }
      try checkOwner(of: path)
    }
    for path in [location.lock, location.manifest, location.manifestDraft, location.snapshot] {
      try checkOwner(of: path)
    }
    guard volume.kind.isSafe || configuration.allowUnsafeVolume else {
      throw .unsafeVolume(path: location.path, fileSystem: volume.fileSystemName)
    }
    do throws(FileError) {
      try files.checkWritable(location.directory)
      for path in [location.companion, location.previous, location.incoming] where try files.status(of: path) != nil {
        try files.checkWritable(path)
      }
    } catch {
      throw .folderNotWritable(error)
    }
    return (folder, store)
  }

  /// Throws ``VaultError/keptStore(path:folder:)`` for a store that an earlier operation has kept.
  package func checkNotKept() throws(VaultError) {
    guard !configuration.worksOnKeptStore, let folder = StoreLocation.keptFolder(of: location.path) else { return }
    throw .keptStore(path: location.path, folder: folder)
  }

  /// Returns the error that an operation would throw at once; takes no lock and writes nothing.
  package func placeObjection() -> VaultError? {
    do throws(VaultError) {
      _ = try checkPlace(requiresStore: false)
      try checkPathLength()
      let isUnfinished = try VaultError.wrapping { () throws(FileError) in
        try Self.hasUnfinishedOperation(at: location, files: files)
      }
      // An interrupted operation may have given the store another name, which recovery removes.
      if !isUnfinished { try checkLinks() }
      return nil
    } catch {
      return error
    }
  }

  /// Checks that SQLite can open the files to be created: its limit for a path is far below the system's.
  func checkPathLength() throws(VaultError) {
    // With several hops, each candidate has a number.
    let path = candidate("new-" + String(repeating: "0", count: 32)) + "-hop99"
    guard path.utf8.count > Connection.pathByteLimit else { return }
    throw .file(
      FileError(
        .write, path, code: ENAMETOOLONG,
        reason: "it has \(path.utf8.count) bytes, and SQLite opens paths of \(Connection.pathByteLimit) at most"))
  }

  /// Throws the error for a missing store, with the existing previous versions.
  func throwStoreMissing() throws(VaultError) {
    let versions = (try? previousVersions()) ?? []
    throw .storeMissing(path: location.path, previousVersions: versions.map(\.name.text))
  }

  /// Checks that the store has only one name.
  private func checkLinks() throws(VaultError) {
    let store = try VaultError.wrapping { () throws(FileError) in try files.status(of: location.path) }
    if let store, store.linkCount > 1 { throw .hardLinked(path: location.path, linkCount: store.linkCount) }
  }

  /// Checks the store's names and the free space, which recovery may have to correct first.
  ///
  /// `bytesNeeded` is the space that building takes; `isKept` is true if the present store will be kept.
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

  /// Returns the space in bytes for keeping the old set: 0 where it is linked.
  ///
  /// Unsafe volumes count as having no links; external data on another volume is copied in any case.
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
