import Foundation
import HeirloomStore

/// The only code that replaces a store: it keeps the previous one and recovers from crashes.
///
/// There is one commit point, `rename(candidate, store)`. Before it the store is the old one,
/// and everything else may be removed. After it the store is the new one, and the old one is complete in `previous`.
/// The store's path always names one of the two. A loss of power may undo, each on its own, any of the names
/// that were created or removed since their folder was last synced: the calls are ordered so that any such loss can be
/// recovered.
///
/// A vault works on the caller's task, one operation at a time; the lock keeps other vaults out, in any process.
package struct StoreVault: VaultPart {
  let place: StorePlace

  /// Creates a vault; nothing is read or written.
  ///
  /// An error that `events` throws before the swap ends the operation; a later error is ignored.
  package init(
    _ location: StoreLocation, files: any FileOperations = POSIXFileOperations(),
    configuration: VaultConfiguration = VaultConfiguration(), events: @escaping (VaultEvent) throws -> Void = { _ in }
  ) {
    place = StorePlace(location, files: files, configuration: configuration, events: events)
  }

  /// The store's location.
  package var location: StoreLocation { place.location }
  /// The settings.
  package var configuration: VaultConfiguration { place.configuration }

  var lock: VaultLock { VaultLock(place: place) }
  var recovery: Recovery { Recovery(place: place) }

  // MARK: Recovering

  /// Returns true if an operation on a store is unfinished; takes no lock and writes nothing.
  ///
  /// It costs three reads of names. An operation of another process that is still running counts as well.
  package static func hasUnfinishedOperation(
    at location: StoreLocation, files: any FileOperations = POSIXFileOperations()
  ) throws(FileError) -> Bool {
    try VaultLock.hasUnfinishedOperation(at: location, files: files)
  }

  /// Recovers from an interrupted operation.
  ///
  /// After ``VaultError/damagedManifest(path:reason:)`` or ``VaultError/storeMissing(path:previousVersions:)`` nothing
  /// was changed. After ``VaultError/file(_:)`` the next run continues.
  package func recover() throws {
    guard try files.status(of: location.companion) != nil else { return }
    try lock.withLock(requiresStore: false) { try recovery.recover() }
  }

  /// Renames a damaged manifest, which stops all operations, and recovers from the operation that wrote it.
  ///
  /// The store and the previous versions stay as they are. Call it when the user, or the app for them, has decided to
  /// continue. Returns the manifest's new path; `nil` if there is no manifest or it is not damaged.
  package func repair() throws -> String? {
    try place.checkNotKept()
    guard try files.status(of: location.companion) != nil else { return nil }
    return try lock.withLock(requiresStore: false) {
      let path = try record.setAsideIfDamaged()
      // Without a store there is no recovery: the versions are all there is.
      if try files.status(of: location.path) != nil { try recovery.recover() }
      return path
    }
  }

  /// Rolls an interrupted change of the store back, after the store is kept as it is.
  ///
  /// SQLite would roll it back in the only copy, because of a file that anyone could have placed there.
  /// So it is tried on a copy first and done to the store last.
  /// Returns the previous version that keeps the store as it was; `nil` if there was nothing to roll back.
  /// A journal that can't belong to this store throws ``VaultError/refusedJournal(path:_:)``. After an error, the store
  /// and its journal are as they were.
  @discardableResult
  package func undoInterruptedChange() throws -> VersionName? {
    guard try RollbackJournal(besideDatabaseAt: location.path) != nil else { return nil }
    return try lock.withLock {
      try recovery.recover()
      return try InterruptedChange(place: place).undo()
    }
  }

  /// Syncs the removal of all files left by finished operations.
  ///
  /// No later run inspects a set-aside store that has returned, so files brought back by a power loss would stay.
  package func settleFinishedOperations() throws(VaultError) {
    try VaultError.wrapping { () throws(FileError) in try recovery.synchronizeRemovals() }
  }

  /// Copies and syncs a `-wal` that SQLite can't read to its end, before the store is opened for writing.
  ///
  /// If it throws, nothing was changed.
  package func secureLog() throws { try unreadLogs.secure() }

  // MARK: Replacing

  /// Begins to replace the store: takes the lock, and recovers from an interrupted run.
  ///
  /// Others may read the store until it is held. Dropping the swap leaves the store byte for byte as it is.
  package func begin() throws -> StoreSwap {
    let swap = StoreSwap(at: place, lock: try lock.take(requiresStore: true))
    try VaultError.wrappingFileErrors {
      try recovery.recover()
      try InterruptedChange(place: place).undo()
    }
    return swap
  }

  /// Replaces the snapshot atomically: at each instant the old or the new one is complete.
  package func writeSnapshot(_ bytes: [UInt8]) throws {
    try lock.withLock(requiresStore: false) {
      try recovery.removeSnapshotDrafts()
      // The companion folder may be new, and its own name must last before its content can.
      // Once a version was kept in it, the hold has synced its name.
      if try files.status(of: location.snapshot) == nil, try files.status(of: location.previous) == nil {
        try files.synchronizeDirectory(location.directory)
      }
      let attributes = try files.status(of: location.path)?.attributes ?? FileAttributes(mode: 0o644)
      try SnapshotFile(path: location.snapshot, files: files).write(bytes, attributes: attributes)
    }
  }

  // MARK: What is there

  /// Throws ``VaultError/keptStore(path:folder:)`` for a store that an earlier operation has kept.
  package func checkNotKept() throws(VaultError) { try place.checkNotKept() }

  /// Throws ``VaultError/foreignOwner(path:owner:)`` if an untrusted user owns a file or folder beside the store.
  package func checkOwner(of path: String) throws(VaultError) { try place.trust.checkOwner(of: path) }

  /// Returns the error that an operation would throw at once; takes no lock and writes nothing.
  package func placeObjection() -> VaultError? { lock.objection() }

  /// Returns the store's folder of external data, which may not exist.
  package func supportFolder() throws(FileError) -> SupportFolder { try place.supportFolder() }

  /// Lists the previous versions, the oldest first.
  ///
  /// It takes no lock and writes nothing. A version whose own manifest is damaged is listed too:
  /// its store may be whole. A version that an unfinished operation is still keeping is not listed.
  package func previousVersions() throws(VaultError) -> [PreviousVersionFiles] { try keptVersions.all() }

  /// Finds the version whose name has a unique start.
  package func findVersion(_ prefix: String) throws(VaultError) -> PreviousVersionFiles {
    try keptVersions.find(prefix)
  }

  /// Tests the previous versions that are not tested, or were touched since, and records the results.
  package func testVersions() { keptVersions.test() }

  /// Returns the pages that were not rolled back since the last operation, and that only journals still hold.
  ///
  /// Each item has the name of the version that keeps the journal.
  package func pagesNotUndone() -> [(version: String, pages: SoleContent)] { keptVersions.pagesNotUndone() }

  /// Lists the paths of the quarantine files of one previous version, or of all, sorted by name, which is by time.
  package func quarantineFiles(of id: String? = nil) throws(VaultError) -> [String] { try quarantine.paths(of: id) }

  /// Finds damage in the store's `-wal`, then in the logs that wait to be kept; `nil` if there is none.
  ///
  /// It takes no lock and writes nothing.
  package func logDamage() throws(VaultError) -> LogDamage? { try unreadLogs.damage() }

  /// Lists the set-aside stores, the oldest first, without a lock.
  ///
  /// A store that is being set aside is included once its notice is on the disk.
  package func setAsideStores() throws(VaultError) -> [SetAsideFiles] { try aside.all() }

  /// Lists the names of the set-aside stores' folders, the oldest first.
  package func setsAside() throws(VaultError) -> [String] { try aside.folders() }

  /// Finds the set-aside store in a folder.
  ///
  /// Throws ``VaultError/unusableSetAsideStore(id:reason:)`` if there is none, or its main file is not there.
  package func setAsideStore(named name: String) throws(VaultError) -> SetAsideFiles { try aside.find(named: name) }

  /// Records that the user acknowledged the notice about a set-aside store; does nothing if that was recorded before.
  package func acknowledgeNotice(of name: String) throws(VaultError) { try aside.acknowledgeNotice(of: name) }
}
