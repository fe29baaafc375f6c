/// The entities and properties of a destination that continue those of a source.
///
/// Two elements are the same if their identifiers are equal: the renaming identifiers, or else the names, on both
/// sides. A property is looked for in the matched entity and its ancestors.
struct Matching {
  let source: Layout
  let destination: Layout
  /// The destination's entities by the source's.
  let entities: [String: String]

  init(_ source: Layout, _ destination: Layout) {
    (self.source, self.destination) = (source, destination)
    let heirs = Dictionary(
      destination.model.entities.map { ($0.identifier, $0.name) }, uniquingKeysWith: { first, _ in first })
    var entities: [String: String] = [:]
    for entity in source.model.entities { entities[entity.name] = heirs[entity.identifier] }
    self.entities = entities
  }

  func heir(
    of attribute: XMLModel.Attribute, in entity: String
  ) -> XMLModel.Declared<XMLModel.Attribute>? {
    entities[entity].flatMap { heir in
      destination.attributes[heir]?.first { $0.property.identifier == attribute.identifier }
    }
  }

  func heir(
    of relationship: XMLModel.Relationship, in entity: String
  ) -> XMLModel.Declared<XMLModel.Relationship>? {
    entities[entity].flatMap { heir in
      destination.relationships[heir]?.first { $0.property.identifier == relationship.identifier }
    }
  }
}
