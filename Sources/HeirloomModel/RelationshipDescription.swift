/// A relationship of an entity to another.
public struct RelationshipDescription: PropertyDescription {
  /// The relationship's name.
  public var name: String
  /// The name of the entity of the related objects.
  public var destinationEntity: String
  /// The name of the relationship that leads back, declared by the destination entity or an ancestor of it.
  public var inverseRelationship: String?
  /// True when an object is valid without a related one.
  public var isOptional: Bool = false
  /// True when the value lives in memory only and has no column.
  public var isTransient: Bool = false
  /// The fewest related objects; 0 for no limit.
  public var minCount: Int = 0
  /// The most related objects; 1 makes a to-one relationship, 0 or less a to-many without limit.
  public var maxCount: Int = 1
  /// The effect on related objects when an object is deleted.
  public var deleteRule: DeleteRule = .nullify
  /// True when the related objects of a to-many relationship have an order.
  public var isOrdered: Bool = false
  /// The identifier that ties this relationship to one of another version, if it is not the name.
  public var renamingIdentifier: String?
  /// Text that changes the version hash on purpose.
  public var versionHashModifier: String?
  /// True when Spotlight indexes the relationship.
  public var isIndexedBySpotlight: Bool = false
  /// Conditions on the value, checked when an object is saved.
  public var validationRules: [ValidationRule] = []
  /// Free text for the app.
  public var userInfo: [String: String] = [:]

  /// Creates a required to-one relationship without an inverse.
  public init(name: String, destinationEntity: String) {
    self.name = name
    self.destinationEntity = destinationEntity
  }

  /// True when an object may have several related ones.
  public var isToMany: Bool { maxCount != 1 }
}

/// The effect on related objects when an object is deleted.
///
/// Raw values are the codes of model archives (`NSDeleteRule`).
public enum DeleteRule: Int, Hashable, Sendable, CaseIterable {
  /// No change to related objects.
  case noAction = 0
  /// The removal of links from related objects to the deleted one.
  case nullify = 1
  /// The deletion of related objects too.
  case cascade = 2
  /// A refusal to delete while there are related objects.
  case deny = 3
}

extension DeleteRule {
  /// The name that model files use.
  public var name: String {
    switch self {
    case .noAction: "No Action"
    case .nullify: "Nullify"
    case .cascade: "Cascade"
    case .deny: "Deny"
    }
  }
}
