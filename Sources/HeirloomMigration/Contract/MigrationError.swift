public import HeirloomFormats
import HeirloomModel

/// A failure to plan, build or prove a migration.
@nonexhaustive
public enum MigrationError: Error, Sendable {
  /// A mapping that asks for something impossible.
  case unsupportedMapping(reason: String)
  /// Names of policies in mappings that aren't registered.
  case unknownPolicies(names: [String], known: [String])
  /// An expression of a mapping that can't be evaluated: it has an unknown name or a syntax error.
  case invalidExpression(InvalidExpression)
  /// An entity mapping that failed while it ran object by object, or a value that failed for one object.
  case mappingFailed(EntityMappingFailure)
  /// Values from an expression or a policy that are equal where the destination requires them to differ.
  case notUnique(DuplicateObjects)
  /// Contents that contradict the model: an entity number it doesn't have, a missing table.
  case storeContradictsModel(reason: String)
  /// A store that holds one configuration of its model, and a migration that would move objects out of it.
  case unfitConfiguration(String, reason: String)
  /// Stages of the migration that can't be used.
  case unfitStages(StagedMigrationError)
  /// Code of a stage that failed.
  case stageFailed(StageFailure)
  /// A step that wrote another number of rows than the plan counted.
  case unexpectedRowCount(step: String, expected: Int64, written: Int64)
  /// A candidate that failed the proof.
  case proofFailed(findings: [String])
  /// A file of the migration that is damaged, as SQLite reports it.
  case damaged(MigratedFile, reason: String)
  /// A volume without room for the data to be written.
  case diskFull(reason: String)
  /// Another failure of SQLite.
  case database(reason: String, coreDataCode: Int)
  /// A failure of the delegate or another part of the app.
  case appFailed(any Error)
  /// A decision that answers no blocker, or whose choice is not possible for it.
  case unfitDecision(DataDecision, reason: String)
  /// A run that was cancelled.
  case cancelled
}

/// One of the two files of a migration.
public enum MigratedFile: String, Hashable, Sendable {
  /// The store that is migrated.
  case store
  /// The store that is being built, or a copy that it is built from.
  case candidate
}

extension MigrationError: ExplainedError {
  /// The part of the migration that failed, with what was expected.
  public var cause: String {
    switch self {
    case .unsupportedMapping(let reason): "The mapping can't be carried out: \(ErrorWords.ended(reason))"
    case .unknownPolicies(let names, let known):
      "The mapping names the \(names.count == 1 ? "policy" : "policies") \(Self.list(names)), which"
        + " \(names.count == 1 ? "is" : "are") not registered; known are: \(known.isEmpty ? "none" : Self.list(known))."
    case .invalidExpression(let expression): expression.cause
    case .mappingFailed(let failure): failure.cause
    case .unfitConfiguration(let name, let reason):
      "The store holds the configuration \"\(name)\" of its model and can't be migrated with it: \(ErrorWords.ended(reason))"
    case .unfitStages(let error): error.cause
    case .stageFailed(let failure): failure.cause
    case .notUnique(let duplicates): duplicates.description
    case .storeContradictsModel(let reason): "The store contradicts its model: \(ErrorWords.ended(reason))"
    case .unexpectedRowCount(let step, let expected, let written):
      "\(step): expected to write \(CountText.counted(expected, "row")) but wrote \(CountText.grouped(written)); rows whose entity number"
        + " isn't in the model are left out."
    case .proofFailed(let findings):
      "The migrated store failed its proof: \(findings.map(ErrorWords.clause).joined(separator: "; "))."
    case .damaged(.store, let reason): "The store is damaged: \(ErrorWords.ended(reason))"
    case .damaged(.candidate, let reason): "The new store is damaged: \(ErrorWords.ended(reason))"
    case .diskFull(let reason): "The disk is full: \(ErrorWords.ended(reason))"
    case .database(let reason, _): ErrorWords.sentence(reason)
    case .appFailed(let error): "The app stopped the migration: \(ErrorWords.sentence(of: error))"
    case .unfitDecision(let decision, let reason): "The decision \(decision) does not fit: \(ErrorWords.ended(reason))"
    case .cancelled: "The migration was cancelled."
    }
  }

  private static func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }

  /// The code of the same error in Core Data's domain.
  public var coreDataCode: Int? {
    switch self {
    case .unsupportedMapping, .unknownPolicies, .invalidExpression: 134140
    case .notUnique: 134111
    case .storeContradictsModel, .unfitConfiguration: 134020
    case .unfitStages(let error): error.coreDataCode
    case .unexpectedRowCount, .proofFailed, .appFailed, .mappingFailed, .stageFailed, .unfitDecision: 134110
    case .damaged: 259
    case .diskFull: 640
    case .database(_, let coreDataCode): coreDataCode
    case .cancelled: 134120
    }
  }

  /// The correction before another attempt; the store is unchanged, and the enclosing error names its file.
  public var help: ErrorHelp {
    let store = DataLocation.store(path: nil)
    return switch self {
    case .unsupportedMapping, .mappingFailed: ErrorHelp(store, "Correct the mapping or its policy, then try again.")
    case .invalidExpression(let error): ErrorHelp(store, error.advice)
    case .unknownPolicies(let names, _):
      ErrorHelp(
        store,
        "Register \(Self.list(names)) in the configuration, or set the Swift classes of the entity mappings: policies are"
          + " part of the app.")
    case .notUnique:
      ErrorHelp(
        store,
        "Make the expression or the policy return unique values, or select fewer objects with the entity mapping's"
          + " condition. A decision (newest, merge, quarantine) applies only to copied objects, not to those that a policy"
          + " makes.")
    case .storeContradictsModel:
      ErrorHelp(
        store, "Verify it. A previous version may be intact, and salvage copies all readable rows to a new store.",
        [.verification, .previousVersions, .salvage])
    case .unfitConfiguration:
      ErrorHelp(store, "Keep the entities of the configuration in it, or migrate with a mapping of the app's own.")
    case .unfitStages(let error): ErrorHelp(store, error.advice)
    case .stageFailed(let failure): ErrorHelp(store, failure.advice)
    case .unexpectedRowCount:
      ErrorHelp(store, "Verify it to list rows that belong to no entity of the model, then try again.", [.verification])
    case .damaged(.store, _):
      ErrorHelp(
        .damagedStore(path: nil),
        "Restore a previous version, or salvage the readable rows into a new store.",
        [.previousVersions, .salvage])
    case .diskFull: ErrorHelp(store, "Free some room on its volume, then try again.")
    case .proofFailed, .damaged(.candidate, _), .database:
      ErrorHelp(
        store,
        "Try again. If it fails again, make a diagnostics archive: it contains what the developers need to find the cause,"
          + " and no value of any row.", [.diagnosticsArchive])
    case .appFailed: ErrorHelp(store, "Correct what the app's code reports, then try again.")
    case .unfitDecision: ErrorHelp(store, "The plan's blockers list the possible decisions.")
    case .cancelled: ErrorHelp(store, "Run again to migrate.")
    }
  }

  /// The error of the mapping, the stage or the app's code.
  public var underlyingError: (any Error)? {
    switch self {
    case .invalidExpression(let error): error
    case .mappingFailed(let error): error
    case .unfitStages(let error): error
    case .stageFailed(let error): error
    case .appFailed(let error): error
    default: nil
    }
  }
}
