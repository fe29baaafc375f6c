package import HeirloomModel

package enum Models: ModelMaking {
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
        toOne("author", "Person", "notes"),
        toOne("cover", "Cover", "note"),
        toMany("editors", "Person", "edited", ordered: true),
        toMany("friends", "Note", "friends"),
        toMany("sources", "Note", "uses"),
        toMany("uses", "Note", "sources"),
        toMany("attachments", "Cover", ordered: true),
        toOne("anyone", "Worker"),
      ])
    note.attributes.sort { $0.name < $1.name }
    return try ManagedObjectModel(entities: [
      note,
      entity("Cover", [attribute("title", .string)], [toOne("note", "Note", "cover")]),
      entity(
        "Person", [attribute("name", .string)],
        [
          toMany("edited", "Note", "editors"),
          toMany("notes", "Note", "author", ordered: true),
        ]),
      entity("Worker", [attribute("text", .string)], parent: "Person"),
      entity("Boss", [attribute("title", .string), attribute("text1", .string)], parent: "Worker"),
      entity("Artist", [attribute("title", .string)], parent: "Person"),
    ])
  }
}
