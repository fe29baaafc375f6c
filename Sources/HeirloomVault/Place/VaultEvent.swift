package import HeirloomStore

/// The order in a migration: `locked`, events of a recovery, `held`, `manifestWritten`, `built`,
/// `proven`, `candidateSynchronized`, `previousVersionKept`, `swapped`, `finished`.
package enum VaultEvent: Equatable, Sendable {
  case locked
  case foundStaleCandidate(path: String)
  case removedStaleCandidate(path: String)
  case recovered(VaultRecovery, identifier: String)
  /// With damage of the journal, SQLite has rolled back only a part of the change.
  case undone(id: String, JournalDamage?)
  /// The reason is the rest of a sentence that begins with the version.
  case restoredWithFaults(id: String, reason: String)
  /// The copy is at the path, with the previous version or for the next one.
  case keptLog(path: String, LogDamage)
  /// The mode before the hold.
  case held(JournalMode)
  case manifestWritten(identifier: String)
  case built(path: String)
  case proven(path: String)
  case candidateSynchronized(path: String)
  case previousVersionKept(id: String)
  /// The new store is in place and on the disk.
  case swapped(identifier: String)
  case finished(identifier: String)
  case rolledBack(identifier: String)
  case cleanUpPostponed(identifier: String, FileError)
  /// The app puts the store back into WAL mode when it opens it.
  case journalModeNotRestored(reason: String)
  case movedSideFilesAside(path: String)
  case pruned(id: String)
  case released(id: String)
  /// Names in a folder of external data that are neither files nor folders.
  case passedOver(count: Int, first: String)
  case attributesLeftOut(path: String, count: Int, first: String)
  case setAside(path: String)
}

package enum VaultRecovery: String, Hashable, Sendable {
  /// The store was still the old one, and the preparations were removed.
  case rolledBack
  /// The store was the new one already, and the operation was completed.
  case rolledForward
  /// The candidate was removed, and everything that may be a version was kept.
  case undecided
}
