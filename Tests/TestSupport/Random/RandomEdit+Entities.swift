import HeirloomModel

extension RandomModel {
  mutating func applyToEntities(_ edit: RandomEdit, using random: inout SplitMix64) -> Bool? {
    switch edit {
    case .addEntity, .addChild:
      guard let parent = entities.randomElement(using: &random) else { return false }
      var entity = newEntity(using: &random)
      entity.parent = edit == .addChild ? parent.origin : nil
      entities.append(entity)
      for _ in 0..<random.below(3) { addAttribute(to: entity.origin, using: &random) }
      return true
    case .removeEntity:
      let parents = Set(entities.compactMap(\.parent))
      guard entities.count > 1,
        let entity = entities.filter({ !parents.contains($0.origin) }).randomElement(using: &random)
      else { return false }
      remove(entity.origin, using: &random)
      return true
    case .removeParent:
      let parents = Set(entities.compactMap(\.parent))
      guard let entity = entities.filter({ parents.contains($0.origin) }).randomElement(using: &random) else {
        return false
      }
      if random.below(2) == 0 { copyProperties(of: entity.origin, toChildren: true, using: &random) }
      remove(entity.origin, using: &random)
      return (try? model()) != nil
    case .renameEntity:
      let position = random.below(entities.count)
      let name = newName(["A", "M", "Z"][random.below(3)], using: &random)
      entities[position].description.renamingIdentifier = entities[position].description.canonicalIdentifier
      entities[position].description.name = name
      return true
    case .concreteToAbstract, .abstractToConcrete:
      let isAbstract = edit == .abstractToConcrete
      guard
        let position = entities.indices.filter({ entities[$0].description.isAbstract == isAbstract }).randomElement(
          using: &random)
      else { return false }
      entities[position].description.isAbstract = !isAbstract
      return true
    case .insertParent:
      let position = random.below(entities.count)
      var entity = newEntity(using: &random)
      entity.description.isAbstract = random.below(2) == 0
      entity.parent = entities[position].parent
      entities[position].parent = entity.origin
      entities.append(entity)
      if random.below(2) == 0, let added = addAttribute(to: entity.origin, using: &random) {
        for place in places where self[place].key == added.key { self[place].description.isOptional = true }
      }
      return true
    case .moveEntityOut:
      guard let position = entities.indices.filter({ entities[$0].parent != nil }).randomElement(using: &random) else {
        return false
      }
      copyProperties(of: entities[position].origin, toChildren: false, using: &random)
      entities[position].parent = nil
      return (try? model()) != nil
    case .moveEntityIn:
      let parents = Set(entities.compactMap(\.parent))
      guard
        let position = entities.indices.filter({
          entities[$0].parent == nil && !parents.contains(entities[$0].origin)
        }).randomElement(using: &random),
        let parent = entities.filter({ $0.origin != entities[position].origin }).randomElement(using: &random)
      else { return false }
      entities[position].parent = parent.origin
      return (try? model()) != nil
    case .mergeHierarchies:
      let roots = entities.indices.filter { entities[$0].parent == nil }.shuffled(using: &random)
      guard roots.count > 1 else { return false }
      var entity = newEntity(using: &random)
      entity.description.isAbstract = true
      entities[roots[0]].parent = entity.origin
      entities[roots[1]].parent = entity.origin
      entities.append(entity)
      return (try? model()) != nil
    default: return nil
    }
  }

  /// The children get the entity's parent; relationships to it are removed or lead to its parent.
  private mutating func remove(_ origin: Int, using random: inout SplitMix64) {
    guard let entity = entity(origin) else { return }
    for relationship in entity.relationships { removeRelationship(relationship.key) }
    for index in entities.indices {
      if entities[index].parent == origin { entities[index].parent = entity.parent }
      for relationship in entities[index].relationships where relationship.destination == origin {
        if let parent = entity.parent, relationship.inverse == nil, random.below(2) == 0,
          let place = entities[index].relationships.firstIndex(where: { $0.key == relationship.key })
        {
          entities[index].relationships[place].destination = parent
        } else {
          removeRelationship(relationship.key)
        }
      }
    }
    entities.removeAll { $0.origin == origin }
  }

  /// Gives the children the entity's own properties, or the entity those that it inherits.
  private mutating func copyProperties(of origin: Int, toChildren: Bool, using random: inout SplitMix64) {
    let owners = toChildren ? lineage(of: origin).prefix(1) : lineage(of: origin).dropFirst()
    let attributes = owners.flatMap(\.attributes).filter { $0.derivation == nil }
    let relationships = owners.flatMap(\.relationships).filter { $0.inverse != $0.key }
    for index in entities.indices
    where toChildren ? entities[index].parent == origin : entities[index].origin == origin {
      for attribute in attributes where random.below(5) != 0 {
        entities[index].attributes.append(attribute.copied(as: number()))
      }
      for relationship in relationships where random.below(2) == 0 {
        var copy = Relationship(
          key: number(), origins: relationship.origins, description: relationship.description,
          destination: relationship.destination)
        copy.inverse = nil
        entities[index].relationships.append(copy)
      }
    }
  }
}
