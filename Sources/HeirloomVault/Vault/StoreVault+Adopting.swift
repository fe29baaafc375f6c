import Foundation
package import HeirloomStore

/// What the return of a set to the store's place came to.
package enum AdoptionResult: Hashable, Sendable {
  /// It is the store now; `retained` is the store that was there, if there was one.
  case adopted(retained: RetainedVersion?)
  /// It had returned before: nothing was done.
  case adoptedBefore(AsideAdoption)
}

extension StoreVault {
  /// Finds a set that was moved aside.
  ///
  /// - Parameter name: The set's name.
  /// - Returns: The set; its main file is there.
  /// - Throws: ``VaultError/unusableAsideSet(id:reason:)`` when there is no such set, or its main file is not there.
  package func asideSet(named name: String) throws(VaultError) -> AsideSet {
    guard let set = try asideSets().first(where: { $0.name == name }) else {
      throw .unusableAsideSet(id: name, reason: "there is no such set")
    }
    let reason = try VaultError.wrapping { () throws(FileError) in try objection(toVersionAt: set.path) }
    if let reason { throw .unusableAsideSet(id: name, reason: reason) }
    let status = try VaultError.wrapping { () throws(FileError) in
      try files.status(of: set.storePath(named: location.name))
    }
    // Through a link it would be changed where it leads.
    guard let status, status.kind == .regular else {
      throw .unusableAsideSet(
        id: name, reason: status.map { "\(location.name) is a \($0.kind.rawValue)" } ?? "\(location.name) is not there")
    }
    return set
  }

  /// Puts a copy of a set that was moved aside in the store's place, and keeps the store that is there.
  ///
  /// The set stays where it is, for good. The store that is there is kept as a version that is never pruned: the set does not
  /// hold its rows. A set returns once: that it has is noted with it, after a crash by the next run.
  ///
  /// - Parameters:
  ///   - name: The set's name.
  ///   - current: What is known of the store that is there.
  ///   - prove: Checks the set, beyond SQLite's own quick check.
  /// - Returns: What it came to.
  /// - Throws: ``VaultError``: ``VaultError/storeInUse(path:reason:)`` also when somebody works on the set; or what `prove`
  ///   throws. The store is the one before then.
  package func adopt(
    _ name: String, current: Replacement = Replacement(), prove: (Connection) throws -> Void = { _ in }
  ) throws -> AdoptionResult {
    try withLock(requiresStore: false) {
      try recoverHoldingLock()
      let set = try asideSet(named: name)
      if let adoption = set.adoption { return .adoptedBefore(adoption) }
      try undoChangeHoldingLock()
      let size = try files.status(of: set.storePath(named: location.name))?.size ?? 0
      let support = SupportFolder(path: PathText.join(set.path, location.supportName))
      let (bytes, isTooMuch) = size.addingReportingOverflow(try tree.content(of: support).byteCount)
      let returning = ReturningSet(
        origin: .aside(name), folder: set.path, storeName: location.name, byteCount: isTooMuch ? .max : bytes,
        usedWAL: nil)
      return .adopted(retained: try bringBack(returning, current: current, prove: prove))
    }
  }

  /// Brings to the disk that finished operations have left nothing.
  ///
  /// A set that has returned is not looked at again: what came back after a loss of power would stay in it.
  ///
  /// - Throws: ``VaultError/file(_:)``; nothing has changed then.
  package func settleFinishedOperations() throws(VaultError) {
    try VaultError.wrapping { () throws(FileError) in try synchronizeRemovals() }
  }

  // MARK: Noting

  /// Notes with a set that it has returned, on the disk; nothing happens for another operation.
  func noteAdoption(_ manifest: VaultManifest) throws(FileError) {
    guard let path = adoptionPath(manifest) else { return }
    let folder = PathText.split(path).folder
    // Somebody may have removed it: there is nothing to be noted then.
    guard try files.status(of: folder)?.kind == .directory else { return }
    if try files.status(of: path) == nil {
      let adoption = AsideAdoption(time: manifest.time, replaced: manifest.keptFolder)
      let bytes = (try? JSONEncoder().encode(adoption)) ?? Data()
      try files.writeNewFile(path, bytes: Array(bytes), attributes: FileAttributes(mode: 0o644))
    }
    try files.synchronizeDirectory(folder)
  }

  /// Whether it was noted with a set that it has returned.
  func isAdoptionNoted(_ manifest: VaultManifest) throws(FileError) -> Bool {
    guard let path = adoptionPath(manifest) else { return false }
    return try files.status(of: path) != nil
  }

  private func adoptionPath(_ manifest: VaultManifest) -> String? {
    manifest.adoptedSet.map {
      PathText.join(PathText.join(location.incompatible, $0), AsideSet.adoptionName)
    }
  }
}
