public import HeirloomMapping
public import HeirloomMigration

extension MigrationAssistant {
  /// What an app may choose.
  public struct Configuration: Sendable {
    /// Previous versions that are kept, at least one.
    public var keptVersions: Int = 1
    /// Mapping models that are used where their entity hashes fit, before anything is inferred or asked.
    ///
    /// None is passed over that starts where the path does, and one that leads back from a later version to the current one is
    /// consent to that direction: ``MigrationPath`` has the rules. One that is not used is told as an event and as a warning of
    /// the plan.
    public var mappings: [MappingModel] = []
    /// What sentences call each of ``mappings``, such as its file; they are counted where there are none.
    package var mappingLabels: [String] = []
    /// Sentences about mapping models that were found unfit before, and are not in ``mappings``.
    package var leftOutMappings: [String] = []
    /// Whether what no given mapping says is inferred; without, each step needs a mapping of ``mappings`` or of the delegate.
    ///
    /// What a mapping leaves open is inferred in any case.
    public var infersMappingModel: Bool = true
    /// The policies and functions that mapping models name; a policy that a mapping was given in Swift needs no entry.
    public var policies: MigrationPolicyRegistry = MigrationPolicyRegistry()
    /// How thoroughly the migrated store is proven before it takes the store's place.
    public var proof: ProofLevel = .standard
    /// How long to wait for another process that migrates, in seconds.
    public var lockTimeout: Double = 30
    /// How long to wait for other processes to close the store, in seconds.
    public var storeTimeout: Double = 5
    /// Whether to work on volumes whose locks and renames can't be trusted, such as network volumes and FAT.
    public var allowsUnsafeVolume: Bool = false
    /// What is to be done with rows that don't fit the current model; the delegate may add to it when it sees a plan.
    public var decisions: [DataDecision] = []
    /// Whether a lightweight migration leaves clean-up for after the launch: tables and columns without use, new indexes.
    ///
    /// The store has the current model at once. ``PersistentStore/finishDeferredLightweightMigration()`` cleans up, or the next
    /// migration. Columns and tables that wait still hold their values, and a migration by code leaves nothing.
    public var defersLightweightMigration: Bool = false

    /// The way to go on where the migration would lose what is there and nobody consented.
    public var losses: LossPolicy = .keepVersion
    /// Whether a store of an unknown or newer version is migrated although something of it is lost; what becomes of the losses,
    /// ``losses`` says.
    public var migratesUnknownVersions: Bool = false

    /// Whether a store is left alone whose `-wal` SQLite can't read to its end.
    ///
    /// SQLite drops what comes after a damaged part, and says nothing. Without, what it reads is migrated, the log is kept with the
    /// previous version for `StoreSalvage` (of the library `HeirloomSalvage`), and a warning of the plan says so.
    public var stopsAtUnreadableLog: Bool = false

    /// What becomes of a store that no model or mapping fits, or whose pages are damaged.
    public var incompatibleStore: IncompatibleStorePolicy = .throw
    /// Told of what happens, besides the delegate: an app's log and its metrics.
    public var observers: [MigrationObserver] = []

    /// Creates the standard configuration.
    public init() {}
  }
}
