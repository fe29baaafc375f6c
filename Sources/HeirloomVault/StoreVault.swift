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

  /// An error that `events` throws before the swap ends the operation; a later error is ignored.
  package init(
    _ location: StoreLocation, files: any FileOperations = POSIXFileOperations(),
    configuration: VaultConfiguration = VaultConfiguration(), events: @escaping (VaultEvent) throws -> Void = { _ in }
  ) {
    place = StorePlace(location, files: files, configuration: configuration, events: events)
  }

  package var location: StoreLocation { place.location }
  package var configuration: VaultConfiguration { place.configuration }

  var lock: VaultLock { VaultLock(place: place) }
  var recovery: Recovery { Recovery(place: place) }

  // MARK: Recovering

  /// Costs three reads of names; an operation of another process that still runs counts as well.
  package static func hasUnfinishedOperation(
    at location: StoreLocation, files: any FileOperations = POSIXFileOperations()
  ) throws(FileError) -> Bool {
    try VaultLock.hasUnfinishedOperation(at: location, files: files)
  }

  /// After ``VaultError/damagedManifest(path:reason:)`` or
  /// ``VaultError/storeMissing(path:previousVersions:)`` nothing was changed; after
  /// ``VaultError/file(_:)`` the next run continues.
  package func recover() throws {
    guard try files.status(of: location.companion) != nil else { return }
    try lock.withLock(requiresStore: false) { try recovery.recover() }
  }

  /// Call it when the user, or the app for them, has decided to continue: a damaged manifest stops
  /// all operations.
  package func repair() throws -> String? {
    try place.checkNotKept()
    guard try files.status(of: location.companion) != nil else { return nil }
    return try lock.withLock(requiresStore: false) {
      let path = try record.setAsideIfDamaged() ?? record.setAsideIfOfMissingStore()
      // Without a store there is no recovery: the versions are all there is.
      if try files.status(of: location.path) != nil { try recovery.recover() }
      return path
    }
  }

  /// SQLite would roll it back in the only copy, because of a file that anyone could have placed
  /// there.
  ///
  /// So the store is kept first, and the rollback is tried on a copy. A journal that can't belong
  /// to this store throws ``VaultError/refusedJournal(path:_:)``. After an error, the store and its
  /// journal are as they were.
  @discardableResult
  package func undoInterruptedChange() throws -> VersionName? {
    guard try RollbackJournal(besideDatabaseAt: location.path) != nil else { return nil }
    return try lock.withLock {
      try recovery.recover()
      return try InterruptedChange(place: place).undo()
    }
  }

  /// No later run inspects a set-aside store that has returned, so files brought back by a power
  /// loss would stay.
  package func settleFinishedOperations() throws(VaultError) {
    try VaultError.wrapping { () throws(FileError) in try recovery.synchronizeRemovals() }
  }

  /// Call it before the store is opened for writing; if it throws, nothing was changed.
  package func secureLog() throws { try unreadLogs.secure() }

  // MARK: Replacing

  /// Dropping the swap leaves the store byte for byte as it is; others may read it until it is
  /// held.
  package func begin() throws -> StoreSwap {
    let swap = StoreSwap(at: place, lock: try lock.take(requiresStore: true))
    try VaultError.wrappingFileErrors {
      try recovery.recover()
      try InterruptedChange(place: place).undo()
    }
    return swap
  }

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

  package func checkNotKept() throws(VaultError) { try place.checkNotKept() }

  package func checkOwner(of path: String) throws(VaultError) { try place.trust.checkOwner(of: path) }

  /// The error that an operation would throw at once.
  package func placeObjection() -> VaultError? { lock.objection() }

  package func supportFolder() throws(FileError) -> SupportFolder { try place.supportFolder() }

  /// A version with a damaged manifest is listed too: its store may be whole.
  ///
  /// One that an unfinished operation is still keeping is not listed.
  package func previousVersions() throws(VaultError) -> [PreviousVersionFiles] { try keptVersions.all() }

  package func findVersion(_ prefix: String) throws(VaultError) -> PreviousVersionFiles {
    try keptVersions.find(prefix)
  }

  package func testVersions() { keptVersions.test() }

  /// Since the last operation, each with the version that keeps the journal.
  package func pagesNotUndone() -> [(version: String, pages: SoleContent)] { keptVersions.pagesNotUndone() }

  package func quarantineFiles(of id: String? = nil) throws(VaultError) -> [String] { try quarantine.paths(of: id) }

  package func logDamage() throws(VaultError) -> LogDamage? { try unreadLogs.damage() }

  /// A store that is being set aside is included once its notice is on the disk.
  package func setAsideStores() throws(VaultError) -> [SetAsideFiles] { try aside.all() }

  package func setsAside() throws(VaultError) -> [String] { try aside.folders() }

  package func setAsideStore(named name: String) throws(VaultError) -> SetAsideFiles { try aside.find(named: name) }

  package func acknowledgeNotice(of name: String) throws(VaultError) { try aside.acknowledgeNotice(of: name) }
}
