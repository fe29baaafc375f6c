package import HeirloomStore

/// A thing that the vault did or found.
///
/// The order in a migration: `locked`, events of a recovery,
/// `held`, `manifestWritten`, `built`, `proven`, `candidateSynchronized`, `previous`, `swapped`, `finished`.
package enum VaultEvent: Equatable, Sendable {
  /// The vault's lock, which this process holds now.
  case locked
  /// A candidate of an earlier run, which nothing needs.
  case foundStaleCandidate(path: String)
  /// The removal of that candidate.
  case removedStaleCandidate(path: String)
  /// An unfinished operation that was settled.
  case recovered(VaultRecovery, identifier: String)
  /// An interrupted change that was undone; the previous version `id` is the store as it was before.
  ///
  /// With damage of the journal, SQLite has undone only a part of the change.
  case undone(id: String, JournalDamage?)
  /// A previous version with faults, from when it was kept or later, that takes the store's place all the same.
  ///
  /// The reason is the rest of a sentence that begins with the version.
  case restoredWithFaults(id: String, reason: String)
  /// A `-wal` that can't be read to its end; a copy is kept at the path, with the previous version or for the next.
  case keptLog(path: String, LogDamage)
  /// The exclusive hold on the store, which is one file; `usedWAL` is true if it was in WAL mode.
  case held(usedWAL: Bool)
  /// The operation's manifest, on the disk.
  case manifestWritten(identifier: String)
  /// The candidate, built.
  case built(path: String)
  /// The candidate, proven.
  case proven(path: String)
  /// The candidate, on the disk.
  case candidateSynchronized(path: String)
  /// The old set, on the disk under its second name.
  case previousVersionKept(id: String)
  /// The new store, in place and on the disk.
  case swapped(identifier: String)
  /// The end of the operation, of which only its result is left.
  case finished(identifier: String)
  /// The end of an operation that was given up, and of which nothing is left.
  case rolledBack(identifier: String)
  /// The rest of an operation, for the next run to remove.
  case cleanUpPostponed(identifier: String, FileError)
  /// A failure to put the store back into WAL mode, in which it was; the app that opens it will.
  case journalModeNotRestored(reason: String)
  /// Side files without a store, moved to where they can't be taken for a new store's.
  case movedSideFilesAside(path: String)
  /// A previous version that was removed.
  case pruned(id: String)
  /// A pinned version that was released: it may be removed like any other.
  case released(id: String)
  /// Names in a folder of external data that stand for neither a file nor a folder, and were passed over.
  ///
  /// `count` is their number, and `first` names the first.
  case passedOver(count: Int, first: String)
  /// Attributes that a new file could not be given, although the file that it stands for has them.
  ///
  /// `count` is their number, and `first` names the first.
  case attributesLeftOut(path: String, count: Int, first: String)
  /// The store, set aside.
  case setAside(path: String)
}

/// The way in which an unfinished operation was settled.
package enum VaultRecovery: String, Hashable, Sendable {
  /// A rollback: the store was still the old one, and the preparations were removed.
  case rolledBack
  /// A completion: the store was the new one already, and the rest was done.
  case rolledForward
  /// An undecided outcome: the candidate was removed, and everything that may be a version was kept.
  case undecided
}
