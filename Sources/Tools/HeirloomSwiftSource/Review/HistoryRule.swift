/// The rules of `heirloom check`, whose names stay the same in all releases.
///
/// A rule is about the meaning of a finding: the source of SwiftData's versions and a history of
/// models may break the same one.
package enum HistoryRule: String, CaseIterable, Sendable {
  // MARK: Reading

  case unreadableVersion = "unreadable-version"
  /// A version of Swift source that is ambiguous, so no store is compared with it.
  case uncertainVersion = "uncertain-version"
  /// The list of versions can't be determined from Swift source.
  case undecidedHistory = "undecided-history"
  /// A part of a version's source that the reader didn't understand.
  case notRead = "not-read"
  /// Something in Swift source that can't be checked.
  case uncertain

  // MARK: What was shipped

  case editedAfterRelease = "edited-after-release"
  /// Its model is not that of the version it is named after.
  case editedSnapshot = "edited-snapshot"
  /// The edits don't change the hashes.
  case editedDetails = "edited-details"
  case missingVersion = "missing-version"
  /// Stores of versions before the lock's floor are refused.
  case belowFloor = "below-floor"
  /// The lock doesn't list it.
  case unlockedVersion = "unlocked-version"
  case missingLock = "missing-lock"
  case laterVersion = "later-version"
  case staleAcknowledgement = "stale-acknowledgement"
  /// Acknowledged without kinds, between versions of which one has no model.
  case acknowledgementWithoutModel = "acknowledgement-without-model"
  /// A store, kept as a fixture, that fits no version.
  case unknownStore = "unknown-store"

  // MARK: Names

  /// Names swapped between two versions that a store fits equally, so no migration follows the
  /// rename.
  case renameWithoutMigration = "rename-without-migration"
  /// A removal and an addition that may be one rename.
  case suspectedRename = "suspected-rename"
  /// It matches nothing in earlier versions.
  case renamingIdentifier = "renaming-identifier"

  // MARK: Migrations

  case mappingNeeded = "mapping-needed"
  case policyNeeded = "policy-needed"
  case notTried = "not-tried"
  case mappingUnused = "mapping-unused"
  case loss
  /// Rows that would block a migration, be changed or be lost.
  case dataHazard = "data-hazard"
  case migrationFailed = "migration-failed"
  /// Not everything that the plan promised was kept.
  case notKept = "not-kept"
  case unsoundStore = "unsound-store"
  /// Sample objects that don't satisfy their model.
  case incompleteSample = "incomplete-sample"

  // MARK: CloudKit

  /// A version that can't be mirrored with CloudKit.
  case cloudKitModel = "cloudkit-model"
  /// A version that changes CloudKit's deployed schema.
  case cloudKitSchema = "cloudkit-schema"

  // MARK: SwiftData's versions and plans

  /// Two versions of a plan with the same hashes, which make SwiftData crash the app.
  case equalChecksums = "equal-checksums"
  /// A class that has another name in the next version.
  case lostEntity = "lost-entity"
  /// A type of the current app in an older version.
  case liveType = "live-type"
  case sharedClassName = "shared-class-name"
  case reusedIdentifier = "reused-identifier"
  case fallingIdentifier = "falling-identifier"
  case missingStage = "missing-stage"
  /// A stage that doesn't go from a version to the next one.
  case strayStage = "stray-stage"
  case schemaOutsidePlan = "schema-outside-plan"
  case repeatedSchema = "repeated-schema"
  /// A container doesn't open the last version of its plan.
  case containerSchema = "container-schema"
  /// A required property without a default value for existing rows.
  case missingDefault = "missing-default"
  /// A property that is renamed a second time, or whose former name doesn't exist.
  case lostFormerName = "lost-former-name"
  /// Rows of the previous version may violate it.
  case newConstraint = "new-constraint"
  /// A unique property with a constant value for all rows.
  case constantUnique = "constant-unique"
  /// A class in a stage's code that the stage can't access.
  case foreignTypeInStage = "foreign-type-in-stage"
  /// A stage's code that changes objects and doesn't save them.
  case missingSave = "missing-save"
  /// A property whose values can't be converted to its new type.
  case changedType = "changed-type"
  /// A removed raw value that rows may have.
  case narrowedEnum = "narrowed-enum"
  case unversionedModels = "unversioned-models"

  /// Their findings about the same subject say less.
  ///
  /// For a rule that supersedes itself, the finding with a place in Swift source says more.
  var supersedes: Set<HistoryRule> {
    switch self {
    case .missingDefault, .newConstraint: [.dataHazard]
    case .suspectedRename, .lostEntity: [.suspectedRename]
    case .editedAfterRelease, .missingVersion: [self]
    // A version that the source doesn't determine was neither edited nor removed.
    case .uncertain: [.editedAfterRelease, .missingVersion]
    case .uncertainVersion: [.uncertain]
    default: []
    }
  }
}
