package import HeirloomModel

/// Makes a model of entities.
package func model(_ entities: EntityDescription...) throws -> ManagedObjectModel {
  try ManagedObjectModel(entities: entities)
}

/// Makes an entity.
package func entity(
  _ name: String, id: String? = nil, parent: String? = nil, isAbstract: Bool = false,
  _ attributes: AttributeDescription..., relationships: [RelationshipDescription] = [],
  unique: [[String]] = [], _ change: (inout EntityDescription) -> Void = { _ in }
) -> EntityDescription {
  var entity = EntityDescription(name: name)
  entity.renamingIdentifier = id
  entity.superentity = parent
  entity.isAbstract = isAbstract
  entity.attributes = attributes
  entity.relationships = relationships
  entity.uniquenessConstraints = unique
  change(&entity)
  return entity
}

/// Makes an optional attribute, of text by default.
package func attribute(
  _ name: String, _ type: AttributeType = .string, id: String? = nil,
  _ change: (inout AttributeDescription) -> Void = { _ in }
) -> AttributeDescription {
  var attribute = AttributeDescription(name: name, type: type)
  attribute.isOptional = true
  attribute.renamingIdentifier = id
  change(&attribute)
  return attribute
}

/// Makes a required attribute.
package func required(
  _ name: String, _ type: AttributeType = .string, id: String? = nil, default value: AttributeValue? = nil
) -> AttributeDescription {
  attribute(name, type, id: id) {
    $0.isOptional = false
    $0.defaultValue = value
  }
}

/// Makes a composite attribute.
package func composite(_ name: String, id: String? = nil, _ elements: AttributeDescription...) -> AttributeDescription {
  attribute(name, .composite, id: id) { $0.composite = CompositeAttributeDescription(elements: elements) }
}

/// Makes an optional to-one relationship.
package func toOne(
  _ name: String, _ destination: String, inverse: String? = nil, id: String? = nil,
  _ change: (inout RelationshipDescription) -> Void = { _ in }
) -> RelationshipDescription {
  var relationship = RelationshipDescription(name: name, destinationEntity: destination)
  relationship.isOptional = true
  relationship.inverseRelationship = inverse
  relationship.renamingIdentifier = id
  change(&relationship)
  return relationship
}

/// Makes an optional to-many relationship.
package func toMany(
  _ name: String, _ destination: String, inverse: String? = nil, id: String? = nil,
  _ change: (inout RelationshipDescription) -> Void = { _ in }
) -> RelationshipDescription {
  toOne(name, destination, inverse: inverse, id: id) {
    $0.maxCount = 0
    change(&$0)
  }
}
