import HeirloomMapping
import HeirloomModel

/// The source entity that declared a property, with the property's name there.
private struct PropertyOrigin: Hashable {
  let entity: String
  let name: String
}

extension DifferenceBuilder {
  func addProperties(of entity: EntityDescription) {
    let isNew = correspondence.pair(ofDestination: entity.name) == nil
    for attribute in entity.attributes {
      let origins = origins(of: attribute.name, in: entity) { $0.attributes }
      if origins.isEmpty {
        guard !isNew else { continue }
        addNew(attribute, in: entity)
      }
      if let moved = moved(origins, to: entity) {
        let stored = !attribute.isTransient
        let effect = entity.isAbstract || isNew || carriesToAll(attribute.name, of: entity) { $0.attributes }
        let added = valueOfNew(attribute)
        add(
          .attributeMoved, entity.name, attribute.name, before: moved, after: entity.name,
          effect: !stored ? .nothing : effect || added != .rowsDecide ? .kept : .rowsDecide, isHashed: stored)
      }
      for origin in origins {
        guard let before = source.attribute(named: origin.name, of: origin.entity) else { continue }
        addChanges(of: attribute, from: before, in: entity.name)
      }
    }
    for relationship in entity.relationships {
      let origins = origins(of: relationship.name, in: entity) { $0.relationships }
      if origins.isEmpty {
        guard !isNew else { continue }
        addNew(relationship, in: entity)
      }
      if let moved = moved(origins, to: entity) {
        add(
          .relationshipMoved, entity.name, relationship.name, before: moved, after: entity.name,
          effect: relationship.isTransient ? .nothing : .kept, isHashed: !relationship.isTransient)
      }
      for origin in origins {
        guard let before = source.relationship(named: origin.name, of: origin.entity) else { continue }
        addChanges(of: relationship, from: before, in: entity.name)
      }
    }
    if let pair = correspondence.pair(ofDestination: entity.name) { addFetchedProperties(of: pair) }
  }

  /// Those that at least one entity no longer has.
  func addRemovedProperties(of entity: EntityDescription) {
    for attribute in entity.attributes {
      for heir in losers(of: attribute.name, declaredBy: entity, names: { $0.destinationAttributes }) {
        let becameRelationship = destination.relationships(of: heir.pair.destination.name).contains {
          $0.canonicalIdentifier == attribute.canonicalIdentifier
            && heir.pair.relationships[$0.name] == nil
        }
        let isStored = !attribute.isTransient
        let effect: ModelChange.Effect =
          isAmbiguous(attribute.name, in: heir.pair)
          ? .refused : isStored && attribute.hasOwnValues && heir.hasObjects ? .dropped : .nothing
        add(
          becameRelationship ? .attributeBecameRelationship : .attributeRemoved, heir.pair.destination.name,
          attribute.name, before: attribute.type.name, effect: effect, isHashed: isStored)
      }
    }
    for relationship in entity.relationships {
      for heir in losers(of: relationship.name, declaredBy: entity, names: { $0.destinationRelationships }) {
        let becameAttribute = destination.attributes(of: heir.pair.destination.name).contains {
          $0.canonicalIdentifier == relationship.canonicalIdentifier && heir.pair.attributes[$0.name] == nil
        }
        let isStored = !relationship.isTransient
        let effect: ModelChange.Effect =
          if isAmbiguous(relationship.name, in: heir.pair) {
            .refused
          } else if !isStored || !heir.hasObjects {
            .nothing
          } else {
            correspondence.inverseSurvives(relationship) ? .kept : .dropped
          }
        add(
          becameAttribute ? .relationshipBecameAttribute : .relationshipRemoved, heir.pair.destination.name,
          relationship.name, before: relationship.destinationEntity, effect: effect, isHashed: isStored)
      }
    }
  }

  /// The distinct places where the source declares a property of the entity and its descendants.
  private func origins(
    of property: String, in entity: EntityDescription, names: (EntityCorrespondence) -> [String: String]
  ) -> [PropertyOrigin] {
    var origins: [PropertyOrigin] = []
    for heir in destination.entityTree(from: entity.name) {
      guard let pair = correspondence.pair(ofDestination: heir.name), let name = names(pair)[property],
        let owner = source.declaringEntity(ofProperty: name, in: pair.source.name)
      else { continue }
      let origin = PropertyOrigin(entity: owner.name, name: name)
      if !origins.contains(origin) { origins.append(origin) }
    }
    return origins
  }

  /// `nil` if the entity alone declared the property before.
  private func moved(_ origins: [PropertyOrigin], to entity: EntityDescription) -> String? {
    let home = correspondence.pair(ofDestination: entity.name)?.source.name
    let owners = origins.map(\.entity)
    guard !owners.isEmpty, owners.contains(where: { $0 != home }) else { return nil }
    return owners.joined(separator: ", ")
  }

  /// True if every continued entity in the tree had the property in the source.
  private func carriesToAll(
    _ property: String, of entity: EntityDescription, names: (EntityCorrespondence) -> [String: String]
  ) -> Bool {
    destination.entityTree(from: entity.name).allSatisfy { heir in
      guard !heir.isAbstract, let pair = correspondence.pair(ofDestination: heir.name) else { return true }
      return names(pair)[property] != nil
    }
  }

  private final class Loser {
    let pair: EntityCorrespondence
    let hasObjects: Bool

    init(pair: EntityCorrespondence, hasObjects: Bool) { (self.pair, self.hasObjects) = (pair, hasObjects) }
  }

  /// The continued entities, the topmost of each branch, that no longer have the property.
  private func losers(
    of property: String, declaredBy entity: EntityDescription, names: (EntityCorrespondence) -> [String: String]
  ) -> [Loser] {
    func lost(_ heir: EntityDescription) -> EntityCorrespondence? {
      guard let pair = correspondence.pair(ofSource: heir.name), names(pair)[property] == nil else { return nil }
      return pair
    }
    return source.entityTree(from: entity.name).compactMap { heir in
      guard let pair = lost(heir) else { return nil }
      let above = source.superentities(of: heir.name).prefix { $0.name != entity.superentity }
      guard !above.contains(where: { lost($0) != nil }) else { return nil }
      let hasObjects = source.entityTree(from: heir.name).contains { !$0.isAbstract && lost($0) != nil }
      return Loser(pair: pair, hasObjects: hasObjects)
    }
  }

  func isAmbiguous(_ property: String, in pair: EntityCorrespondence) -> Bool {
    pair.ambiguities.contains { $0.sources.contains(property) }
  }

  private func addFetchedProperties(of pair: EntityCorrespondence) {
    let name = pair.destination.name
    let matching = IdentifierMatching(
      from: pair.source.fetchedProperties.map(\.identified), to: pair.destination.fetchedProperties.map(\.identified))
    for property in pair.destination.fetchedProperties {
      let old = pair.source.fetchedProperties.first { $0.name == matching.sources[property.name] }
      if let old {
        if old != property { add(.fetchedPropertyChanged, name, property.name) }
      } else {
        add(.fetchedPropertyAdded, name, property.name)
      }
    }
    for old in pair.source.fetchedProperties where matching.destinations[old.name] == nil {
      add(.fetchedPropertyRemoved, name, old.name)
    }
  }
}
