import HeirloomMapping

/// Rows that fit the destination only after a decision.
public struct MigrationBlocker: Hashable, Sendable {
  /// A stable code, such as `missingValue`, `duplicate`, `overflow`.
  public let kind: String
  /// The entity in the destination.
  public let entity: String
  /// The property in the destination; those of a constraint are joined by `, `; `nil` for the entity itself.
  public let property: String?
  /// The reason, in a sentence, with advice.
  public let reason: String
  /// The number of rows concerned; never 0.
  public let rows: Int64
  /// The possible choices of a data decision about the entity and property.
  public let choices: [DataDecision.Option]
  package let properties: [String]

  init(_ effect: DataEffect, rows: Int64) {
    kind = effect.kind.code
    entity = effect.entity
    property = effect.properties.isEmpty ? nil : effect.properties.joined(separator: ", ")
    reason = effect.description
    self.rows = rows
    choices = effect.kind.options
    properties = effect.properties
  }
}
