import Foundation
import HeirloomStore

extension StoreVault {
  /// Puts a new store in the store's place and keeps the old one.
  ///
  /// The steps: lock; settle what an earlier run left; check the place; `prepare`; leave WAL mode and hold the store
  /// exclusively; write the manifest; `build`; `prove`; bring the candidate to the disk; keep the old set; rename; finish.
  /// Whatever fails before the rename leaves the store as it was, in the journal mode it had.
  ///
  /// - Parameters:
  ///   - prepare: Says what is to be done, reading the store as anyone may: it runs under the lock, before the store is held. `nil`
  ///     ends the operation: nothing was written to the store. A refusal it throws leaves the store and its `-wal` byte for byte.
  ///     (A hot journal can be replayed only by a connection that may write; one that is read-only fails.)
  ///   - build: Fills the candidate, an empty file with the store's permissions: attached to the gate's connection and detached
  ///     again. Rows may have changed since `prepare`. New external files go into the folder ``StoreLocation/supportName`` beside
  ///     the candidate, each written with a sync: they are added to the store's own before the swap.
  ///   - prove: Compares the candidate with the store, and throws if it is not what it has to be.
  /// - Returns: The version that was kept, or `nil` when `prepare` returned `nil`.
  /// - Throws: What the closures throw, or ``VaultError``: ``VaultError/outcomeUnknown(path:underlying:)`` means that the swap was
  ///   made and may not last, any other that the store is the old one.
  package func replaceStore(
    prepare: () throws -> Replacement?, build: (StoreGate, String) throws -> Void,
    prove: (StoreGate, String) throws -> Void
  ) throws -> RetainedVersion? {
    try withLock {
      try recoverHoldingLock()
      try undoChangeHoldingLock()
      guard let replacement = try prepare() else { return nil }
      return try replaceHoldingLock(replacement, usesWAL: nil, build: build, prove: prove)
    }
  }

  /// Holds the store and swaps.
  func replaceHoldingLock(
    _ replacement: Replacement, usesWAL: Bool?, build: (StoreGate, String) throws -> Void,
    prove: (StoreGate, String) throws -> Void
  ) throws -> RetainedVersion {
    try checkPathLength()
    try checkStore(bytesNeeded: replacement.bytesNeeded)
    try copyUnreadableLog()
    let gate = try StoreGate.open(
      location, files: files, timeout: configuration.gateTimeout, leavesWAL: configuration.leavesWAL,
      seen: replacement.seen)
    var swap = Swap(replacement: replacement, usesWAL: usesWAL ?? gate.usedWAL, identifier: files.uniqueIdentifier())
    do {
      try emit(.gated(usedWAL: gate.usedWAL))
      try begin(&swap)
      try buildCandidate(swap, gate: gate, build: build, prove: prove)
      let version = try retain(&swap, gate: gate)
      try commit(swap, gate: gate)
      finish(swap)
      return version
    } catch let error as VaultError where error.isOutcomeUnknown {
      // The store may be another file by now: its side files are none of this connection's business.
      gate.close()
      throw error
    } catch {
      rollBack(swap, gate: gate)
      if let error = error as? FileError { throw VaultError.file(error) }
      throw error
    }
  }

  /// A swap that is under way.
  struct Swap {
    /// What is to be done.
    let replacement: Replacement
    /// Whether the new store is to be in WAL mode.
    let usesWAL: Bool
    /// The identifier of the operation.
    let identifier: String
    /// The record on the disk; `nil` before it was begun.
    var manifest: VaultManifest?
  }

  // MARK: Before the commit point

  /// Makes the vault's folders and the record of the operation.
  private func begin(_ swap: inout Swap) throws {
    guard let companion = try files.status(of: location.companion) else {
      throw VaultError.unusableFolder(path: location.companion, reason: "it vanished")
    }
    try tree.ensure(location.previous, like: companion)
    try tree.ensure(location.incoming, like: companion)
    let name = try nextVersionName(identifier: swap.identifier)
    let manifest = VaultManifest(
      identifier: swap.identifier, operation: swap.replacement.operation, storeName: location.name,
      keptFolder: name.text, oldGeneration: nil, newGeneration: nil, time: name.time,
      adoptedSet: swap.replacement.adoptedSet)
    swap.manifest = manifest
    try write(manifest)
    try emit(.manifestWritten(identifier: swap.identifier))
  }

  /// Puts a manifest in place of the one there is: it is never half there.
  ///
  /// The folder's sync also brings `previous` and `incoming` to the disk, which are made before.
  func write(_ manifest: VaultManifest) throws(VaultError) {
    let bytes: [UInt8]
    do throws(ManifestError) {
      bytes = try manifest.encoded()
    } catch {
      throw .damagedManifest(path: location.manifest, reason: error.reason)
    }
    try VaultError.wrapping { () throws(FileError) in
      if try files.status(of: location.manifestDraft) != nil { try files.unlink(location.manifestDraft) }
      // Who may read the store may finish what was begun, and nobody else learns of it.
      let attributes = try files.status(of: location.path)?.attributes ?? FileAttributes(mode: 0o600)
      try files.writeNewFile(location.manifestDraft, bytes: bytes, attributes: attributes)
      try files.rename(location.manifestDraft, to: location.manifest)
      try files.synchronizeDirectory(location.companion)
    }
  }

  /// The folder in which an operation builds.
  func workFolder(_ identifier: String) -> String { PathText.join(location.incoming, identifier) }

  /// The store that an operation builds.
  func candidate(_ identifier: String) -> String { PathText.join(workFolder(identifier), location.name) }

  private func buildCandidate(
    _ swap: Swap, gate: StoreGate, build: (StoreGate, String) throws -> Void, prove: (StoreGate, String) throws -> Void
  ) throws {
    let candidate = try makeCandidate(swap.identifier, attributes: gate.status.attributes)
    // Before the candidate is the store, which others may lock.
    defer { gate.stopReadingAhead() }
    try build(gate, candidate)
    try emit(.built(path: candidate))
    // The mode is yet to be written, and synced with all the rest: an earlier sync only begins to write what is large.
    let isSyncedLater = try swap.usesWAL && files.status(of: candidate)?.size ?? 0 < Self.leastEarlySync
    if isSyncedLater {
      try prove(gate, candidate)
    } else {
      try files.synchronizeFile(candidate) { try prove(gate, candidate) }
    }
    gate.stopReadingAhead()
    try emit(.proven(path: candidate))
    let attached = try gate.connection.rows("PRAGMA database_list").compactMap { $0.count > 1 ? $0[1].text : nil }
    guard attached.allSatisfy({ $0 == "main" || $0 == "temp" }), !gate.connection.isInTransaction else {
      throw VaultError.unfitCandidate(path: candidate, reason: "it is still attached, or in a transaction")
    }
    try complete(candidate, usesWAL: swap.usesWAL, isSynchronized: !isSyncedLater)
    try emit(.candidateSynchronized(path: candidate))
  }

  /// The size in bytes from which a candidate takes longer to write than one more sync takes.
  private static let leastEarlySync: Int64 = 4 << 20

  /// Makes the folder of an operation and the empty file to be filled.
  func makeCandidate(_ identifier: String, attributes: FileAttributes) throws(FileError) -> String {
    let folder = try files.status(of: location.incoming)
    try files.makeDirectory(
      workFolder(identifier), attributes: folder?.attributes ?? FileAttributes(mode: 0o700))
    try files.makeEmptyFile(candidate(identifier), attributes: attributes)
    return candidate(identifier)
  }

  /// Gives a proven candidate its journal mode and brings it to the disk.
  ///
  /// - Parameters:
  ///   - candidate: The candidate, which nobody has open.
  ///   - usesWAL: Whether it is to be in WAL mode.
  ///   - isSynchronized: Whether it is on the disk as it is.
  /// - Throws: ``VaultError/unfitCandidate(path:reason:)`` when it is not one file, or not of the mode.
  func complete(_ candidate: String, usesWAL: Bool, isSynchronized: Bool = false) throws(VaultError) {
    func checkAlone() throws(VaultError) {
      let left = try VaultError.wrapping { () throws(FileError) in
        try SideFiles.removeCold(of: candidate, files: files)
      }
      if let left { throw .unfitCandidate(path: candidate, reason: "its side file “\(left)” holds data") }
    }
    try checkAlone()
    if usesWAL {
      do throws(SQLiteError) {
        let connection = try Connection(path: candidate, mode: .readWrite, options: .building.withoutLinks)
        // The sync comes at the end, once.
        try connection.execute("PRAGMA synchronous=OFF")
        let mode = try connection.firstValue("PRAGMA journal_mode=WAL")?.text
        try connection.close()
        guard mode == "wal" else {
          throw SQLiteError(extendedCode: 0, message: "the journal mode is \(mode ?? "unknown")")
        }
      } catch {
        if error.isFull { throw .file(FileError(.write, candidate, code: ENOSPC)) }
        throw .unfitCandidate(path: candidate, reason: "it can't be put into WAL mode: \(error)")
      }
      try checkAlone()
    }
    let status = try VaultError.wrapping { () throws(FileError) in
      // The mode is written in the file's header.
      if usesWAL || !isSynchronized { try files.synchronizeFile(candidate) }
      return try files.status(of: candidate)
    }
    guard let status, status.kind == .regular, status.size > 0, status.linkCount == 1 else {
      throw .unfitCandidate(path: candidate, reason: "it is not one file with content")
    }
  }

  /// Adds the candidate's external files to the store's, and keeps the old set.
  private func retain(_ swap: inout Swap, gate: StoreGate) throws -> RetainedVersion {
    guard var manifest = swap.manifest, let name = manifest.keptFolder.flatMap(VersionName.init(_:)) else {
      throw VaultError.damagedManifest(path: location.manifest, reason: "it names no folder for the old store")
    }
    let version = try keepStore(&manifest, name: name, gate: gate, replacement: swap.replacement)
    swap.manifest = manifest
    try publishQuarantine(swap.identifier, name: name)
    // Before files are added that are the store's own.
    if swap.replacement.operation != .migration { try separateExternalFiles(swap.identifier) }
    try publishExternalFiles(swap.identifier)
    try emit(.retained(id: name.text))
    return version
  }

  /// Adds external files that came with a candidate to the store's own, on the disk.
  ///
  /// The old store does not know them; both are complete afterwards.
  func publishExternalFiles(_ identifier: String) throws(FileError) {
    let added = PathText.join(workFolder(identifier), location.supportName)
    try tree.add(added, to: try supportFolder())
  }

  /// Gives the store external files of its own, which share nothing with a version that is kept.
  ///
  /// Core Data never writes into an external file that is there, but an older app that was brought back with its store may.
  func separateExternalFiles(_ identifier: String) throws(FileError) {
    try tree.separate(
      try supportFolder(),
      from: { () throws(FileError) in
        try tree.identities(in: location.previous).union(try tree.identities(in: location.incompatible))
      },
      by: PathText.join(workFolder(identifier), "external-" + identifier))
  }

  // MARK: The commit point

  /// Renames the candidate to the store.
  private func commit(_ swap: Swap, gate: StoreGate) throws {
    let candidate = candidate(swap.identifier)
    // A side file here would be read as part of the new store.
    for path in location.sideFiles where try files.status(of: path) != nil {
      throw VaultError.storeInUse(path: location.path, reason: "“\(path)” appeared")
    }
    guard let old = try files.status(of: location.path), old.size == (try files.status(of: keptStore(swap)))?.size,
      try isKept(swap, old)
    else { throw VaultError.storeInUse(path: location.path, reason: "it is not the file that was kept") }
    do throws(FileError) {
      try files.rename(candidate, to: location.path)
    } catch {
      // Whether it happened is for the folder to say.
      if let now = try? files.status(of: location.path), now.identity == old.identity { throw error }
      throw VaultError.outcomeUnknown(path: location.path, underlying: error)
    }
    do throws(FileError) {
      try files.synchronizeDirectory(location.directory)
    } catch {
      // Nothing is undone: either name may be the one on the disk, and both files are whole.
      throw VaultError.outcomeUnknown(path: location.path, underlying: error)
    }
    gate.close()
    report(.swapped(identifier: swap.identifier))
  }

  private func keptStore(_ swap: Swap) -> String {
    PathText.join(
      PathText.join(location.previous, swap.manifest?.keptFolder ?? ""), swap.manifest?.storeName ?? "")
  }

  private func isKept(_ swap: Swap, _ old: FileStatus) throws(FileError) -> Bool {
    guard swap.manifest?.phase == .linking else { return true }
    return try files.status(of: keptStore(swap))?.identity == old.identity
  }

  /// Removes what is left of an operation whose result is on the disk.
  func finish(_ swap: Swap) {
    do throws(FileError) {
      // Else the store could come back with a second name, in the work folder.
      try files.synchronizeDirectory(workFolder(swap.identifier))
      try tree.remove(workFolder(swap.identifier))
      if let manifest = swap.manifest {
        try noteAdoption(manifest)
        try removeKeptLogs(withStoreAt: keptStore(swap))
      }
      try files.unlink(location.manifest)
      try files.synchronizeDirectory(location.companion)
      report(.finished(identifier: swap.identifier))
    } catch {
      report(.cleanUpPostponed(identifier: swap.identifier, error))
    }
  }

  /// Removes everything of an operation that did not come to its commit point, and lets go of the store.
  private func rollBack(_ swap: Swap, gate: StoreGate) {
    do throws(FileError) {
      if let manifest = swap.manifest { try remove(manifest) }
      report(.rolledBack(identifier: swap.identifier))
    } catch {
      report(.cleanUpPostponed(identifier: swap.identifier, error))
    }
    do {
      try gate.closeRestoringJournalMode()
    } catch {
      report(.journalModeNotRestored(reason: "\(error)"))
    }
  }
}

extension VaultError {
  /// Whether the swap was made and may not last.
  var isOutcomeUnknown: Bool {
    guard case .outcomeUnknown = self else { return false }
    return true
  }
}
