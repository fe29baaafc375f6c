/// The way to go on where a migration would lose what is there and nobody consented.
///
/// Somebody consents by a decision, by the delegate's approval of the plan, by ``accept``, or by the history's `lock.json`, where
/// `heirloom check --acknowledge` notes it when the version is made.
@nonexhaustive
public enum LossPolicy: String, Hashable, Sendable, CaseIterable {
  /// Goes on as Core Data would; the previous version, which alone holds what was lost, is pinned: it is never removed until
  /// ``MigrationAssistant/releasePreviousVersion(_:)``.
  case keepVersion
  /// Throws ``MigrationAssistantError/lossesNotConsented(storePath:plan:)``; the store is as it was.
  case stop
  /// Goes on: the app consents to all losses of all migrations.
  case accept
}
