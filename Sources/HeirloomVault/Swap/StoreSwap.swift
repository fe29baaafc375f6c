package import HeirloomStore

/// A swap: the replacement of a store by a candidate, from the lock to the rename.
///
/// The order of calls: `StoreVault.begin()` takes the lock and recovers from an interrupted run.
/// ``hold(_:mode:)`` holds the store and makes an empty candidate, and the caller fills it.
/// ``prove(_:)`` has the caller compare the two, and syncs the candidate. ``commit(alone:)`` keeps
/// the store and renames the candidate. After a failed step, ``rollBack(after:)`` leaves the store as it was, in the
/// journal mode it had. Dropping a swap only releases the lock and the store; the next run cleans up.
package final class StoreSwap: VaultPart {
  let place: StorePlace
  /// The lock; `nil` if the caller holds it.
  private let lock: (any FileLock)?
  private let identifier: String
  /// The description of the swap, and the hold; `nil` before the store is held.
  private var held: (replacement: StoreReplacement, store: StoreHold, mode: JournalMode)?
  /// The damage of a `-wal` that will be stored with the old store; `nil` if there is none, or before the hold.
  package private(set) var logDamage: LogDamage?
  /// The damage of each log that waits to be stored.
  private var logs: [String: LogDamage] = [:]
  /// The manifest on the disk; `nil` before it is written.
  private var manifest: VaultManifest?
  private var generation: String?

  /// Creates a swap; nothing is done yet.
  init(at place: StorePlace, lock: (any FileLock)? = nil) {
    self.place = place
    self.lock = lock
    identifier = place.files.uniqueIdentifier()
  }

  var work: WorkFolder { workFolder(identifier) }
  /// The candidate's file.
  package var candidatePath: String { work.candidate }

  // MARK: Before the commit point

  /// Leaves WAL mode, holds the store exclusively, writes the manifest and makes an empty candidate.
  ///
  /// Only the candidate's owner can open it until it is proven. The caller attaches it to the hold's connection and
  /// detaches it again.
  /// New external files go into the folder ``StoreLocation/supportName`` beside it, each written with a sync:
  /// they are added to the store's own before the rename.
  /// Rows may have changed since `replacement` was made. If `mode` is `nil`, the new store gets the old one's.
  package func hold(_ replacement: StoreReplacement, mode: JournalMode? = nil) throws -> StoreHold {
    try VaultError.wrappingFileErrors {
      try place.checkPathLength()
      try place.checkStore(bytesNeeded: replacement.bytesNeeded)
      try unreadLogs.copyUnreadable()
      logDamage = try unreadLogs.damage()
      logs = try unreadLogs.damageOfWaiting()
      let store = try StoreHold.open(
        location, files: files, timeout: place.configuration.holdTimeout, seen: replacement.seen)
      held = (replacement, store, mode ?? store.previousMode)
      try place.emit(.held(store.previousMode))
      // Before any of the store's content is there: new files get the class of their folder.
      func protect(_ path: String) throws {
        let left = try store.giveProtection(to: path)
        guard left.count == 0 || place.configuration.allowLostProtection else {
          throw VaultError.protectionLost(path: path)
        }
        place.reportLeftOut(left, of: path)
      }
      try protect(location.companion)
      try writeManifest(for: replacement)
      _ = try work.makeCandidate(attributes: store.status.attributes.forOwner)
      try protect(work.path)
      try protect(candidatePath)
      return store
    }
  }

  /// Makes the vault's folders and writes the operation's manifest.
  private func writeManifest(for replacement: StoreReplacement) throws {
    let companion = try place.companionStatus()
    try keptVersions.makeFolder(like: companion)
    try tree.ensure(location.incoming, like: companion)
    let name = try keptVersions.nextName(identifier: identifier)
    let manifest = VaultManifest(
      identifier: identifier, operation: replacement.operation, storeName: location.name, keptFolder: name.text,
      oldGeneration: nil, newGeneration: nil, time: name.time, adoptedSet: replacement.adoptedSet)
    self.manifest = manifest
    try record.write(manifest)
    try place.emit(.manifestWritten(identifier: identifier))
  }

  /// Has the caller prove a complete candidate, and syncs it.
  ///
  /// `proof` compares the candidate with the store, and throws if the candidate is wrong.
  package func prove(_ proof: () throws -> Void) throws {
    try VaultError.wrappingFileErrors {
      let (_, store, mode) = try heldStore()
      // The reading must end before the candidate becomes the store, which others may lock.
      defer { store.stopReadingAhead() }
      try place.emit(.built(path: candidatePath))
      // This replaces the attributes from the builder or the restored version. The candidate is synced later.
      place.reportLeftOut(try store.giveAttributes(to: candidatePath), of: location.path)
      // The journal mode is written and synced later, with everything else: an extra sync pays only for a large file.
      let isSyncedLater = try mode == .wal && files.status(of: candidatePath)?.size ?? 0 < Self.leastEarlySync
      if isSyncedLater {
        try proof()
      } else {
        try files.synchronizeFile(candidatePath) { try proof() }
      }
      store.stopReadingAhead()
      try place.emit(.proven(path: candidatePath))
      let attached = try store.connection.rows("PRAGMA database_list").compactMap { $0.count > 1 ? $0[1].text : nil }
      guard attached.allSatisfy({ $0 == "main" || $0 == "temp" }), !store.connection.isInTransaction else {
        throw VaultError.unfitCandidate(path: candidatePath, reason: "it is still attached, or in a transaction")
      }
      // Read before WAL mode is set: in WAL mode, SQLite would need space for more files to read it.
      generation = try StoreReading.generation(ofStoreAt: candidatePath)
      try work.complete(mode: mode, isSynchronized: !isSyncedLater)
      try place.emit(.candidateSynchronized(path: candidatePath))
    }
  }

  /// The size in bytes from which an early sync saves time.
  private static let leastEarlySync: Int64 = 4 << 20

  // MARK: The commit point

  /// Keeps the old store, and renames the candidate to the store.
  ///
  /// `alone` is the content that only the old store will hold. ``VaultError/outcomeUnknown(path:underlying:)``
  /// means that the rename was made and may not last; any other error means that the store is the old one.
  package func commit(alone: [SoleContent] = []) throws -> PreviousVersionFiles {
    let version = try VaultError.wrappingFileErrors { try retain(alone: alone) }
    do {
      try VaultError.wrappingFileErrors { try rename() }
    } catch let error as VaultError where error.isOutcomeUnknown {
      // The store may be another file by now, and this connection must not touch its side files.
      letGo()
      throw error
    }
    finish()
    // The version now has its soundness result.
    return (try? keptVersions.read(version.name)) ?? version
  }

  /// Adds the candidate's external files to the store's, and keeps the old set.
  private func retain(alone: [SoleContent]) throws -> PreviousVersionFiles {
    let (replacement, store, _) = try heldStore()
    guard var manifest, let name = manifest.keptFolder.flatMap(VersionName.init(_:)) else {
      throw VaultError.damagedManifest(path: location.manifest, reason: "it names no folder for the old store")
    }
    let version = try keptVersions.keep(
      &manifest, name: name, hold: store, replacement: replacement, alone: alone, successor: generation,
      logs: logs)
    self.manifest = manifest
    try quarantine.publish(from: work, name: name)
    // The store's present files must be separated before new ones are added.
    if replacement.operation != .migration { try work.separateExternalFiles() }
    try work.publishExternalFiles()
    try place.emit(.previousVersionKept(id: name.text))
    return version
  }

  private func rename() throws {
    // A side file here would be read as part of the new store.
    for path in location.sideFiles where try files.status(of: path) != nil {
      throw VaultError.storeInUse(path: location.path, reason: "\"\(path)\" appeared")
    }
    guard let old = try files.status(of: location.path), old.size == (try files.status(of: keptStore))?.size,
      try isKept(old)
    else { throw VaultError.storeInUse(path: location.path, reason: "it is not the file that was kept") }
    do throws(FileError) {
      try files.rename(candidatePath, to: location.path)
    } catch {
      // The folder shows whether the rename happened.
      if let now = try? files.status(of: location.path), now.identity == old.identity { throw error }
      throw VaultError.outcomeUnknown(path: location.path, underlying: error)
    }
    do throws(FileError) {
      try files.synchronizeDirectory(location.directory)
    } catch {
      // Nothing is undone: either file may have the name on the disk, and both are whole.
      throw VaultError.outcomeUnknown(path: location.path, underlying: error)
    }
    letGo()
    place.report(.swapped(identifier: identifier))
  }

  private var keptStore: String {
    PathText.join(PathText.join(location.previous, manifest?.keptFolder ?? ""), manifest?.storeName ?? "")
  }

  private func isKept(_ old: FileStatus) throws(FileError) -> Bool {
    guard manifest?.phase == .linking else { return true }
    return try files.status(of: keptStore)?.identity == old.identity
  }

  /// Cleans up after the operation, whose result is on the disk.
  private func finish() {
    do throws(FileError) {
      // Otherwise a power loss could bring the store back with a second name, in the work folder.
      try files.synchronizeDirectory(work.path)
      try work.replaceExternalFiles()
      try work.remove()
      if let manifest {
        try aside.noteAdoption(manifest)
        try unreadLogs.removeKept(as: keptStore + "-")
      }
      // The manifest is removed only after the test, so if this run dies here, the next one tests.
      keptVersions.test()
      try files.unlink(location.manifest)
      try files.synchronizeDirectory(location.companion)
      place.report(.finished(identifier: identifier))
    } catch {
      place.report(.cleanUpPostponed(identifier: identifier, error))
    }
  }

  // MARK: Giving up

  /// Removes everything of a swap that did not reach its commit point, and releases the store.
  ///
  /// Leftovers that can't be removed are reported by an event, and the next run removes them.
  /// After a rename whose outcome is unknown, nothing is undone.
  /// Returns the same error, or ``VaultError/file(_:)`` for an error of the file system.
  package func rollBack(after error: any Error) -> any Error {
    let error = (error as? FileError).map(VaultError.file) ?? error
    guard let held else { return error }
    do throws(FileError) {
      if let manifest { try Recovery(place: place).remove(manifest) }
      place.report(.rolledBack(identifier: identifier))
    } catch {
      place.report(.cleanUpPostponed(identifier: identifier, error))
    }
    do {
      try held.store.closeRestoringJournalMode()
    } catch {
      place.report(.journalModeNotRestored(reason: "\(error)"))
    }
    self.held = nil
    return error
  }

  private func heldStore() throws(VaultError) -> (StoreReplacement, StoreHold, mode: JournalMode) {
    guard let held else { throw .unfitCandidate(path: candidatePath, reason: "the store is not held") }
    return (held.replacement, held.store, held.mode)
  }

  private func letGo() {
    held?.store.close()
    held = nil
  }
}

extension VaultError {
  /// True after a rename that may not last.
  var isOutcomeUnknown: Bool {
    guard case .outcomeUnknown = self else { return false }
    return true
  }
}
