/// A kind of object in a store.
///
/// It refers to other entities by name; ``ManagedObjectModel`` finds them.
public struct EntityDescription: Hashable, Sendable {
  /// The entity's name, unique within its model.
  public var name: String
  /// The name of the parent entity; `nil` for a root.
  public var superentity: String?
  /// True when only objects of subentities exist.
  public var isAbstract: Bool = false
  /// The class of the objects, as the model spells it: `Name`, `.Name`, `Module.Name`.
  public var managedObjectClassName: String?
  /// The identifier that matches this entity with one of another version, if it is not the name.
  public var renamingIdentifier: String?
  /// Text that changes the version hash on purpose.
  public var versionHashModifier: String?
  /// The entity's own attributes, without inherited ones, sorted by name.
  public var attributes: [AttributeDescription] = []
  /// The entity's own relationships, without inherited ones, sorted by name.
  public var relationships: [RelationshipDescription] = []
  /// The entity's own fetched properties, without inherited ones, sorted by name.
  public var fetchedProperties: [FetchedPropertyDescription] = []
  /// The entity's own indexes, in declared order.
  public var indexes: [FetchIndexDescription] = []
  /// The entity's own uniqueness constraints, each a list of properties whose combined values must be unique.
  public var uniquenessConstraints: [[String]] = []
  /// The expression for an object's name in Spotlight.
  public var coreSpotlightDisplayNameExpression: ValueExpression?
  /// The way code is generated (`class`, `category`); `nil` for code written by hand.
  ///
  /// Only model sources contain it.
  public var codeGenerationType: String?
  /// Free text for the app.
  public var userInfo: [String: String] = [:]

  /// Creates a concrete root entity without properties.
  public init(name: String) {
    self.name = name
  }

  /// The identifier that matches versions of the entity: the renaming identifier, else the name.
  public var canonicalIdentifier: String { renamingIdentifier ?? name }

  /// The entity's own properties: attributes, relationships, then fetched properties, each sorted by name.
  public var properties: [any PropertyDescription] {
    attributes as [any PropertyDescription] + relationships + fetchedProperties
  }
}
