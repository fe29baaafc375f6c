public import HeirloomFormats

/// A value, link or object that a migration didn't keep.
public struct MigrationFinding: Hashable, Sendable {
  /// The kind of a finding.
  @nonexhaustive
  public enum Kind: String, Hashable, Sendable {
    /// Objects that the mapping keeps are missing.
    case objectsLost
    /// There are objects that nothing created.
    case objectsAdded
    /// Values that the mapping copies have changed.
    case valuesChanged
    /// Relationships refer to other objects.
    case linksChanged
    /// Content is missing that the plan didn't announce as a loss.
    case unannouncedLoss
    /// A store wasn't migrated although it should have been.
    case notMigrated
    /// Content is lost without consent.
    case lossWithoutConsent
    /// The migrated store has a fault that `heirloom verify` reports.
    case unsoundStore
  }

  /// The kind of the finding.
  public let kind: Kind
  /// The entity, named as after the migration, or for a loss as before it.
  public let entity: String
  /// The property, with elements of composites as `composite.element`; `nil` for whole objects.
  public let property: String?
  /// A sentence with what was found and what was expected.
  public let message: String

  init(_ kind: Kind, _ entity: String, property: String? = nil, _ message: String) {
    self.kind = kind
    self.entity = entity
    self.property = property
    self.message = message + "."
  }

  func prefixed(_ words: String) -> MigrationFinding {
    MigrationFinding(kind, entity, property: property, "\(words): \(message.dropLast())")
  }
}

/// A migration that didn't keep everything it should.
public struct MigrationNotKept: Error, Hashable, Sendable {
  /// The findings, sorted by entity and property; never empty.
  public let findings: [MigrationFinding]
}

extension MigrationNotKept: ExplainedError {
  /// The findings, one sentence each.
  public var cause: String { findings.map(\.message).joined(separator: " ") }

  /// The advice to correct the mapping or the test; comparing stores changes neither.
  public var help: ErrorHelp {
    ErrorHelp(.unchanged, "Give a mapping that keeps it, or pass intended changes as `except` in the test.")
  }
}
