import Foundation
package import HeirloomStore

/// The result of returning a set-aside store to its place.
package indirect enum AdoptionResult: Equatable, Sendable {
  /// A copy became the store; `previous` is the replaced store, if there was one.
  case adopted(previous: PreviousVersionFiles?)
  /// The set-aside store had returned before, and nothing was done.
  case adoptedBefore(ReturnRecord)
}

extension StoreVault {
  /// Finds the set-aside store in a folder.
  ///
  /// Throws ``VaultError/unusableSetAsideStore(id:reason:)`` if there is none, or its main file is not there.
  package func setAsideStore(named name: String) throws(VaultError) -> SetAsideFiles {
    guard let set = try setAsideStores().first(where: { $0.name == name }) else {
      throw .unusableSetAsideStore(id: name, reason: "there is no such set")
    }
    let reason = try VaultError.wrapping { () throws(FileError) in try objection(toVersionAt: set.path) }
    if let reason { throw .unusableSetAsideStore(id: name, reason: reason) }
    let status = try VaultError.wrapping { () throws(FileError) in
      try files.status(of: set.storePath(named: location.name))
    }
    // Work on a link would change its target.
    guard let status, status.kind == .regular else {
      throw .unusableSetAsideStore(
        id: name, reason: status.map { "\(location.name) is a \($0.kind.rawValue)" } ?? "\(location.name) is not there")
    }
    return set
  }

  /// Replaces the store by a copy of a set-aside store, and keeps the present store.
  ///
  /// The set-aside store is never removed from its folder.
  /// The present store is kept as a previous version that is never pruned, since the set-aside store does not
  /// hold its rows. A set-aside store returns once: its return is recorded beside it, after a crash by the next run.
  /// `prove` checks the set-aside store, after SQLite's own quick check. On an error the store is unchanged;
  /// ``VaultError/storeInUse(path:reason:)`` may also mean that the set-aside store is in use.
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
        mode: nil)
      return .adopted(previous: try bringBack(returning, current: current, prove: prove))
    }
  }

  /// Syncs the removal of all files left by finished operations.
  ///
  /// No later run inspects a set-aside store that has returned, so files brought back by a power loss would stay.
  package func settleFinishedOperations() throws(VaultError) {
    try VaultError.wrapping { () throws(FileError) in try synchronizeRemovals() }
  }

  // MARK: Noting

  /// Records the return of a set-aside store beside it, and syncs that; does nothing for another operation.
  func noteAdoption(_ manifest: VaultManifest) throws(FileError) {
    guard let path = adoptionPath(manifest) else { return }
    let folder = PathText.split(path).folder
    // The user may have removed the set-aside store: there is nothing to record then.
    guard try files.status(of: folder)?.kind == .directory else { return }
    if try files.status(of: path) == nil {
      let adoption = ReturnRecord(time: manifest.time, replaced: manifest.keptFolder)
      let bytes = (try? JSONEncoder().encode(adoption)) ?? Data()
      try files.writeNewFile(path, bytes: Array(bytes), attributes: FileAttributes(mode: 0o644))
    }
    try files.synchronizeDirectory(folder)
  }

  /// Returns true if the return of a set-aside store is recorded beside it.
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
