package import HeirloomModel

package enum Models {
  package static func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = true
    return attribute
  }

  package static func relationship(
    _ name: String, to destination: String, inverse: String? = nil, toMany: Bool = false, ordered: Bool = false
  ) -> RelationshipDescription {
    var relationship = RelationshipDescription(name: name, destinationEntity: destination)
    relationship.inverseRelationship = inverse
    relationship.maxCount = toMany ? 0 : 1
    relationship.isOrdered = ordered
    relationship.isOptional = true
    return relationship
  }

  package static func entity(
    _ name: String, parent: String? = nil, _ attributes: [AttributeDescription] = [],
    _ relationships: [RelationshipDescription] = []
  ) -> EntityDescription {
    var entity = EntityDescription(name: name)
    entity.superentity = parent
    entity.attributes = attributes
    entity.relationships = relationships
    return entity
  }

  /// Has every attribute type, every kind of relationship, inheritance and a composite.
  package static func everything() throws -> ManagedObjectModel {
    var place = attribute("place", .composite)
    var inner = attribute("geo", .composite)
    inner.composite = CompositeAttributeDescription(
      elements: [attribute("latitude", .double), attribute("longitude", .double)])
    place.composite = CompositeAttributeDescription(elements: [attribute("city", .string), inner])
    var photo = attribute("photo", .binary)
    photo.allowsExternalBinaryDataStorage = true
    var note = entity(
      "Note",
      [
        attribute("a16", .integer16), attribute("a32", .integer32), attribute("a64", .integer64),
        attribute("bool", .boolean), attribute("date", .date), attribute("decimal", .decimal),
        attribute("double", .double), attribute("float", .float), photo, place, attribute("raw", .binary),
        attribute("text", .string), attribute("transformed", .transformable), attribute("uri", .uri),
        attribute("uuid", .uuid),
      ],
      [
        relationship("author", to: "Person", inverse: "notes"),
        relationship("cover", to: "Cover", inverse: "note"),
        relationship("editors", to: "Person", inverse: "edited", toMany: true, ordered: true),
        relationship("friends", to: "Note", inverse: "friends", toMany: true),
        relationship("sources", to: "Note", inverse: "uses", toMany: true),
        relationship("uses", to: "Note", inverse: "sources", toMany: true),
        relationship("attachments", to: "Cover", toMany: true, ordered: true),
        relationship("anyone", to: "Worker"),
      ])
    note.attributes.sort { $0.name < $1.name }
    return try ManagedObjectModel(entities: [
      note,
      entity("Cover", [attribute("title", .string)], [relationship("note", to: "Note", inverse: "cover")]),
      entity(
        "Person", [attribute("name", .string)],
        [
          relationship("edited", to: "Note", inverse: "editors", toMany: true),
          relationship("notes", to: "Note", inverse: "author", toMany: true, ordered: true),
        ]),
      entity("Worker", parent: "Person", [attribute("text", .string)]),
      entity("Boss", parent: "Worker", [attribute("title", .string), attribute("text1", .string)]),
      entity("Artist", parent: "Person", [attribute("title", .string)]),
    ])
  }
}
