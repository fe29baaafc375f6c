public import Foundation
public import HeirloomMigration

/// The outcome of bringing a store to the current model.
@nonexhaustive
public indirect enum MigrationOutcome: Sendable {
  /// There is no store. Nothing was created: open a store and add initial data.
  case noStore
  /// The store already has the current model. Nothing was written to it.
  case upToDate
  /// The store was migrated; the previous version is kept.
  case migrated(MigrationReport)
  /// The store could not be opened and was set aside, since the configuration says so: there is no store now.
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
  /// The files with rows that were put into quarantine, a JSON object a line; they are never removed.
  public let quarantine: [URL]
  /// The time from the first look at the store to the last sync.
  public let duration: Duration

  /// The same time in seconds, as the tool's JSON has it.
  package var seconds: Double { duration / .seconds(1) }
}

/// The origin of the model that made a store.
public enum ModelOrigin: String, Hashable, Sendable {
  /// The snapshot beside the store.
  case snapshot
  /// The store's own model cache.
  case cache
  /// The model history, or another file that was given.
  case file
  /// The delegate.
  case delegate
}
