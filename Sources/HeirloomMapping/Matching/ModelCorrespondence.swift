package import HeirloomModel

/// Entities are matched first, then the properties of matched entities, inherited ones included.
///
/// So a property that moves up or down a hierarchy, or replaces one in each of several subentities,
/// is found for every entity whose objects have it.
package struct ModelCorrespondence: Sendable {
  package let source: ManagedObjectModel
  package let destination: ManagedObjectModel
  /// Sorted by the destination entity's name.
  package let entities: [EntityCorrespondence]
  package let entityAmbiguities: [IdentifierMatching.Ambiguity]

  private let positionsByDestination: [String: Int]
  private let destinationNames: [String: String]

  package init(from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    self.source = source
    self.destination = destination
    let matching = IdentifierMatching(
      from: source.entities.map(\.identified), to: destination.entities.map(\.identified))
    var pairs: [EntityCorrespondence] = []
    var positions: [String: Int] = [:]
    for entity in destination.entities {
      guard let sourceName = matching.sources[entity.name], let sourceEntity = source.entity(named: sourceName) else {
        continue
      }
      positions[entity.name] = pairs.count
      pairs.append(EntityCorrespondence(from: sourceEntity, in: source, to: entity, in: destination))
    }
    entities = pairs
    positionsByDestination = positions
    destinationNames = matching.destinations
    entityAmbiguities = matching.ambiguities
  }

  package func pair(ofDestination entity: String) -> EntityCorrespondence? {
    positionsByDestination[entity].map { entities[$0] }
  }

  package func pair(ofSource entity: String) -> EntityCorrespondence? {
    destinationNames[entity].flatMap { pair(ofDestination: $0) }
  }

  /// A mapping may take objects from any entity, matched or not.
  func pair(from source: EntityDescription, to destination: EntityDescription) -> EntityCorrespondence {
    if let known = pair(ofDestination: destination.name), known.source.name == source.name { return known }
    return EntityCorrespondence(from: source, in: self.source, to: destination, in: self.destination)
  }

  package func sourceAttribute(of attribute: String, in entity: String) -> AttributeDescription? {
    guard let pair = pair(ofDestination: entity), let name = pair.attributes[attribute] else { return nil }
    return source.attribute(named: name, of: pair.source.name)
  }

  package func sourceRelationship(of relationship: String, in entity: String) -> RelationshipDescription? {
    guard let pair = pair(ofDestination: entity), let name = pair.relationships[relationship] else { return nil }
    return source.relationship(named: name, of: pair.source.name)
  }

  /// The reversed links of the source relationship are those of the new one.
  ///
  /// `nil` if the relationship has no inverse or the inverse is new as well.
  package func sourceOfInverse(
    of relationship: RelationshipDescription
  ) -> (entity: EntityDescription, relationship: RelationshipDescription)? {
    guard let inverse = destination.inverse(of: relationship), !inverse.relationship.isTransient else { return nil }
    for entity in destination.entityTree(from: inverse.entity.name) {
      guard let found = sourceRelationship(of: inverse.relationship.name, in: entity.name), !found.isTransient,
        let pair = pair(ofDestination: entity.name),
        let owner = source.declaringEntity(ofProperty: found.name, in: pair.source.name)
      else { continue }
      return (owner, found)
    }
    return nil
  }

  /// The relationship itself may be gone.
  package func inverseSurvives(_ relationship: RelationshipDescription) -> Bool {
    guard let inverse = source.inverse(of: relationship) else { return false }
    return source.entityTree(from: inverse.entity.name).contains { entity in
      guard let pair = pair(ofSource: entity.name),
        let name = pair.destinationRelationships[inverse.relationship.name],
        let found = destination.relationship(named: name, of: pair.destination.name)
      else { return false }
      return !found.isTransient
    }
  }
}

package final class EntityCorrespondence: Sendable {
  package let source: EntityDescription
  package let destination: EntityDescription
  /// Source names by destination name, inherited attributes included.
  package let attributes: [String: String]
  package let relationships: [String: String]
  /// Destination names by source name.
  package let destinationAttributes: [String: String]
  package let destinationRelationships: [String: String]
  package let ambiguities: [IdentifierMatching.Ambiguity]

  /// The entities themselves need not match.
  package init(
    from source: EntityDescription, in sourceModel: ManagedObjectModel, to destination: EntityDescription,
    in destinationModel: ManagedObjectModel
  ) {
    self.source = source
    self.destination = destination
    let attributes = IdentifierMatching(
      from: sourceModel.attributes(of: source.name).map(\.identified),
      to: destinationModel.attributes(of: destination.name).map(\.identified))
    let relationships = IdentifierMatching(
      from: sourceModel.relationships(of: source.name).map(\.identified),
      to: destinationModel.relationships(of: destination.name).map(\.identified))
    self.attributes = attributes.sources
    self.relationships = relationships.sources
    destinationAttributes = attributes.destinations
    destinationRelationships = relationships.destinations
    ambiguities = attributes.ambiguities + relationships.ambiguities
  }
}
