package import HeirloomModel

/// A model whose parts know their origins, however they are named.
///
/// A migration infers from names and renaming identifiers; a test knows the origins from the edits that it made.
package struct RandomModel: Sendable {
  package struct Entity: Sendable {
    /// Equal origins are the same entity.
    package let origin: Int
    /// Without what refers to other parts.
    package var description: EntityDescription
    /// The parent's origin.
    package var parent: Int?
    package var attributes: [Attribute] = []
    package var relationships: [Relationship] = []
    /// Keys of attributes.
    package var constraints: [[Int]] = []
    /// The attributes are keys.
    package var indexes: [(name: String, attributes: [Int])] = []
  }

  /// An attribute, or an element of a composite one.
  package struct Attribute: Sendable {
    /// Unique in the model.
    package let key: Int
    /// Several if siblings' attributes became one.
    package var origins: Set<Int>
    /// Without its elements.
    package var description: AttributeDescription
    package var elements: [Attribute] = []
    package var derivation: Derivation?

    func built(_ expression: (Derivation) -> ValueExpression?) -> AttributeDescription {
      var result = description
      if !elements.isEmpty {
        result.composite = CompositeAttributeDescription(elements: elements.map { $0.built(expression) })
      }
      if let derivation, let expression = expression(derivation) {
        result.derivation = DerivedAttributeDescription(derivationExpression: expression)
      }
      return result
    }
  }

  /// The source of a derived attribute, by keys.
  package enum Derivation: Hashable, Sendable {
    case count(relationship: Int)
    /// Through a to-one relationship.
    case related(relationship: Int, attribute: Int)
    case sum(relationship: Int, attribute: Int)
    case maximum(relationship: Int, attribute: Int)
    case canonical(attribute: Int)
    case uppercase(attribute: Int)
    case lowercase(attribute: Int)
  }

  /// One side of a relationship.
  package struct Relationship: Sendable {
    /// Unique in the model.
    package let key: Int
    package var origins: Set<Int>
    /// Without its ends.
    package var description: RelationshipDescription
    /// The destination entity's origin.
    package var destination: Int
    /// The inverse's key.
    package var inverse: Int?
  }

  /// In no particular order.
  package var entities: [Entity] = []
  private var next = 1

  /// Nothing in the model has the number.
  package mutating func number() -> Int {
    next += 1
    return next
  }

  package init() {}
}

// MARK: - Finding

extension RandomModel {
  package func entity(_ origin: Int?) -> Entity? { origin.flatMap { origin in entities.first { $0.origin == origin } } }

  package func position(_ origin: Int) -> Int? { entities.firstIndex { $0.origin == origin } }

  /// The nearest first, beginning with the entity itself.
  package func lineage(of origin: Int) -> [Entity] {
    var result: [Entity] = []
    var next = entity(origin)
    while let entity = next {
      result.append(entity)
      next = self.entity(entity.parent)
    }
    return result
  }

  /// Includes the entity itself.
  package func tree(of origin: Int) -> [Entity] { entities.filter { isKind($0.origin, of: origin) } }

  /// True also for the entity itself.
  package func isKind(_ origin: Int, of ancestor: Int) -> Bool {
    lineage(of: origin).contains { $0.origin == ancestor }
  }

  package func root(of origin: Int) -> Int { lineage(of: origin).last?.origin ?? origin }

  /// Includes inherited ones.
  package func attributes(of origin: Int) -> [Attribute] { lineage(of: origin).flatMap(\.attributes) }

  /// Includes inherited ones.
  package func relationships(of origin: Int) -> [Relationship] { lineage(of: origin).flatMap(\.relationships) }

  package func attribute(_ key: Int) -> (entity: Entity, attribute: Attribute)? {
    for entity in entities {
      for attribute in entity.attributes where attribute.key == key { return (entity, attribute) }
    }
    return nil
  }

  package func relationship(_ key: Int?) -> (entity: Entity, relationship: Relationship)? {
    guard let key else { return nil }
    for entity in entities {
      for relationship in entity.relationships where relationship.key == key { return (entity, relationship) }
    }
    return nil
  }

  package func inverse(of relationship: Relationship) -> (entity: Entity, relationship: Relationship)? {
    self.relationship(relationship.inverse)
  }

  var names: Set<String> {
    Set(
      entities.flatMap {
        [$0.description.name] + $0.attributes.map(\.description.name) + $0.relationships.map(\.description.name)
      })
  }
}

// MARK: - Building

extension RandomModel {
  package func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: entities.map { entity in
        var result = entity.description
        result.superentity = self.entity(entity.parent)?.description.name
        result.attributes = entity.attributes.map { $0.built(expression) }
        result.relationships = entity.relationships.map { relationship in
          var description = relationship.description
          description.destinationEntity = self.entity(relationship.destination)?.description.name ?? ""
          description.inverseRelationship = inverse(of: relationship)?.relationship.description.name
          return description
        }
        result.uniquenessConstraints = entity.constraints.map { names(of: $0) }
        result.indexes = entity.indexes.map { index in
          FetchIndexDescription(name: index.name, elements: names(of: index.attributes).map { .init(property: $0) })
        }
        return result
      })
  }

  private func names(of keys: [Int]) -> [String] { keys.compactMap { attribute($0)?.attribute.description.name } }

  /// Returns `nil` if a part that the derivation follows is gone.
  private func expression(_ derivation: Derivation) -> ValueExpression? {
    func name(_ key: Int) -> String? {
      attribute(key)?.attribute.description.name ?? relationship(key)?.relationship.description.name
    }
    func path(_ keys: [Int], _ collector: String? = nil) -> ValueExpression? {
      let names = keys.compactMap(name)
      guard names.count == keys.count else { return nil }
      return .keyPath((names.prefix(1) + (collector.map { [$0] } ?? []) + names.dropFirst()).joined(separator: "."))
    }
    func call(_ selector: String, _ key: Int) -> ValueExpression? {
      name(key).map { .function(operand: nil, selector: selector, arguments: [.keyPath($0)]) }
    }
    return switch derivation {
    case .count(let relationship): path([relationship], "@count")
    case .related(let relationship, let attribute): path([relationship, attribute])
    case .sum(let relationship, let attribute): path([relationship, attribute], "@sum")
    case .maximum(let relationship, let attribute): path([relationship, attribute], "@max")
    case .canonical(let attribute): call("canonical:", attribute)
    case .uppercase(let attribute): call("uppercase:", attribute)
    case .lowercase(let attribute): call("lowercase:", attribute)
    }
  }
}
