public import HeirloomMapping
public import HeirloomMigration

extension MigrationAssistant {
  /// The app's choices for migrations.
  public struct Configuration: Sendable {
    /// The number of previous versions to keep, at least one.
    public var keptVersions: Int = 1
    /// True to exclude previous versions from the device's backups, false to include them, `nil` to change nothing.
    ///
    /// The default is `nil`, and backups then include them unless the folder was excluded otherwise: a previous
    /// version may be all that holds the content that a migration lost. The choice applies from the next migration on,
    /// to the folder of all previous versions.
    public var excludesPreviousVersionsFromBackup: Bool?
    /// The mapping models to use where their entity hashes fit, before anything is inferred or the delegate is asked.
    ///
    /// A mapping model whose source is the start of the path is never skipped. One from a later version back to the
    /// current one is consent to that direction. <doc:HeavyMappings> has the rules. An event and a warning of the plan
    /// name each one that is not used.
    public var mappings: [MappingModel] = []
    package var mappingLabels: [String] = []
    /// About mapping models that were found unfit before.
    package var leftOutMappings: [String] = []
    /// True if rows with a wrong entity number are known; plans don't search unchanged tables for such rows.
    package var correctsNumbers: Bool = false
    /// Makes the account of a store; an app without one doesn't link its code.
    package var account: (@Sendable (AccountSources) throws -> Void)?
    /// True if parts without a given mapping are inferred.
    ///
    /// If it is false, each hop needs a mapping from ``mappings`` or the delegate. Missing parts of such a mapping are
    /// inferred in any case.
    public var infersMappingModel: Bool = true
    /// The policies and functions that mapping models name; a policy given to a mapping in Swift needs no entry.
    public var policies: MigrationPolicyRegistry = MigrationPolicyRegistry()
    /// The thoroughness of the proof that a candidate must pass before it replaces the store.
    public var proof: ProofLevel = .standard
    /// The maximum wait for another process that migrates.
    public var lockTimeout: Duration = .seconds(30)
    /// The maximum wait for other processes to close the store.
    public var storeTimeout: Duration = .seconds(5)
    /// True to allow volumes whose locks and renames are not reliable, such as network volumes and FAT.
    public var allowsUnsafeVolume: Bool = false
    /// True to continue if the new store can't get the old one's protection class, which sets its encryption.
    public var allowsLostProtection: Bool = false
    /// The decisions about rows that don't fit the current model; the delegate may add to them when it gets a plan.
    public var decisions: [DataDecision] = []
    /// True if a lightweight migration leaves clean-up for after the launch: unused tables and columns, new indexes.
    ///
    /// The store has the current model at once. ``PersistentStore/finishDeferredLightweightMigration()`` or the next
    /// migration cleans up. Postponed columns and tables still hold their values. A migration by code has none.
    public var defersLightweightMigration: Bool = false

    /// The rule for losses without consent.
    public var losses: LossPolicy = .keepVersion
    /// True if a store of an unknown or newer version is migrated even if content is lost.
    ///
    /// ``losses`` applies to these losses.
    public var migratesUnknownVersions: Bool = false

    /// True if a store is not migrated when SQLite can't read its `-wal` to the end.
    ///
    /// SQLite drops the frames after a damaged part without an error. If this is false, the part that SQLite reads is
    /// migrated. The log is kept with the previous version for `StoreSalvage` (of the library `HeirloomSalvage`).
    /// Changes that only the log holds are a loss of the plan, to which ``losses`` applies, and that version is pinned.
    public var stopsAtUnreadableLog: Bool = false

    /// The rule for a store that no model or mapping fits, or whose pages are damaged.
    public var incompatibleStore: IncompatibleStorePolicy = .throw
    /// The observers that receive events besides the delegate: an app's log and its metrics.
    public var observers: [MigrationObserver] = []

    /// Creates the standard configuration.
    public init() {}
  }
}
