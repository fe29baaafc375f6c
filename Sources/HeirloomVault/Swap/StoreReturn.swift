import Foundation
import HeirloomStore

struct StoreReturn: VaultPart {
  let place: StorePlace
  let set: ReturningStore

  func bringBack(
    replacing current: StoreReplacement, prove: (Connection) throws -> Void
  ) throws -> PreviousVersionFiles? {
    var replacement = current
    replacement.operation = set.operation
    replacement.adoptedSet = set.adoptedSet
    replacement.bytesNeeded = UInt64(clamping: set.byteCount)
    let swap = StoreSwap(at: place)
    let hasStore = try files.status(of: location.path) != nil
    do {
      let attributes: FileAttributes
      if hasStore {
        if replacement.previousSnapshot == nil, try files.status(of: location.snapshot) != nil {
          replacement.previousSnapshot = try files.readFile(location.snapshot, limit: SnapshotFile.byteLimit)
        }
        attributes = try swap.hold(replacement, mode: set.mode).status.attributes.forOwner
      } else {
        guard let status = try files.status(of: set.storePath) else { throw set.unusable("it vanished") }
        attributes = status.attributes
        // Stores created by an app are in WAL mode too.
        try swap.prepareWithoutStore(replacement, mode: set.mode ?? .wal, attributes: attributes)
      }
      try rebuild(in: swap.work, attributes: attributes)
      try swap.prove { try check(swap.candidatePath, prove: prove) }
      if hasStore { return try swap.commit() }
      try swap.commitWithoutStore()
      return nil
    } catch {
      throw swap.rollBack(after: error)
    }
  }

  /// The candidate is one file without side files.
  private func rebuild(in work: WorkFolder, attributes: FileAttributes) throws {
    let candidate = work.candidate
    switch set.origin {
    case .version: try copyStore(to: candidate, attributes: attributes)
    case .aside: try copyHeldStore(to: candidate, attributes: attributes)
    }
    do throws(SQLiteError) {
      let connection = try Connection(path: candidate, mode: .readWrite, options: .building.withoutLinks)
      try connection.execute("PRAGMA synchronous=OFF")
      _ = try connection.firstInteger("SELECT count(*) FROM sqlite_schema")
      try connection.setJournalMode(.rollback)
      try connection.close()
    } catch {
      if error.isFull { throw VaultError.file(FileError(.write, candidate, code: ENOSPC)) }
      throw set.unusable("\(error)")
    }
    if case .aside = set.origin { try give(work.identifier, to: candidate) }
    let support = StoreLocation.supportName(forStore: set.storeName)
    let replacements = work.replacements
    let passedOver = try tree.copyDiffering(
      from: PathText.join(set.folder, support), to: try place.supportFolder(),
      into: PathText.join(work.path, location.supportName), replacements: replacements)
    // They are needed after the store's rename, also by the next run.
    if try files.status(of: replacements) != nil { try files.synchronizeDirectory(location.incoming) }
    place.reportPassedOver(passedOver)
  }

  private func copyStore(to candidate: String, attributes: FileAttributes) throws {
    let source = set.storePath
    try files.unlink(candidate)
    // The version may have been opened in its folder, with changes left in side files.
    do {
      try InterruptedChange(place: place).copyInterrupted(source, to: candidate, attributes: attributes)
    } catch VaultError.refusedJournal(_, let objection) {
      throw set.unusable("its journal can't be rolled back: \(objection.reason)")
    }
    guard let log = try files.status(of: source + "-wal"), log.kind == .regular, log.size > 0 else { return }
    try tree.copyFile(source + "-wal", to: candidate + "-wal", attributes: attributes)
  }

  /// An app may use the set-aside store in its folder: no process may write to it meanwhile.
  private func copyHeldStore(to candidate: String, attributes: FileAttributes) throws {
    // An interrupted change is rolled back in the copy: no process has the set-aside store open, and it is the only
    // one.
    if try RollbackJournal(besideDatabaseAt: set.storePath) != nil {
      return try copyStore(to: candidate, attributes: attributes)
    }
    let hold: StoreHold
    let location = try StoreLocation(resolving: set.storePath, files: files)
    try UnreadLogs(place: place.moved(to: location)).secure()
    do throws(VaultError) {
      hold = try StoreHold.open(location, files: files, timeout: place.configuration.holdTimeout)
    } catch {
      // The error must name the set-aside store, not the store.
      guard case .unreadableStore(_, let underlying) = error else { throw error }
      throw set.unusable("\(underlying)")
    }
    defer { try? hold.closeRestoringJournalMode() }
    try hold.duplicateStore(to: candidate, attributes: attributes)
    // If there is a store, the candidate gets its attributes later.
    place.reportLeftOut(try hold.giveAttributes(to: candidate), of: candidate)
  }

  /// The generation distinguishes the candidate from the present store and the set-aside one.
  private func give(_ generation: String, to candidate: String) throws {
    do throws(SQLiteError) {
      let connection = try Connection(path: candidate, mode: .readWrite, options: .building.withoutLinks)
      // A failed candidate is discarded.
      try connection.execute("PRAGMA synchronous=OFF")
      try connection.execute("PRAGMA journal_mode=OFF")
      try StoreReading.give(generation, to: connection)
      try connection.close()
    } catch {
      if error.isFull { throw VaultError.file(FileError(.write, candidate, code: ENOSPC)) }
      throw VaultError.unfitCandidate(path: candidate, reason: "it can't be given a generation: \(error)")
    }
  }

  /// Faults that SQLite finds in a readable previous version are only reported: it can come back as
  /// it was kept, and the store that it replaces is kept as well.
  private func check(_ candidate: String, prove: (Connection) throws -> Void) throws {
    let connection: Connection
    do throws(SQLiteError) {
      connection = try Connection(path: candidate, mode: .readOnly, options: .inspecting.withoutLinks)
      guard try connection.firstInteger("SELECT count(*) FROM sqlite_schema") ?? 0 > 0 else {
        throw SQLiteError(extendedCode: 0, message: "it holds no tables")
      }
      let findings = try connection.rows("PRAGMA quick_check(1)").first?.first?.text ?? "the check gave no answer"
      if findings != "ok" {
        guard case .version(let id) = set.origin else { throw SQLiteError(extendedCode: 0, message: findings) }
        // SQLite puts the database's name on a line of its own.
        let words = findings.split(whereSeparator: \.isNewline).joined(separator: " ")
        place.report(.restoredWithFaults(id: id, reason: "has faults, from when it was kept or later: \(words)"))
      }
    } catch {
      throw set.unusable("\(error)")
    }
    try prove(connection)
    do throws(SQLiteError) {
      try connection.close()
    } catch {
      throw VaultError.unfitCandidate(path: candidate, reason: "the proof left it open")
    }
  }
}
