/// Something that the vault did or found.
///
/// In the order of a migration: `locked`, whatever recovery did, `held`, `manifestWritten`, `built`, `proven`,
/// `candidateSynchronized`, `retained`, `swapped`, `finished`.
package enum VaultEvent: Hashable, Sendable {
  /// This process holds the vault's lock.
  case locked
  /// A candidate of an earlier run was found; it is not needed by anything.
  case foundStaleCandidate(path: String)
  /// That candidate was removed.
  case removedStaleCandidate(path: String)
  /// An unfinished operation was found and settled.
  case recovered(VaultRecovery, identifier: String)
  /// A change that was interrupted was undone; the store as it was before is the version.
  case undone(id: String)
  /// A version has faults, as it had when it was kept or has since; it takes the store's place all the same.
  case restoredWithFaults(id: String, reason: String)
  /// The `-wal` can't be read to its end; a copy is kept with the version, at the path.
  case keptLog(path: String, LogDamage)
  /// The store is one file, held exclusively; `usedWAL` tells whether it was in WAL mode.
  case held(usedWAL: Bool)
  /// The record of the operation is on the disk.
  case manifestWritten(identifier: String)
  /// The candidate was built.
  case built(path: String)
  /// The candidate was proven.
  case proven(path: String)
  /// The candidate is on the disk.
  case candidateSynchronized(path: String)
  /// The old set is on the disk under its second name.
  case retained(id: String)
  /// The new store is in place, on the disk.
  case swapped(identifier: String)
  /// Nothing of the operation is left but its result.
  case finished(identifier: String)
  /// The operation was given up and nothing of it is left.
  case rolledBack(identifier: String)
  /// Something of the operation is left, for the next run to remove.
  case cleanUpPostponed(identifier: String, FileError)
  /// The store could not be put back into WAL mode, in which it was; the app that opens it will.
  case journalModeNotRestored(reason: String)
  /// Side files without a store were put where they can't be taken for a new store's.
  case movedSideFilesAside(path: String)
  /// A retained version was removed.
  case pruned(id: String)
  /// A pinned version was released: it may be removed like any other.
  case released(id: String)
  /// So many names in a folder of external data stand for neither a file nor a folder, and were passed over; the first is named.
  case passedOver(count: Int, first: String)
  /// The store was moved aside.
  case setAside(path: String)
}

/// How an unfinished operation was settled.
package enum VaultRecovery: String, Hashable, Sendable {
  /// The store was still the old one: what was prepared was removed.
  case rolledBack
  /// The store was the new one already: what was left to do was done.
  case rolledForward
  /// It can't be told: the candidate was removed, and everything that may be a version was kept.
  case undecided
}
