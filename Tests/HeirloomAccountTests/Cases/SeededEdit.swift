import TestSupport

enum SeededEdit: String, CaseIterable {
  case renameEntity, renameAttribute, renameRelationship
  case dropAttribute, dropRelationship, dropBothSides, dropEntity, dropParent
  case addAttribute, addRequiredAttribute, addEntity, addRelationship
  case changeType, requireWithDefault, toExternal, reuseName, toTransient
  case changeCount, changeOrder, separateInverses
  case moveAttributeUp, moveAttributeDown, moveRelationshipUp, moveRelationshipDown, swapNames
  case insertParent, moveEntityIn, moveEntityOut

  /// Those that keep all values, links and objects, and their keys.
  static let lossless: [SeededEdit] = [
    .renameEntity, .renameAttribute, .renameRelationship, .addAttribute, .addRequiredAttribute, .addEntity,
    .addRelationship, .insertParent, .moveAttributeUp,
  ]
  static let renames: [SeededEdit] = [.renameEntity, .renameAttribute, .renameRelationship]

  /// False if the model has no place for the change; then nothing is changed.
  func apply(to model: inout XMLModel, using random: inout SplitMix64) -> Bool {
    var edited = model
    guard edited.make(self, using: &random) else { return false }
    model = edited
    return true
  }
}

extension XMLModel {
  /// The index of an entity, and of a property in it.
  typealias Place = (entity: Int, property: Int)

  private func attributePlace(
    using random: inout SplitMix64, where matches: (Attribute) -> Bool = { _ in true }
  ) -> Place? {
    entities.indices.flatMap { entity in entities[entity].attributes.indices.map { (entity, $0) } }
      .filter { place in
        let attribute = entities[place.0].attributes[place.1]
        return attribute.name != SeededCase.mark && matches(attribute)
      }.randomElement(using: &random)
  }

  private func relationshipPlace(
    using random: inout SplitMix64, where matches: (Relationship) -> Bool = { _ in true }
  ) -> Place? {
    entities.indices.flatMap { entity in entities[entity].relationships.indices.map { (entity, $0) } }
      .filter { matches(entities[$0.0].relationships[$0.1]) }.randomElement(using: &random)
  }

  private mutating func changeInverses(of name: String, in entity: String, _ change: (inout Relationship) -> Void) {
    for index in entities.indices {
      for place in entities[index].relationships.indices
      where entities[index].relationships[place].inverse == name
        && entities[index].relationships[place].inverseEntity == entity
      {
        change(&entities[index].relationships[place])
      }
    }
  }

  private mutating func removeRelationships(where matches: (String, Relationship) -> Bool) {
    for index in entities.indices {
      let entity = entities[index].name
      for relationship in entities[index].relationships where matches(entity, relationship) {
        changeInverses(of: relationship.name, in: entity) { ($0.inverse, $0.inverseEntity) = (nil, nil) }
      }
      entities[index].relationships.removeAll { matches(entity, $0) }
    }
  }

  /// Children go to the entity's parent; relationships to it go.
  private mutating func remove(_ name: String) {
    let parent = entity(name)?.parent
    removeRelationships { $0 == name || $1.destination == name }
    entities.removeAll { $0.name == name }
    for index in entities.indices where entities[index].parent == name { entities[index].parent = parent }
  }

  fileprivate mutating func make(_ edit: SeededEdit, using random: inout SplitMix64) -> Bool {
    switch edit {
    case .renameEntity, .renameAttribute, .renameRelationship: rename(edit, using: &random)
    case .dropAttribute, .dropRelationship, .dropBothSides, .dropEntity, .dropParent: drop(edit, using: &random)
    case .addAttribute, .addRequiredAttribute, .addEntity, .addRelationship: add(edit, using: &random)
    case .changeType, .requireWithDefault, .toExternal, .reuseName, .toTransient: changeAttribute(edit, using: &random)
    case .changeCount, .changeOrder, .separateInverses: changeRelationship(edit, using: &random)
    case .moveAttributeUp, .moveAttributeDown: moveAttribute(edit, using: &random)
    case .moveRelationshipUp, .moveRelationshipDown: moveRelationship(edit, using: &random)
    case .swapNames: swapNames(using: &random)
    case .insertParent, .moveEntityIn, .moveEntityOut: moveEntity(edit, using: &random)
    }
  }

  private mutating func rename(_ edit: SeededEdit, using random: inout SplitMix64) -> Bool {
    switch edit {
    case .renameEntity:
      guard let old = entities.randomElement(using: &random)?.name, let new = freeEntityName(using: &random) else {
        return false
      }
      rename(entity: old, to: new)
    case .renameAttribute:
      guard let place = attributePlace(using: &random),
        let new = freePropertyName(in: entities[place.entity].name, new: true, using: &random)
      else { return false }
      entities[place.entity].attributes[place.property].name = new
    default:
      guard let place = relationshipPlace(using: &random) else { return false }
      let (entity, old) = (entities[place.entity].name, entities[place.entity].relationships[place.property].name)
      guard !propertyNames(around: entity).contains(old + "New") else { return false }
      entities[place.entity].relationships[place.property].name = old + "New"
      changeInverses(of: old, in: entity) { $0.inverse = old + "New" }
    }
    return true
  }

  mutating func rename(entity old: String, to new: String) {
    for index in entities.indices {
      if entities[index].name == old { entities[index].name = new }
      if entities[index].parent == old { entities[index].parent = new }
      for place in entities[index].relationships.indices {
        if entities[index].relationships[place].destination == old {
          entities[index].relationships[place].destination = new
        }
        if entities[index].relationships[place].inverseEntity == old {
          entities[index].relationships[place].inverseEntity = new
        }
      }
    }
  }

  private mutating func drop(_ edit: SeededEdit, using random: inout SplitMix64) -> Bool {
    switch edit {
    case .dropAttribute:
      guard let place = attributePlace(using: &random) else { return false }
      entities[place.entity].attributes.remove(at: place.property)
    case .dropRelationship, .dropBothSides:
      guard let place = relationshipPlace(using: &random) else { return false }
      let (entity, dropped) = (entities[place.entity].name, entities[place.entity].relationships[place.property])
      removeRelationships { other, relationship in
        other == entity && relationship.name == dropped.name
          || edit == .dropBothSides && other == dropped.inverseEntity && relationship.name == dropped.inverse
      }
    default:
      let isParent = edit == .dropParent
      let places = entities.indices.filter { index in
        entities.contains { $0.parent == entities[index].name } == isParent
      }
      guard entities.count > 1, let place = places.randomElement(using: &random) else { return false }
      let dropped = entities[place]
      // What the parent declared goes, or moves down.
      if isParent, random.below(2) == 0 {
        for index in entities.indices where entities[index].parent == dropped.name {
          entities[index].attributes += dropped.attributes
        }
      }
      remove(dropped.name)
    }
    return true
  }

  private mutating func add(_ edit: SeededEdit, using random: inout SplitMix64) -> Bool {
    guard let place = entities.indices.randomElement(using: &random) else { return false }
    switch edit {
    case .addAttribute, .addRequiredAttribute:
      guard let name = freePropertyName(in: entities[place].name, new: true, using: &random) else { return false }
      var attribute = Attribute(name: name, identifier: name, type: Self.types[random.below(Self.types.count)])
      if edit == .addRequiredAttribute {
        attribute.type = "Integer 32"
        attribute.isOptional = false
        attribute.defaultValue = "7"
      }
      entities[place].attributes.append(attribute)
    case .addEntity:
      guard let name = freeEntityName(using: &random) else { return false }
      let parent = random.below(3) == 0 ? entities[place].name : nil
      entities.append(Entity(name: name, identifier: name, parent: parent))
      addAttribute(to: name, using: &random)
    default: addRelationships(using: &random)
    }
    return true
  }

  private mutating func changeAttribute(_ edit: SeededEdit, using random: inout SplitMix64) -> Bool {
    let place = attributePlace(using: &random) { attribute in
      switch edit {
      case .changeType: Self.numberTypes.contains(attribute.type) && attribute.defaultValue == nil
      case .requireWithDefault: attribute.isOptional && ["String", "Integer 32", "Double"].contains(attribute.type)
      case .toExternal: attribute.type == "Binary" && !attribute.isExternal
      case .toTransient: attribute.isOptional
      default: true
      }
    }
    guard let place else { return false }
    var attribute = entities[place.entity].attributes[place.property]
    switch edit {
    case .changeType: attribute.type = Self.numberTypes.filter { $0 != attribute.type }[random.below(6)]
    case .requireWithDefault: (attribute.isOptional, attribute.defaultValue) = (false, "7")
    case .toExternal: attribute.isExternal = true
    case .toTransient: attribute.isTransient = true
    default:
      let type = Self.types[random.below(Self.types.count)]
      attribute = Attribute(name: attribute.name, identifier: "other" + attribute.identifier, type: type)
    }
    entities[place.entity].attributes[place.property] = attribute
    return true
  }

  private mutating func changeRelationship(_ edit: SeededEdit, using random: inout SplitMix64) -> Bool {
    let place = relationshipPlace(using: &random) { relationship in
      switch edit {
      case .changeOrder: relationship.isToMany
      case .separateInverses: relationship.inverse != nil
      default: true
      }
    }
    guard let place else { return false }
    let (entity, name) = (entities[place.entity].name, entities[place.entity].relationships[place.property].name)
    switch edit {
    case .changeOrder: entities[place.entity].relationships[place.property].isOrdered.toggle()
    case .separateInverses:
      (
        entities[place.entity].relationships[place.property].inverse,
        entities[place.entity].relationships[place.property].inverseEntity
      ) = (nil, nil)
      changeInverses(of: name, in: entity) { ($0.inverse, $0.inverseEntity) = (nil, nil) }
    default:
      entities[place.entity].relationships[place.property].isToMany.toggle()
      entities[place.entity].relationships[place.property].isOrdered = false
    }
    return true
  }

  private mutating func moveAttribute(_ edit: SeededEdit, using random: inout SplitMix64) -> Bool {
    guard let place = attributePlace(using: &random) else { return false }
    let (entity, attribute) = (entities[place.entity], entities[place.entity].attributes[place.property])
    entities[place.entity].attributes.remove(at: place.property)
    switch edit {
    case .moveAttributeUp:
      guard let parent = entities.firstIndex(where: { $0.name == entity.parent }),
        !propertyNames(around: entities[parent].name).contains(attribute.name), attribute.isOptional,
        // The parent's other children would have two of one identifier.
        !entities.contains(where: { other in other.attributes.contains { $0.identifier == attribute.identifier } })
      else { return false }
      entities[parent].attributes.append(attribute)
    default:
      let children = entities.indices.filter { entities[$0].parent == entity.name }
      guard let first = children.first else { return false }
      for child in random.below(2) == 0 ? children : [first] { entities[child].attributes.append(attribute) }
    }
    return true
  }

  private mutating func moveRelationship(_ edit: SeededEdit, using random: inout SplitMix64) -> Bool {
    guard let place = relationshipPlace(using: &random) else { return false }
    let (entity, moved) = (entities[place.entity], entities[place.entity].relationships[place.property])
    entities[place.entity].relationships.remove(at: place.property)
    let heir: Int? =
      edit == .moveRelationshipUp
      ? entities.firstIndex { $0.name == entity.parent && !propertyNames(around: $0.name).contains(moved.name) }
      : entities.firstIndex { $0.parent == entity.name }
    guard let heir else { return false }
    let name = entities[heir].name
    entities[heir].relationships.append(moved)
    changeInverses(of: moved.name, in: entity.name) { ($0.inverseEntity, $0.destination) = (name, name) }
    return true
  }

  /// Of different types: with equal ones, the versions would have equal hashes.
  private mutating func swapNames(using random: inout SplitMix64) -> Bool {
    guard let place = attributePlace(using: &random) else { return false }
    let attributes = entities[place.entity].attributes
    let first = attributes[place.property]
    let other = attributes.indices.filter {
      attributes[$0].type != first.type && attributes[$0].name != SeededCase.mark
    }
    .randomElement(using: &random)
    guard let other else { return false }
    entities[place.entity].attributes[place.property].name = attributes[other].name
    entities[place.entity].attributes[other].name = first.name
    return true
  }

  private mutating func moveEntity(_ edit: SeededEdit, using random: inout SplitMix64) -> Bool {
    guard let place = entities.indices.randomElement(using: &random) else { return false }
    let entity = entities[place]
    switch edit {
    case .insertParent:
      guard let name = freeEntityName(using: &random) else { return false }
      entities[place].parent = name
      entities.append(Entity(name: name, identifier: name, parent: entity.parent, isAbstract: random.below(2) == 0))
    case .moveEntityIn:
      let own = subtree(of: entity.name)
      let names = Set(own.flatMap { propertyNames(around: $0) })
      let parent = entities.filter { other in
        !own.contains(other.name) && other.name != entity.parent
          && Set(chain(of: other.name).flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
            .isDisjoint(with: names)
      }.randomElement(using: &random)
      guard let parent else { return false }
      entities[place].parent = parent.name
    default:
      guard entity.parent != nil else { return false }
      entities[place].parent = nil
    }
    return true
  }
}
