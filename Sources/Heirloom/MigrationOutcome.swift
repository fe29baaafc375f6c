public import Foundation
public import HeirloomMigration

/// What a call of ``MigrationAssistant/migrateStore()`` came to.
@nonexhaustive
public enum MigrationOutcome: Sendable {
  /// There is no store. Nothing was created: open a store and add initial data.
  case noStore
  /// The store already has the current model. Nothing was written to it.
  case upToDate
  /// The store was migrated; the previous version is kept.
  case migrated(MigrationReport)
  /// The store could not be opened and was moved aside, since the configuration says so: there is no store now.
  case setAside(MigrationNotice)
}

/// What a migration did.
public struct MigrationReport: Sendable {
  /// The version checksum of the model that the store had.
  public let sourceChecksum: String
  /// The version checksum of the model that the store has now.
  public let destinationChecksum: String
  /// Where the source model was found.
  public let modelSource: ModelSource
  /// The plan that was carried out, with losses and rows.
  public let plan: MigrationPlan
  /// The version that was kept.
  public let retained: PreviousVersion
  /// The files with rows that were put into quarantine, a JSON object a line; they are never removed.
  public let quarantine: [URL]
  /// From the first look at the store to the last sync, in seconds.
  public let seconds: Double
}

/// Where the model that made a store was found.
public enum ModelSource: String, Hashable, Sendable {
  /// In the snapshot beside the store.
  case snapshot
  /// In the store's own model cache.
  case cache
  /// In the model history or another file that was given.
  case file
  /// The delegate gave it.
  case delegate
}
