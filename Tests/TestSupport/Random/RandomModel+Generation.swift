import HeirloomModel

extension RandomModel {
  /// Over enough seeds, every feature occurs.
  package init(using random: inout SplitMix64) {
    self.init()
    for _ in 0..<3 + random.below(4) {
      var entity = newEntity(using: &random)
      if random.below(3) != 0, let parent = entities.randomElement(using: &random) { entity.parent = parent.origin }
      entity.description.isAbstract = random.below(6) == 0
      entities.append(entity)
      for _ in 0..<1 + random.below(5) { addAttribute(to: entity.origin, using: &random) }
    }
    if !entities.contains(where: { !$0.description.isAbstract }) { entities[0].description.isAbstract = false }
    for parent in entities where random.below(2) == 0 { addTwins(below: parent.origin, using: &random) }
    for _ in 0..<2 + random.below(6) {
      guard let from = entities.randomElement(using: &random), let to = entities.randomElement(using: &random) else {
        break
      }
      addRelationship(from: from.origin, to: random.below(4) == 0 ? from.origin : to.origin, using: &random)
    }
    for index in entities.indices where random.below(3) == 0 {
      addConstraint(to: entities[index].origin, using: &random)
    }
    for index in entities.indices where random.below(3) == 0 { addIndex(to: entities[index].origin, using: &random) }
    for index in entities.indices where random.below(4) == 0 {
      addDerivedAttribute(to: entities[index].origin, using: &random)
    }
  }

  /// Makes two or three entities with few properties, so that changes often meet the same one.
  package init(smallUsing random: inout SplitMix64) {
    self.init()
    let types: [AttributeType] = [.integer16, .integer64, .double, .boolean, .decimal, .float, .string, .composite]
    for _ in 0..<2 + random.below(2) {
      var entity = newEntity(using: &random)
      if random.below(2) != 0, let parent = entities.randomElement(using: &random) { entity.parent = parent.origin }
      entities.append(entity)
      for _ in 0..<1 + random.below(2) {
        addAttribute(to: entity.origin, type: types[random.below(types.count)], using: &random)
      }
    }
    for _ in 0..<1 + random.below(2) {
      guard let from = entities.randomElement(using: &random), let to = entities.randomElement(using: &random) else {
        break
      }
      addRelationship(from: from.origin, to: to.origin, using: &random)
    }
  }

  /// The attributes have the same name and may become the parent's later.
  private mutating func addTwins(below parent: Int, using random: inout SplitMix64) {
    let children = entities.indices.filter { entities[$0].parent == parent }
    guard children.count > 1 else { return }
    let first = newAttribute(Self.storedTypes[random.below(Self.storedTypes.count)], using: &random)
    for index in children {
      let key = number()
      var twin = Attribute(key: key, origins: [key], description: first.description)
      twin.elements = []
      entities[index].attributes.append(twin)
    }
  }

  /// Nothing in the model has the name; some are hard to quote.
  mutating func newName(_ stem: String, using random: inout SplitMix64) -> String {
    let words = ["", "", "", "", "Größe", "it's ", "a \"b\" ", "order", "Z_", "π", "select"]
    return "\(stem)\(words[random.below(words.count)])\(number())"
  }

  mutating func newEntity(using random: inout SplitMix64) -> Entity {
    let origin = number()
    // Some sort before and some after the existing ones, so that numbers change.
    let stem = ["A", "M", "Z"][random.below(3)]
    var description = EntityDescription(name: newName(stem, using: &random))
    if random.below(6) == 0 { description.renamingIdentifier = "id \(origin)" }
    return Entity(origin: origin, description: description)
  }

  mutating func newAttribute(_ type: AttributeType, using random: inout SplitMix64) -> Attribute {
    let key = number()
    var description = AttributeDescription(name: newName("a", using: &random), type: type)
    description.isOptional = random.below(3) != 0
    if random.below(3) == 0 { description.defaultValue = RandomValues.defaultValue(of: type, using: &random) }
    if random.below(6) == 0 { description.renamingIdentifier = "id \(key)" }
    if type == .binary { description.allowsExternalBinaryDataStorage = random.below(2) == 0 }
    description.preservesValueInHistoryOnDeletion = random.below(9) == 0
    var attribute = Attribute(key: key, origins: [key], description: description)
    if type == .composite {
      for _ in 0..<1 + random.below(3) {
        let type = Self.storedTypes[random.below(Self.storedTypes.count)]
        attribute.elements.append(newAttribute(type, using: &random))
      }
      if random.below(4) == 0 {
        var inner = newAttribute(.composite, using: &random)
        inner.elements = Array(inner.elements.filter { $0.elements.isEmpty }.prefix(2))
        if !inner.elements.isEmpty { attribute.elements.append(inner) }
      }
    }
    return attribute
  }

  /// The types with a column of their own.
  static let storedTypes: [AttributeType] = [
    .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary, .uuid, .uri,
    .transformable,
  ]

  @discardableResult
  mutating func addAttribute(
    to entity: Int, type: AttributeType? = nil, using random: inout SplitMix64
  ) -> Attribute? {
    guard let position = position(entity) else { return nil }
    let composite: AttributeType? = random.below(8) == 0 ? .composite : nil
    var attribute = newAttribute(
      type ?? composite ?? Self.storedTypes[random.below(Self.storedTypes.count)], using: &random)
    if type == nil, attribute.elements.isEmpty { attribute.description.isTransient = random.below(10) == 0 }
    entities[position].attributes.append(attribute)
    return attribute
  }

  /// Mostly with an inverse.
  mutating func addRelationship(from: Int, to: Int, using random: inout SplitMix64) {
    guard let first = position(from) else { return }
    var relationship = newRelationship(to: to, using: &random)
    let kind = random.below(10)
    if kind == 0, from == to {
      relationship.inverse = relationship.key
    } else if kind < 7, let second = position(to) {
      var inverse = newRelationship(to: from, using: &random)
      inverse.inverse = relationship.key
      relationship.inverse = inverse.key
      entities[second].relationships.append(inverse)
    }
    entities[first].relationships.append(relationship)
  }

  /// Without an inverse.
  mutating func newRelationship(to entity: Int, using random: inout SplitMix64) -> Relationship {
    let key = number()
    var description = RelationshipDescription(name: newName("r", using: &random), destinationEntity: "")
    description.isOptional = true
    if random.below(2) == 0 {
      description.maxCount = 0
      description.isOrdered = random.below(3) == 0
    }
    if random.below(6) == 0 { description.renamingIdentifier = "id \(key)" }
    description.deleteRule = DeleteRule.allCases[random.below(4)]
    return Relationship(key: key, origins: [key], description: description, destination: entity)
  }

  /// On attributes that the entity itself declares; false if none fits.
  @discardableResult
  mutating func addConstraint(to origin: Int, using random: inout SplitMix64) -> Bool {
    guard let position = position(origin) else { return false }
    let fitting = entities[position].attributes.filter { attribute in
      !attribute.description.isTransient && attribute.derivation == nil
        && [.integer32, .integer64, .string, .uuid, .uri, .double, .date].contains(attribute.description.type)
        && !entities[position].constraints.contains { $0.contains(attribute.key) }
    }
    guard let attribute = fitting.randomElement(using: &random) else { return false }
    var keys = [attribute.key]
    if random.below(3) == 0, let other = fitting.first(where: { $0.key != attribute.key }) { keys.append(other.key) }
    entities[position].constraints.append(keys)
    return true
  }

  mutating func addIndex(to origin: Int, using random: inout SplitMix64) {
    guard let position = position(origin) else { return }
    let fitting = attributes(of: origin).filter { !$0.description.isTransient && $0.elements.isEmpty }
    let keys = fitting.shuffled(using: &random).prefix(1 + random.below(2)).map(\.key)
    guard !keys.isEmpty else { return }
    entities[position].indexes.append((name: "by\(number())", attributes: Array(keys)))
  }

  @discardableResult
  mutating func addDerivedAttribute(to origin: Int, using random: inout SplitMix64) -> Bool {
    guard let position = position(origin) else { return false }
    var choices: [(Derivation, AttributeType)] = []
    for attribute in attributes(of: origin)
    where attribute.description.type == .string && !attribute.description.isTransient && attribute.derivation == nil {
      choices += [
        (.canonical(attribute: attribute.key), .string), (.uppercase(attribute: attribute.key), .string),
        (.lowercase(attribute: attribute.key), .string),
      ]
    }
    for relationship in relationships(of: origin) where !relationship.description.isTransient {
      if relationship.description.isToMany { choices.append((.count(relationship: relationship.key), .integer64)) }
      for attribute in attributes(of: relationship.destination)
      where !attribute.description.isTransient && attribute.derivation == nil && attribute.elements.isEmpty
        && !attribute.description.allowsExternalBinaryDataStorage
      {
        let type = attribute.description.type
        if !relationship.description.isToMany {
          choices.append((.related(relationship: relationship.key, attribute: attribute.key), type))
        } else if type == .integer16 || type == .integer32 {
          choices.append((.sum(relationship: relationship.key, attribute: attribute.key), .integer64))
          choices.append((.maximum(relationship: relationship.key, attribute: attribute.key), .integer64))
        }
      }
    }
    guard let (derivation, type) = choices.randomElement(using: &random) else { return false }
    var attribute = newAttribute(type, using: &random)
    attribute.description.allowsExternalBinaryDataStorage = false
    attribute.description.isOptional = true
    attribute.description.defaultValue = nil
    attribute.derivation = derivation
    entities[position].attributes.append(attribute)
    return true
  }
}
