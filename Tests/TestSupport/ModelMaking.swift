package import HeirloomModel

/// Gives a suite functions that make the parts of small models.
package protocol ModelMaking {}

/// The same functions for others: `Make.entity(…)`.
package enum Make: ModelMaking {}

extension ModelMaking {
  package static func entity(
    _ name: String, _ attributes: [AttributeDescription] = [], _ relationships: [RelationshipDescription] = [],
    parent: String? = nil, isAbstract: Bool = false, id: String? = nil, unique: [[String]] = []
  ) -> EntityDescription {
    var entity = EntityDescription(name: name)
    entity.attributes = attributes
    entity.relationships = relationships
    entity.superentity = parent
    entity.isAbstract = isAbstract
    entity.renamingIdentifier = id
    entity.uniquenessConstraints = unique
    return entity
  }

  package static func attribute(
    _ name: String, _ type: AttributeType = .string, optional: Bool = true, value: AttributeValue? = nil,
    id: String? = nil, external: Bool = false, transient: Bool = false
  ) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = optional
    attribute.defaultValue = value
    attribute.renamingIdentifier = id
    attribute.allowsExternalBinaryDataStorage = external
    attribute.isTransient = transient
    return attribute
  }

  package static func toOne(
    _ name: String, _ entity: String, _ inverse: String? = nil, id: String? = nil, optional: Bool = true
  ) -> RelationshipDescription {
    var relationship = RelationshipDescription(name: name, destinationEntity: entity)
    relationship.isOptional = optional
    relationship.inverseRelationship = inverse
    relationship.renamingIdentifier = id
    return relationship
  }

  package static func toMany(
    _ name: String, _ entity: String, _ inverse: String? = nil, ordered: Bool = false, id: String? = nil
  ) -> RelationshipDescription {
    var relationship = toOne(name, entity, inverse, id: id)
    relationship.maxCount = 0
    relationship.isOrdered = ordered
    return relationship
  }
}
