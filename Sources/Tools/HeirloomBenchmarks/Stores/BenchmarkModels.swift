import Heirloom

enum BenchmarkModels {
  static func notes() throws -> ManagedObjectModel { try model("V1", note, person, tag) }

  /// `name` is the new entity's; if it sorts first, all other entities are renumbered.
  static func notesWithAdditions(entity name: String = "Workspace") throws -> ManagedObjectModel {
    var note = note.adding([("priority", .integer32)])
    note.indexes = [index("title")]
    return try model("W1", note, person.adding([("nickname", .string)]), tag, named(name))
  }

  static func notesWithAttributes() throws -> ManagedObjectModel {
    try model("W1plain", note.adding([("priority", .integer32)]), person.adding([("nickname", .string)]), tag)
  }

  static func notesReshaped() throws -> ManagedObjectModel {
    var heading = attribute("heading", .string)
    heading.renamingIdentifier = "title"
    var note = note
    note.attributes = [note.attributes[0], note.attributes[1], heading]
    var authors = toMany("authors", "Person", inverse: "notes")
    authors.renamingIdentifier = "author"
    note.relationships = [authors, toMany("tags", "Tag", inverse: "notes")]
    var person = person
    person.attributes.removeAll { $0.name == "score" }
    person.attributes[0].isOptional = false
    person.attributes[0].defaultValue = .integer(18)
    person.relationships = [toMany("notes", "Note", inverse: "authors")]
    return try model("W2", note, person, tag)
  }

  /// A note has verses, which sort last, instead of a body.
  static func notesWithVerses() throws -> ManagedObjectModel {
    var note = note
    note.attributes.removeAll { $0.name == "body" }
    note.relationships.append(toMany("verses", "Verse", inverse: "note"))
    var verse = entity(
      "Verse", [("position", .integer32), ("text", .string)], [toOne("note", "Note", inverse: "verses")])
    verse.managedObjectClassName = verse.name
    return try model("W4", note, person, tag, verse)
  }

  static func notesWithComputedValues() throws -> ManagedObjectModel {
    var person = person.adding([("firstName", .string), ("lastName", .string)])
    person.attributes.removeAll { $0.name == "name" }
    return try model("W3", note.adding([("bodyLength", .integer64)]), person, tag)
  }

  /// Everything but the computed values is inferred.
  static func computedValuesMapping() throws -> MappingModel {
    var mapping = try MappingModel.inferred(from: notes(), to: notesWithComputedValues())
    let first = "FUNCTION($source.name, 'componentsSeparatedByString:', ' ')[FIRST]"
    let values = [
      ("Person", "firstName", first),
      ("Person", "lastName", "FUNCTION($source.name, 'substringFromIndex:', length:(\(first)) + 1)"),
      ("Note", "bodyLength", "length:($source.body)"),
    ]
    for (entity, name, text) in values {
      for index in mapping.entityMappings.indices where mapping.entityMappings[index].sourceEntityName == entity {
        mapping.entityMappings[index].attributeMappings.removeAll { $0.name == name }
        mapping.entityMappings[index].attributeMappings.append(
          PropertyMapping(name: name, valueExpression: try ValueExpression(parsing: text)))
        mapping.entityMappings[index].mappingType = .transform
      }
    }
    return mapping
  }

  enum Addition {
    /// `type` is the column's.
    case attribute(entity: String, name: String, type: String)
    case entity(Int)
  }

  static let fiftyVersionsEntityCount = 5

  /// Sorted last: no row's entity number changes.
  static func lastEntity(_ place: Int) -> String { "Zone\(place)" }

  /// Sorted first: every row's entity number changes.
  static func firstEntity(_ place: Int) -> String { "Area\(place)" }

  /// `version` is from 1 to 50.
  static func addition(ofVersion version: Int) -> Addition {
    if version.isMultiple(of: 10) { return .entity(version / 10) }
    return version.isMultiple(of: 2)
      ? .attribute(entity: "Person", name: "extra\(version)", type: "VARCHAR")
      : .attribute(entity: "Note", name: "extra\(version)", type: "INTEGER")
  }

  /// `version` is from 0 to 50; from 5 on, two attributes alternate every ten versions.
  static func indexedProperty(ofVersion version: Int) -> String? {
    guard version >= 5 else { return nil }
    return ((version - 5) / 10).isMultiple(of: 2) ? "title" : "createdAt"
  }

  /// `last` is from 1 to 50; `name` gives the names of the added entities.
  static func notes(
    ofVersion last: Int, entities name: (Int) -> String = lastEntity
  ) throws -> ManagedObjectModel {
    var (note, person) = (note, person)
    var others = [tag]
    for version in 1...max(1, last) {
      switch addition(ofVersion: version) {
      case .entity(let place): others.append(named(name(place)))
      case .attribute("Note", let name, _): note = note.adding([(name, .integer32)])
      case .attribute(_, let name, _): person = person.adding([(name, .string)])
      }
    }
    if let property = indexedProperty(ofVersion: last) { note.indexes.append(index(property)) }
    let name = last == 50 ? "W5" : "W5-\(last)"
    return try ManagedObjectModel(entities: [note, person] + others, versionIdentifiers: [name])
  }

  static let note = entity(
    "Note", [("body", .string), ("createdAt", .date), ("title", .string)],
    [toOne("author", "Person", inverse: "notes"), toMany("tags", "Tag", inverse: "notes")])

  static let person = entity(
    "Person",
    [
      ("age", .integer32), ("avatar", .binary), ("createdAt", .date), ("email", .string), ("name", .string),
      ("score", .double),
    ], [toMany("notes", "Note", inverse: "author")], indexes: ["email"])

  static let tag = entity("Tag", [("name", .string)], [toMany("notes", "Note", inverse: "tags")])

  private static func named(_ name: String) -> EntityDescription { entity(name, [("name", .string)]) }

  static let largeEntityCount = 50
  static let largeAttributeCount = 15

  /// As large as the model of a mature app.
  ///
  /// Two versions differ in `attributeCount`, which is that of the first entity. `entityCount` is
  /// from 15 to 100.
  static func large(
    attributeCount: Int = largeAttributeCount, entityCount: Int = largeEntityCount
  ) throws -> ManagedObjectModel {
    func largeEntityName(_ index: Int) -> String {
      let number = index % entityCount
      return number < 10 ? "Entity0\(number)" : "Entity\(number)"
    }
    let types: [AttributeType] = [
      .string, .integer64, .date, .double, .boolean, .string, .uuid, .integer32, .binary, .uri,
    ]
    let entities = (0..<entityCount).map { index in
      var entity = EntityDescription(name: largeEntityName(index))
      entity.managedObjectClassName = entity.name
      entity.attributes = (0..<(index == 0 ? attributeCount : largeAttributeCount)).map { position in
        var attribute = attribute("property\(position)", types[(index + position) % types.count])
        if attribute.type == .integer64 { attribute.defaultValue = .integer(0) }
        return attribute
      }
      let next = largeEntityName(index + 1)
      let previous = largeEntityName(index + entityCount - 1)
      entity.relationships = [
        toOne("owner", next, inverse: "owned"), toMany("owned", previous, inverse: "owner"),
        toMany("peers", largeEntityName(index + 7), inverse: "peerOf"),
        toMany("peerOf", largeEntityName(index + entityCount - 7), inverse: "peers"),
      ]
      entity.indexes = [
        FetchIndexDescription(name: "byFirst", elements: [FetchIndexElementDescription(property: "property0")])
      ]
      return entity
    }
    return try ManagedObjectModel(entities: entities, versionIdentifiers: ["\(attributeCount)"])
  }

  static func model(_ version: String, _ entities: EntityDescription...) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: entities, versionIdentifiers: [version])
  }

  static func entity(
    _ name: String, _ attributes: [(String, AttributeType)], _ relationships: [RelationshipDescription] = [],
    indexes: [String] = []
  ) -> EntityDescription {
    var entity = EntityDescription(name: name).adding(attributes)
    entity.relationships = relationships
    entity.indexes = indexes.map(index)
    return entity
  }

  static func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = true
    return attribute
  }

  static func toOne(_ name: String, _ destination: String, inverse: String) -> RelationshipDescription {
    var relationship = RelationshipDescription(name: name, destinationEntity: destination)
    relationship.inverseRelationship = inverse
    relationship.maxCount = 1
    relationship.isOptional = true
    return relationship
  }

  static func toMany(_ name: String, _ destination: String, inverse: String) -> RelationshipDescription {
    var relationship = toOne(name, destination, inverse: inverse)
    relationship.maxCount = 0
    return relationship
  }

  static func index(_ property: String) -> FetchIndexDescription {
    FetchIndexDescription(
      name: "by" + property.prefix(1).uppercased() + property.dropFirst(),
      elements: [FetchIndexElementDescription(property: property)])
  }
}

extension EntityDescription {
  func adding(_ attributes: [(String, AttributeType)]) -> EntityDescription {
    var entity = self
    entity.attributes += attributes.map(BenchmarkModels.attribute)
    return entity
  }
}
