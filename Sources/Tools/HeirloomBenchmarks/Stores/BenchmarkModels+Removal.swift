import Heirloom

// Two versions of a model that grew for years and was then cleaned up.
extension BenchmarkModels {
  private static let abandoned: [AttributeDescription] = [
    attribute("excerpt", .string), attribute("latitude", .double), attribute("legacyIdentifier", .string),
    attribute("longitude", .double), attribute("preview", .binary), attribute("rating", .integer16),
  ]

  /// A note keeps a body and five other attributes and relationships, with four indexes among them.
  ///
  /// Six attributes and two indexes of notes are removed later, as are tags and their links.
  static func notesBeforeRemovals() throws -> ManagedObjectModel {
    var note = tidiedNote
    note.attributes += abandoned
    note.relationships.append(relationship("tags", to: "Tag", inverse: "notes", isToMany: true))
    note.indexes += ["legacyIdentifier", "rating"].map(index)
    return try ManagedObjectModel(entities: [note, person, tag], versionIdentifiers: ["grown"])
  }

  /// No entity's number changes.
  static func notesAfterRemovals() throws -> ManagedObjectModel {
    var person = person
    person.attributes.removeAll { ["avatar", "createdAt", "score"].contains($0.name) }
    return try ManagedObjectModel(entities: [tidiedNote, person], versionIdentifiers: ["removal"])
  }

  private static var tidiedNote: EntityDescription {
    var note = note
    note.attributes += [attribute("editedAt", .date), attribute("wordCount", .integer32)]
    note.relationships.removeAll { $0.name == "tags" }
    note.indexes = ["createdAt", "editedAt", "title"].map(index)
    return note
  }

  private static func index(_ property: String) -> FetchIndexDescription {
    FetchIndexDescription(
      name: "by" + property.prefix(1).uppercased() + property.dropFirst(),
      elements: [FetchIndexElementDescription(property: property)])
  }
}
