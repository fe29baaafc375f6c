public import Foundation
public import HeirloomMigration

/// The outcome of migrating a store to the current model.
@nonexhaustive
public indirect enum MigrationOutcome: Sendable {
  /// There is no store. Nothing was created: open a store and add initial data.
  case noStore
  /// The store already has the current model. Nothing was written to it.
  case upToDate
  /// The store was migrated; the previous version is kept.
  case migrated(MigrationReport)
  /// The store could not be opened and was set aside, as configured: there is no store now.
  case setAside(MigrationNotice)
}

/// The report of a migration.
public struct MigrationReport: Sendable {
  /// The version checksum of the model that the store had.
  public let sourceChecksum: String
  /// The version checksum of the model that the store has now.
  public let destinationChecksum: String
  /// The origin of the source model.
  public let modelSource: ModelOrigin
  /// The plan that was carried out, with losses and rows.
  public let plan: MigrationPlan
  /// The previous version that was kept.
  public let previousVersion: PreviousVersion
  /// The files with quarantined rows, one JSON object per line; they are never removed.
  public let quarantine: [URL]
  /// The time from the start of the call to the end of the migration.
  public let duration: Duration

  package var seconds: Double { duration / .seconds(1) }
}

/// The origin of the model that made a store.
public enum ModelOrigin: String, Hashable, Sendable {
  /// The snapshot beside the store.
  case snapshot
  /// The store's own model cache.
  case cache
  /// The model history, or another given file.
  case file
  /// The delegate.
  case delegate
}
