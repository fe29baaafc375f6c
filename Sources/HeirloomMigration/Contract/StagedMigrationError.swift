public import HeirloomFormats
import HeirloomModel

/// All violations of the rules for a migration's stages.
public struct StagedMigrationError: Error, Hashable, Sendable {
  /// At least one.
  package let violations: [Violation]

  package init(_ violations: [Violation]) {
    self.violations = violations
  }

  /// A broken rule; stages are named by their position, counted from 1, and their label.
  package enum Violation: Hashable, Sendable {
    case noStages
    case emptyStage(stage: String)
    /// A custom stage from a version to the same version.
    case standstill(stage: String)
    case duplicateVersion(checksum: String, stages: [String])
    case gap(after: String, before: String)
    case wrongOrder(stage: String)
    /// A known version that is in no stage, so its stores can't be migrated.
    case missingVersion(checksum: String, name: String?)
    case unknownVersion(checksum: String)
    /// A current model in a stage before that of the store.
    case backward(from: String, to: String)
    case unsupportedMetadata(reason: String)
    case unreadableModel(String, reason: String)
    case editedModel(String, expected: String, found: String)
  }

  /// The code of the same error in Core Data's domain: that of the first violation.
  ///
  /// Where Core Data raises an exception instead, it is the code of a general error, 134060.
  public var coreDataCode: Int? { violations.first?.coreDataCode ?? 134060 }
}

extension StagedMigrationError.Violation {
  package var coreDataCode: Int {
    switch self {
    case .gap, .missingVersion, .unknownVersion, .unreadableModel, .editedModel: 134504
    case .unsupportedMetadata: 134505
    case .wrongOrder, .backward: 134506
    case .noStages, .emptyStage, .standstill, .duplicateVersion: 134060
    }
  }
}

extension StagedMigrationError.Violation: CustomStringConvertible {
  /// Without a full stop.
  package var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .noStages:
      "there are no stages; expected at least one"
    case .emptyStage(let stage):
      "\(stage) names no version; expected at least one checksum"
    case .standstill(let stage):
      "\(stage) starts and ends at the same version; expected two versions with different checksums"
    case .duplicateVersion(let checksum, let stages):
      "the version \(checksum) is in \(stages.joined(separator: " and ")); expected each version once, except where one"
        + " custom stage ends and the next one starts"
    case .gap(let after, let before):
      "\(before) doesn't start at the version at which \(after) ends; expected a stage between them, such as a custom stage"
        + " without handlers"
    case .wrongOrder(let stage):
      "\(stage) ends at an earlier version; expected the stages in the order of the versions"
    case .missingVersion(let checksum, let name):
      "the version \(name.map { "\"\($0)\" (\(checksum))" } ?? checksum) is in no stage; expected every version that was"
        + " shipped"
    case .unknownVersion(let checksum):
      "no stage starts at the version \(checksum) of the store; expected it in a lightweight stage, or as the current"
        + " model of a custom one"
    case .backward(let from, let to):
      "the store is of a version of \(from), and the current model is in \(to); expected the stages in the order of the"
        + " versions"
    case .unsupportedMetadata(let reason):
      reason
    case .unreadableModel(let model, let reason):
      "\(model) can't be read: \(ErrorWords.clause(reason))"
    case .editedModel(let model, let expected, let found):
      "\(model) has the checksum \(found) instead of \(expected): a shipped model was edited"
    }
  }
}

extension StagedMigrationError: ExplainedError {
  /// All violations, in one sentence.
  public var cause: String {
    "The stages of the migration can't be used: \(violations.map(\.description).joined(separator: "; "))."
  }

  /// The correction of the stages or of a model; the store is unchanged.
  public var help: ErrorHelp {
    ErrorHelp(.unchanged, "Correct the stages, or put the shipped model back, then try again.")
  }
}

/// A failure of a custom stage's code.
public struct StageFailure: Error, Sendable {
  /// The stage's position, counted from 1, and its label.
  public let stage: String
  /// The handler that failed.
  public let handler: StageHandlerKind
  /// The error that the handler threw or that a check found.
  public let underlying: any Error

  package init(stage: String, handler: StageHandlerKind, underlying: any Error) {
    self.stage = stage
    self.handler = handler
    self.underlying = underlying
  }
}

/// One of a custom stage's handlers.
public enum StageHandlerKind: String, Hashable, Sendable {
  /// The handler before the stage's mapping.
  case willMigrate
  /// The handler after the stage's mapping.
  case didMigrate
}

extension StageFailure: ExplainedError {
  /// The handler, its stage and the error.
  public var cause: String {
    "The \(handler.rawValue) handler of \(stage) failed: \(ErrorWords.sentence(of: underlying))"
  }

  /// The correction of the handler; the store is unchanged.
  public var help: ErrorHelp {
    ErrorHelp(.store(path: nil), "Correct the handler, then try again: it will run again on the store as it is.")
  }

  /// The same as `underlying`.
  public var underlyingError: (any Error)? { underlying }

  /// Core Data's code of a migration that failed.
  public var coreDataCode: Int? { 134_110 }
}

/// A mistake of a handler that returned without an error.
public enum StageHandlerError: Error, Hashable, Sendable {
  /// Unsaved changes in the handler's context.
  case unsavedChanges
  /// An entity or property that exists only in the stage's other model; `model` is the handler's own.
  case ofOtherVersion(String, handler: StageHandlerKind, model: String)
}

extension StageHandlerError: ExplainedError {
  /// The missing call, or the entity or property of the other model.
  public var cause: String {
    switch self {
    case .unsavedChanges:
      "It left changes in the context that are not saved; expected it to call save(), or rollback() to give them up."
    case .ofOtherVersion(let subject, .willMigrate, let model):
      "It used the \(subject), which exists only in the next version; willMigrateHandler runs with the stage's current"
        + " model, \(model): use it in didMigrateHandler."
    case .ofOtherVersion(let subject, .didMigrate, let model):
      "It used the \(subject), which exists only in the previous version; didMigrateHandler runs with the stage's next"
        + " model, \(model): use it in willMigrateHandler."
    }
  }

  /// The correction of the handler; the store is unchanged.
  public var help: ErrorHelp {
    switch self {
    case .unsavedChanges: ErrorHelp(.store(path: nil), "Save or roll back at the handler's end, then try again.")
    case .ofOtherVersion: ErrorHelp(.store(path: nil), "Move the code to the stage's other handler, then try again.")
    }
  }
}
