/// A rule for losses that nobody consented to.
///
/// A decision, the delegate's approval of the plan, ``accept`` or the history's `lock.json` gives consent.
/// `heirloom check --acknowledge` notes it in `lock.json` when the version is made.
@nonexhaustive
public enum LossPolicy: String, Hashable, Sendable, CaseIterable {
  /// Goes on as Core Data would; the previous version, which alone holds what was lost, is pinned.
  ///
  /// It is never removed until ``StoreArchive/releasePreviousVersion(_:)`` releases it.
  case keepVersion
  /// Throws an error; the store is as it was.
  ///
  /// The error is ``MigrationAssistantError/lossesNotConsented(storePath:plan:)``.
  case stop
  /// Goes on: the app consents to all losses of all migrations.
  ///
  /// Only a version whose `-wal` SQLite can't read to its end is pinned then.
  case accept
}
