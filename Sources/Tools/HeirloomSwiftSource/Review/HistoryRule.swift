/// The rules of `heirloom check`, whose names stay the same in all releases.
///
/// A rule is about the meaning of a finding: the source of SwiftData's versions and a history of models may break the
/// same one.
package enum HistoryRule: String, CaseIterable, Sendable {
  // MARK: Reading

  /// A version that can't be read.
  case unreadableVersion = "unreadable-version"
  /// A version of Swift source that is ambiguous, so no store is compared with it.
  case uncertainVersion = "uncertain-version"
  /// Swift source from which the list of versions can't be determined.
  case undecidedHistory = "undecided-history"
  /// A part of a version's source that the reader didn't understand.
  case notRead = "not-read"
  /// Something in Swift source that can't be checked.
  case uncertain

  // MARK: What was shipped

  /// A shipped version that was edited afterwards.
  case editedAfterRelease = "edited-after-release"
  /// A snapshot whose model is not that of the version it is named after.
  case editedSnapshot = "edited-snapshot"
  /// A version with edits that don't change its hashes.
  case editedDetails = "edited-details"
  /// A shipped version whose model is missing.
  case missingVersion = "missing-version"
  /// The lock's floor: stores of earlier versions are refused.
  case belowFloor = "below-floor"
  /// A version that the lock doesn't list.
  case unlockedVersion = "unlocked-version"
  /// A history without a lock.
  case missingLock = "missing-lock"
  /// A shipped version after the current one.
  case laterVersion = "later-version"
  /// An entry of the lock that has no effect.
  case staleAcknowledgement = "stale-acknowledgement"
  /// An acknowledgement without kinds, between versions of which one has no model.
  case acknowledgementWithoutModel = "acknowledgement-without-model"
  /// A store, kept as a fixture, that fits no version.
  case unknownStore = "unknown-store"

  // MARK: Names

  /// Names swapped between two versions that a store fits equally, so no migration follows the rename.
  case renameWithoutMigration = "rename-without-migration"
  /// A removal and an addition that may be one rename.
  case suspectedRename = "suspected-rename"
  /// A renaming identifier that matches nothing in earlier versions.
  case renamingIdentifier = "renaming-identifier"

  // MARK: Migrations

  /// A step for which no mapping can be inferred.
  case mappingNeeded = "mapping-needed"
  /// A mapping model that needs policies of the app.
  case policyNeeded = "policy-needed"
  /// A version or a store for which nothing was tried.
  case notTried = "not-tried"
  /// A mapping model that no migration uses.
  case mappingUnused = "mapping-unused"
  /// Content that a step from one version to the next loses.
  case loss
  /// Rows that would block a migration, be changed or be lost.
  case dataHazard = "data-hazard"
  /// A migration that failed.
  case migrationFailed = "migration-failed"
  /// A migration that didn't keep everything the plan promised.
  case notKept = "not-kept"
  /// A migrated store that isn't sound.
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
  /// Two classes with the same name in a schema.
  case sharedClassName = "shared-class-name"
  /// The same version identifier in two versions of a plan.
  case reusedIdentifier = "reused-identifier"
  /// A version identifier that is lower than the one before it.
  case fallingIdentifier = "falling-identifier"
  /// Two neighbouring versions without a stage between them.
  case missingStage = "missing-stage"
  /// A stage that doesn't go from a version to the next one.
  case strayStage = "stray-stage"
  /// A versioned schema that no plan lists.
  case schemaOutsidePlan = "schema-outside-plan"
  /// A versioned schema that is declared more than once.
  case repeatedSchema = "repeated-schema"
  /// A container that doesn't open the last version of its plan.
  case containerSchema = "container-schema"
  /// A required property without a default value for existing rows.
  case missingDefault = "missing-default"
  /// A property that is renamed a second time, or whose former name doesn't exist.
  case lostFormerName = "lost-former-name"
  /// A constraint that rows of the previous version may violate.
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
  /// Classes without any versioned schema.
  case unversionedModels = "unversioned-models"

  /// The rules whose findings about the same subject say less.
  ///
  /// For a rule that supersedes itself, the finding with a place in Swift source says more.
  var supersedes: Set<HistoryRule> {
    switch self {
    case .missingDefault, .newConstraint: [.dataHazard]
    case .suspectedRename, .lostEntity: [.suspectedRename]
    case .editedAfterRelease, .missingVersion: [self]
    // What the source doesn't determine was neither edited nor removed.
    case .uncertain: [.editedAfterRelease, .missingVersion]
    case .uncertainVersion: [.uncertain]
    default: []
    }
  }
}
