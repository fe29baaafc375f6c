import HeirloomFormats
package import HeirloomStore

/// A hold on a store that is one complete file: no other connection can read or write it.
///
/// A builder attaches its candidate to the hold's connection, and must not change the store through
/// it.
package final class StoreHold {
  package let connection: Connection
  package let path: String
  package private(set) var previousMode = JournalMode.rollback
  /// Counts taken in the store since the state that the caller saw are true of the held store;
  /// false proves nothing.
  package private(set) var isAsSeen = false
  package let status: FileStatus

  private let files: any FileOperations
  private let held: any HeldFile
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
  /// Other connections get `timeout` to close the store. `seen` is the store's state before the caller's inspection.
  /// Throws ``VaultError/storeInUse(path:reason:)`` if they don't close it; nothing is changed then.
  static func open(
    _ location: StoreLocation, files: any FileOperations, timeout: Duration, seen: StoreState? = nil
  ) throws(VaultError) -> StoreHold {
    let clock = ContinuousClock()
    let deadline = clock.now + timeout
    // An attempt may leave WAL mode before it finds that another process was faster.
    var mode = JournalMode.rollback
    while true {
      let reason: String
      switch try attempt(location, files: files, seen: seen, mode: &mode) {
      case .held(let hold): return hold
      case .refused(let text): reason = text
      }
      guard clock.now < deadline else { throw .storeInUse(path: location.path, reason: reason) }
      Pause.short()
    }
  }

  private enum Attempt {
    case held(StoreHold)
    case refused(String)
  }

  private static func attempt(
    _ location: StoreLocation, files: any FileOperations, seen: StoreState?, mode: inout JournalMode
  ) throws(VaultError) -> Attempt {
    let held: any HeldFile
    do throws(FileError) {
      // Opened before SQLite opens the file, and closed after it: closing any handle drops SQLite's locks.
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
        if leftWAL { mode = .wal }
        hold.close()
        return .refused(reason)
      }
    } catch {
      if leftWAL { mode = .wal }
      hold.close()
      if error.isBusy { return .refused(error.message) }
      throw .unreadableStore(path: location.path, underlying: error)
    }
    if leftWAL { mode = .wal }
    hold.previousMode = mode
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

  /// Throws for a store that SQLite must not open at all.
  private static func reasonToWait(
    _ location: StoreLocation, _ status: FileStatus, files: any FileOperations
  ) throws(VaultError) -> String? {
    // SQLite treats an empty file as a new database and deletes the -wal beside it, which may hold all the data.
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
    // SQLite would roll an interrupted change back here, in the only copy; the vault keeps the store before that.
    do throws(StoreError) {
      guard try RollbackJournal(besideDatabaseAt: location.path) != nil else { return nil }
      return "\"\(location.path)-journal\" belongs to a running or interrupted change"
    } catch {
      throw .unusableSideFile(path: location.path + "-journal", reason: error.description)
    }
  }

  private static func writableConnection(toStoreAt path: String) throws(VaultError) -> Connection {
    let connection: Connection
    do throws(SQLiteError) {
      var options = Connection.Options.building.withoutLinks
      // A refused attempt must leave the main file and its -wal byte for byte as they are.
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

  /// A busy `SQLiteError` means that others have the store open.
  private func acquire(seen: StoreState?, leftWAL: inout Bool) throws(SQLiteError) -> String? {
    // EXTRA would also sync the folder after removing the journal; `settle` does that for all side files at once.
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
    // In this order: a write in exclusive locking mode leaves a journal behind. The empty transaction takes the lock
    // and the locking mode keeps it. SQLite's backup can then read, which it can't inside a write transaction.
    try connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    try connection.execute("BEGIN EXCLUSIVE")
    try connection.execute("COMMIT")
    if let version {
      // In rollback mode the header counts each commit and each change of mode, so SQLite detects any by others.
      isAsSeen = try connection.firstInteger("PRAGMA data_version") == version
    } else if !leftWAL, let seen {
      // Nothing was written through this connection, and no other connection can write now.
      isAsSeen = seen.isStill(at: path)
    }
    let mode = try connection.firstValue("PRAGMA journal_mode")?.text
    return mode == "delete" ? nil : "it is in WAL mode again"
  }

  /// Compares a store in WAL mode with a state, while no other connection can write until WAL mode is left.
  ///
  /// Leaving WAL mode changes the main file, so nothing could be compared afterwards.
  /// In exclusive locking mode the empty transaction takes the lock on the main file that leaving takes.
  /// The locking mode is then changed back, since leaving WAL mode in exclusive locking mode
  /// would leave a journal behind. That change doesn't access the store, and only an access would release the lock.
  /// Returns SQLite's data version, which changes with each commit of another connection; `nil` if the state differs.
  private func versionInWAL(ifStill seen: StoreState) throws(SQLiteError) -> Int64? {
    try connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    try connection.execute("BEGIN IMMEDIATE")
    let version = try connection.firstInteger("PRAGMA data_version")
    let isStill = seen.isStill(at: path)
    try connection.execute("COMMIT")
    try connection.execute("PRAGMA locking_mode=NORMAL")
    return isStill ? version : nil
  }

  /// `isSynchronized` is true if SQLite has just synced the main file, as when it leaves WAL mode.
  private func settle(_ location: StoreLocation, isSynchronized: Bool) throws(FileError) -> String? {
    if let left = try SideFiles.removeCold(of: path, files: files) { return "its side file \"\(left)\" holds data" }
    guard try files.status(of: path)?.identity == status.identity else { return "another process replaced it" }
    // The app may have written without syncing, and the previous version must be on the disk. Apple's SQLite only
    // orders writes when it is asked to sync them.
    #if canImport(Darwin)
      try held.synchronize()
    #else
      if !isSynchronized { try held.synchronize() }
    #endif
    // A side file whose removal is not synced could come back beside the new store, and be read as its own.
    try files.synchronizeDirectory(location.directory)
    return nil
  }

  // MARK: Copies of the store

  /// The copy is changed further, so it is not synced, and only its owner can open it.
  ///
  /// `readsAhead` is for a caller that will read much of it: shared blocks are not in memory for a
  /// second file. A failure may leave no file.
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

  package func sharedRanges(withCloneAt candidate: String) -> [Range<Int64>] {
    held.sharedRanges(withCloneAt: candidate)
  }

  func stopReadingAhead() {
    reading?.stop()
    reading = nil
  }

  func copyStore(to path: String) throws(FileError) -> PassedOver {
    try held.copy(to: path, attributes: status.attributesBesideList)
  }

  func giveAttributes(to candidate: String) throws(FileError) -> PassedOver {
    try held.giveAttributes(to: candidate)
  }

  func giveProtection(to path: String) throws(FileError) -> PassedOver {
    try held.giveProtection(to: path)
  }

  // MARK: Letting go

  /// Changes nothing: after a swap SQLite would find side files by path, and they would be the new
  /// store's.
  func close() {
    stopReadingAhead()
    guard isOpen else { return }
    isOpen = false
    try? connection.close()
    held.close()
  }

  /// Only for the file that was held; if another process opens it first, it throws and the store
  /// stays in rollback mode, undamaged.
  func closeRestoringJournalMode() throws(SQLiteError) {
    let leavesWAL = isOpen && previousMode == .wal
    close()
    guard leavesWAL else { return }
    // Apple's SQLite refuses to use a file that got a second hard link through the connection that had it open.
    var options = Connection.Options.building.withoutLinks
    options.busyTimeout = 200
    let connection = try Connection(path: path, mode: .readWrite, options: options)
    try connection.setJournalMode(.wal)
    try connection.close()
  }
}

enum SideFiles {
  /// Returns the first side file that holds data.
  ///
  /// An empty `-wal` stays when SQLite fails to remove it, and a `-journal` that starts with zero
  /// in the modes PERSIST and TRUNCATE: SQLite reads neither as data, and they would stay forever.
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
  /// Rejects names that SQLite would follow, wait for or write into although they are not side files of the store.
  static func check(besideStore path: String, files: any FileOperations) throws(VaultError) {
    for suffix in StoreLocation.sideSuffixes {
      let status = try VaultError.wrapping { () throws(FileError) in try files.status(of: path + suffix) }
      guard let status else { continue }
      guard status.kind == .regular else {
        throw .unusableSideFile(path: path + suffix, reason: "it is a \(status.kind.rawValue)")
      }
      // The other side files may have a second hard link while a store is set aside.
      guard suffix != "-shm" || status.linkCount == 1 else {
        throw .unusableSideFile(path: path + suffix, reason: "it has \(status.linkCount) names (hard links)")
      }
    }
  }

  /// Side files made while the store was read-only have its permissions of then, and would prevent
  /// all later writes to it.
  static func giveRightToWrite(besideStore path: String, status: FileStatus, files: any FileOperations) {
    for suffix in ["-wal", "-shm"] where status.mode & 0o200 != 0 {
      guard let side = try? files.status(of: path + suffix), side.kind == .regular, side.mode & 0o200 == 0,
        side.owner == status.owner
      else { continue }
      try? files.setMode(status.mode, of: path + suffix)
    }
  }
}
