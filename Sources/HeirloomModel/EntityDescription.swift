/// A kind of object that a store keeps.
///
/// Other entities are named, not referred to; ``ManagedObjectModel`` finds them.
public struct EntityDescription: Hashable, Sendable {
  /// The entity's name, unique within its model.
  public var name: String
  /// The name of the parent entity; `nil` for a root.
  public var superentity: String?
  /// True when only objects of subentities exist.
  public var isAbstract: Bool = false
  /// The class of the objects, as the model spells it: `Name`, `.Name`, `Module.Name`.
  public var managedObjectClassName: String?
  /// The identifier that ties this entity to one of another version, if it is not the name.
  public var renamingIdentifier: String?
  /// Text that changes the version hash on purpose.
  public var versionHashModifier: String?
  /// The entity's own attributes, inherited ones left out, by name.
  public var attributes: [AttributeDescription] = []
  /// The entity's own relationships, inherited ones left out, by name.
  public var relationships: [RelationshipDescription] = []
  /// The entity's own fetched properties, inherited ones left out, by name.
  public var fetchedProperties: [FetchedPropertyDescription] = []
  /// The entity's own indexes, in declared order.
  public var indexes: [FetchIndexDescription] = []
  /// The entity's own uniqueness constraints, each the names of the attributes that must differ together.
  public var uniquenessConstraints: [[String]] = []
  /// The expression that names an object in Spotlight.
  public var coreSpotlightDisplayNameExpression: ValueExpression?
  /// The way code is generated (`class`, `category`); `nil` for code written by hand.
  ///
  /// Only model sources say so.
  public var codeGenerationType: String?
  /// Free text for the app.
  public var userInfo: [String: String] = [:]

  /// Creates a concrete root entity without properties.
  public init(name: String) {
    self.name = name
  }

  /// The identifier by which versions are matched: the renaming identifier, else the name.
  public var canonicalIdentifier: String { renamingIdentifier ?? name }

  /// The entity's own properties of all kinds: attributes, relationships, then fetched properties, each by name.
  public var properties: [any PropertyDescription] {
    attributes as [any PropertyDescription] + relationships + fetchedProperties
  }
}
