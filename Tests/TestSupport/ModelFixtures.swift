package import HeirloomModel

package func model(_ entities: EntityDescription...) throws -> ManagedObjectModel {
  try ManagedObjectModel(entities: entities)
}

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

package func required(
  _ name: String, _ type: AttributeType = .string, id: String? = nil, default value: AttributeValue? = nil
) -> AttributeDescription {
  attribute(name, type, id: id) {
    $0.isOptional = false
    $0.defaultValue = value
  }
}

package func composite(_ name: String, id: String? = nil, _ elements: AttributeDescription...) -> AttributeDescription {
  attribute(name, .composite, id: id) { $0.composite = CompositeAttributeDescription(elements: elements) }
}

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

package func toMany(
  _ name: String, _ destination: String, inverse: String? = nil, id: String? = nil,
  _ change: (inout RelationshipDescription) -> Void = { _ in }
) -> RelationshipDescription {
  toOne(name, destination, inverse: inverse, id: id) {
    $0.maxCount = 0
    change(&$0)
  }
}
