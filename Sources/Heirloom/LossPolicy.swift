/// A rule for losses without consent.
///
/// A decision, the delegate's approval of the plan, ``accept`` or the history's `lock.json` gives consent.
/// `heirloom check --acknowledge` records it in `lock.json` when the version is developed.
@nonexhaustive
public enum LossPolicy: String, Hashable, Sendable, CaseIterable {
  /// Continues as Core Data would; the previous version, which alone holds the lost content, is pinned.
  ///
  /// It is never removed until ``StoreArchive/releasePreviousVersion(_:)`` releases it.
  case keepVersion
  /// Throws an error; the store is unchanged.
  ///
  /// The error is ``MigrationAssistantError/lossesNotConsented(storePath:plan:)``.
  case stop
  /// Continues: the app consents to all losses of all migrations.
  ///
  /// Only a version whose `-wal` SQLite can't read to its end is pinned.
  case accept
}
