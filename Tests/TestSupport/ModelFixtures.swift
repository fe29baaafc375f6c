package import HeirloomModel

package func model(_ entities: EntityDescription...) throws -> ManagedObjectModel {
  try ManagedObjectModel(entities: entities)
}

package func entity(
  _ name: String, id: String? = nil, parent: String? = nil, isAbstract: Bool = false,
  _ attributes: AttributeDescription..., relationships: [RelationshipDescription] = [],
  unique: [[String]] = [], _ change: (inout EntityDescription) -> Void = { _ in }
) -> EntityDescription {
  Make.entity(
    name, attributes, relationships, parent: parent, isAbstract: isAbstract, id: id, unique: unique, change)
}

package func attribute(
  _ name: String, _ type: AttributeType = .string, id: String? = nil,
  _ change: (inout AttributeDescription) -> Void = { _ in }
) -> AttributeDescription { Make.attribute(name, type, id: id, change) }

package func required(
  _ name: String, _ type: AttributeType = .string, id: String? = nil, default value: AttributeValue? = nil
) -> AttributeDescription { Make.attribute(name, type, optional: false, value: value, id: id) }

package func composite(_ name: String, id: String? = nil, _ elements: AttributeDescription...) -> AttributeDescription {
  Make.composite(name, elements, id: id)
}

package func toOne(
  _ name: String, _ destination: String, inverse: String? = nil, id: String? = nil,
  _ change: (inout RelationshipDescription) -> Void = { _ in }
) -> RelationshipDescription { Make.toOne(name, destination, inverse, id: id, change) }

package func toMany(
  _ name: String, _ destination: String, inverse: String? = nil, id: String? = nil,
  _ change: (inout RelationshipDescription) -> Void = { _ in }
) -> RelationshipDescription { Make.toMany(name, destination, inverse, id: id, change) }
