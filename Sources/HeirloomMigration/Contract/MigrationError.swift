import HeirloomFormats
import HeirloomModel

/// A failure to plan, build or prove a migration.
@nonexhaustive
public enum MigrationError: Error, Sendable {
  /// A mapping that asks for something impossible.
  case unsupportedMapping(reason: String)
  /// Names of policies in mappings that nobody registered.
  case unknownPolicies(names: [String], known: [String])
  /// An expression of a mapping that can have no value: it names something unknown, or can't be read.
  case invalidExpression(InvalidExpression)
  /// An entity mapping that failed while it ran object by object, or whose value failed for one object.
  case mappingFailed(EntityMappingFailure)
  /// Values from an expression or a policy that are equal where the destination wants them to differ.
  case notUnique(DuplicateObjects)
  /// Contents that the model can't explain: an entity number it doesn't have, a missing table.
  case storeContradictsModel(reason: String)
  /// A store with a configuration's part of its model, and a migration that would lead out of it.
  case unfitConfiguration(String, reason: String)
  /// Stages of the migration that can't be used.
  case unfitStages(StagedMigrationError)
  /// Code of a stage that failed.
  case stageFailed(StageFailure)
  /// A step that wrote another number of rows than the plan counted.
  case unexpectedRowCount(step: String, expected: Int64, written: Int64)
  /// A candidate that failed the proof.
  case proofFailed(findings: [String])
  /// A failure of SQLite.
  case database(reason: String, coreDataCode: Int)
  /// A failure of the delegate or another part of the app.
  case appFailed(any Error)
  /// A decision that answers no possible blocker, or one for which its choice is not possible.
  case unfitDecision(DataDecision, reason: String)
  /// A run that was cancelled.
  case cancelled
}

extension MigrationError: CustomStringConvertible {
  /// One sentence with what was found and what was expected.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .unsupportedMapping(let reason): "The mapping can't be carried out: \(ErrorWords.ended(reason))"
    case .unknownPolicies(let names, let known):
      "The mapping names the \(names.count == 1 ? "policy" : "policies") \(Self.list(names)), which"
        + " \(names.count == 1 ? "is" : "are") not registered; known are: \(known.isEmpty ? "none" : Self.list(known))."
    case .invalidExpression(let expression): expression.description
    case .mappingFailed(let failure): failure.description
    case .unfitConfiguration(let name, let reason):
      "The store holds the configuration \"\(name)\" of its model, and can't be migrated as such: \(ErrorWords.ended(reason))"
    case .unfitStages(let error): error.description
    case .stageFailed(let failure): failure.description
    case .notUnique(let duplicates): duplicates.description
    case .storeContradictsModel(let reason): "The store is not what its model says: \(ErrorWords.ended(reason))"
    case .unexpectedRowCount(let step, let expected, let written):
      "\(step): expected to write \(CountText.counted(expected, "row")) and wrote \(CountText.grouped(written)); rows of an entity number that is none of the"
        + " model's are left out (heirloom verify lists them)."
    case .proofFailed(let findings):
      "The migrated store failed its proof: \(findings.map(ErrorWords.clause).joined(separator: "; "))."
    case .database(let reason, _): ErrorWords.sentence(reason)
    case .appFailed(let error): "The app stopped the migration: \(ErrorWords.sentence(of: error))"
    case .unfitDecision(let decision, let reason): "The decision \(decision) does not fit: \(ErrorWords.ended(reason))"
    case .cancelled: "The migration was cancelled."
    }
  }

  private static func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }

  /// The code of the same error in Core Data's domain.
  public var coreDataCode: Int {
    switch self {
    case .unsupportedMapping, .unknownPolicies, .invalidExpression: 134140
    case .notUnique: 134111
    case .storeContradictsModel, .unfitConfiguration: 134020
    case .unfitStages(let error): error.coreDataCode
    case .unexpectedRowCount, .proofFailed, .appFailed, .mappingFailed, .stageFailed, .unfitDecision: 134110
    case .database(_, let coreDataCode): coreDataCode
    case .cancelled: 134120
    }
  }
}
