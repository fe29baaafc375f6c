import Foundation
package import HeirloomStore

package indirect enum AdoptionResult: Equatable, Sendable {
  case adopted(previous: PreviousVersionFiles?)
  /// The set-aside store had returned before, and nothing was done.
  case adoptedBefore(ReturnRecord)
}

extension StoreVault {
  /// The files are copied, never linked, since the app would write into them.
  ///
  /// External files that differ from the store's under the same name replace them after the store's
  /// rename; the replaced ones are kept with the replaced store. `prove` comes after SQLite's own
  /// quick check. After an error the store is the one before.
  package func restore(
    _ prefix: String, current: StoreReplacement = StoreReplacement(), prove: (Connection) throws -> Void = { _ in }
  ) throws -> (restored: PreviousVersionFiles, previous: PreviousVersionFiles?) {
    try lock.withLock(requiresStore: false) {
      if try files.status(of: location.path) != nil { try recovery.recover() }
      let version = try keptVersions.find(prefix)
      try InterruptedChange(place: place).undo()
      // A kept store may have changed since it was kept, and the restored store shows no sign of that.
      let faults = try faults(of: version.name)
      let set = try ReturningStore(version, mode: keptVersions.mode(of: version))
      let previous = try StoreReturn(place: place, set: set).bringBack(replacing: current, prove: prove)
      for fault in faults { place.report(.restoredWithFaults(id: version.name.text, reason: fault.words)) }
      return (version, previous)
    }
  }

  /// As ``recover()``, for an operation of a set-aside store, which may take a missing store's place.
  package func recoverForSetAsideStore() throws {
    guard try files.status(of: location.companion) != nil else { return }
    try lock.withLock(requiresStore: false) { try recoverBesideMissingStore() }
  }

  private func recoverBesideMissingStore() throws {
    do {
      try recovery.recover()
    } catch let error as VaultError {
      guard case .storeMissing = error, try record.isOfMissingStore() else { throw error }
    }
  }

  /// The set-aside store stays in its folder; its return is recorded beside it, after a crash by
  /// the next run.
  ///
  /// The present store becomes a previous version that is never pruned, since the set-aside store
  /// does not hold its rows. On an error the store is unchanged;
  /// ``VaultError/storeInUse(path:reason:)`` may also mean that the set-aside store is in use.
  package func adopt(
    _ name: String, current: StoreReplacement = StoreReplacement(), prove: (Connection) throws -> Void = { _ in }
  ) throws -> AdoptionResult {
    try lock.withLock(requiresStore: false) {
      try recoverBesideMissingStore()
      let set = try aside.find(named: name)
      if let adoption = set.adoption { return .adoptedBefore(adoption) }
      try InterruptedChange(place: place).undo()
      let size = try files.status(of: set.storePath(named: location.name))?.size ?? 0
      let support = SupportFolder(path: PathText.join(set.path, location.supportName))
      let (bytes, isTooMuch) = size.addingReportingOverflow(try tree.content(of: support).byteCount)
      let returning = ReturningStore(
        origin: .aside(name), folder: set.path, storeName: location.name, byteCount: isTooMuch ? .max : bytes,
        mode: nil)
      return .adopted(
        previous: try StoreReturn(place: place, set: returning).bringBack(replacing: current, prove: prove))
    }
  }
}
