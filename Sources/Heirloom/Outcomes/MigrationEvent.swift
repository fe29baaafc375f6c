public import HeirloomMigration
import HeirloomVault

/// An event of a migration or another operation on a store.
@nonexhaustive
public enum MigrationEvent: Hashable, Sendable {
  /// A candidate that an earlier run left behind was found.
  case foundStaleCandidate(path: String)
  /// The stale candidate was removed.
  case removedStaleCandidate(path: String)
  /// An interrupted operation was completed or undone: `rolledBack`, `rolledForward` or `undecided`.
  ///
  /// In an undecided case it can't be determined which store is the later one: both are kept.
  case recovered(operation: String)
  /// A change that an app or a loss of power interrupted was rolled back; the version holds the store as it was.
  case undidInterruptedChange(id: String)
  /// An interrupted change was rolled back only in part, since its journal is damaged.
  ///
  /// Rows may have values that were never saved. The version `id` holds the store and the journal as they were, and is
  /// pinned; the reason is a sentence with the number of pages.
  case undidPartOfInterruptedChange(id: String, reason: String)
  /// The restored version has faults: SQLite found them, or the files differ from the manifest.
  case restoredWithFaults(id: String, reason: String)
  /// SQLite can't read the store's `-wal` to its end; a copy is kept with the previous version, or for the next.
  case keptUnreadableLog(path: String, reason: String)
  /// The snapshot is of another version than the store, and is not used.
  case snapshotDisagrees(snapshotChecksum: String, storeChecksum: String)
  /// The snapshot can't be read, and is not used.
  case snapshotUnreadable(reason: String)
  /// The model that made the store was found.
  case foundSourceModel(ModelOrigin, version: String?)
  /// Several versions have the store's hashes but different renaming identifiers, and can't be distinguished.
  case sourceModelUncertain(reason: String)
  /// The migration doesn't use a given mapping model; the plan has a warning too.
  case mappingUnused(reason: String)
  /// A shipped version was edited since, in these entities; none if the history's lock has no hashes of them.
  ///
  /// Stores that were made with the original version may not be recognized. The plan has a warning too.
  case versionEdited(String, entities: [String])
  /// The history's lock assigns a step between two versions to the app's code, and neither the delegate nor a mapping
  /// provides it.
  case codeMissing(source: String, destination: String)
  /// A migration begins.
  case started(from: String, to: String)
  /// The store is held: no other connection can read or write it.
  case held
  /// Code of a stage is about to run, on a copy of the store.
  case runningStage(String, handler: StageHandlerKind)
  /// The candidate is complete.
  case built
  /// The candidate is proven.
  case proven
  /// The previous version is kept.
  case previousVersionKept(id: String)
  /// The previous version is pinned: only it holds the content lost without consent, listed by entity and property.
  case pinned(id: String, losses: [String])
  /// The migrated store is in place.
  case swapped
  /// By decision, rows were written to quarantine files instead of the migrated store.
  case quarantined(rows: Int64, paths: [String])
  /// The migration is complete.
  case finished(Duration)
  /// The migration failed; the store is unchanged.
  case failed(reason: String)
  /// Files were left for the next run to remove.
  case cleanUpPostponed(reason: String)
  /// A store or side files that could not be read were moved aside, with the files that belong to them.
  case movedAside(path: String)
  /// Names in a folder of external data were skipped because they are neither files nor folders.
  ///
  /// Symbolic links are such names. They are not kept; `count` is their number, and `first` is the first of them.
  case passedOver(count: Int, first: String)
  /// Attributes could not be copied to the new file.
  ///
  /// These may be extended attributes or the access list, whose rights are then not granted. `count` is their number,
  /// and `first` is the first of them.
  case attributesLeftOut(path: String, count: Int, first: String)
  /// A previous version was removed, since a later launch opened the new one.
  case pruned(id: String)
  /// A pinned previous version was released, and may be removed like any other.
  case released(id: String)
}

extension MigrationEvent {
  /// Without the operation's raw value and without a full stop.
  package static func words(ofRecovery operation: String) -> String {
    switch VaultRecovery(rawValue: operation) {
    case .rolledBack: "an earlier run was interrupted before it changed the store: its preparations were removed"
    case .rolledForward: "an earlier run was interrupted after it changed the store: its work was completed"
    case .undecided, nil:
      "an earlier run was interrupted: its candidate was removed, and every file that may be a version of the store was kept"
    }
  }
}
