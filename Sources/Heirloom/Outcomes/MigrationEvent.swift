public import HeirloomMigration
import HeirloomVault

/// Something that happened on the way to a migrated store.
@nonexhaustive
public enum MigrationEvent: Hashable, Sendable {
  /// A candidate that an earlier run left behind was found.
  case foundStaleCandidate(path: String)
  /// That candidate was removed.
  case removedStaleCandidate(path: String)
  /// An operation that an earlier run did not finish was settled: `rolledBack`, `rolledForward` or `undecided`.
  ///
  /// In an undecided case nothing tells which store is the later one: both are kept.
  case recovered(operation: String)
  /// A change that an app or a loss of power interrupted was undone; the version holds the store as it was.
  case undidInterruptedChange(id: String)
  /// Only a part of a change that was interrupted was undone, since its journal is damaged.
  ///
  /// Rows may have values that were never saved. The version `id` holds the store and the journal as they were, and is
  /// pinned; the reason is a sentence with the number of pages.
  case undidPartOfInterruptedChange(id: String, reason: String)
  /// The previous version that was restored has faults: SQLite names them, or it is not as its manifest says.
  case restoredWithFaults(id: String, reason: String)
  /// SQLite can't read the store's `-wal` to its end; a copy is kept with the previous version, or for the next.
  case keptUnreadableLog(path: String, reason: String)
  /// The snapshot is of another version than the store; the store counts.
  case snapshotDisagrees(snapshotChecksum: String, storeChecksum: String)
  /// The snapshot can't be read; the store counts.
  case snapshotUnreadable(reason: String)
  /// The model that made the store was found.
  case foundSourceModel(ModelOrigin, version: String?)
  /// Several versions have the store's hashes, nothing told which one made it, and their renaming identifiers differ.
  case sourceModelUncertain(reason: String)
  /// A mapping model that was given has no part in the migration; the plan's warnings say so too.
  case mappingUnused(reason: String)
  /// A version that was shipped was edited since, in these entities; none where the history's lock has no hashes of them.
  ///
  /// Stores that were made with it as it was may not be recognized. The plan's warnings say so too.
  case versionEdited(String, entities: [String])
  /// The history's lock leaves the step between two versions, given by name, to the app's code, and neither the delegate
  /// nor a mapping has any for it.
  case codeMissing(source: String, destination: String)
  /// A migration begins.
  case started(from: String, to: String)
  /// The store is held: nobody else can read or write it.
  case held
  /// Code of a stage is about to run, on a copy of the store.
  case runningStage(String, handler: StageHandlerKind)
  /// The candidate is complete.
  case built
  /// The candidate is proven.
  case proven
  /// The previous version is kept.
  case previousVersionKept(id: String)
  /// The previous version is pinned: it alone holds what the migration lost without consent, by entity and property.
  case pinned(id: String, losses: [String])
  /// The migrated store is in place.
  case swapped
  /// By decision, rows were put into files instead of the migrated store.
  case quarantined(rows: Int64, paths: [String])
  /// The migration is complete.
  case finished(Duration)
  /// The migration failed; the store is as it was.
  case failed(reason: String)
  /// Something was left for the next run to remove.
  case cleanUpPostponed(reason: String)
  /// A store or side files that could not be read were moved aside, with everything that belongs to them.
  case movedAside(path: String)
  /// Names in a folder of external data were passed over, since they stand for neither a file nor a folder.
  ///
  /// Symbolic links are such names. They are not kept; `count` is their number, and `first` is the first of them.
  case passedOver(count: Int, first: String)
  /// Attributes were left out: a new file could not be given what the file that it stands for has.
  ///
  /// Such are extended attributes and the access list, whose rights nobody gets then. `count` is their number, and
  /// `first` is the first of them.
  case attributesLeftOut(path: String, count: Int, first: String)
  /// A previous version was removed, since a later launch opened the new one.
  case pruned(id: String)
  /// A pinned previous version was released, and is removed in its turn like any other.
  case released(id: String)
}

extension MigrationEvent {
  /// Returns the sentence about an operation of an earlier run, without a full stop.
  ///
  /// - Parameter operation: The operation of ``recovered(operation:)``.
  /// - Returns: The sentence, without one of the operation's raw values.
  package static func words(ofRecovery operation: String) -> String {
    switch VaultRecovery(rawValue: operation) {
    case .rolledBack: "an earlier run was interrupted before it changed the store: what it had prepared was removed"
    case .rolledForward: "an earlier run was interrupted after it changed the store: the rest of its work was done"
    case .undecided, nil:
      "an earlier run was interrupted: its candidate was removed, and every file that may be a version of the store was kept"
    }
  }
}
