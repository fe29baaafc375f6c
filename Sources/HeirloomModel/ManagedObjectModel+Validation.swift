extension ManagedObjectModel {
  /// An inverse that doesn't exist is valid: Core Data ignores it, and shipped models have some.
  func validate() throws(ModelError) {
    for entity in entities {
      try validateName(entity.name)
      try validateAncestors(of: entity)
    }
    for entity in entities {
      try validateProperties(of: entity)
      try validateIndexes(of: entity)
    }
    for configuration in configurations {
      for name in configuration.entityNames where self.entity(named: name) == nil {
        throw .missingConfigurationEntity(configuration: configuration.name, entity: name)
      }
    }
  }

  private func validateName(_ name: String) throws(ModelError) {
    // There are two ranges of control characters; terminals interpret those of the second as well.
    let isUsable =
      !name.isEmpty && name.utf8.count <= 255
      && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
    guard isUsable else { throw .invalidName(name) }
  }

  private func validateAncestors(of entity: EntityDescription) throws(ModelError) {
    var visited: Set<String> = [entity.name]
    var current = entity
    while let parent = current.superentity {
      guard let next = self.entity(named: parent) else {
        throw .missingSuperentity(entity: current.name, superentity: parent)
      }
      guard visited.insert(parent).inserted else { throw .inheritanceCycle(entity: entity.name) }
      current = next
    }
  }

  private func validateProperties(of entity: EntityDescription) throws(ModelError) {
    var names = Set(superentities(of: entity.name).flatMap { $0.properties.map(\.name) })
    for property in entity.properties {
      try validateName(property.name)
      guard names.insert(property.name).inserted else {
        throw .duplicateProperty(entity: entity.name, property: property.name)
      }
    }
    for attribute in entity.attributes {
      try validateComposite(attribute, path: attribute.name, depth: 0, entity: entity.name)
      guard attribute.type != .undefined || attribute.isTransient else {
        throw .undefinedType(entity: entity.name, attribute: attribute.name)
      }
    }
    for relationship in entity.relationships where self.entity(named: relationship.destinationEntity) == nil {
      throw .missingDestination(
        entity: entity.name, relationship: relationship.name, destination: relationship.destinationEntity)
    }
    for property in entity.uniquenessConstraints.joined() {
      let attribute = self.attribute(named: property, of: entity.name)
      let relationship = self.relationship(named: property, of: entity.name)
      let isStored =
        attribute.map { !$0.isTransient } ?? relationship.map { !$0.isTransient && !$0.isToMany } ?? false
      guard isStored else { throw .missingConstraintProperty(entity: entity.name, property: property) }
    }
  }

  private func validateComposite(
    _ attribute: AttributeDescription, path: String, depth: Int, entity: String
  ) throws(ModelError) {
    let elements = attribute.composite?.elements ?? []
    guard (attribute.type == .composite) == !elements.isEmpty else {
      throw .invalidComposite(entity: entity, attribute: path)
    }
    guard elements.isEmpty || depth < CompositeAttributeDescription.depthLimit else {
      throw .nestedTooDeeply(entity: entity, attribute: attribute.name)
    }
    var names: Set<String> = []
    for element in elements {
      try validateName(element.name)
      guard names.insert(element.name).inserted else {
        throw .duplicateElement(entity: entity, attribute: path, element: element.name)
      }
      let elementPath = "\(path).\(element.name)"
      guard element.type != .undefined || element.isTransient else {
        throw .undefinedType(entity: entity, attribute: elementPath)
      }
      try validateComposite(element, path: elementPath, depth: depth + 1, entity: entity)
    }
  }

  private func validateIndexes(of entity: EntityDescription) throws(ModelError) {
    for index in entity.indexes {
      for element in index.elements {
        guard case .property(let property) = element.subject else { continue }
        guard declaringEntity(ofProperty: property, in: entity.name) != nil else {
          throw .missingIndexProperty(entity: entity.name, index: index.name, property: property)
        }
      }
    }
  }
}
