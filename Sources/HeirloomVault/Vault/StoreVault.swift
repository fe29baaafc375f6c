import Foundation
package import HeirloomStore

/// The one place that puts another store in a store's place, keeps the one before, and settles what a crash left.
///
/// There is one commit point, `rename(candidate, store)`. Before it the store is the old one,
/// and everything else is ours to remove. After it the store is the new one, and the old one is complete in `previous`.
/// The store's path always names one of the two. A loss of power may undo, each on its own, any of the names
/// that were made or removed since their folder was last brought to the disk: the order of the calls is made for that.
///
/// A vault works on the caller's task, one operation at a time; the lock keeps other vaults out, in any process.
package struct StoreVault {
  /// The settings of a vault.
  package struct Configuration {
    /// The time to wait for another assistant.
    package var lockTimeout: Duration = .seconds(10)
    /// The time to wait for other processes to let go of the store.
    package var holdTimeout: Duration = .seconds(5)
    /// True to work also on volumes where the store survives the process's death, but maybe not a loss of power.
    package var allowUnsafeVolume = false
    /// True to go on where new files can't get the store's protection class.
    package var allowLostProtection = false
    /// The room that must stay free beyond the need, in bytes.
    package var reservedBytes: UInt64 = 64 << 20
    /// True to leave a store alone whose `-wal` can't be read to its end; false to keep the log with the version.
    package var stopsAtUnreadableLog = false
    /// The seconds that a store must have been at rest before a plan made before the hold counts as its plan still.
    ///
    /// It is longer than the resolution of times (2 seconds) on any trusted file system.
    package var restTime: Double = 3
    /// True to keep previous versions out of backups, false to have them in, `nil` to leave that as it is.
    package var excludesPreviousVersionsFromBackup: Bool?
    /// True for a set-aside store that is migrated where it lies; any other kept store stays as it is.
    package var worksOnKeptStore = false
    /// The clock, which returns the time in seconds since 1970-01-01 UTC.
    package var now: () -> Int64 = { Int64(Date().timeIntervalSince1970) }

    /// Creates the settings for an app.
    package init() {}

    /// Returns the room that a volume must have for what is built, in bytes, with a margin and the reserve.
    package func bytesNeeded(toBuild bytes: UInt64, besides kept: UInt64 = 0) -> UInt64 {
      // A tenth more than asked for, since the need is an estimate.
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
    /// The checksum of the old store's model, for people.
    package var previousChecksum: String?
    /// The name of the old store's version, for people; `nil` where it isn't known.
    package var previousName: String?
    /// The room that building takes without the reserve, in bytes.
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

  /// The store.
  package let location: StoreLocation
  /// The settings.
  package let configuration: Configuration

  let files: any FileOperations
  let handler: (VaultEvent) throws -> Void

  /// Creates a vault; nothing is read or made.
  ///
  /// - Parameters:
  ///   - location: The store.
  ///   - files: The file system.
  ///   - configuration: The settings.
  ///   - events: Receives each event.
  ///     An error that it throws before the swap gives the operation up; a later error is dropped.
  package init(
    _ location: StoreLocation, files: any FileOperations = POSIXFileOperations(),
    configuration: Configuration = Configuration(), events: @escaping (VaultEvent) throws -> Void = { _ in }
  ) {
    self.location = location
    // The store's own links were followed when it was located.
    self.files = files.withoutLinks
    self.configuration = configuration
    handler = events
  }

  var tree: FolderTree { FolderTree(files: files) { reportLeftOut($1, of: $0) } }

  /// Reports an event; an error of the caller's gives the operation up.
  func emit(_ event: VaultEvent) throws {
    try handler(event)
  }

  /// Reports an event, and drops an error of the caller's.
  func report(_ event: VaultEvent) {
    try? handler(event)
  }

  /// Returns true when an operation on a store is unfinished; takes no lock and writes nothing.
  ///
  /// It costs three reads of names. An operation that another process has under way counts as well.
  package static func hasUnfinishedOperation(
    at location: StoreLocation, files: any FileOperations = POSIXFileOperations()
  ) throws(FileError) -> Bool {
    if try files.status(of: location.manifest) != nil { return true }
    guard try files.status(of: location.incoming)?.kind == .directory else { return false }
    return try files.names(in: location.incoming).contains(where: VersionName.isIdentifier)
  }

  /// Settles an unfinished operation.
  ///
  /// - Throws: ``VaultError/damagedManifest(path:reason:)`` or ``VaultError/storeMissing(path:previousVersions:)``,
  ///   and then nothing was touched; ``VaultError/file(_:)`` when something could not be done, and then the next run
  ///   goes on.
  package func recover() throws {
    guard try files.status(of: location.companion) != nil else { return }
    try withLock(requiresStore: false) { try recoverHoldingLock() }
  }

  // MARK: The lock

  /// Runs an operation while no other vault works on the store.
  ///
  /// - Parameters:
  ///   - requiresStore: True if there has to be a store.
  ///   - body: The operation.
  /// - Returns: The body's result.
  /// - Throws: ``VaultError`` when the place is not fit or the lock can't be taken, or the body's error.
  func withLock<Value>(requiresStore: Bool = true, _ body: () throws -> Value) throws -> Value {
    let lock = try takeLock(requiresStore: requiresStore)
    defer { lock.close() }
    return try VaultError.wrappingFileErrors(body)
  }

  /// Takes the lock that keeps other vaults out.
  ///
  /// - Parameter requiresStore: True if there has to be a store.
  /// - Returns: The lock, held until it is closed or dropped.
  /// - Throws: ``VaultError`` when the place is not fit or the lock can't be taken.
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

  /// Checks all conditions that can be checked before anything is made.
  ///
  /// - Parameter requiresStore: True if there has to be a store.
  /// - Returns: The status of the store's folder, and of the store if there is one.
  /// - Throws: ``VaultError`` for the first condition that is not met.
  private func checkPlace(requiresStore: Bool) throws(VaultError) -> (folder: FileStatus, store: FileStatus?) {
    try checkNotKept()
    let (folder, store) = try VaultError.wrapping { () throws(FileError) in
      (try files.status(of: location.directory), try files.status(of: location.path))
    }
    guard let folder, folder.kind == .directory else {
      throw .unusableFolder(path: location.directory, reason: "it is no folder")
    }
    let volume = try VaultError.wrapping { () throws(FileError) in try files.volume(of: location.directory) }
    if let store {
      guard store.kind == .regular else { throw .notAFile(path: location.path, found: store.kind.rawValue) }
      // In an overlay, a file has the device of its layer until the first writing moves it to the uppermost layer.
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

  /// Refuses a store that an earlier operation has kept, which must stay as it is.
  ///
  /// - Throws: ``VaultError/keptStore(path:folder:)``.
  package func checkNotKept() throws(VaultError) {
    guard !configuration.worksOnKeptStore, let folder = StoreLocation.keptFolder(of: location.path) else { return }
    throw .keptStore(path: location.path, folder: folder)
  }

  /// Returns the error that would keep an operation from beginning here; takes no lock and writes nothing.
  package func placeObjection() -> VaultError? {
    do throws(VaultError) {
      _ = try checkPlace(requiresStore: false)
      try checkPathLength()
      let isUnfinished = try VaultError.wrapping { () throws(FileError) in
        try Self.hasUnfinishedOperation(at: location, files: files)
      }
      // An operation that was interrupted may have given it another name, which recovery removes.
      if !isUnfinished { try checkLinks() }
      return nil
    } catch {
      return error
    }
  }

  /// Checks that SQLite can open the files to be made: its limit for a path is far below the system's.
  func checkPathLength() throws(VaultError) {
    // With several hops, each candidate has its number.
    let path = candidate("new-" + String(repeating: "0", count: 32)) + "-hop99"
    guard path.utf8.count > Connection.pathByteLimit else { return }
    throw .file(
      FileError(
        .write, path, code: ENAMETOOLONG,
        reason: "it has \(path.utf8.count) bytes, and SQLite opens paths of \(Connection.pathByteLimit) at most"))
  }

  /// Throws the error of a missing store, with the previous versions that there are.
  func throwStoreMissing() throws(VaultError) {
    let versions = (try? previousVersions()) ?? []
    throw .storeMissing(path: location.path, previousVersions: versions.map(\.name.text))
  }

  /// Checks that the store has no further name.
  private func checkLinks() throws(VaultError) {
    let store = try VaultError.wrapping { () throws(FileError) in try files.status(of: location.path) }
    if let store, store.linkCount > 1 { throw .hardLinked(path: location.path, linkCount: store.linkCount) }
  }

  /// Checks the store's names and the free room, which recovery may have to settle first.
  ///
  /// - Parameters:
  ///   - bytesNeeded: The room that building takes, in bytes.
  ///   - isKept: True if the present store will be kept.
  /// - Throws: ``VaultError``.
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

  /// Returns the room that keeping the old set takes, in bytes: nothing where it is linked.
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
