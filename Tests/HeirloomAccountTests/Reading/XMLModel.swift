/// A model version as its `contents` file says it.
struct XMLModel: Equatable, Sendable {
  /// An attribute, or a leaf of a composite one.
  struct Attribute: Equatable, Sendable {
    /// Of a leaf, the path with points.
    var name: String
    /// Versions are matched by it: the renaming identifier, or else the name.
    var identifier: String
    var type: String
    var isOptional = true
    var isTransient = false
    var isExternal = false
    var isDerived = false
    var defaultValue: String?
    var leaf: String { name.split(separator: ".").last.map(String.init) ?? name }
  }

  struct Relationship: Equatable, Sendable {
    var name: String
    var identifier: String
    var destination: String
    var inverse: String?
    var inverseEntity: String?
    var isToMany = false
    var isOrdered = false
    var isOptional = true
    var isTransient = false
  }

  struct Entity: Equatable, Sendable {
    var name: String
    var identifier: String
    var parent: String?
    var isAbstract = false
    /// Persistent and transient ones; composite ones as their leaves.
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
    /// The attributes, one by one, whose values differ from object to object.
    var uniqueAttributes: [String] = []
  }

  struct Declared<Property> {
    let entity: String
    let property: Property
  }

  /// The version identifier, which a store of the model repeats; empty if there is none.
  var identifier = ""
  var entities: [Entity]

  func entity(_ name: String) -> Entity? { entities.first { $0.name == name } }

  /// Begins with the entity itself; the root is last.
  func chain(of name: String) -> [Entity] {
    var chain: [Entity] = []
    var next: String? = name
    while let name = next, let entity = entity(name), chain.count <= entities.count {
      chain.append(entity)
      next = entity.parent
    }
    return chain
  }

  func root(of name: String) -> String { chain(of: name).last?.name ?? name }

  /// Includes the entity itself.
  func subtree(of name: String) -> Set<String> {
    Set(entities.filter { entity in chain(of: entity.name).contains { $0.name == name } }.map(\.name))
  }

  /// Stored ones, including inherited ones.
  func attributes(of name: String) -> [Declared<Attribute>] {
    chain(of: name).flatMap { entity in
      entity.attributes.filter { !$0.isTransient }.map { Declared(entity: entity.name, property: $0) }
    }
  }

  /// Stored ones, including inherited ones.
  func relationships(of name: String) -> [Declared<Relationship>] {
    chain(of: name).flatMap { entity in
      entity.relationships.filter { !$0.isTransient }.map { Declared(entity: entity.name, property: $0) }
    }
  }

  /// Only a stored one that names the relationship as its own inverse.
  func inverse(of relationship: Relationship) -> Declared<Relationship>? {
    guard let name = relationship.inverse else { return nil }
    return relationships(of: relationship.inverseEntity ?? relationship.destination).first { found in
      found.property.name == name && found.property.inverse == relationship.name
    }
  }
}
