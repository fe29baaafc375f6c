public import HeirloomMigration

/// The options for opening a store.
public struct PersistentStoreOptions {
  /// True if a store of another version is migrated first.
  ///
  /// Otherwise opening it fails with `incompatible`, as it does for a store that is only read.
  public var migratesAutomatically: Bool = true
  /// True if parts without a given mapping are inferred; the value is that of `migration`.
  public var infersMappingModel: Bool {
    get { migration.infersMappingModel }
    set { migration.infersMappingModel = newValue }
  }
  /// The manager that migrates the store stage by stage, with code.
  public var stagedManager: StagedMigrationManager?
  /// True if a migration postpones clean-up; the value is that of `migration`.
  public var defersLightweightMigration: Bool {
    get { migration.defersLightweightMigration }
    set { migration.defersLightweightMigration = newValue }
  }
  /// The configuration whose entities the store holds; `nil` for all.
  public var configuration: String?
  /// True if nothing may be written: no new store, no migration, no snapshot.
  public var isReadOnly: Bool = false
  /// The configuration of migrations: mappings, policies, decisions, time limits, the number of versions to keep.
  public var migration: MigrationAssistant.Configuration = MigrationAssistant.Configuration()
  /// The delegate, which answers what can't be inferred and receives events; the options retain it.
  public var delegate: (any MigrationAssistantDelegate)?
  /// The controller that keeps the last-used model; `nil` for the snapshot beside the store.
  public var modelController: ModelController?
  /// The app's version, archived with the model for display.
  public var applicationVersion: String?

  /// Creates the default options: a missing store is created, and one of another version is migrated by inference.
  public init() {}
}
