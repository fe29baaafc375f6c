import TestSupport

extension XMLModel {
  static let numberTypes = ["Integer 16", "Integer 32", "Integer 64", "Double", "Float", "Decimal", "Boolean"]
  static let types = numberTypes + ["String", "Date", "Binary", "UUID", "URI", "Transformable"]

  // No name is the beginning of another with a number behind it: that is how equal column names are told apart.
  private static let entityNames = ["Apple", "banana", "Cherry", "Date", "Elder", "Fig", "grape", "Honey"]
  private static let newEntityNames = ["Kiwi", "Lemon", "mango", "Nut", "Olive", "AAAlmond", "zest"]
  static let propertyNames = [
    "name", "size", "when", "note", "rate", "done", "data", "code", "place", "mark", "unit", "tone", "hue", "zone",
  ]
  private static let newPropertyNames = ["title", "amount", "moment", "remark", "ratio", "flag", "bytes", "area"]

  init(using random: inout SplitMix64) {
    entities = []
    for name in Self.entityNames.shuffled(using: &random).prefix(2 + random.below(4)) {
      // Siblings have capital initials, so that no rule of order by case matters to their columns' names.
      let mayHaveParent = name.first?.isUppercase ?? false
      let parent = mayHaveParent && random.below(3) == 0 ? entities.randomElement(using: &random)?.name : nil
      entities.append(Entity(name: name, identifier: name, parent: parent))
      for _ in 0..<1 + random.below(4) { addAttribute(to: name, using: &random) }
    }
    for place in entities.indices where entities.contains(where: { $0.parent == entities[place].name }) {
      entities[place].isAbstract = random.below(5) == 0
    }
    for _ in 0..<1 + random.below(4) { addRelationships(using: &random) }
  }

  func freeEntityName(using random: inout SplitMix64) -> String? {
    Self.newEntityNames.filter { entity($0) == nil }.randomElement(using: &random)
  }

  /// Free in the entity, in those above and in those below.
  func freePropertyName(in entity: String, new: Bool = false, using random: inout SplitMix64) -> String? {
    let taken = propertyNames(around: entity)
    return (new ? Self.newPropertyNames : Self.propertyNames).filter { !taken.contains($0) }
      .randomElement(using: &random)
  }

  func propertyNames(around name: String) -> Set<String> {
    let family = subtree(of: name).union(chain(of: name).map(\.name))
    return Set(
      entities.filter { family.contains($0.name) }.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
  }

  mutating func addAttribute(to name: String, using random: inout SplitMix64) {
    guard let place = entities.firstIndex(where: { $0.name == name }),
      let free = freePropertyName(in: name, using: &random)
    else { return }
    let type = Self.types[random.below(Self.types.count)]
    var attribute = Attribute(name: free, identifier: free, type: type)
    attribute.isExternal = type == "Binary" && random.below(3) == 0
    entities[place].attributes.append(attribute)
  }

  /// Of any kind, mostly with an inverse.
  mutating func addRelationships(using random: inout SplitMix64) {
    let used = Set(entities.flatMap { $0.relationships.map(\.name) })
    let letters = "ABCDEFGHIJ".map(String.init)
    guard let letter = letters.first(where: { used.isDisjoint(with: ["to\($0)", "of\($0)"]) }),
      let owner = entities.indices.randomElement(using: &random),
      let target = entities.indices.randomElement(using: &random)
    else { return }
    let (name, back) = ("to\(letter)", "of\(letter)")
    var relationship = Relationship(name: name, identifier: name, destination: entities[target].name)
    relationship.isToMany = random.below(2) == 0
    relationship.isOrdered = relationship.isToMany && random.below(3) == 0
    if random.below(5) != 0 {
      relationship.inverse = back
      relationship.inverseEntity = entities[target].name
      var inverse = Relationship(name: back, identifier: back, destination: entities[owner].name)
      inverse.isToMany = random.below(2) == 0
      inverse.isOrdered = inverse.isToMany && random.below(3) == 0
      inverse.inverse = name
      inverse.inverseEntity = entities[owner].name
      entities[target].relationships.append(inverse)
    }
    entities[owner].relationships.append(relationship)
  }
}
