import HeirloomModel

/// A change of a model: one row of the table of changes in the facts on migration.
package enum RandomEdit: String, CaseIterable, Sendable {
  // These eight change nothing that is hashed.
  case unhashedChange, defaultOnly, deleteRule, validation, addTransientAttribute, removeTransientAttribute
  case addIndex, removeIndex
  case addOptionalAttribute, addAttributeWithDefault, addRequiredAttribute, removeAttribute, renameAttribute
  case swapNames, renameWithoutIdentifier, reuseName, requiredToOptional, optionalToRequiredWithDefault
  case optionalToRequired, integer16To64, integer64ToDouble, otherNumbers, incompatibleTypes, booleanInteger
  case dateDouble, transientToPersistent, persistentToTransient, externalOnToOff, externalOffToOn
  case attributeToRelationship, relationshipToAttribute, moveAttributeUp, moveAttributeDown
  case addComposite, removeComposite, addElement, removeElement, renameElement
  case addDerived, removeDerived, addConstraint, removeConstraint
  case addRelationship, addRequiredToOne, removeRelationship, renameRelationship, toOneToMany, toManyToOne
  case unorderedToOrdered, orderedToUnordered, addInverse, removeInverse, separateInverses, counts
  case moveRelationshipUp, moveRelationshipDown, relationshipToRequired
  case addEntity, removeEntity, renameEntity, concreteToAbstract, abstractToConcrete, insertParent, addChild
  case removeParent, moveEntityOut, moveEntityIn, mergeHierarchies

  /// True when nothing can stop a migration with this change, so that others can be combined with it freely.
  package var isHarmless: Bool {
    switch self {
    case .addRequiredAttribute, .optionalToRequired, .incompatibleTypes, .dateDouble, .externalOnToOff, .addConstraint,
      .addRequiredToOne, .relationshipToRequired, .concreteToAbstract, .mergeHierarchies, .otherNumbers,
      .moveEntityOut, .moveEntityIn:
      false
    default: true
    }
  }

  /// False if there is no place for the change; then nothing is changed.
  package func apply(to model: inout RandomModel, using random: inout SplitMix64) -> Bool {
    var edited = model
    guard edited.apply(self, using: &random) else { return false }
    edited.cleanUp()
    model = edited
    return true
  }
}

extension RandomModel {
  fileprivate mutating func apply(_ edit: RandomEdit, using random: inout SplitMix64) -> Bool {
    applyUnhashed(edit, using: &random) ?? applyToAttributes(edit, using: &random)
      ?? applyToStorage(edit, using: &random) ?? applyToRelationships(edit, using: &random)
      ?? applyToEntities(edit, using: &random) ?? false
  }

  /// Removes what refers to things that are gone.
  fileprivate mutating func cleanUp() {
    var isClean = false
    while !isClean {
      isClean = true
      for index in entities.indices {
        let attributes = Set(
          self.attributes(of: entities[index].origin).filter { !$0.description.isTransient }.map(\.key))
        entities[index].constraints.removeAll { !attributes.isSuperset(of: $0) }
        entities[index].indexes.removeAll { !attributes.isSuperset(of: $0.attributes) }
        let origin = entities[index].origin
        let before = entities[index].attributes.count
        let attributesBefore = entities[index].attributes
        entities[index].attributes = attributesBefore.filter { attribute in
          attribute.derivation.map { isSound($0, for: attribute, in: origin) } ?? true
        }
        isClean = isClean && before == entities[index].attributes.count
      }
    }
  }

  private func isSound(_ derivation: Derivation, for derived: Attribute, in entity: Int) -> Bool {
    func plain(_ key: Int, in entity: Int) -> Attribute? {
      attributes(of: entity).first {
        $0.key == key && !$0.description.isTransient && $0.derivation == nil && $0.elements.isEmpty
          && !$0.description.allowsExternalBinaryDataStorage
      }
    }
    func link(_ key: Int) -> Relationship? {
      relationships(of: entity).first { $0.key == key && !$0.description.isTransient }
    }
    switch derivation {
    case .count(let relationship): return link(relationship)?.description.isToMany ?? false
    case .related(let relationship, let attribute):
      guard let link = link(relationship), let found = plain(attribute, in: link.destination) else { return false }
      return !link.description.isToMany && found.description.type == derived.description.type
    case .sum(let relationship, let attribute), .maximum(let relationship, let attribute):
      guard let link = link(relationship), let found = plain(attribute, in: link.destination) else { return false }
      return link.description.isToMany && [.integer16, .integer32].contains(found.description.type)
    case .canonical(let attribute), .uppercase(let attribute), .lowercase(let attribute):
      return plain(attribute, in: entity)?.description.type == .string
    }
  }
}

// MARK: - Choosing

/// An attribute, or an element of a composite one: the attribute's index, then the elements'.
struct AttributePlace {
  let entity: Int
  let path: [Int]
}

extension RandomModel {
  subscript(place: AttributePlace) -> Attribute {
    get {
      var attribute = entities[place.entity].attributes[place.path[0]]
      for index in place.path.dropFirst() { attribute = attribute.elements[index] }
      return attribute
    }
    set { Self.set(newValue, at: place.path[...], in: &entities[place.entity].attributes) }
  }

  private static func set(_ value: Attribute, at path: ArraySlice<Int>, in list: inout [Attribute]) {
    guard let first = path.first else { return }
    if path.count == 1 { list[first] = value } else { set(value, at: path.dropFirst(), in: &list[first].elements) }
  }

  /// Includes the elements of composite attributes.
  var places: [AttributePlace] {
    entities.indices.flatMap { entity in
      entities[entity].attributes.indices.flatMap { below(AttributePlace(entity: entity, path: [$0])) }
    }
  }

  private func below(_ place: AttributePlace) -> [AttributePlace] {
    [place]
      + self[place].elements.indices.flatMap {
        below(AttributePlace(entity: place.entity, path: place.path + [$0]))
      }
  }

  /// Never a derived attribute; an element of a composite one only if `elements` is true.
  func place(
    elements: Bool = true, using random: inout SplitMix64, where matches: (Attribute) -> Bool
  ) -> AttributePlace? {
    places.filter { place in
      let attribute = self[place]
      return (elements || place.path.count == 1) && attribute.derivation == nil && matches(attribute)
    }.randomElement(using: &random)
  }

  func relationshipPlace(
    using random: inout SplitMix64, where matches: (Relationship) -> Bool
  ) -> (entity: Int, index: Int)? {
    entities.indices.flatMap { entity in entities[entity].relationships.indices.map { (entity, $0) } }
      .filter { matches(entities[$0.0].relationships[$0.1]) }.randomElement(using: &random)
  }

  /// The inverse stays, without one.
  mutating func removeRelationship(_ key: Int) {
    for entity in entities.indices {
      entities[entity].relationships.removeAll { $0.key == key }
      for index in entities[entity].relationships.indices where entities[entity].relationships[index].inverse == key {
        entities[entity].relationships[index].inverse = nil
      }
    }
  }
}

extension AttributeDescription {
  /// Keeps the identifier by which the attribute is matched, as models should.
  mutating func rename(to name: String) {
    renamingIdentifier = canonicalIdentifier
    self.name = name
  }
}
