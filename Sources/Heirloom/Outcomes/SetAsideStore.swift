public import Foundation
public import HeirloomMigration

/// A store that was set aside with all that belongs to it, and its state for this version of the app.
///
/// Its folder is never removed, whatever becomes of the store. An app that wants both, this store and the one in its
/// place, opens ``storeURL`` itself, after ``MigrationAssistant/migrateSetAsideStoreWhereItLies(_:)``, and copies what
/// it needs.
public struct SetAsideStore: Sendable {
  /// The state of a set-aside store for this version of the app.
  @nonexhaustive
  public indirect enum State: Sendable {
    /// It has the current model and opens as it is.
    case upToDate
    /// It can be migrated; the plan tells what that would do, lose and ask for.
    case migratable(MigrationPlan)
    /// It waits: an archive that knows no model of the app can't tell more.
    case waiting
    /// It can't be opened yet; the error says why.
    case incompatible(MigrationAssistantError)
    /// It has returned; `replaced` names the previous version of the store that was in its place, if there was one.
    case putBack(Date?, replaced: String?)
  }

  /// The name of the set-aside store: the UTC time as people read it, then eight hexadecimal digits.
  public let id: String
  /// The time at which it was set aside.
  public let date: Date
  /// The folder that holds the store with all that belongs to it.
  public let folderURL: URL
  /// The store's main file.
  public let storeURL: URL
  /// The snapshot of the store's model, for a model controller; there may be none.
  public let snapshotURL: URL
  /// The notice of it, acknowledged or not; `nil` if there is none.
  public let notice: MigrationNotice?
  /// The version checksum of its model; `nil` if it can't be read.
  public let versionChecksum: String?
  /// The name of its version in the history; `nil` if the history doesn't have it.
  public let versionName: String?
  /// The store's state for this version of the app.
  public let state: State
}

/// The outcome of bringing a set-aside store back.
@nonexhaustive
public indirect enum SetAsideOutcome: Sendable {
  /// It is in the store's place now.
  ///
  /// `migration` is the report of bringing it to the current model, or `nil` if it had that model already. `replaced`
  /// is the store that was there, with the rows that the app wrote since: a previous version that is never pruned;
  /// `nil` if there was no store.
  case putBack(migration: MigrationReport?, replaced: PreviousVersion?)
  /// It had returned before: nothing was done. `replaced` names the previous version of the store there at that time.
  case putBackBefore(replaced: String?)
}
