public import Foundation
public import HeirloomMigration

/// A store that was set aside with its files, and its state for this version of the app.
///
/// Its folder is never removed. An app that needs both this store and the one in its place opens ``storeURL`` itself,
/// after ``MigrationAssistant/migrateSetAsideStoreWhereItLies(_:)``, and copies what it needs.
public struct SetAsideStore: Sendable {
  /// The state of a set-aside store for this version of the app.
  @nonexhaustive
  public indirect enum State: Sendable {
    /// It has the current model and can be opened.
    case upToDate
    /// It can be migrated; the plan lists the changes, losses and needed decisions.
    case migratable(MigrationPlan)
    /// Its state is unknown, since the archive has no model of the app.
    case waiting
    /// It can't be opened yet; the error has the reason.
    case incompatible(MigrationAssistantError)
    /// It has returned; `replaced` names the previous version of the store that it replaced, if there was one.
    case putBack(Date?, replaced: String?)
  }

  /// The name of the set-aside store: the readable UTC time, then eight hexadecimal digits.
  public let id: String
  /// The time when it was set aside.
  public let date: Date
  /// The folder that holds the store with its files.
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

/// The outcome of putting a set-aside store back.
@nonexhaustive
public indirect enum SetAsideOutcome: Sendable {
  /// It is in the store's place now.
  ///
  /// `migration` is the report of its migration to the current model, or `nil` if it had that model already. `replaced`
  /// is the store that was there, with the rows that the app wrote since: a previous version that is never pruned;
  /// `nil` if there was no store.
  case putBack(migration: MigrationReport?, replaced: PreviousVersion?)
  /// It had returned before: nothing was done. `replaced` names the previous version of the store that it replaced.
  case putBackBefore(replaced: String?)
}
