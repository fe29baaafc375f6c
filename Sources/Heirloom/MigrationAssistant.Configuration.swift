public import HeirloomMapping
public import HeirloomMigration

extension MigrationAssistant {
  /// The choices of an app.
  public struct Configuration: Sendable {
    /// The number of previous versions to keep, at least one.
    public var keptVersions: Int = 1
    /// True to keep previous versions out of the device's backups, false to have them in, `nil` to leave that as it is.
    ///
    /// The standard is to leave it, and nothing is out of the backups then unless somebody has put it there: a previous
    /// version may be all that holds what a migration lost. The choice holds from the next migration on, for the folder
    /// of all previous versions.
    public var excludesPreviousVersionsFromBackup: Bool?
    /// The mapping models to use where their entity hashes fit, before anything is inferred or asked.
    ///
    /// None that starts where the path does is passed over. One that leads back from a later version to the current one
    /// is consent to that direction. <doc:HeavyMappings> has the rules. An event and a warning of the plan name each
    /// one that is not used.
    public var mappings: [MappingModel] = []
    /// The name of each mapping model in sentences, such as its file; without names, mapping models are numbered.
    package var mappingLabels: [String] = []
    /// The sentences about mapping models that were found unfit before and left out.
    package var leftOutMappings: [String] = []
    /// True if rows are known whose entity number isn't their table's: a plan doesn't ask about tables whose rows stay as
    /// they are.
    package var correctsNumbers: Bool = false
    /// The function that makes the account of a store; an app that asks for none doesn't link it.
    package var account: (@Sendable (AccountSources) throws -> Void)?
    /// True if what no given mapping says is inferred.
    ///
    /// If it is false, each hop needs a mapping of ``mappings`` or of the delegate. What a mapping leaves open is
    /// inferred in any case.
    public var infersMappingModel: Bool = true
    /// The policies and functions that mapping models name; a policy that a mapping was given in Swift needs no entry.
    public var policies: MigrationPolicyRegistry = MigrationPolicyRegistry()
    /// The thoroughness of the proof that a candidate passes before it takes the store's place.
    public var proof: ProofLevel = .standard
    /// The longest wait for another process that migrates.
    public var lockTimeout: Duration = .seconds(30)
    /// The longest wait for other processes to close the store.
    public var storeTimeout: Duration = .seconds(5)
    /// True to allow volumes whose locks and renames can't be trusted, such as network volumes and FAT.
    public var allowsUnsafeVolume: Bool = false
    /// True to go on where the new store can't get the old one's protection class, by which Apple's systems encrypt it.
    public var allowsLostProtection: Bool = false
    /// The decisions about rows that don't fit the current model; the delegate may add to them when it sees a plan.
    public var decisions: [DataDecision] = []
    /// True if a lightweight migration leaves clean-up for after the launch: unused tables and columns, new indexes.
    ///
    /// The store has the current model at once. ``PersistentStore/finishDeferredLightweightMigration()`` or the next
    /// migration cleans up. Columns and tables that wait still hold their values. A migration by code leaves nothing.
    public var defersLightweightMigration: Bool = false

    /// The rule for losses that nobody consented to.
    public var losses: LossPolicy = .keepVersion
    /// True if a store of an unknown or newer version is migrated even if something of it is lost.
    ///
    /// ``losses`` says what becomes of the losses.
    public var migratesUnknownVersions: Bool = false

    /// True if a store is left alone when SQLite can't read its `-wal` to the end.
    ///
    /// SQLite drops what comes after a damaged part, and says nothing. If this is false, what SQLite reads is migrated.
    /// The log is kept with the previous version for `StoreSalvage` (of the library `HeirloomSalvage`). Changes that
    /// only the log holds are a loss of the plan, to which ``losses`` applies, and that version is pinned.
    public var stopsAtUnreadableLog: Bool = false

    /// The rule for a store that no model or mapping fits, or whose pages are damaged.
    public var incompatibleStore: IncompatibleStorePolicy = .throw
    /// The observers that hear what happens, besides the delegate: an app's log and its metrics.
    public var observers: [MigrationObserver] = []

    /// Creates the standard configuration.
    public init() {}
  }
}
