import Heirloom

/// The models of the benchmarks' stores.
enum BenchmarkModels {
  /// Notes with an author and tags: the version that is migrated.
  static func notes() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [note, person, tag], versionIdentifiers: ["V1"])
  }

  /// The version after an additive change: two attributes, an entity that sorts last, an index.
  static func notesWithAdditions() throws -> ManagedObjectModel {
    var note = note
    note.attributes.append(attribute("priority", .integer32))
    note.indexes.append(
      FetchIndexDescription(name: "byTitle", elements: [FetchIndexElementDescription(property: "title")]))
    var person = person
    person.attributes.append(attribute("nickname", .string))
    var workspace = EntityDescription(name: "Workspace")
    workspace.attributes = [attribute("name", .string)]
    return try ManagedObjectModel(entities: [note, person, tag, workspace], versionIdentifiers: ["W1"])
  }

  private static var note: EntityDescription {
    var note = EntityDescription(name: "Note")
    note.attributes = [attribute("body", .string), attribute("createdAt", .date), attribute("title", .string)]
    note.relationships = [
      relationship("author", to: "Person", inverse: "notes", isToMany: false),
      relationship("tags", to: "Tag", inverse: "notes", isToMany: true),
    ]
    return note
  }

  private static var person: EntityDescription {
    var person = EntityDescription(name: "Person")
    person.attributes = [
      attribute("age", .integer32), attribute("avatar", .binary), attribute("createdAt", .date),
      attribute("email", .string), attribute("name", .string), attribute("score", .double),
    ]
    person.relationships = [relationship("notes", to: "Note", inverse: "author", isToMany: true)]
    person.indexes = [
      FetchIndexDescription(name: "byEmail", elements: [FetchIndexElementDescription(property: "email")])
    ]
    return person
  }

  private static var tag: EntityDescription {
    var tag = EntityDescription(name: "Tag")
    tag.attributes = [attribute("name", .string)]
    tag.relationships = [relationship("notes", to: "Note", inverse: "tags", isToMany: true)]
    return tag
  }

  // MARK: A large model

  /// The number of entities of the large model.
  static let largeEntityCount = 50
  /// The number of attributes of each entity of the large model.
  static let largeAttributeCount = 15

  /// A model of the size of a grown app's: 50 entities, each with 15 attributes and four relationships.
  ///
  /// - Parameter attributeCount: The number of attributes of the first entity, by which two versions differ.
  /// - Returns: The model.
  /// - Throws: `ModelError`, if the numbers above were ill chosen.
  static func large(attributeCount: Int = largeAttributeCount) throws -> ManagedObjectModel {
    let types: [AttributeType] = [
      .string, .integer64, .date, .double, .boolean, .string, .uuid, .integer32, .binary, .uri,
    ]
    let entities = (0..<largeEntityCount).map { index in
      var entity = EntityDescription(name: largeEntityName(index))
      entity.managedObjectClassName = entity.name
      entity.attributes = (0..<(index == 0 ? attributeCount : largeAttributeCount)).map { position in
        var attribute = attribute("property\(position)", types[(index + position) % types.count])
        if attribute.type == .integer64 { attribute.defaultValue = .integer(0) }
        return attribute
      }
      let next = largeEntityName(index + 1)
      let previous = largeEntityName(index + largeEntityCount - 1)
      entity.relationships = [
        relationship("owner", to: next, inverse: "owned", isToMany: false),
        relationship("owned", to: previous, inverse: "owner", isToMany: true),
        relationship("peers", to: largeEntityName(index + 7), inverse: "peerOf", isToMany: true),
        relationship("peerOf", to: largeEntityName(index + largeEntityCount - 7), inverse: "peers", isToMany: true),
      ]
      entity.indexes = [
        FetchIndexDescription(name: "byFirst", elements: [FetchIndexElementDescription(property: "property0")])
      ]
      return entity
    }
    return try ManagedObjectModel(entities: entities, versionIdentifiers: ["\(attributeCount)"])
  }

  private static func largeEntityName(_ index: Int) -> String {
    let number = index % largeEntityCount
    return number < 10 ? "Entity0\(number)" : "Entity\(number)"
  }

  // MARK: Parts

  private static func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = true
    return attribute
  }

  private static func relationship(
    _ name: String, to destination: String, inverse: String, isToMany: Bool
  ) -> RelationshipDescription {
    var relationship = RelationshipDescription(name: name, destinationEntity: destination)
    relationship.inverseRelationship = inverse
    relationship.maxCount = isToMany ? 0 : 1
    relationship.isOptional = true
    return relationship
  }
}
