package import HeirloomModel

/// Gives a suite functions that make the parts of small models.
package protocol ModelMaking {}

/// The same functions for others: `Make.entity(…)`.
package enum Make: ModelMaking {}

extension ModelMaking {
  package static func entity(
    _ name: String, _ attributes: [AttributeDescription] = [], _ relationships: [RelationshipDescription] = [],
    parent: String? = nil, isAbstract: Bool = false, id: String? = nil, unique: [[String]] = [],
    _ change: (inout EntityDescription) -> Void = { _ in }
  ) -> EntityDescription {
    var entity = EntityDescription(name: name)
    entity.attributes = attributes
    entity.relationships = relationships
    entity.superentity = parent
    entity.isAbstract = isAbstract
    entity.renamingIdentifier = id
    entity.uniquenessConstraints = unique
    change(&entity)
    return entity
  }

  package static func attribute(
    _ name: String, _ type: AttributeType = .string, optional: Bool = true, value: AttributeValue? = nil,
    id: String? = nil, external: Bool = false, transient: Bool = false,
    _ change: (inout AttributeDescription) -> Void = { _ in }
  ) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = optional
    attribute.defaultValue = value
    attribute.renamingIdentifier = id
    attribute.allowsExternalBinaryDataStorage = external
    attribute.isTransient = transient
    change(&attribute)
    return attribute
  }

  package static func composite(
    _ name: String, _ elements: [AttributeDescription], optional: Bool = true, id: String? = nil
  ) -> AttributeDescription {
    attribute(name, .composite, optional: optional, id: id) {
      $0.composite = CompositeAttributeDescription(elements: elements)
    }
  }

  package static func toOne(
    _ name: String, _ entity: String, _ inverse: String? = nil, id: String? = nil, optional: Bool = true,
    _ change: (inout RelationshipDescription) -> Void = { _ in }
  ) -> RelationshipDescription {
    var relationship = RelationshipDescription(name: name, destinationEntity: entity)
    relationship.isOptional = optional
    relationship.inverseRelationship = inverse
    relationship.renamingIdentifier = id
    change(&relationship)
    return relationship
  }

  package static func toMany(
    _ name: String, _ entity: String, _ inverse: String? = nil, ordered: Bool = false, id: String? = nil,
    _ change: (inout RelationshipDescription) -> Void = { _ in }
  ) -> RelationshipDescription {
    toOne(name, entity, inverse, id: id) {
      $0.maxCount = 0
      $0.isOrdered = ordered
      change(&$0)
    }
  }
}
