/// A relationship from one entity to another.
public struct RelationshipDescription: PropertyDescription {
  /// The relationship's name.
  public var name: String
  /// The name of the related objects' entity.
  public var destinationEntity: String
  /// The name of the inverse relationship, which the destination entity or an ancestor of it declares.
  public var inverseRelationship: String?
  /// True when an object is valid without a related one.
  public var isOptional: Bool = false
  /// True when the value is only in memory and has no column.
  public var isTransient: Bool = false
  /// The minimum number of related objects; 0 for no limit.
  public var minCount: Int = 0
  /// The maximum number of related objects; 1 makes a to-one relationship, 0 or less a to-many without a limit.
  public var maxCount: Int = 1
  /// The effect on related objects when an object is deleted.
  public var deleteRule: DeleteRule = .nullify
  /// True when the related objects of a to-many relationship have an order.
  public var isOrdered: Bool = false
  /// The identifier that matches this relationship with one of another version, if it is not the name.
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

  /// True when an object may have several related objects.
  public var isToMany: Bool { maxCount != 1 }
}

/// The effect on related objects when an object is deleted.
///
/// Raw values are the codes of model archives (`NSDeleteRule`).
public enum DeleteRule: Int, Hashable, Sendable, CaseIterable {
  /// No change to related objects.
  case noAction = 0
  /// Links from related objects to the deleted one are removed.
  case nullify = 1
  /// Related objects are deleted too.
  case cascade = 2
  /// An object with related objects can't be deleted.
  case deny = 3
}

extension DeleteRule {
  /// The name in model files.
  public var name: String {
    switch self {
    case .noAction: "No Action"
    case .nullify: "Nullify"
    case .cascade: "Cascade"
    case .deny: "Deny"
    }
  }
}
