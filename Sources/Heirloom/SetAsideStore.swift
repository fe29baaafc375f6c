public import Foundation
public import HeirloomMigration

/// A store that was moved aside, with all that belongs to it, and what this version of the app can make of it.
///
/// Its folder is never removed, whatever becomes of the store. An app that wants both, the store in its place and this one, opens
/// ``storeURL`` itself, after ``MigrationAssistant/migrateSetAsideStoreWhereItLies(_:)``, and copies what it needs.
public struct SetAsideStore: Sendable {
  /// What this version of the app can make of a store that was moved aside.
  @nonexhaustive
  public enum State: Sendable {
    /// It has the current model and opens as it is.
    case upToDate
    /// It can be migrated: what that would do, lose and ask for.
    case migratable(MigrationPlan)
    /// It can't be opened yet, and why.
    case incompatible(MigrationAssistantError)
    /// It has returned to its place; `replaced` names the previous version that holds the store that was there, if there was one.
    case putBack(Date?, replaced: String?)
  }

  /// The name of the set: the UTC time as people read it, then eight hexadecimal digits.
  public let id: String
  /// When it was moved aside.
  public let date: Date
  /// The folder that holds the store with all that belongs to it.
  public let folderURL: URL
  /// The store's main file.
  public let storeURL: URL
  /// The snapshot of the store's model, for a ``ModelController``; there may be none.
  public let snapshotURL: URL
  /// What was to be told of it, acknowledged or not; `nil` if nothing was.
  public let notice: MigrationNotice?
  /// The version checksum of its model; `nil` if it can't be read.
  public let versionChecksum: String?
  /// The name of its version in the history; `nil` if it is not there.
  public let versionName: String?
  /// What this version of the app can make of it.
  public let state: State
}

/// What the return of a store that was moved aside came to.
@nonexhaustive
public enum SetAsideOutcome: Sendable {
  /// It is in the store's place now.
  ///
  /// `migration` is what bringing it to the current model did, or `nil` if it had that model already. `replaced` is the store that
  /// was there, with the rows that the app wrote since: a previous version that is never pruned; `nil` if there was no store.
  case putBack(migration: MigrationReport?, replaced: PreviousVersion?)
  /// It had returned before: nothing was done. `replaced` names the previous version that holds the store that was there then.
  case putBackBefore(replaced: String?)
}
