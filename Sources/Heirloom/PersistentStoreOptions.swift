public import HeirloomMigration

/// How a store is opened.
public struct PersistentStoreOptions {
  /// Whether a store of another version is migrated first.
  ///
  /// Without, opening it fails with `incompatible`, and so it does for a store that is only read.
  public var migratesAutomatically: Bool = true
  /// Whether what no given mapping says is inferred; the one in ``migration``.
  public var infersMappingModel: Bool {
    get { migration.infersMappingModel }
    set { migration.infersMappingModel = newValue }
  }
  /// Leads the store stage by stage where code must take part.
  public var stagedManager: StagedMigrationManager?
  /// Whether a migration leaves the clean-up that can wait for later; the one in ``migration``.
  public var defersLightweightMigration: Bool {
    get { migration.defersLightweightMigration }
    set { migration.defersLightweightMigration = newValue }
  }
  /// The configuration whose entities the store holds; `nil` for all.
  public var configuration: String?
  /// Whether nothing is to be written: no new store, no migration, no snapshot.
  public var isReadOnly: Bool = false
  /// What a migration may choose: mappings, policies, decisions, how long to wait, how many versions to keep.
  public var migration: MigrationAssistant.Configuration = MigrationAssistant.Configuration()
  /// Asked what can't be inferred, and told what happens; kept as long as the options are.
  public var delegate: (any MigrationAssistantDelegate)?
  /// Keeps the last-used model; `nil` for the snapshot beside the store.
  public var modelController: ModelController?
  /// The app's version, which is archived with the model for people.
  public var applicationVersion: String?

  /// Creates the standard options: the store is made if there is none, and migrated by inference if it is of another version.
  public init() {}
}
