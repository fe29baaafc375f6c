package import HeirloomStore

/// An action or a finding of the vault.
///
/// The order in a migration: `locked`, events of a recovery,
/// `held`, `manifestWritten`, `built`, `proven`, `candidateSynchronized`, `previous`, `swapped`, `finished`.
package enum VaultEvent: Equatable, Sendable {
  /// The vault's lock was taken.
  case locked
  /// A stale candidate of an earlier run was found.
  case foundStaleCandidate(path: String)
  /// The stale candidate was removed.
  case removedStaleCandidate(path: String)
  /// An interrupted operation was completed or undone.
  case recovered(VaultRecovery, identifier: String)
  /// An interrupted change was rolled back; the previous version `id` is the store as it was before.
  ///
  /// With damage of the journal, SQLite has rolled back only a part of the change.
  case undone(id: String, JournalDamage?)
  /// A previous version that has faults, from when it was kept or later, replaces the store.
  ///
  /// The reason is the rest of a sentence that begins with the version.
  case restoredWithFaults(id: String, reason: String)
  /// A `-wal` that can't be read to its end was copied to the path, with the previous version or for the next one.
  case keptLog(path: String, LogDamage)
  /// The store is held exclusively as one file; the mode is that before.
  case held(JournalMode)
  /// The operation's manifest is on the disk.
  case manifestWritten(identifier: String)
  /// The candidate is built.
  case built(path: String)
  /// The candidate is proven.
  case proven(path: String)
  /// The candidate is on the disk.
  case candidateSynchronized(path: String)
  /// The old set is on the disk as a previous version.
  case previousVersionKept(id: String)
  /// The new store is in place and on the disk.
  case swapped(identifier: String)
  /// The operation ended and was cleaned up.
  case finished(identifier: String)
  /// The operation failed and everything it prepared was removed.
  case rolledBack(identifier: String)
  /// The operation ended, and the next run will clean up.
  case cleanUpPostponed(identifier: String, FileError)
  /// The store could not be put back into WAL mode; the app will do so when it opens it.
  case journalModeNotRestored(reason: String)
  /// Side files without a store were moved to a folder where they aren't read as a new store's.
  case movedSideFilesAside(path: String)
  /// A previous version was removed.
  case pruned(id: String)
  /// A pinned version was released: it may be removed like any other.
  case released(id: String)
  /// Names in a folder of external data were skipped because they are neither files nor folders.
  ///
  /// `count` is their number.
  case passedOver(count: Int, first: String)
  /// Attributes could not be copied to the new file.
  ///
  /// `count` is their number.
  case attributesLeftOut(path: String, count: Int, first: String)
  /// The store was set aside.
  case setAside(path: String)
}

/// The way in which an interrupted operation was completed or undone.
package enum VaultRecovery: String, Hashable, Sendable {
  /// The store was still the old one, and the preparations were removed.
  case rolledBack
  /// The store was the new one already, and the operation was completed.
  case rolledForward
  /// It is undecided: the candidate was removed, and everything that may be a version was kept.
  case undecided
}
