import Foundation
import HeirloomStore

/// A change of the store that another process began and didn't finish, with its rollback journal.
struct InterruptedChange: VaultPart {
  let place: StorePlace

  /// Keeps the store as it is first; the lock must be held.
  @discardableResult
  func undo() throws -> VersionName? {
    guard let journal = try RollbackJournal(besideDatabaseAt: location.path),
      try VaultError.wrapping({ () throws(FileError) in try files.status(of: location.path)?.size ?? 0 > 0 }),
      try isLeft()
    else { return nil }
    try SideFiles.check(besideStore: location.path, files: files)
    if let objection = journal.objection { throw VaultError.refusedJournal(path: location.path, objection) }
    try unreadLogs.copyUnreadable()
    let kept = try keepInterrupted(journal)
    try StoreReading.undoInterruptedChange(ofStoreAt: location.path)
    try files.synchronizeDirectory(location.directory)
    place.report(.undone(id: kept.name.text, kept.damage))
    return kept.name
  }

  /// Returns true if no process is working on the change that the journal belongs to.
  func isLeft() throws(VaultError) -> Bool {
    do throws(SQLiteError) {
      var options = Connection.Options.inspecting
      options.busyTimeout = 0
      let connection = try Connection(path: location.path, mode: .readOnly, options: options)
      _ = try connection.firstInteger("SELECT count(*) FROM sqlite_schema")
      return false
    } catch {
      if error.needsRecovery { return true }
      // The process that makes the change holds the store, and our attempt to hold it will report that.
      if error.isBusy { return false }
      throw .unreadableStore(path: location.path, underlying: error)
    }
  }

  /// Only once a rollback in a copy has left a valid store; returns the part that SQLite won't roll
  /// back.
  private func keepInterrupted(_ journal: RollbackJournal) throws -> (name: VersionName, damage: JournalDamage?) {
    guard let companion = try files.status(of: location.companion), let store = try files.status(of: location.path)
    else { throw VaultError.unusableFolder(path: location.companion, reason: "it vanished") }
    try place.checkStore(bytesNeeded: UInt64(clamping: store.size) + UInt64(clamping: journal.byteCount), isKept: false)
    try keptVersions.makePreviousFolder(like: companion)
    try tree.ensure(location.incoming, like: companion)
    let identifier = files.uniqueIdentifier()
    try tryUndoing(journal, identifier: identifier, attributes: store.attributes)
    let name = try keptVersions.nextName(identifier: identifier)
    // The next run removes a folder of this name: a version is complete or absent.
    let draft = keptVersions.prunedPath(name)
    let damage: JournalDamage?
    do {
      damage = try keepInterrupted(journal, identifier: identifier, store: store, name: name, draft: draft)
      guard try RollbackJournal(besideDatabaseAt: location.path) == journal,
        try files.status(of: location.path)?.isUnchanged(since: store) == true
      else { throw VaultError.storeInUse(path: location.path, reason: "it changed while it was copied") }
      try files.rename(draft, to: PathText.join(location.previous, name.text))
      try files.synchronizeDirectory(location.previous)
      // The name of `previous` itself may be new as well.
      try files.synchronizeDirectory(location.companion)
      try files.synchronizeDirectory(location.directory)
    } catch {
      try? tree.remove(draft)
      throw error
    }
    return (name, damage)
  }

  /// In a temporary copy; throws ``VaultError/refusedJournal(path:_:)`` if the result is no store.
  private func tryUndoing(_ journal: RollbackJournal, identifier: String, attributes: FileAttributes) throws {
    let work = workFolder(identifier)
    let copy = try work.makeCandidate(attributes: attributes)
    defer { try? work.remove() }
    try files.unlink(copy)
    try copyInterrupted(location.path, to: copy, attributes: attributes)
    do throws(SQLiteError) {
      let hadMetadata = try StoreReading.hasMetadata(Connection(path: copy, mode: .immutable, options: .inspecting))
      let connection = try Connection(path: copy, mode: .readWrite, options: .building)
      try connection.execute("PRAGMA synchronous=OFF")
      let tables = try connection.firstInteger("SELECT count(*) FROM sqlite_schema") ?? 0
      let hasMetadata = try StoreReading.hasMetadata(connection)
      let isStore = tables > 0 && (hasMetadata || !hadMetadata)
      try connection.close()
      guard isStore else { throw SQLiteError(extendedCode: SQLiteError.notDatabaseCode, message: "no store is left") }
    } catch {
      if error.isFull { throw VaultError.file(FileError(.write, copy, code: ENOSPC)) }
      guard error.isAboutContent else { throw VaultError.unreadableStore(path: location.path, underlying: error) }
      throw VaultError.refusedJournal(path: location.path, .leavesNoStore)
    }
  }

  /// Throws ``VaultError/refusedJournal(path:_:)`` for a journal that makes the database longer, or
  /// that is too long and names another file.
  func copyInterrupted(_ source: String, to copy: String, attributes: FileAttributes) throws {
    try tree.copyFile(source, to: copy, attributes: attributes)
    guard let journal = try RollbackJournal(besideDatabaseAt: source) else { return }
    if journal.objection == .stretchesDatabase {
      throw VaultError.refusedJournal(path: source, .stretchesDatabase)
    }
    guard let name = journal.superJournal else {
      return try tree.copyFile(journal.path, to: copy + "-journal", attributes: attributes)
    }
    // The last step of a change across several databases was made: SQLite rolls nothing back then.
    if journal.isCommitted { return }
    // Without the name, SQLite opens no other file. Such a change is rare and never Core Data's, so memory is enough.
    guard journal.byteCount <= Self.namingJournalLimit else {
      throw VaultError.refusedJournal(path: source, .namesAnother(name))
    }
    let bytes = try files.readFile(journal.path, limit: Int(clamping: journal.byteCount))
    try files.writeNewFile(
      copy + "-journal", bytes: Array(bytes.prefix(Int(clamping: journal.recordsByteCount))), attributes: attributes)
  }

  private static let namingJournalLimit: Int64 = 256 << 20

  private func keepInterrupted(
    _ journal: RollbackJournal, identifier: String, store: FileStatus, name: VersionName, draft: String
  ) throws -> JournalDamage? {
    try keptVersions.makeFolder(draft)
    let copy = PathText.join(draft, location.name)
    try copyInterrupted(location.path, to: copy, attributes: store.attributes)
    // SQLite leaves no log beside such a journal, but another program may have put both there.
    if let log = try files.status(of: location.path + "-wal"), log.kind == .regular, log.size > 0 {
      try tree.copyFile(location.path + "-wal", to: copy + "-wal", attributes: store.attributes)
    }
    // The copies are read: closing the store's own file would drop SQLite's locks.
    let damage = try RollbackJournal(besideDatabaseAt: copy)?.playback().damage
    let snapshot = try SnapshotFile(path: location.snapshot, files: files).read()
    _ = try keptVersions.complete(draft, like: store, snapshot: snapshot) { support in
      PreviousVersionManifest(
        identifier: identifier, time: name.time, storeName: location.name, storeByteCount: store.size,
        supportFileCount: support.fileCount, supportByteCount: support.byteCount, versionChecksum: nil, generation: nil,
        mode: .rollback, operation: .undoing,
        alone: damage.map { SoleContents([SoleContent(pagesOf: location.name + "-journal", count: $0.lostCount)]) })
    }
    return damage
  }
}
