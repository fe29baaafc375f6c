/// A data model: the entities of a store, complete and consistent.
///
/// Entities and their properties are sorted by name, so models are equal regardless of the format they were read from.
/// The initializer checks the model: names are unique, parents and destinations exist.
public struct ManagedObjectModel: Sendable {
  /// The entities, sorted by name.
  public let entities: [EntityDescription]
  /// The version identifiers, sorted; for information only.
  public let versionIdentifiers: [String]
  /// The named configurations, sorted by name.
  ///
  /// The default one, which contains every entity, is not listed.
  public let configurations: [ConfigurationDescription]
  /// The fetch request templates, sorted by name.
  public let fetchRequestTemplates: [FetchRequestDescription]

  private let positions: [String: Int]
  /// By entity name, in a store's numbering order.
  private let subentityNames: [String: [String]]
  /// Cached because comparisons of versions use them repeatedly.
  private(set) var hashes: [String: VersionHash] = [:]

  /// Creates a model and checks it.
  ///
  /// - Parameters:
  ///   - entities: The entities in any order.
  ///   - versionIdentifiers: The version identifiers in any order.
  ///   - configurations: The named configurations in any order.
  ///   - fetchRequestTemplates: The fetch request templates in any order.
  /// - Throws: ``ModelError`` for the first inconsistency, in the order of entity names.
  public init(
    entities: [EntityDescription], versionIdentifiers: [String] = [], configurations: [ConfigurationDescription] = [],
    fetchRequestTemplates: [FetchRequestDescription] = []
  ) throws(ModelError) {
    var entities = entities.ordered(by: \.name)
    for index in entities.indices {
      entities[index].attributes = entities[index].attributes.ordered(by: \.name)
      entities[index].relationships = entities[index].relationships.ordered(by: \.name)
      entities[index].fetchedProperties = entities[index].fetchedProperties.ordered(by: \.name)
    }
    var positions: [String: Int] = [:]
    for (index, entity) in entities.enumerated() {
      guard positions.updateValue(index, forKey: entity.name) == nil else { throw .duplicateEntity(entity.name) }
    }
    var subentityNames: [String: [String]] = [:]
    for entity in entities {
      guard let parent = entity.superentity else { continue }
      subentityNames[parent, default: []].append(entity.name)
    }
    subentityNames = subentityNames.mapValues { $0.ordered { $0.precedesInEntityOrder($1) } }

    self.entities = entities
    self.versionIdentifiers = Set(versionIdentifiers).ordered()
    self.configurations = configurations.map {
      ConfigurationDescription(name: $0.name, entityNames: $0.entityNames.ordered())
    }.ordered(by: \.name)
    self.fetchRequestTemplates = fetchRequestTemplates.ordered(by: \.name)
    self.positions = positions
    self.subentityNames = subentityNames
    try validate()
    hashes = computedVersionHashes()
  }

  /// A placeholder where no model is known.
  package static let empty: ManagedObjectModel = ManagedObjectModel()

  private init() {
    (entities, versionIdentifiers, configurations, fetchRequestTemplates) = ([], [], [], [])
    (positions, subentityNames) = ([:], [:])
  }
}

extension ManagedObjectModel: Hashable {
  /// Compares the stored parts; the rest is derived from them.
  public static func == (left: ManagedObjectModel, right: ManagedObjectModel) -> Bool {
    left.entities == right.entities && left.versionIdentifiers == right.versionIdentifiers
      && left.configurations == right.configurations && left.fetchRequestTemplates == right.fetchRequestTemplates
  }

  /// Hashes the stored parts.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(entities)
    hasher.combine(versionIdentifiers)
    hasher.combine(configurations)
    hasher.combine(fetchRequestTemplates)
  }
}

// MARK: - Finding entities and properties

extension ManagedObjectModel {
  /// Returns the entity of the given name, or `nil`.
  public func entity(named name: String) -> EntityDescription? {
    positions[name].map { entities[$0] }
  }

  /// Returns the ancestors of an entity, the nearest first; none for a root or an unknown name.
  public func superentities(of name: String) -> [EntityDescription] {
    var result: [EntityDescription] = []
    var next = entity(named: name)?.superentity
    while let parent = next, let entity = entity(named: parent) {
      result.append(entity)
      next = entity.superentity
    }
    return result
  }

  /// Returns the root of an entity's tree: its farthest ancestor or the entity itself.
  public func rootEntity(of name: String) -> EntityDescription? {
    superentities(of: name).last ?? entity(named: name)
  }

  /// Returns the direct subentities of an entity, in a store's numbering order.
  public func subentities(of name: String) -> [EntityDescription] {
    (subentityNames[name] ?? []).compactMap { entity(named: $0) }
  }

  /// Returns an entity and all its descendants, depth first, in a store's numbering order.
  public func entityTree(from name: String) -> [EntityDescription] {
    guard let entity = entity(named: name) else { return [] }
    return [entity] + subentities(of: name).flatMap { entityTree(from: $0.name) }
  }

  /// The entities without a parent, in a store's numbering order.
  public var rootEntities: [EntityDescription] {
    entities.filter { $0.superentity == nil }.ordered { $0.name.precedesInEntityOrder($1.name) }
  }

  /// Returns true if an entity is another one or descends from it.
  public func isEntity(_ name: String, kindOf ancestor: String) -> Bool {
    name == ancestor || superentities(of: name).contains { $0.name == ancestor }
  }

  /// Returns the attributes of an entity, inherited ones included, sorted by name.
  public func attributes(of name: String) -> [AttributeDescription] {
    guard let entity = entity(named: name) else { return [] }
    guard entity.superentity != nil else { return entity.attributes }
    return lineage(of: name).flatMap(\.attributes).ordered(by: \.name)
  }

  /// Returns the relationships of an entity, inherited ones included, sorted by name.
  public func relationships(of name: String) -> [RelationshipDescription] {
    guard let entity = entity(named: name) else { return [] }
    guard entity.superentity != nil else { return entity.relationships }
    return lineage(of: name).flatMap(\.relationships).ordered(by: \.name)
  }

  /// Returns the attribute of the given name that an entity has or inherits.
  public func attribute(named attribute: String, of entity: String) -> AttributeDescription? {
    firstInLineage(of: entity) { $0.attributes.first { $0.name == attribute } }
  }

  /// Returns the relationship of the given name that an entity has or inherits.
  public func relationship(named relationship: String, of entity: String) -> RelationshipDescription? {
    firstInLineage(of: entity) { $0.relationships.first { $0.name == relationship } }
  }

  /// Returns the entity that declares the property of the given name that an entity has or inherits.
  public func declaringEntity(ofProperty property: String, in entity: String) -> EntityDescription? {
    // This avoids `properties`, which boxes each one: model comparisons call it for every property.
    firstInLineage(of: entity) { candidate in
      candidate.attributes.contains { $0.name == property }
        || candidate.relationships.contains { $0.name == property }
        || candidate.fetchedProperties.contains { $0.name == property } ? candidate : nil
    }
  }

  /// Finds the inverse of a relationship, and the entity that declares it.
  ///
  /// - Parameter relationship: A relationship of this model.
  /// - Returns: `nil` if the relationship has no inverse, or names one that its destination doesn't have.
  public func inverse(
    of relationship: RelationshipDescription
  ) -> (entity: EntityDescription, relationship: RelationshipDescription)? {
    guard let name = relationship.inverseRelationship,
      let entity = declaringEntity(ofProperty: name, in: relationship.destinationEntity),
      let inverse = entity.relationships.first(where: { $0.name == name })
    else { return nil }
    return (entity, inverse)
  }

  /// Finds the inverse of a relationship, if a store holds the links of both as one.
  ///
  /// A transient inverse has no column and no table; one that doesn't name the relationship as its
  /// own inverse has its own links.
  package func storedInverse(
    of relationship: RelationshipDescription
  ) -> (entity: EntityDescription, relationship: RelationshipDescription)? {
    guard let inverse = inverse(of: relationship), !inverse.relationship.isTransient,
      inverse.relationship.inverseRelationship == relationship.name,
      let owner = declaringEntity(ofProperty: relationship.name, in: inverse.relationship.destinationEntity),
      owner.relationships.contains(relationship)
    else { return nil }
    return inverse
  }

  /// Returns the entities of a configuration, sorted by name.
  ///
  /// - Parameter configuration: A configuration's name; `nil` for the default one with every entity.
  /// - Returns: `nil` for an unknown configuration.
  public func entities(inConfiguration configuration: String?) -> [EntityDescription]? {
    guard let configuration else { return entities }
    guard let names = configurations.first(where: { $0.name == configuration })?.entityNames else { return nil }
    return names.compactMap { entity(named: $0) }
  }

  /// The ancestors of the configuration's entities are included, since they share their table.
  ///
  /// Throws ``ModelError/missingDestination(entity:relationship:destination:)`` if a relationship
  /// refers to an entity outside.
  package func part(inConfiguration configuration: String) throws(ModelError) -> ManagedObjectModel? {
    guard let members = entities(inConfiguration: configuration) else { return nil }
    let names = Set(members.flatMap { lineage(of: $0.name).map(\.name) })
    return try ManagedObjectModel(
      entities: entities.filter { names.contains($0.name) }, versionIdentifiers: versionIdentifiers)
  }

  private func firstInLineage<Found>(of name: String, _ find: (EntityDescription) -> Found?) -> Found? {
    var position = positions[name]
    while let current = position {
      if let found = find(entities[current]) { return found }
      position = entities[current].superentity.flatMap { positions[$0] }
    }
    return nil
  }

  private func lineage(of name: String) -> [EntityDescription] {
    guard let entity = entity(named: name) else { return [] }
    return [entity] + superentities(of: name)
  }
}
