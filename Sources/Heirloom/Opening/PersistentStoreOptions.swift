public import HeirloomMigration

/// The options for opening a store.
public struct PersistentStoreOptions {
  /// True if a store of another version is migrated first.
  ///
  /// Otherwise opening it fails with `incompatible`, as it does for a store that is only read.
  public var migratesAutomatically: Bool = true
  /// True if what no given mapping says is inferred; the value is that of `migration`.
  public var infersMappingModel: Bool {
    get { migration.infersMappingModel }
    set { migration.infersMappingModel = newValue }
  }
  /// The manager that leads the store stage by stage where code must take part.
  public var stagedManager: StagedMigrationManager?
  /// True if a migration leaves the clean-up that can wait for later; the value is that of `migration`.
  public var defersLightweightMigration: Bool {
    get { migration.defersLightweightMigration }
    set { migration.defersLightweightMigration = newValue }
  }
  /// The configuration whose entities the store holds; `nil` for all.
  public var configuration: String?
  /// True if nothing is to be written: no new store, no migration, no snapshot.
  public var isReadOnly: Bool = false
  /// The choices of a migration: mappings, policies, decisions, times to wait, the number of versions to keep.
  public var migration: MigrationAssistant.Configuration = MigrationAssistant.Configuration()
  /// The delegate, which is asked what can't be inferred and told what happens; kept as long as the options are.
  public var delegate: (any MigrationAssistantDelegate)?
  /// The controller that keeps the last-used model; `nil` for the snapshot beside the store.
  public var modelController: ModelController?
  /// The app's version, which is archived with the model for people.
  public var applicationVersion: String?

  /// Creates the standard options: a missing store is made, and one of another version is migrated by inference.
  public init() {}
}
