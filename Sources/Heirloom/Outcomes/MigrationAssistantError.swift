public import HeirloomFormats
public import HeirloomMapping
public import HeirloomMigration
public import HeirloomStore
import HeirloomVault

/// The reason why a store was not migrated, or not opened.
///
/// In every case the data are where they were. ``unreadableStore(_:)`` reports problems of the store itself, and
/// stores of another version if migration is off.
@nonexhaustive
// Indirect: with the plan inline, each copy, and each of the many types that hold one, would be thousands of bytes of
// code.
public indirect enum MigrationAssistantError: Error, Sendable {
  /// The store can't be read.
  case unreadableStore(StoreError)
  /// No model fits the store: not the snapshot, not the history, not its own cache.
  case noModel(storePath: String, nearest: [NearVersion])
  /// The store is of a version that the history doesn't have, and may come from a newer app.
  ///
  /// The plan has the losses of a migration. Without a plan, no mapping can be inferred, and the obstacles say why.
  case unknownVersion(storePath: String, plan: MigrationPlan?, obstacles: [MappingObstacle])
  /// The store has all entities of versions of the history, and others that no version has.
  ///
  /// It was made with a model that is merged from these versions and another one, or comes from a newer app. There is a
  /// plan if a migration is possible that would lose content.
  case partsMissing(storePath: String, versions: [String], entities: [String], plan: MigrationPlan?)
  /// The store is of a version after the current one, as when the app was set back to an earlier release.
  ///
  /// Nothing was written. ``StoreArchive/restorePreviousVersion(_:)`` goes back to
  /// ``NewerStore/previousVersion``.
  case newerVersion(NewerStore)
  /// The store is of a version before ``ModelHistory/floor``, the oldest one whose stores are still migrated.
  ///
  /// Nothing was written. A release of the app that still has the version can migrate the store.
  case belowFloor(storePath: String, versionName: String, floor: String)
  /// The mapping can't be inferred and none was given; without obstacles, inference is off.
  ///
  /// The skeleton is Swift source to start a mapping from, if there is something to fill in.
  case mappingNeeded(storePath: String, obstacles: [MappingObstacle], skeleton: String?)
  /// Rows don't fit the destination, and a decision about them is needed.
  case decisionNeeded(storePath: String, plan: MigrationPlan)
  /// The migration would lose content without consent, and the configuration says to stop then.
  case lossesNotConsented(storePath: String, plan: MigrationPlan)
  /// The delegate refused the plan.
  case refused(storePath: String, plan: MigrationPlan)
  /// The snapshot is not archived while the store beside it is of another version.
  case storeNotMigrated(storePath: String)
  /// Another process holds the store or is migrating it.
  case storeInUse(storePath: String, reason: String)
  /// No migration can begin here; the error has the reason.
  ///
  /// Examples are permissions, links, the kind of volume, no thread, or a delegate that another thread may not call.
  case unfitLocation(storePath: String, any ExplainedError)
  /// The volume has too little space; the figures were known before anything was changed.
  case notEnoughSpace(SpaceShortage)
  /// The migration was made but may not survive a loss of power; run again to determine the outcome.
  case outcomeUnknown(storePath: String, reason: String)
  /// Building or proving failed.
  case failed(storePath: String, MigrationError)
  /// No previous version or set-aside store has this name, or it can't be read.
  case noSuchVersion(storePath: String, reason: String)
}

extension MigrationAssistantError {
  /// A stable name of the case, for logs and programs.
  public var code: String {
    switch self {
    case .unreadableStore: "unreadableStore"
    case .noModel: "noModel"
    case .unknownVersion: "unknownVersion"
    case .partsMissing: "partsMissing"
    case .newerVersion: "newerVersion"
    case .belowFloor: "belowFloor"
    case .mappingNeeded: "mappingNeeded"
    case .decisionNeeded: "decisionNeeded"
    case .lossesNotConsented: "lossesNotConsented"
    case .refused: "refused"
    case .storeNotMigrated: "storeNotMigrated"
    case .storeInUse: "storeInUse"
    case .unfitLocation: "unfitLocation"
    case .notEnoughSpace: "notEnoughSpace"
    case .outcomeUnknown: "outcomeUnknown"
    case .failed(_, .cancelled): "cancelled"
    case .failed(_, .unfitDecision): "unfitDecision"
    case .failed: "failed"
    case .noSuchVersion: "noSuchVersion"
    }
  }

  /// The code of the same error in Core Data's domain, or `nil` if there is none.
  public var coreDataCode: Int? {
    switch self {
    case .unreadableStore(let error): error.coreDataCode
    case .noModel: 134130
    case .unknownVersion, .partsMissing, .newerVersion, .belowFloor, .storeNotMigrated: 134100
    case .mappingNeeded(_, let obstacles, _): obstacles.isEmpty ? 134140 : 134190
    case .decisionNeeded(_, let plan): plan.blockers.contains { $0.kind == "duplicate" } ? 134111 : 134110
    case .lossesNotConsented: 134110
    case .refused: 134120
    case .storeInUse: 134090
    case .unfitLocation(_, let error): error.coreDataCode
    case .notEnoughSpace: 640
    case .outcomeUnknown: 134110
    case .failed(_, let error): error.coreDataCode
    case .noSuchVersion: nil
    }
  }

  /// The file that still holds the data.
  public var storePath: String {
    switch self {
    case .unreadableStore(let error): error.path
    case .newerVersion(let store): store.storePath
    case .notEnoughSpace(let shortage): shortage.storePath
    case .noModel(let path, _), .unknownVersion(let path, _, _), .partsMissing(let path, _, _, _),
      .belowFloor(let path, _, _),
      .mappingNeeded(let path, _, _), .decisionNeeded(let path, _), .lossesNotConsented(let path, _),
      .refused(let path, _), .storeNotMigrated(let path),
      .storeInUse(let path, _), .unfitLocation(let path, _), .outcomeUnknown(let path, _), .failed(let path, _),
      .noSuchVersion(let path, _):
      path
    }
  }
}
