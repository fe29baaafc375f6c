import HeirloomFormats
package import HeirloomStore

/// A hold on a store that is one complete file, so that nobody else can read or write it.
///
/// It owns the one connection that can read the store meanwhile. Whoever builds a candidate
/// attaches it to this connection and detaches it again. The store itself must not be changed through the connection.
package final class StoreHold {
  /// The connection that holds the store as its main database.
  package let connection: Connection
  /// The store's main file.
  package let path: String
  /// True when the store was in WAL mode before the hold.
  package private(set) var usedWAL = false
  /// True when provably nobody wrote to the store between the state that the caller saw and the hold.
  ///
  /// Counts that were taken in the store since that state are then true of the held store. False proves nothing.
  package private(set) var isAsSeen = false
  /// The store's status when it was held.
  package let status: FileStatus

  private let files: any FileOperations
  private let held: any HeldFile
  /// The early reading of the candidate, for its builder and its proof.
  private var reading: EarlyReading?
  private var isOpen = true

  private init(
    connection: Connection, path: String, status: FileStatus, files: any FileOperations, held: any HeldFile
  ) {
    self.connection = connection
    self.path = path
    self.status = status
    self.files = files
    self.held = held
  }

  deinit {
    close()
  }

  // MARK: Holding

  /// Leaves WAL mode and holds the store exclusively.
  ///
  /// SQLite replays a hot journal and moves the content of the `-wal` into the main file.
  /// `BEGIN EXCLUSIVE` alone would not notice an idle connection in WAL mode, whose next write after a swap would
  /// ruin the new store; leaving WAL mode does. (An idle connection in rollback mode can't be noticed and need not be:
  /// its next write is refused, since the file has moved.)
  ///
  /// - Parameters:
  ///   - location: The store.
  ///   - files: The file system.
  ///   - timeout: The time to wait for others to let go.
  ///   - seen: The store's state when the caller began its inspection.
  /// - Returns: The hold.
  /// - Throws: ``VaultError/storeInUse(path:reason:)`` when others don't let go; nothing was changed then.
  static func open(
    _ location: StoreLocation, files: any FileOperations, timeout: Duration, seen: StoreState? = nil
  ) throws(VaultError) -> StoreHold {
    let clock = ContinuousClock()
    let deadline = clock.now + timeout
    // An attempt may leave WAL mode and then find that another process was quicker.
    var usedWAL = false
    while true {
      let reason: String
      switch try attempt(location, files: files, seen: seen, usedWAL: &usedWAL) {
      case .held(let hold): return hold
      case .refused(let text): reason = text
      }
      guard clock.now < deadline else { throw .storeInUse(path: location.path, reason: reason) }
      Pause.short()
    }
  }

  /// The result of one attempt.
  private enum Attempt {
    case held(StoreHold)
    case refused(String)
  }

  private static func attempt(
    _ location: StoreLocation, files: any FileOperations, seen: StoreState?, usedWAL: inout Bool
  ) throws(VaultError) -> Attempt {
    let held: any HeldFile
    do throws(FileError) {
      // It is opened before SQLite opens the file, and closed after it: closing any handle drops SQLite's locks.
      held = try files.hold(location.path)
    } catch {
      throw .file(error)
    }
    let status: FileStatus
    let connection: Connection
    do throws(VaultError) {
      status = try VaultError.wrapping { () throws(FileError) in try held.status() }
      if let reason = try reasonToWait(location, status, files: files) {
        held.close()
        return .refused(reason)
      }
      SideFiles.giveRightToWrite(besideStore: location.path, status: status, files: files)
      connection = try writableConnection(toStoreAt: location.path)
    } catch {
      held.close()
      throw error
    }
    var leftWAL = false
    let hold = StoreHold(connection: connection, path: location.path, status: status, files: files, held: held)
    do throws(SQLiteError) {
      if let reason = try hold.acquire(seen: seen, leftWAL: &leftWAL) {
        usedWAL = usedWAL || leftWAL
        hold.close()
        return .refused(reason)
      }
    } catch {
      usedWAL = usedWAL || leftWAL
      hold.close()
      if error.isBusy { return .refused(error.message) }
      throw .unreadableStore(path: location.path, underlying: error)
    }
    usedWAL = usedWAL || leftWAL
    hold.usedWAL = usedWAL
    do throws(FileError) {
      if let reason = try hold.settle(location, isSynchronized: leftWAL) {
        hold.close()
        return .refused(reason)
      }
    } catch {
      try? hold.closeRestoringJournalMode()
      throw .file(error)
    }
    return .held(hold)
  }

  /// Returns the reason why SQLite may not open the store yet; `nil` if it may.
  ///
  /// - Throws: ``VaultError`` for a store that SQLite must not open at all.
  private static func reasonToWait(
    _ location: StoreLocation, _ status: FileStatus, files: any FileOperations
  ) throws(VaultError) -> String? {
    // SQLite takes an empty file for a new database and deletes the -wal beside it, which may hold everything.
    guard status.size > 0 else {
      throw .unreadableStore(
        path: location.path,
        underlying: SQLiteError(extendedCode: SQLiteError.notDatabaseCode, message: "file is empty"))
    }
    try SideFiles.check(besideStore: location.path, files: files)
    // Leaving WAL mode would write another database's pages into the store.
    if let objection = StoreReading.objectionToLog(besideStoreAt: location.path) {
      throw .unusableSideFile(path: location.path + "-wal", reason: objection)
    }
    // SQLite would undo an interrupted change here, in the only copy; the vault does so only once the store is kept.
    do throws(StoreError) {
      guard try RollbackJournal(besideDatabaseAt: location.path) != nil else { return nil }
      return "\"\(location.path)-journal\" tells of a change that is under way, or was interrupted"
    } catch {
      throw .unusableSideFile(path: location.path + "-journal", reason: error.description)
    }
  }

  private static func writableConnection(toStoreAt path: String) throws(VaultError) -> Connection {
    let connection: Connection
    do throws(SQLiteError) {
      var options = Connection.Options.building.withoutLinks
      // A refusal must leave the main file and its -wal byte for byte as they are.
      options.checkpointsOnClose = false
      options.busyTimeout = 0
      connection = try Connection(path: path, mode: .readWrite, options: options)
    } catch {
      throw .unreadableStore(path: path, underlying: error)
    }
    guard !connection.isReadOnly else {
      try? connection.close()
      throw .unreadableStore(
        path: path,
        underlying: SQLiteError(
          extendedCode: SQLiteError.readOnlyCode, message: "attempt to write a readonly database"))
    }
    return connection
  }

  /// Leaves WAL mode and takes the exclusive lock.
  ///
  /// - Parameters:
  ///   - seen: The store's state when the caller began its inspection.
  ///   - leftWAL: Becomes true when the store was in WAL mode.
  /// - Returns: `nil` when the store is held, else the reason why it is not.
  /// - Throws: `SQLiteError`, a busy one when others have the store open.
  private func acquire(seen: StoreState?, leftWAL: inout Bool) throws(SQLiteError) -> String? {
    // EXTRA would also sync the folder after the journal was removed; `settle` does that for all side files at once.
    try connection.execute("PRAGMA synchronous=FULL")
    #if canImport(Darwin)
      try connection.execute("PRAGMA fullfsync=1")
      try connection.execute("PRAGMA checkpoint_fullfsync=1")
    #endif
    // The first read replays a hot journal and opens the -wal.
    _ = try connection.firstInteger("SELECT count(*) FROM sqlite_schema")
    if try connection.firstValue("PRAGMA journal_mode")?.text == "wal" { leftWAL = true }
    var version: Int64?
    if leftWAL, let seen { version = try versionInWAL(ifStill: seen) }
    if try connection.firstValue("PRAGMA journal_mode=DELETE")?.text != "delete" {
      return "it can't leave WAL mode"
    }
    // The order matters: a write in exclusive locking mode leaves a journal behind. The empty transaction takes the
    // lock, the locking mode keeps it, and SQLite's backup can read, which it can't inside a transaction that writes.
    try connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    try connection.execute("BEGIN EXCLUSIVE")
    try connection.execute("COMMIT")
    if let version {
      // In rollback mode the header counts each commit and each change of mode: SQLite tells of any that wasn't ours.
      isAsSeen = try connection.firstInteger("PRAGMA data_version") == version
    } else if !leftWAL, let seen {
      // Nothing was written through this connection, and nobody else can write now.
      isAsSeen = seen.isStill(at: path)
    }
    let mode = try connection.firstValue("PRAGMA journal_mode")?.text
    return mode == "delete" ? nil : "it is in WAL mode again"
  }

  /// Compares a store in WAL mode with a state, once nobody else can write until WAL mode is left.
  ///
  /// Leaving WAL mode changes the main file, so nothing could be compared afterwards.
  /// In exclusive locking mode the empty transaction takes the lock on the main file that leaving takes.
  /// The locking mode is then changed back, since leaving WAL mode in exclusive locking mode
  /// would leave a journal behind. That change does not access the store, and only an access would let go of the lock.
  ///
  /// - Parameter seen: The state.
  /// - Returns: SQLite's data version, which tells this connection of changes by others;
  ///   `nil` if the state is different.
  /// - Throws: `SQLiteError`, a busy one when others have the store open.
  private func versionInWAL(ifStill seen: StoreState) throws(SQLiteError) -> Int64? {
    try connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    try connection.execute("BEGIN IMMEDIATE")
    let version = try connection.firstInteger("PRAGMA data_version")
    let isStill = seen.isStill(at: path)
    try connection.execute("COMMIT")
    try connection.execute("PRAGMA locking_mode=NORMAL")
    return isStill ? version : nil
  }

  /// Brings the held file to the disk, and removes side files that hold nothing.
  ///
  /// - Parameters:
  ///   - location: The store.
  ///   - isSynchronized: True when SQLite has just synced the main file, as it does when it leaves WAL mode.
  /// - Returns: `nil`, or the reason why the store is not ours after all.
  /// - Throws: `FileError` when something could not be done.
  private func settle(_ location: StoreLocation, isSynchronized: Bool) throws(FileError) -> String? {
    if let left = try SideFiles.removeCold(of: path, files: files) { return "its side file \"\(left)\" holds data" }
    guard try files.status(of: path)?.identity == status.identity else { return "another process replaced it" }
    // The app may have written with less care, and the previous version has to be on the disk. Apple's SQLite orders
    // writes where it was asked to bring them to the disk.
    #if canImport(Darwin)
      try held.synchronize()
    #else
      if !isSynchronized { try held.synchronize() }
    #endif
    // A side file whose removal is not on the disk would come back beside the new store, and be taken for its own.
    try files.synchronizeDirectory(location.directory)
    return nil
  }

  // MARK: Copies of the store

  /// Makes the candidate a copy of the store, with shared blocks where the file system can do that.
  ///
  /// The copy is changed further, so a sync now would be one too many. It is its owner's alone until it has its
  /// attributes.
  ///
  /// - Parameters:
  ///   - candidate: The candidate's path; the empty file there is replaced.
  ///   - attributes: The copy's permissions and owner; `nil` for those of the store.
  ///   - readsAhead: True if the caller will read much of the copy, whose shared blocks aren't in memory as its own.
  ///   - goesOn: Hears of what was copied; false stops.
  /// - Returns: True if the copy shares the store's blocks.
  /// - Throws: `FileError`; there may be no file then.
  @discardableResult
  package func duplicateStore(
    to candidate: String, attributes: FileAttributes? = nil, readsAhead: Bool = true,
    goesOn: CopyWatch = { _ in true }
  ) throws(FileError) -> Bool {
    try files.unlink(candidate)
    let attributes = (attributes ?? status.attributes).forOwner
    if try held.clone(to: candidate, attributes: attributes) {
      stopReadingAhead()
      if readsAhead { reading = EarlyReading(of: candidate) }
      return true
    }
    try held.copyWithoutSync(to: candidate, attributes: attributes, goesOn: goesOn)
    return false
  }

  /// Returns where a copy that shares the store's blocks still does, as far as the system tells: ranges in bytes, rising.
  package func sharedRanges(withCloneAt candidate: String) -> [Range<Int64>] {
    held.sharedRanges(withCloneAt: candidate)
  }

  /// Stops the reading ahead of the candidate, and closes the candidate's file for it.
  func stopReadingAhead() {
    reading?.stop()
    reading = nil
  }

  /// Makes a new file with the store's content and attributes, on the disk.
  ///
  /// - Returns: The attributes that could not be carried over.
  func copyStore(to path: String) throws(FileError) -> PassedOver {
    try held.copy(to: path, attributes: status.attributesBesideList)
  }

  /// Gives a candidate the store's permissions, access list and extended attributes, and no others.
  ///
  /// - Returns: The attributes that could not be carried over.
  func giveAttributes(to candidate: String) throws(FileError) -> PassedOver {
    try held.giveAttributes(to: candidate)
  }

  /// Gives a folder or an empty file the store's protection class, where the system has such classes.
  func giveProtection(to path: String) throws(FileError) -> PassedOver {
    try held.giveProtection(to: path)
  }

  // MARK: Letting go

  /// Lets go of the store, without changing anything.
  ///
  /// After a swap there is no other way: SQLite finds side files by the path, and they would be the new store's.
  func close() {
    stopReadingAhead()
    guard isOpen else { return }
    isOpen = false
    try? connection.close()
    held.close()
  }

  /// Restores the store's journal mode, and lets go of the store.
  ///
  /// Call it only while the store is still the file that was held.
  ///
  /// - Throws: `SQLiteError` when another process was quicker; the store is whole then, and in rollback mode.
  func closeRestoringJournalMode() throws(SQLiteError) {
    let leftWAL = isOpen && usedWAL
    close()
    guard leftWAL else { return }
    // Apple's SQLite refuses to use a file that got a second name through the connection that had it open.
    var options = Connection.Options.building.withoutLinks
    options.busyTimeout = 200
    let connection = try Connection(path: path, mode: .readWrite, options: options)
    try connection.execute("PRAGMA journal_mode=WAL")
    try connection.close()
  }
}

/// The handling of SQLite's side files under the exclusive lock.
enum SideFiles {
  /// Removes side files that hold nothing.
  ///
  /// An empty `-wal` stays when SQLite fails to remove it.
  /// A `-journal` that starts with zero stays in the journal modes PERSIST and TRUNCATE.
  /// SQLite takes neither for data, and each would stay for ever. The `-shm` is only an index of the `-wal`.
  ///
  /// - Parameters:
  ///   - path: The database's main file, held exclusively.
  ///   - files: The file system.
  /// - Returns: The first side file that holds data; `nil` when none is left.
  /// - Throws: `FileError` when a side file can't be read or removed.
  static func removeCold(of path: String, files: any FileOperations) throws(FileError) -> String? {
    if let status = try files.status(of: path + "-wal") {
      guard status.kind == .regular, status.size == 0 else { return path + "-wal" }
      try files.unlink(path + "-wal")
    }
    if let status = try files.status(of: path + "-journal") {
      guard status.kind == .regular, try files.readStart(of: path + "-journal", count: 1).allSatisfy({ $0 == 0 }) else {
        return path + "-journal"
      }
      try files.unlink(path + "-journal")
    }
    if let status = try files.status(of: path + "-shm") {
      guard status.kind == .regular else { return path + "-shm" }
      try files.unlink(path + "-shm")
    }
    return nil
  }
}

extension SideFiles {
  /// Refuses names that SQLite would follow, wait for or write into although they are no side files of the store.
  ///
  /// - Parameters:
  ///   - path: The store's main file.
  ///   - files: The file system.
  /// - Throws: ``VaultError/unusableSideFile(path:reason:)``.
  static func check(besideStore path: String, files: any FileOperations) throws(VaultError) {
    for suffix in StoreLocation.sideSuffixes {
      let status = try VaultError.wrapping { () throws(FileError) in try files.status(of: path + suffix) }
      guard let status else { continue }
      guard status.kind == .regular else {
        throw .unusableSideFile(path: path + suffix, reason: "it is a \(status.kind.rawValue)")
      }
      // The other side files may have a second name while a store is set aside.
      guard suffix != "-shm" || status.linkCount == 1 else {
        throw .unusableSideFile(path: path + suffix, reason: "it has \(status.linkCount) names (hard links)")
      }
    }
  }

  /// Makes the side files of WAL mode writable if the store is.
  ///
  /// SQLite gives them the store's permissions of that moment.
  /// Side files made while the store was read-only would keep it from ever being written,
  /// whatever rights it gets later. Permissions that can't be changed are left for SQLite to report.
  static func giveRightToWrite(besideStore path: String, status: FileStatus, files: any FileOperations) {
    for suffix in ["-wal", "-shm"] where status.mode & 0o200 != 0 {
      guard let side = try? files.status(of: path + suffix), side.kind == .regular, side.mode & 0o200 == 0,
        side.owner == status.owner
      else { continue }
      try? files.setMode(status.mode, of: path + suffix)
    }
  }
}
