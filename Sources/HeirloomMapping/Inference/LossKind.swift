/// A kind of content that a migration loses or changes irreversibly.
@nonexhaustive
public enum LossKind: String, Hashable, Sendable, CaseIterable {
  /// Whole objects.
  case objects
  /// Values of an attribute, other than NULL.
  case values
  /// Values of an attribute that are changed: converting them back gives other values.
  case changedValues
  /// Links of a relationship that the destination lacks or the mapping doesn't carry, or of objects that a decision
  /// removes.
  case links
  /// Links that exceed what a relationship of the destination can hold.
  case linksWithoutRoom
  /// The order of a relationship's links.
  case order
  /// Content that no model describes, such as values in a column that another program added.
  case unknownContent

  /// The kind in plan JSON and manifests, which keep to the five kinds of their first format.
  package var reported: LossKind {
    switch self {
    case .linksWithoutRoom: .links
    case .unknownContent: .values
    default: self
    }
  }
}

extension DataEffect.Kind {
  /// `nil` for a blocker or warning.
  package var lossKind: LossKind? {
    switch self {
    case .objectsDropped, .objectsLeftOut: .objects
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
  package var lossProperty: String? { properties.isEmpty ? nil : properties.joined(separator: ", ") }

  /// For consent: `Entity` or `Entity.property`.
  package var lossName: String { lossProperty.map { "\(entity).\($0)" } ?? entity }
}
