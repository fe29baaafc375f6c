package import HeirloomModel

/// A model whose parts know their origins, however they are named.
///
/// A migration infers from names and renaming identifiers; a test knows the origins from the edits that it made.
package struct RandomModel: Sendable {
  /// An entity.
  package struct Entity: Sendable {
    /// The origin of the entity; equal origins are the same entity.
    package let origin: Int
    /// The name, the flags and everything else that doesn't refer to other parts.
    package var description: EntityDescription
    /// The origin of the parent.
    package var parent: Int?
    /// Own attributes.
    package var attributes: [Attribute] = []
    /// Own relationships.
    package var relationships: [Relationship] = []
    /// Uniqueness constraints, by keys of attributes.
    package var constraints: [[Int]] = []
    /// Fetch indexes, by keys of attributes.
    package var indexes: [(name: String, attributes: [Int])] = []
  }

  /// An attribute, or an element of a composite one.
  package struct Attribute: Sendable {
    /// The key that tells the attribute from all others in this model.
    package let key: Int
    /// The origins of the attribute; there are several if siblings' attributes became one.
    package var origins: Set<Int>
    /// The attribute without its elements.
    package var description: AttributeDescription
    /// The elements of a composite one.
    package var elements: [Attribute] = []
    /// The relationship or attribute key that a derived attribute counts or follows.
    package var derivation: Derivation?

    /// Returns the attribute as models have it.
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

  /// The source from which a derived attribute is computed, by keys.
  package enum Derivation: Hashable, Sendable {
    /// `relationship.@count`.
    case count(relationship: Int)
    /// `relationship.attribute` through a to-one relationship.
    case related(relationship: Int, attribute: Int)
    /// `relationship.@sum.attribute`.
    case sum(relationship: Int, attribute: Int)
    /// `relationship.@max.attribute`.
    case maximum(relationship: Int, attribute: Int)
    /// `canonical:(attribute)`.
    case canonical(attribute: Int)
    /// `uppercase:(attribute)`.
    case uppercase(attribute: Int)
    /// `lowercase:(attribute)`.
    case lowercase(attribute: Int)
  }

  /// One side of a relationship.
  package struct Relationship: Sendable {
    /// The key that tells the relationship from all others in this model.
    package let key: Int
    /// The origins of the relationship.
    package var origins: Set<Int>
    /// The relationship without its ends.
    package var description: RelationshipDescription
    /// The origin of the destination entity.
    package var destination: Int
    /// The key of the inverse.
    package var inverse: Int?
  }

  /// The entities in no particular order.
  package var entities: [Entity] = []
  private var next = 1

  /// Returns a number that nothing in the model has.
  package mutating func number() -> Int {
    next += 1
    return next
  }

  /// Creates an empty model.
  package init() {}
}

// MARK: - Finding

extension RandomModel {
  /// Returns the entity of an origin.
  package func entity(_ origin: Int?) -> Entity? { origin.flatMap { origin in entities.first { $0.origin == origin } } }

  /// Returns the position of an entity.
  package func position(_ origin: Int) -> Int? { entities.firstIndex { $0.origin == origin } }

  /// Returns an entity and its ancestors, the nearest first.
  package func lineage(of origin: Int) -> [Entity] {
    var result: [Entity] = []
    var next = entity(origin)
    while let entity = next {
      result.append(entity)
      next = self.entity(entity.parent)
    }
    return result
  }

  /// Returns the entities below an entity, including itself.
  package func tree(of origin: Int) -> [Entity] { entities.filter { isKind($0.origin, of: origin) } }

  /// Returns true if an entity is another or below it.
  package func isKind(_ origin: Int, of ancestor: Int) -> Bool {
    lineage(of: origin).contains { $0.origin == ancestor }
  }

  /// Returns the root above an entity.
  package func root(of origin: Int) -> Int { lineage(of: origin).last?.origin ?? origin }

  /// Returns the attributes of an entity, including inherited ones.
  package func attributes(of origin: Int) -> [Attribute] { lineage(of: origin).flatMap(\.attributes) }

  /// Returns the relationships of an entity, including inherited ones.
  package func relationships(of origin: Int) -> [Relationship] { lineage(of: origin).flatMap(\.relationships) }

  /// Returns the attribute of a key and the entity that declares it.
  package func attribute(_ key: Int) -> (entity: Entity, attribute: Attribute)? {
    for entity in entities {
      for attribute in entity.attributes where attribute.key == key { return (entity, attribute) }
    }
    return nil
  }

  /// Returns the relationship of a key and the entity that declares it.
  package func relationship(_ key: Int?) -> (entity: Entity, relationship: Relationship)? {
    guard let key else { return nil }
    for entity in entities {
      for relationship in entity.relationships where relationship.key == key { return (entity, relationship) }
    }
    return nil
  }

  /// Returns the inverse of a relationship.
  package func inverse(of relationship: Relationship) -> (entity: Entity, relationship: Relationship)? {
    self.relationship(relationship.inverse)
  }

  /// All names that properties and entities have.
  var names: Set<String> {
    Set(
      entities.flatMap {
        [$0.description.name] + $0.attributes.map(\.description.name) + $0.relationships.map(\.description.name)
      })
  }
}

// MARK: - Building

extension RandomModel {
  /// Builds the model.
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

  /// Returns the expression of a derivation in names; `nil` if a part that it follows is gone.
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
