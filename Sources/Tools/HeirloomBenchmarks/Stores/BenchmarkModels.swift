import Heirloom

enum BenchmarkModels {
  static func notes() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [note, person, tag], versionIdentifiers: ["V1"])
  }

  /// `name` is the new entity's; if it sorts first, all other entities are renumbered.
  static func notesWithAdditions(entity name: String = "Workspace") throws -> ManagedObjectModel {
    var note = note
    note.attributes.append(attribute("priority", .integer32))
    note.indexes.append(
      FetchIndexDescription(name: "byTitle", elements: [FetchIndexElementDescription(property: "title")]))
    var person = person
    person.attributes.append(attribute("nickname", .string))
    return try ManagedObjectModel(entities: [note, person, tag, named(name)], versionIdentifiers: ["W1"])
  }

  static func notesWithAttributes() throws -> ManagedObjectModel {
    var (note, person) = (note, person)
    note.attributes.append(attribute("priority", .integer32))
    person.attributes.append(attribute("nickname", .string))
    return try ManagedObjectModel(entities: [note, person, tag], versionIdentifiers: ["W1plain"])
  }

  static func notesReshaped() throws -> ManagedObjectModel {
    var heading = attribute("heading", .string)
    heading.renamingIdentifier = "title"
    var note = note
    note.attributes = [note.attributes[0], note.attributes[1], heading]
    var authors = relationship("authors", to: "Person", inverse: "notes", isToMany: true)
    authors.renamingIdentifier = "author"
    note.relationships = [authors, relationship("tags", to: "Tag", inverse: "notes", isToMany: true)]
    var person = person
    person.attributes.removeAll { $0.name == "score" }
    person.attributes[0].isOptional = false
    person.attributes[0].defaultValue = .integer(18)
    person.relationships = [relationship("notes", to: "Note", inverse: "authors", isToMany: true)]
    return try ManagedObjectModel(entities: [note, person, tag], versionIdentifiers: ["W2"])
  }

  /// A note has verses, which sort last, instead of a body.
  static func notesWithVerses() throws -> ManagedObjectModel {
    var note = note
    note.attributes.removeAll { $0.name == "body" }
    note.relationships.append(relationship("verses", to: "Verse", inverse: "note", isToMany: true))
    var verse = EntityDescription(name: "Verse")
    verse.managedObjectClassName = verse.name
    verse.attributes = [attribute("position", .integer32), attribute("text", .string)]
    verse.relationships = [relationship("note", to: "Note", inverse: "verses", isToMany: false)]
    return try ManagedObjectModel(entities: [note, person, tag, verse], versionIdentifiers: ["W4"])
  }

  static func notesWithComputedValues() throws -> ManagedObjectModel {
    var note = note
    note.attributes.append(attribute("bodyLength", .integer64))
    var person = person
    person.attributes.removeAll { $0.name == "name" }
    person.attributes += [attribute("firstName", .string), attribute("lastName", .string)]
    return try ManagedObjectModel(entities: [note, person, tag], versionIdentifiers: ["W3"])
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
      case .attribute("Note", let name, _): note.attributes.append(attribute(name, .integer32))
      case .attribute(_, let name, _): person.attributes.append(attribute(name, .string))
      }
    }
    if let property = indexedProperty(ofVersion: last) {
      note.indexes.append(
        FetchIndexDescription(
          name: "by" + property.prefix(1).uppercased() + property.dropFirst(),
          elements: [FetchIndexElementDescription(property: property)]))
    }
    let name = last == 50 ? "W5" : "W5-\(last)"
    return try ManagedObjectModel(entities: [note, person] + others, versionIdentifiers: [name])
  }

  private static func named(_ name: String) -> EntityDescription {
    var entity = EntityDescription(name: name)
    entity.attributes = [attribute("name", .string)]
    return entity
  }

  static var note: EntityDescription {
    var note = EntityDescription(name: "Note")
    note.attributes = [attribute("body", .string), attribute("createdAt", .date), attribute("title", .string)]
    note.relationships = [
      relationship("author", to: "Person", inverse: "notes", isToMany: false),
      relationship("tags", to: "Tag", inverse: "notes", isToMany: true),
    ]
    return note
  }

  static var person: EntityDescription {
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

  static var tag: EntityDescription {
    var tag = EntityDescription(name: "Tag")
    tag.attributes = [attribute("name", .string)]
    tag.relationships = [relationship("notes", to: "Note", inverse: "tags", isToMany: true)]
    return tag
  }

  // MARK: A large model

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
        relationship("owner", to: next, inverse: "owned", isToMany: false),
        relationship("owned", to: previous, inverse: "owner", isToMany: true),
        relationship("peers", to: largeEntityName(index + 7), inverse: "peerOf", isToMany: true),
        relationship("peerOf", to: largeEntityName(index + entityCount - 7), inverse: "peers", isToMany: true),
      ]
      entity.indexes = [
        FetchIndexDescription(name: "byFirst", elements: [FetchIndexElementDescription(property: "property0")])
      ]
      return entity
    }
    return try ManagedObjectModel(entities: entities, versionIdentifiers: ["\(attributeCount)"])
  }

  // MARK: Parts

  static func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = true
    return attribute
  }

  static func relationship(
    _ name: String, to destination: String, inverse: String, isToMany: Bool
  ) -> RelationshipDescription {
    var relationship = RelationshipDescription(name: name, destinationEntity: destination)
    relationship.inverseRelationship = inverse
    relationship.maxCount = isToMany ? 0 : 1
    relationship.isOptional = true
    return relationship
  }
}
