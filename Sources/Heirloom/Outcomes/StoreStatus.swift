/// The relation of a store to the current model, for processes that may not migrate: extensions, widgets.
@nonexhaustive
public enum StoreStatus: String, Hashable, Sendable {
  /// There is no store.
  case noStore
  /// The store has the current model and can be opened.
  case current
  /// The store is of an earlier version and can be opened once the app has migrated it.
  case tooOld
  /// The store is of a version before ``ModelHistory/floor``: this release of the app doesn't migrate it.
  case belowFloor
  /// The store is of a later version, of a newer app.
  case tooNew
  /// The store is being migrated, restored or set aside; if that was interrupted, the app's next launch recovers.
  case inProgress
  /// The store can't be opened now: its protection class keeps it closed while the device is locked. Try again later.
  case protected
  /// The history doesn't have the store's version: a migration that would lose content is refused.
  case unknown
}
