/// A kind of content that a migration loses, or changes so that it can't be changed back.
@nonexhaustive
public enum LossKind: String, Hashable, Sendable, CaseIterable {
  /// Whole objects.
  case objects
  /// Values of an attribute, other than NULL.
  case values
  /// Values of an attribute that go on changed: converted back, they would be others.
  case changedValues
  /// Links of a relationship that the destination lacks or the mapping doesn't take, or of objects that a decision removes.
  case links
  /// Links for which a relationship has no room, though the destination has it.
  case linksWithoutRoom
  /// The order of a relationship's links.
  case order
  /// Content that no model knows, such as values in a column of another program.
  case unknownContent

  /// The kind as plan JSON and manifests have it: they keep the five kinds that their first readers know.
  package var reported: LossKind {
    switch self {
    case .linksWithoutRoom: .links
    case .unknownContent: .values
    default: self
    }
  }
}

extension DataEffect.Kind {
  /// The kind of content that the rows lose; `nil` if they lose nothing.
  package var lossKind: LossKind? {
    switch self {
    case .objectsDropped: .objects
    case .valuesDropped, .valuesNotTaken: .values
    case .valuesChanged, .rounded: .changedValues
    case .linksDropped: .links
    case .severalLinks, .sharedLinks, .foreignLinks, .leftOutLinks: .linksWithoutRoom
    case .orderDropped: .order
    case .missingValue, .uncomputed, .missingLink, .duplicate, .overflow, .uninstantiable, .tooFewLinks, .tooManyLinks,
      .recoded:
      nil
    }
  }
}

extension DataEffect {
  /// The property that loses something, as a path; `nil` for whole objects.
  package var lossProperty: String? { properties.isEmpty ? nil : properties.joined(separator: ", ") }

  /// The name by which somebody consents to the loss: `Entity` or `Entity.property`.
  package var lossName: String { lossProperty.map { "\(entity).\($0)" } ?? entity }
}
