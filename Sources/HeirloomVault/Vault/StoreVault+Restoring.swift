import Foundation
package import HeirloomStore

extension StoreVault {
  /// Replaces the store by a copy of a previous version, and keeps the present store.
  ///
  /// The version's files are copied, never linked, since the app would write into them.
  /// External files that differ from the store's under the same name replace them after the store's rename; the
  /// replaced files are kept with the replaced store.
  /// If `current` has no snapshot, the one in the companion folder is kept. `prove` checks the version, after SQLite's
  /// own quick check. Returns the restored version and the version that the present store became, if there was one.
  /// After an error the store is the one before.
  package func restore(
    _ prefix: String, current: Replacement = Replacement(), prove: (Connection) throws -> Void = { _ in }
  ) throws -> (restored: PreviousVersionFiles, previous: PreviousVersionFiles?) {
    try withLock(requiresStore: false) {
      if try files.status(of: location.path) != nil { try recoverHoldingLock() }
      let version = try findVersion(prefix)
      try undoChangeHoldingLock()
      // A kept store may have changed since it was kept, and the restored store shows no sign of that.
      let faults = try faults(of: version.name)
      let previous = try bringBack(
        try ReturningStore(version, mode: mode(of: version)), current: current, prove: prove)
      for fault in faults { report(.restoredWithFaults(id: version.name.text, reason: fault.words)) }
      return (version, previous)
    }
  }

  /// Replaces the store by a copy of a set, and keeps the present store, if there is one.
  func bringBack(
    _ set: ReturningStore, current: Replacement, prove: (Connection) throws -> Void
  ) throws -> PreviousVersionFiles? {
    guard try files.status(of: location.path) != nil else {
      try putWhereNoStoreIs(set, prove: prove)
      return nil
    }
    var replacement = current
    replacement.operation = set.operation
    replacement.adoptedSet = set.adoptedSet
    if replacement.previousSnapshot == nil, try files.status(of: location.snapshot) != nil {
      replacement.previousSnapshot = try files.readFile(location.snapshot, limit: Self.snapshotLimit)
    }
    replacement.bytesNeeded = UInt64(clamping: set.byteCount)
    let swap = StoreSwap(in: self)
    do {
      let store = try swap.hold(replacement, mode: set.mode)
      let candidate = swap.candidatePath
      let attributes = store.status.attributes.forOwner
      try rebuild(set, at: candidate, attributes: attributes, generation: files.uniqueIdentifier())
      try swap.prove { try check(set, at: candidate, prove: prove) }
      return try swap.commit()
    } catch {
      throw swap.rollBack(after: error)
    }
  }

  /// The size limit for keeping a snapshot, in bytes.
  private static var snapshotLimit: Int { 64 << 20 }

  package func findVersion(_ prefix: String) throws(VaultError) -> PreviousVersionFiles {
    let versions = try previousVersions()
    let matches = versions.filter { $0.name.text.hasPrefix(prefix) }
    guard !prefix.isEmpty, matches.count == 1, let version = matches.first else {
      throw .unknownVersion(prefix: prefix, candidates: (matches.isEmpty ? versions : matches).map(\.name.text))
    }
    let reason = try VaultError.wrapping { () throws(FileError) in try objection(toVersionAt: version.path) }
    if let reason { throw .unusableVersion(id: version.name.text, reason: reason) }
    guard version.storePath != nil else {
      throw .unusableVersion(id: version.name.text, reason: "its store file is not there")
    }
    return version
  }

  /// Returns the version's mode before it was kept: by its manifest, else by the file's header.
  private func mode(of version: PreviousVersionFiles) throws(FileError) -> JournalMode {
    if let manifest = version.manifest { return manifest.mode }
    guard let path = version.storePath else { return .rollback }
    return JournalMode(header: try files.readStart(of: path, count: 20))
  }

  // MARK: The candidate

  /// Copies a set to a candidate, as one file without side files.
  private func rebuild(
    _ set: ReturningStore, at candidate: String, attributes: FileAttributes, generation: String
  ) throws {
    switch set.origin {
    case .version: try copyStore(of: set, to: candidate, attributes: attributes)
    case .aside: try copyHeldStore(of: set, to: candidate, attributes: attributes)
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
    if case .aside = set.origin { try give(generation, to: candidate) }
    let support = StoreLocation.supportName(forStore: set.storeName)
    let work = PathText.split(candidate).folder
    let replacements = PathText.join(work, Self.replacementsName)
    let passedOver = try tree.copyDiffering(
      from: PathText.join(set.folder, support), to: try supportFolder(),
      into: PathText.join(work, location.supportName), replacements: replacements)
    // They are needed after the store's rename, also by the next run.
    if try files.status(of: replacements) != nil { try files.synchronizeDirectory(location.incoming) }
    reportPassedOver(passedOver)
  }

  private func copyStore(of set: ReturningStore, to candidate: String, attributes: FileAttributes) throws {
    let source = set.storePath
    try files.unlink(candidate)
    // The version may have been opened in its folder, with changes left in side files.
    do {
      try copyInterrupted(source, to: candidate, attributes: attributes)
    } catch VaultError.refusedJournal(_, let objection) {
      throw set.unusable("its journal can't be rolled back: \(objection.reason)")
    }
    guard let log = try files.status(of: source + "-wal"), log.kind == .regular, log.size > 0 else { return }
    try tree.copyFile(source + "-wal", to: candidate + "-wal", attributes: attributes)
  }

  /// Copies a set-aside store while no process can write to it: an app may use it in its folder.
  private func copyHeldStore(of set: ReturningStore, to candidate: String, attributes: FileAttributes) throws {
    // An interrupted change is rolled back in the copy: no process has the set-aside store open, and it is the only
    // one.
    if try RollbackJournal(besideDatabaseAt: set.storePath) != nil {
      return try copyStore(of: set, to: candidate, attributes: attributes)
    }
    let hold: StoreHold
    let location = try StoreLocation(resolving: set.storePath, files: files)
    try StoreVault(location, files: files, configuration: configuration, events: handler).secureLog()
    do throws(VaultError) {
      hold = try StoreHold.open(location, files: files, timeout: configuration.holdTimeout)
    } catch {
      // The error must name the set-aside store, not the store.
      guard case .unreadableStore(_, let underlying) = error else { throw error }
      throw set.unusable("\(underlying)")
    }
    defer { try? hold.closeRestoringJournalMode() }
    try hold.duplicateStore(to: candidate, attributes: attributes)
    // If there is a store, the candidate gets its attributes later.
    reportLeftOut(try hold.giveAttributes(to: candidate), of: candidate)
  }

  /// Gives a candidate a generation, which distinguishes it from the present store and the set-aside one.
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

  /// Checks that a candidate made from a set can be read.
  ///
  /// Faults that SQLite finds in a readable previous version are only reported: it can come back as it was kept, and
  /// the store that it replaces is kept as well. Faults in a set-aside store are errors.
  private func check(_ set: ReturningStore, at candidate: String, prove: (Connection) throws -> Void) throws {
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
        report(.restoredWithFaults(id: id, reason: "has faults, from when it was kept or later: \(words)"))
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

  // MARK: Without a store

  private func putWhereNoStoreIs(_ set: ReturningStore, prove: (Connection) throws -> Void) throws {
    // A damaged manifest throws. An old one is replaced: the files it names stay, apart from its candidate.
    _ = try readManifest()
    guard let companion = try files.status(of: location.companion), let status = try files.status(of: set.storePath)
    else { throw set.unusable("it vanished") }
    try checkPathLength()
    try checkStore(bytesNeeded: UInt64(clamping: set.byteCount), isKept: false)
    try moveSideFilesAside(like: companion)
    try tree.ensure(location.incoming, like: companion)
    let identifier = files.uniqueIdentifier()
    try write(
      VaultManifest(
        identifier: identifier, operation: set.operation, storeName: location.name, keptFolder: nil, oldGeneration: nil,
        newGeneration: set.adoptedSet == nil ? nil : identifier, time: configuration.now(), adoptedSet: set.adoptedSet))
    try emit(.manifestWritten(identifier: identifier))
    let candidate = try makeCandidate(identifier, attributes: status.attributes)
    try rebuild(set, at: candidate, attributes: status.attributes, generation: identifier)
    try check(set, at: candidate, prove: prove)
    // Stores created by an app are in WAL mode too.
    try complete(candidate, mode: set.mode ?? .wal)
    try separateExternalFiles(identifier)
    try publishExternalFiles(identifier)
    // Without a store no row refers to the external files, so they are replaced before there is one.
    try moveReplacedFilesAside(identifier, like: companion)
    try replaceExternalFiles(identifier)
    // An app may have created a store meanwhile.
    try files.linkOrMove(candidate, to: location.path)
    do throws(FileError) {
      try files.synchronizeDirectory(location.directory)
    } catch {
      throw VaultError.outcomeUnknown(path: location.path, underlying: error)
    }
    report(.swapped(identifier: identifier))
    do throws(VaultError) {
      // The recovery for an earlier run's operation completes this one, which is reported as finished.
      try settleHoldingLock()
      report(.finished(identifier: identifier))
    } catch .file(let error) {
      report(.cleanUpPostponed(identifier: identifier, error))
    } catch {
      let error = FileError(.unlink, location.manifest, code: 0, reason: "\(error)")
      report(.cleanUpPostponed(identifier: identifier, error))
    }
  }

  /// Keeps external files without a store that the set's own files will replace.
  private func moveReplacedFilesAside(_ identifier: String, like companion: FileStatus) throws {
    let replacements = PathText.join(workFolder(identifier), Self.replacementsName)
    guard try files.status(of: replacements) != nil else { return }
    let folder = try makeAsideFolder(like: companion)
    try tree.keepReplaced(
      by: replacements, of: try supportFolder(), in: PathText.join(folder, location.supportName))
    try files.synchronizeDirectory(folder)
    report(.movedSideFilesAside(path: folder))
  }

  /// Creates and syncs a folder for files that belong to no store.
  private func makeAsideFolder(like companion: FileStatus) throws -> String {
    try tree.ensure(location.incompatible, like: companion)
    let name = VersionName(time: configuration.now(), identifier: files.uniqueIdentifier()).text
    let folder = PathText.join(location.incompatible, name)
    try files.makeDirectory(folder, attributes: companion.attributes)
    try files.synchronizeDirectory(location.incompatible)
    try files.synchronizeDirectory(location.companion)
    return folder
  }

  /// Moves side files without a store to a folder of their own: SQLite would read them as the new store's.
  private func moveSideFilesAside(like companion: FileStatus) throws {
    let left = try location.sideFiles.filter { path throws(FileError) in try files.status(of: path) != nil }
    guard !left.isEmpty else { return }
    let folder = try makeAsideFolder(like: companion)
    // Not by a rename: only the removal of the old name might become durable.
    for path in left {
      guard let status = try files.status(of: path) else { continue }
      let to = PathText.join(folder, PathText.split(path).name)
      try tree.linkOrCopy(path, to: to, attributes: status.attributes)
    }
    try files.synchronizeDirectory(folder)
    for path in left { try files.unlink(path) }
    try files.synchronizeDirectory(location.directory)
    report(.movedSideFilesAside(path: folder))
  }
}
