public import Foundation
import HeirloomModel

/// Something that a migration did not keep.
public struct MigrationFinding: Hashable, Sendable {
  /// What it is about.
  @nonexhaustive
  public enum Kind: String, Hashable, Sendable {
    /// Objects are gone that the mapping keeps.
    case objectsLost
    /// Objects are there that nothing made.
    case objectsAdded
    /// Values differ that the mapping copies.
    case valuesChanged
    /// Relationships lead to other objects.
    case linksChanged
    /// Something is gone that the plan did not announce as a loss.
    case unannouncedLoss
  }

  /// What it is about.
  public let kind: Kind
  /// The entity, by its name after the migration, or before it for a loss.
  public let entity: String
  /// The property, elements of composites as `composite.element`; `nil` for whole objects.
  public let property: String?
  /// What was found and what was expected, in a sentence.
  public let message: String

  init(_ kind: Kind, _ entity: String, property: String? = nil, _ message: String) {
    self.kind = kind
    self.entity = entity
    self.property = property
    self.message = message + "."
  }
}

/// A migration that did not keep what it should have.
public struct MigrationNotKept: Error, Hashable, Sendable {
  /// What was not kept, sorted by entity and property; never empty.
  public let findings: [MigrationFinding]
}

extension MigrationNotKept: LocalizedError, CustomStringConvertible {
  /// One sentence a finding.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    findings.map(\.message).joined(separator: " ")
  }

  /// The same.
  public var errorDescription: String? { description }
}
