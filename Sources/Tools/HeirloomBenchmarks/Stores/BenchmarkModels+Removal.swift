import Heirloom

// Two versions of a model that grew for years and was then cleaned up.
extension BenchmarkModels {
  /// A note keeps a body and five other attributes and relationships, with four indexes among them.
  ///
  /// Six attributes and two indexes of notes are removed later, as are tags and their links.
  static func notesBeforeRemovals() throws -> ManagedObjectModel {
    var note = tidiedNote.adding([
      ("excerpt", .string), ("latitude", .double), ("legacyIdentifier", .string), ("longitude", .double),
      ("preview", .binary), ("rating", .integer16),
    ])
    note.relationships.append(toMany("tags", "Tag", inverse: "notes"))
    note.indexes += ["legacyIdentifier", "rating"].map(index)
    return try model("grown", note, person, tag)
  }

  static func notesAfterRemovals() throws -> ManagedObjectModel {
    var person = person
    person.attributes.removeAll { ["avatar", "createdAt", "score"].contains($0.name) }
    return try model("removal", tidiedNote, person)
  }

  private static var tidiedNote: EntityDescription {
    var note = note.adding([("editedAt", .date), ("wordCount", .integer32)])
    note.relationships.removeAll { $0.name == "tags" }
    note.indexes = ["createdAt", "editedAt", "title"].map(index)
    return note
  }
}
