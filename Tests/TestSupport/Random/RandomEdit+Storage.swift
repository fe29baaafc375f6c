import HeirloomModel

extension RandomModel {
  mutating func applyToStorage(_ edit: RandomEdit, using random: inout SplitMix64) -> Bool? {
    switch edit {
    case .transientToPersistent:
      guard let place = place(elements: false, using: &random, where: { $0.description.isTransient }) else {
        return false
      }
      self[place].description.isTransient = false
      self[place].description.isOptional = true
      return true
    case .persistentToTransient:
      guard
        let place = place(
          elements: false, using: &random, where: { !$0.description.isTransient && $0.elements.isEmpty })
      else { return false }
      self[place].description.isTransient = true
      return true
    case .externalOnToOff, .externalOffToOn:
      let isOn = edit == .externalOnToOff
      return change(
        using: &random,
        where: {
          $0.description.type == .binary && $0.description.allowsExternalBinaryDataStorage == isOn
            && !$0.description.isTransient
        }, { $0.description.allowsExternalBinaryDataStorage = !isOn })
    case .attributeToRelationship:
      guard
        let place = place(
          elements: false, using: &random, where: { !$0.description.isTransient && $0.elements.isEmpty }),
        let destination = entities.randomElement(using: &random)
      else { return false }
      var relationship = newRelationship(to: destination.origin, using: &random)
      relationship.description.name = self[place].description.name
      relationship.description.renamingIdentifier = nil
      entities[place.entity].attributes.remove(at: place.path[0])
      entities[place.entity].relationships.append(relationship)
      return true
    case .relationshipToAttribute:
      guard let (entity, index) = relationshipPlace(using: &random, where: { !$0.description.isTransient }) else {
        return false
      }
      let relationship = entities[entity].relationships[index]
      removeRelationship(relationship.key)
      var attribute = newAttribute(.string, using: &random)
      attribute.description.name = relationship.description.name
      attribute.description.renamingIdentifier = nil
      attribute.description.isOptional = true
      entities[entity].attributes.append(attribute)
      return true
    case .moveAttributeUp: return moveAttributeUp(using: &random)
    case .moveAttributeDown: return moveAttributeDown(using: &random)
    case .addComposite:
      guard
        let added = addAttribute(to: entities[random.below(entities.count)].origin, type: .composite, using: &random),
        let place = places.first(where: { self[$0].key == added.key })
      else { return false }
      self[place].description.isOptional = true
      return true
    case .removeComposite:
      guard let place = place(elements: false, using: &random, where: { !$0.elements.isEmpty }) else { return false }
      entities[place.entity].attributes.remove(at: place.path[0])
      return true
    case .addElement:
      guard let place = place(using: &random, where: { !$0.elements.isEmpty && !$0.description.isTransient }) else {
        return false
      }
      var element = newAttribute(Self.storedTypes[random.below(Self.storedTypes.count)], using: &random)
      element.description.isOptional = true
      self[place].elements.insert(element, at: random.below(self[place].elements.count + 1))
      return true
    case .removeElement:
      guard let place = place(using: &random, where: { $0.elements.count > 1 && !$0.description.isTransient }) else {
        return false
      }
      self[place].elements.remove(at: random.below(self[place].elements.count))
      return true
    case .renameElement:
      guard let place = places.filter({ $0.path.count > 1 }).randomElement(using: &random) else { return false }
      rename(place, to: newName("e", using: &random))
      return true
    case .addDerived:
      return addDerivedAttribute(to: entities[random.below(entities.count)].origin, using: &random)
    case .removeDerived:
      guard let place = places.filter({ self[$0].derivation != nil }).randomElement(using: &random) else {
        return false
      }
      entities[place.entity].attributes.remove(at: place.path[0])
      return true
    case .addConstraint:
      return addConstraint(to: entities[random.below(entities.count)].origin, using: &random)
    case .removeConstraint:
      guard let entity = entities.indices.filter({ !entities[$0].constraints.isEmpty }).randomElement(using: &random)
      else { return false }
      entities[entity].constraints.removeFirst()
      return true
    default: return nil
    }
  }

  /// Siblings' attributes with the same identifier merge with it.
  private mutating func moveAttributeUp(using random: inout SplitMix64) -> Bool {
    let fitting = places.filter { place in
      place.path.count == 1 && entities[place.entity].parent != nil && self[place].derivation == nil
    }
    // These are mostly attributes that siblings have too.
    let shared = fitting.filter { place in
      places.contains { $0.entity != place.entity && self[$0].identifier == self[place].identifier }
    }
    let chosen = random.below(3) == 0 ? fitting : shared.isEmpty ? fitting : shared
    guard let place = chosen.randomElement(using: &random), let parent = entities[place.entity].parent,
      let position = position(parent)
    else { return false }
    var moved = self[place]
    let tree = Set(tree(of: parent).map(\.origin))
    for index in entities.indices where tree.contains(entities[index].origin) {
      for other in entities[index].attributes where other.identifier == moved.identifier && other.key != moved.key {
        guard other.derivation == nil, other.elements.isEmpty == moved.elements.isEmpty else { return false }
        moved.origins.formUnion(other.origins)
      }
      entities[index].attributes.removeAll { $0.identifier == moved.identifier }
    }
    // Other objects have no value for it.
    if random.below(4) != 0 { moved.description.isOptional = true }
    for index in entities.indices { entities[index].constraints.removeAll { $0.contains(moved.key) } }
    entities[position].attributes.append(moved)
    return (try? model()) != nil
  }

  /// Not every child gets it.
  private mutating func moveAttributeDown(using random: inout SplitMix64) -> Bool {
    let parents = Set(entities.compactMap(\.parent))
    let fitting = places.filter { place in
      place.path.count == 1 && parents.contains(entities[place.entity].origin) && self[place].derivation == nil
    }
    guard let place = fitting.randomElement(using: &random) else { return false }
    let moved = self[place]
    let parent = entities[place.entity].origin
    entities[place.entity].attributes.remove(at: place.path[0])
    var key = moved.key
    for index in entities.indices where entities[index].parent == parent && random.below(4) != 0 {
      entities[index].attributes.append(moved.copied(as: key))
      key = number()
    }
    return true
  }
}

extension RandomModel.Attribute {
  /// Migrations match attributes by it.
  var identifier: String { description.renamingIdentifier ?? description.name }

  /// The copy has the same origins.
  func copied(as key: Int) -> RandomModel.Attribute {
    var copy = RandomModel.Attribute(key: key, origins: origins, description: description)
    copy.elements = elements
    return copy
  }
}
