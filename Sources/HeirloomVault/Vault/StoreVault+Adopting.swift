import Foundation
package import HeirloomStore

/// The result of returning a set-aside store to its place.
package indirect enum AdoptionResult: Equatable, Sendable {
  /// A copy that is the store now; `previous` is the replaced store, if there was one.
  case adopted(previous: PreviousVersionFiles?)
  /// A set-aside store that had returned before: nothing was done.
  case adoptedBefore(ReturnRecord)
}

extension StoreVault {
  /// Finds a set-aside store.
  ///
  /// - Parameter name: The name of its folder.
  /// - Returns: The set-aside store; its main file is there.
  /// - Throws: ``VaultError/unusableSetAsideStore(id:reason:)`` when there is no such store, or its main file is not
  ///   there.
  package func setAsideStore(named name: String) throws(VaultError) -> SetAsideFiles {
    guard let set = try setAsideStores().first(where: { $0.name == name }) else {
      throw .unusableSetAsideStore(id: name, reason: "there is no such set")
    }
    let reason = try VaultError.wrapping { () throws(FileError) in try objection(toVersionAt: set.path) }
    if let reason { throw .unusableSetAsideStore(id: name, reason: reason) }
    let status = try VaultError.wrapping { () throws(FileError) in
      try files.status(of: set.storePath(named: location.name))
    }
    // Through a link, the target would be changed.
    guard let status, status.kind == .regular else {
      throw .unusableSetAsideStore(
        id: name, reason: status.map { "\(location.name) is a \($0.kind.rawValue)" } ?? "\(location.name) is not there")
    }
    return set
  }

  /// Puts a copy of a set-aside store in the store's place, and keeps the present store.
  ///
  /// The set-aside store stays where it is, for good.
  /// The present store is kept as a previous version that is never pruned, since the set-aside store does not
  /// hold its rows. A set-aside store returns once: its return is recorded beside it, after a crash by the next run.
  ///
  /// - Parameters:
  ///   - name: The name of its folder.
  ///   - current: The description of the present store.
  ///   - prove: Checks the set-aside store, beyond SQLite's own quick check.
  /// - Returns: The result.
  /// - Throws: ``VaultError``, with ``VaultError/storeInUse(path:reason:)``
  ///   also when somebody works on the set-aside store; or the error of `prove`. The store is then the one before.
  package func adopt(
    _ name: String, current: Replacement = Replacement(), prove: (Connection) throws -> Void = { _ in }
  ) throws -> AdoptionResult {
    try withLock(requiresStore: false) {
      try recoverHoldingLock()
      let set = try setAsideStore(named: name)
      if let adoption = set.adoption { return .adoptedBefore(adoption) }
      try undoChangeHoldingLock()
      let size = try files.status(of: set.storePath(named: location.name))?.size ?? 0
      let support = SupportFolder(path: PathText.join(set.path, location.supportName))
      let (bytes, isTooMuch) = size.addingReportingOverflow(try tree.content(of: support).byteCount)
      let returning = ReturningStore(
        origin: .aside(name), folder: set.path, storeName: location.name, byteCount: isTooMuch ? .max : bytes,
        usedWAL: nil)
      return .adopted(previous: try bringBack(returning, current: current, prove: prove))
    }
  }

  /// Brings to the disk the removal of everything that finished operations left.
  ///
  /// No later run inspects a set-aside store that has returned: leftovers that a loss of power brought back would stay.
  ///
  /// - Throws: ``VaultError/file(_:)``; nothing has changed then.
  package func settleFinishedOperations() throws(VaultError) {
    try VaultError.wrapping { () throws(FileError) in try synchronizeRemovals() }
  }

  // MARK: Noting

  /// Records the return of a set-aside store beside it, on the disk; does nothing for another operation.
  func noteAdoption(_ manifest: VaultManifest) throws(FileError) {
    guard let path = adoptionPath(manifest) else { return }
    let folder = PathText.split(path).folder
    // Somebody may have removed the set-aside store: there is nothing to record then.
    guard try files.status(of: folder)?.kind == .directory else { return }
    if try files.status(of: path) == nil {
      let adoption = ReturnRecord(time: manifest.time, replaced: manifest.keptFolder)
      let bytes = (try? JSONEncoder().encode(adoption)) ?? Data()
      try files.writeNewFile(path, bytes: Array(bytes), attributes: FileAttributes(mode: 0o644))
    }
    try files.synchronizeDirectory(folder)
  }

  /// Returns true when the return of a set-aside store is recorded beside it.
  func isAdoptionNoted(_ manifest: VaultManifest) throws(FileError) -> Bool {
    guard let path = adoptionPath(manifest) else { return false }
    return try files.status(of: path) != nil
  }

  private func adoptionPath(_ manifest: VaultManifest) -> String? {
    manifest.adoptedSet.map {
      PathText.join(PathText.join(location.incompatible, $0), SetAsideFiles.adoptionName)
    }
  }
}
