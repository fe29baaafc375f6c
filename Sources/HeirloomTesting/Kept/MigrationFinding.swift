public import HeirloomFormats

/// A value, link or object that a migration did not keep.
public struct MigrationFinding: Hashable, Sendable {
  /// The kind of a finding.
  @nonexhaustive
  public enum Kind: String, Hashable, Sendable {
    /// Objects that the mapping keeps are gone.
    case objectsLost
    /// Objects are there that nothing made.
    case objectsAdded
    /// Values that the mapping copies have changed.
    case valuesChanged
    /// Relationships lead to other objects.
    case linksChanged
    /// Something is gone that the plan did not announce as a loss.
    case unannouncedLoss
    /// A store that should have been migrated was not.
    case notMigrated
    /// Something is lost that nobody consented to.
    case lossWithoutConsent
    /// The migrated store has a fault that `heirloom verify` finds.
    case unsoundStore
  }

  /// The kind of the finding.
  public let kind: Kind
  /// The entity, by its name after the migration, or before it for a loss.
  public let entity: String
  /// The property, elements of composites as `composite.element`; `nil` for whole objects.
  public let property: String?
  /// A sentence that says what was found and what was expected.
  public let message: String

  init(_ kind: Kind, _ entity: String, property: String? = nil, _ message: String) {
    self.kind = kind
    self.entity = entity
    self.property = property
    self.message = message + "."
  }

  /// Returns the finding with words before its message.
  func prefixed(_ words: String) -> MigrationFinding {
    MigrationFinding(kind, entity, property: property, "\(words): \(message.dropLast())")
  }
}

/// A migration that did not keep what it should have.
public struct MigrationNotKept: Error, Hashable, Sendable {
  /// The findings, sorted by entity and property; never empty.
  public let findings: [MigrationFinding]
}

extension MigrationNotKept: ExplainedError {
  /// The findings, one sentence each.
  public var cause: String { findings.map(\.message).joined(separator: " ") }

  /// The correction of the mapping or the test; comparing stores changes none.
  public var help: ErrorHelp {
    ErrorHelp(.unchanged, "Give a mapping that keeps it, or except in the test what is meant to change.")
  }
}
