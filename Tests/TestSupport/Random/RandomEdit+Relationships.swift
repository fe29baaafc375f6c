import HeirloomModel

extension RandomModel {
  mutating func applyToRelationships(_ edit: RandomEdit, using random: inout SplitMix64) -> Bool? {
    switch edit {
    case .addRelationship:
      guard let from = entities.randomElement(using: &random), let to = entities.randomElement(using: &random) else {
        return false
      }
      addRelationship(from: from.origin, to: to.origin, using: &random)
      return true
    case .addRequiredToOne:
      guard let from = entities.indices.randomElement(using: &random), let to = entities.randomElement(using: &random)
      else {
        return false
      }
      var relationship = newRelationship(to: to.origin, using: &random)
      relationship.description.maxCount = 1
      relationship.description.isOrdered = false
      relationship.description.isOptional = false
      entities[from].relationships.append(relationship)
      return true
    case .removeRelationship:
      guard let (entity, index) = relationshipPlace(using: &random, where: { _ in true }) else { return false }
      let relationship = entities[entity].relationships[index]
      if random.below(2) == 0, let inverse = relationship.inverse { removeRelationship(inverse) }
      removeRelationship(relationship.key)
      return true
    case .renameRelationship:
      return changeRelationship(using: &random, where: { _ in true }) { model, relationship, random in
        relationship.description.renamingIdentifier = relationship.description.canonicalIdentifier
        relationship.description.name = model.newName("r", using: &random)
      }
    case .toOneToMany:
      return changeRelationship(using: &random, where: { !$0.description.isToMany }) { _, relationship, random in
        relationship.description.maxCount = 0
        relationship.description.isOrdered = random.below(3) == 0
      }
    case .toManyToOne:
      return changeRelationship(using: &random, where: { $0.description.isToMany }) { _, relationship, _ in
        relationship.description.maxCount = 1
        relationship.description.minCount = 0
        relationship.description.isOrdered = false
      }
    case .unorderedToOrdered, .orderedToUnordered:
      let isOrdered = edit == .orderedToUnordered
      return changeRelationship(
        using: &random, where: { $0.description.isToMany && $0.description.isOrdered == isOrdered }
      ) { _, relationship, _ in relationship.description.isOrdered = !isOrdered }
    case .counts:
      return changeRelationship(using: &random, where: { $0.description.isToMany }) { _, relationship, random in
        relationship.description.minCount = random.below(3)
        relationship.description.maxCount = [0, 2, 10][random.below(3)]
      }
    case .relationshipToRequired:
      return changeRelationship(using: &random, where: { !$0.description.isToMany && $0.description.isOptional }) {
        _, relationship, _ in relationship.description.isOptional = false
      }
    case .addInverse:
      guard let (entity, index) = relationshipPlace(using: &random, where: { $0.inverse == nil }) else { return false }
      let relationship = entities[entity].relationships[index]
      guard let destination = position(relationship.destination) else { return false }
      var inverse = newRelationship(to: entities[entity].origin, using: &random)
      inverse.inverse = relationship.key
      entities[entity].relationships[index].inverse = inverse.key
      entities[destination].relationships.append(inverse)
      return true
    case .removeInverse:
      guard
        let (entity, index) = relationshipPlace(using: &random, where: { $0.inverse != nil && $0.inverse != $0.key })
      else { return false }
      removeRelationship(entities[entity].relationships[index].key)
      return true
    case .separateInverses:
      guard
        let (entity, index) = relationshipPlace(using: &random, where: { $0.inverse != nil && $0.inverse != $0.key }),
        let other = relationship(entities[entity].relationships[index].inverse),
        let second = position(other.entity.origin),
        let place = entities[second].relationships.firstIndex(where: { $0.key == other.relationship.key })
      else { return false }
      entities[entity].relationships[index].inverse = nil
      entities[second].relationships[place].inverse = nil
      return true
    case .moveRelationshipUp:
      let fitting = entities.indices.filter { entities[$0].parent != nil && !entities[$0].relationships.isEmpty }
      guard let entity = fitting.randomElement(using: &random),
        let parent = entities[entity].parent.flatMap({ position($0) }),
        let index = entities[entity].relationships.indices.randomElement(using: &random)
      else { return false }
      move(entities[entity].relationships[index].key, to: parent)
      return true
    case .moveRelationshipDown:
      guard let (entity, index) = relationshipPlace(using: &random, where: { _ in true }),
        let child = entities.indices.filter({ entities[$0].parent == entities[entity].origin }).randomElement(
          using: &random)
      else { return false }
      move(entities[entity].relationships[index].key, to: child)
      return true
    default: return nil
    }
  }

  /// The inverse's destination moves with it.
  private mutating func move(_ key: Int, to position: Int) {
    guard let found = relationship(key), let home = self.position(found.entity.origin) else { return }
    var moved = found.relationship
    entities[home].relationships.removeAll { $0.key == key }
    if moved.inverse == key { moved.destination = entities[position].origin }
    entities[position].relationships.append(moved)
    for entity in entities.indices {
      for index in entities[entity].relationships.indices
      where entities[entity].relationships[index].key == moved.inverse {
        entities[entity].relationships[index].destination = entities[position].origin
      }
    }
  }

  private mutating func changeRelationship(
    using random: inout SplitMix64, where matches: (Relationship) -> Bool,
    _ body: (inout RandomModel, inout Relationship, inout SplitMix64) -> Void
  ) -> Bool {
    guard let (entity, index) = relationshipPlace(using: &random, where: matches) else { return false }
    var relationship = entities[entity].relationships[index]
    body(&self, &relationship, &random)
    entities[entity].relationships[index] = relationship
    return true
  }
}
