package import HeirloomStore

/// A swap: the replacement of a store by a candidate, or of no store, from the lock to the rename.
///
/// The order of calls: `StoreVault.begin()` takes the lock and recovers from an interrupted run.
/// ``hold(_:mode:)`` holds the store and makes an empty candidate, and the caller fills it; where there is no store,
/// `prepareWithoutStore` makes the candidate.
/// ``prove(_:)`` has the caller compare the two, and syncs the candidate. ``commit(alone:)`` keeps
/// the store and renames the candidate. After a failed step, ``rollBack(after:)`` leaves the store as it was, in the
/// journal mode it had. Dropping a swap only releases the lock and the store; the next run cleans up.
package final class StoreSwap: VaultPart {
  let place: StorePlace
  /// `nil` if the caller holds the lock.
  private let lock: (any FileLock)?
  private let identifier: String
  private var replacement = StoreReplacement()
  /// `nil` before the hold, after the rename, and where there is no store.
  private var old: StoreHold?
  private var mode = JournalMode.wal
  /// Of a `-wal` that will be stored with the old store.
  package private(set) var logDamage: LogDamage?
  private var logs: [String: LogDamage] = [:]
  /// As it is on the disk.
  private var manifest: VaultManifest?
  /// That of an earlier operation, whose store is missing.
  private var earlier: VaultManifest?
  /// True once there is nothing to roll back: after the rename, or a rollback.
  private var isOver = false
  private var generation: String?

  init(at place: StorePlace, lock: (any FileLock)? = nil) {
    self.place = place
    self.lock = lock
    identifier = place.files.uniqueIdentifier()
  }

  var work: WorkFolder { workFolder(identifier) }
  package var candidatePath: String { work.candidate }

  // MARK: Before the commit point

  /// New external files go into the folder ``StoreLocation/supportName`` beside the candidate, each
  /// written with a sync: they are added to the store's own before the rename.
  ///
  /// Only the candidate's owner can open it until it is proven. Rows may have changed since
  /// `replacement` was made. If `mode` is `nil`, the new store gets the old one's.
  package func hold(_ replacement: StoreReplacement, mode: JournalMode? = nil) throws -> StoreHold {
    try VaultError.wrappingFileErrors {
      try place.checkPathLength()
      try place.checkStore(bytesNeeded: replacement.bytesNeeded)
      try unreadLogs.copyUnreadable()
      logDamage = try unreadLogs.damage()
      logs = try unreadLogs.damageOfWaiting()
      let store = try StoreHold.open(
        location, files: files, timeout: place.configuration.holdTimeout, seen: replacement.seen)
      old = store
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
      try begin(replacement, mode: mode ?? store.previousMode, attributes: store.status.attributes.forOwner)
      try protect(work.path)
      try protect(candidatePath)
      return store
    }
  }

  func prepareWithoutStore(_ replacement: StoreReplacement, mode: JournalMode, attributes: FileAttributes) throws {
    try VaultError.wrappingFileErrors {
      // A damaged manifest throws. That of an earlier operation is replaced: the files that it names stay.
      earlier = try record.read()
      try place.checkPathLength()
      try place.checkStore(bytesNeeded: replacement.bytesNeeded, isKept: false)
      try aside.moveSideFiles()
      try begin(replacement, mode: mode, attributes: attributes)
    }
  }

  private func begin(_ replacement: StoreReplacement, mode: JournalMode, attributes: FileAttributes) throws {
    self.replacement = replacement
    self.mode = mode
    let companion = try place.companionStatus()
    if old != nil { try keptVersions.makePreviousFolder(like: companion) }
    try tree.ensure(location.incoming, like: companion)
    let name = old == nil ? nil : try keptVersions.nextName(identifier: identifier)
    // Without an old store, recovery recognizes a returned set-aside store by its new generation.
    let manifest = VaultManifest(
      identifier: identifier, operation: replacement.operation, storeName: location.name, keptFolder: name?.text,
      oldGeneration: nil, newGeneration: old == nil && replacement.adoptedSet != nil ? identifier : nil,
      time: name?.time ?? place.configuration.now(), adoptedSet: replacement.adoptedSet,
      replacesMissing: replacement.adoptedSet != nil && earlier != nil)
    self.manifest = manifest
    try record.write(manifest)
    try place.emit(.manifestWritten(identifier: identifier))
    _ = try work.makeCandidate(attributes: attributes)
  }

  /// Syncs the candidate; `proof` compares it with the store, and throws if it is wrong.
  package func prove(_ proof: () throws -> Void) throws {
    try VaultError.wrappingFileErrors {
      _ = try begunManifest()
      // The reading must end before the candidate becomes the store, which others may lock.
      defer { old?.stopReadingAhead() }
      try place.emit(.built(path: candidatePath))
      // This replaces the attributes from the builder or the restored version. The candidate is synced later.
      if let old { place.reportLeftOut(try old.giveAttributes(to: candidatePath), of: location.path) }
      // The journal mode is written and synced later, with everything else: an extra sync pays only for a large file.
      let isSyncedLater = try mode == .wal && files.status(of: candidatePath)?.size ?? 0 < Self.leastEarlySync
      if isSyncedLater {
        try proof()
      } else {
        try files.synchronizeFile(candidatePath) { try proof() }
      }
      old?.stopReadingAhead()
      try place.emit(.proven(path: candidatePath))
      if let connection = old?.connection {
        let attached = try connection.rows("PRAGMA database_list").compactMap { $0.count > 1 ? $0[1].text : nil }
        guard attached.allSatisfy({ $0 == "main" || $0 == "temp" }), !connection.isInTransaction else {
          throw VaultError.unfitCandidate(path: candidatePath, reason: "it is still attached, or in a transaction")
        }
        // Read before WAL mode is set: in WAL mode, SQLite would need space for more files to read it.
        generation = try StoreReading.generation(ofStoreAt: candidatePath)
      }
      try work.complete(mode: mode, isSynchronized: !isSyncedLater)
      try place.emit(.candidateSynchronized(path: candidatePath))
    }
  }

  /// In bytes: from this size on, an early sync saves time.
  private static let leastEarlySync: Int64 = 4 << 20

  // MARK: The commit point

  /// ``VaultError/outcomeUnknown(path:underlying:)`` means that the rename was made and may not
  /// last; any other error means that the store is the old one.
  package func commit(alone: [SoleContent] = []) throws -> PreviousVersionFiles {
    let version = try VaultError.wrappingFileErrors { try retain(alone: alone) }
    try rename { try renameOverOld() }
    finish { () throws(VaultError) in try VaultError.wrapping(cleanUp) }
    // The version now has its soundness result.
    return (try? keptVersions.read(version.name)) ?? version
  }

  func commitWithoutStore() throws {
    try VaultError.wrappingFileErrors {
      _ = try begunManifest()
      try publishExternalFiles()
      // No row refers to the external files, so they are replaced before there is a store.
      try aside.keepReplaced(by: work)
      try work.replaceExternalFiles()
    }
    try rename { try nameWithoutStore() }
    // The recovery for an earlier run's operation completes this one.
    finish { () throws(VaultError) in try Recovery(place: place).settle() }
  }

  private func retain(alone: [SoleContent]) throws -> PreviousVersionFiles {
    var manifest = try begunManifest()
    guard let old, let name = manifest.keptFolder.flatMap(VersionName.init(_:)) else {
      throw VaultError.damagedManifest(path: location.manifest, reason: "it names no folder for the old store")
    }
    let version = try keptVersions.keep(
      &manifest, name: name, hold: old, replacement: replacement, alone: alone, successor: generation, logs: logs)
    self.manifest = manifest
    try quarantine.publish(from: work, name: name)
    try publishExternalFiles()
    try place.emit(.previousVersionKept(id: name.text))
    return version
  }

  private func publishExternalFiles() throws {
    // The store's present files must be separated before new ones are added.
    if replacement.operation != .migration { try work.separateExternalFiles() }
    try work.publishExternalFiles()
  }

  private func rename(by rename: () throws -> Void) throws {
    do {
      try VaultError.wrappingFileErrors(rename)
      do throws(FileError) {
        try files.synchronizeDirectory(location.directory)
      } catch {
        // Nothing is undone: either file may have the name on the disk, and both are whole.
        throw VaultError.outcomeUnknown(path: location.path, underlying: error)
      }
    } catch let error as VaultError where error.isOutcomeUnknown {
      // The store may be another file by now, and this connection must not touch its side files.
      letGo()
      throw error
    }
    letGo()
    place.report(.swapped(identifier: identifier))
  }

  private func renameOverOld() throws {
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
  }

  /// A store that an app has created meanwhile is not replaced.
  private func nameWithoutStore() throws {
    let candidate = try files.status(of: candidatePath)?.identity
    do throws(FileError) {
      try files.linkOrMove(candidatePath, to: location.path)
    } catch {
      // The folder shows whether the candidate has the name, even if the error says that the name is used: a system
      // may have repeated the call.
      if (try? files.status(of: location.path)?.identity != candidate) == true { throw error }
      throw VaultError.outcomeUnknown(path: location.path, underlying: error)
    }
  }

  private var keptStore: String {
    PathText.join(PathText.join(location.previous, manifest?.keptFolder ?? ""), manifest?.storeName ?? "")
  }

  private func isKept(_ old: FileStatus) throws(FileError) -> Bool {
    guard manifest?.phase == .linking else { return true }
    return try files.status(of: keptStore)?.identity == old.identity
  }

  private func finish(by cleanUp: () throws(VaultError) -> Void) {
    do throws(VaultError) {
      try cleanUp()
      place.report(.finished(identifier: identifier))
    } catch .file(let error) {
      place.report(.cleanUpPostponed(identifier: identifier, error))
    } catch {
      let error = FileError(.unlink, location.manifest, code: 0, reason: "\(error)")
      place.report(.cleanUpPostponed(identifier: identifier, error))
    }
  }

  private func cleanUp() throws(FileError) {
    // Otherwise a power loss could bring the store back with a second name, in the work folder.
    try files.synchronizeDirectory(work.path)
    try work.replaceExternalFiles()
    try work.remove()
    if let manifest { try aside.noteAdoption(manifest) }
    try unreadLogs.removeKept(as: keptStore + "-")
    // The manifest is removed only after the test, so if this run dies here, the next one tests.
    keptVersions.test()
    try files.unlink(location.manifest)
    try files.synchronizeDirectory(location.companion)
  }

  // MARK: Giving up

  /// After a rename whose outcome is unknown, nothing is undone; leftovers are removed by the next
  /// run.
  package func rollBack(after error: any Error) -> any Error {
    let error = (error as? FileError).map(VaultError.file) ?? error
    guard !isOver, old != nil || manifest != nil else { return error }
    do throws(FileError) {
      if let manifest { try Recovery(place: place).remove(manifest, leaving: recordLeft(by: manifest)) }
      place.report(.rolledBack(identifier: identifier))
    } catch {
      place.report(.cleanUpPostponed(identifier: identifier, error))
    }
    do {
      try old?.closeRestoringJournalMode()
    } catch {
      place.report(.journalModeNotRestored(reason: "\(error)"))
    }
    (old, isOver) = (nil, true)
    return error
  }

  /// Without a record, the next launch would take a missing store for one that never was, and
  /// create it.
  ///
  /// So the record of an earlier operation returns; if there was none, that of a restoration stays
  /// until one succeeds.
  private func recordLeft(by manifest: VaultManifest) -> VaultManifest? {
    guard old == nil else { return nil }
    let isMissing = (try? files.status(of: location.path) == nil) == true
    if isMissing, let earlier { return earlier }
    return manifest.operation == .restoration ? manifest : nil
  }

  private func begunManifest() throws(VaultError) -> VaultManifest {
    guard let manifest, !isOver else { throw .unfitCandidate(path: candidatePath, reason: "the store is not held") }
    return manifest
  }

  private func letGo() {
    old?.close()
    (old, isOver) = (nil, true)
  }
}

extension VaultError {
  var isOutcomeUnknown: Bool {
    guard case .outcomeUnknown = self else { return false }
    return true
  }
}
