import Foundation
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

struct MisspeltNameTests {
  private let directory: TemporaryDirectory
  private let context: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    context = ManagedObjectContext(
      store: try PersistentStore.create(at: directory.file("Notes.sqlite"), model: try Models.everything()))
  }

  /// With the name that was meant, as a person sees it.
  private static let properties: [(String, String?)] = [
    ("txet", "text"), ("Text", "text"), ("titel", nil), ("authr", "author"), ("editor", "editors"),
    ("place.citty", "place.city"), ("place.town", nil), ("plaec.city", "place.city"),
    ("place.geo.lattitude", "place.geo.latitude"),
    ("UUID", "uuid"), ("zzz", nil), ("", nil), (String(repeating: "text", count: 1000), nil),
  ]

  private func sentence(_ name: String, _ nearest: String?) -> String {
    "Entity \"Note\" has no property \"\(name)\"" + (nearest.map { "; did you mean \"\($0)\"?" } ?? ".")
  }

  @Test(arguments: properties)
  func `a misspelt property is told at once, with the nearest one`(name: String, nearest: String?) throws {
    let note = try context.insert("Note")
    let calls: [(String, () throws -> Void)] = [
      ("value", { _ = try note.value(forAttribute: name) }),
      ("set value", { try note.setValue(nil, forAttribute: name) }),
      ("string", { _ = try note.string(name) }), ("int", { _ = try note.int(name) }),
      ("double", { _ = try note.double(name) }), ("bool", { _ = try note.bool(name) }),
      ("date", { _ = try note.date(name) }), ("decimal", { _ = try note.decimal(name) }),
      ("uuid", { _ = try note.uuid(name) }), ("bytes", { _ = try note.bytes(name) }),
      ("set string", { try note.set("x", for: name) }), ("set int", { try note.set(1, for: name) }),
      ("set double", { try note.set(1.5, for: name) }), ("set date", { try note.set(Date(), for: name) }),
      ("composite", { _ = try note.composite(name) }),
      ("set composite", { try note.set(["a": .integer(1)], for: name) }),
      ("with bytes", { _ = try note.withBytes(of: name) { _ in } }),
      ("object", { _ = try note.object(forRelationship: name) }),
      ("set object", { try note.setObject(nil, forRelationship: name) }),
      ("objects", { _ = try note.objects(forRelationship: name) }),
      ("set objects", { try note.setObjects([], forRelationship: name) }),
    ]
    let wanted = ManagedObjectError.unknownProperty(entity: "Note", property: name, nearest: nearest)
    for (call, body) in calls { #expect(throws: wanted, "\(call)") { try body() } }
    #expect(wanted.cause == sentence(name, nearest))
  }

  @Test func `a property of another kind is said to be one`() throws {
    let note = try context.insert("Note")
    let error = #expect(throws: ManagedObjectError.self) { try note.string("author") }
    #expect(error?.cause == "\"Note.author\" is a property of another kind than expected.")
    #expect(throws: ManagedObjectError.unknownProperty(entity: "Note", property: "editors", nearest: "editors")) {
      try note.object(forRelationship: "editors")
    }
  }

  @Test(arguments: [("note", "Note"), ("Nte", "Note"), ("Wroker", "Worker"), ("Wor", "Worker"), ("Invoice", nil)])
  func `a misspelt entity is told at once, with the nearest one`(name: String, nearest: String?) throws {
    let wanted = ManagedObjectError.unknownEntity(name, nearest: nearest)
    #expect(throws: wanted) { try context.insert(name) }
    #expect(throws: wanted) { try context.fetch(name) }
    #expect(throws: wanted) { try context.count(name) }
    let error = #expect(throws: FetchError.self) { try context.fetch(ObjectFetchRequest(name)) }
    guard case .unknownEntity(name, nearest) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    let question = nearest.map { "; did you mean \"\($0)\"?" } ?? "."
    #expect(error?.cause == "The store holds no objects of an entity \"\(name)\"\(question)")
    #expect(wanted.cause == error?.cause)
  }

  /// With the misspelt name, its entity and the name that was meant.
  private static let conditions: [(String, String, String, String?)] = [
    ("txet == 'a'", "Note", "txet", "text"), ("author.nmae == 'a'", "Person", "nmae", "name"),
    ("ANY editors.nmae == 'a'", "Person", "nmae", "name"), ("authr.name == 'a'", "Note", "authr", "author"),
    ("place.citty == 'a'", "Note", "place.citty", "place.city"),
    // SQL can't say what stands first, so that rows would be evaluated one by one, and there is none.
    ("photo == nil AND txet == 'a'", "Note", "txet", "text"),
    ("photo == nil AND author.nmae == 'a'", "Person", "nmae", "name"),
    ("photo == nil AND place.geo.lat == 1", "Note", "place.geo.lat", "place.geo.latitude"),
  ]

  @Test(arguments: conditions)
  func `a misspelt name in a condition is told although there is no row`(
    format: String, entity: String, name: String, nearest: String?
  ) throws {
    let error = try #require(
      throws: FetchError.self, performing: { try context.fetch(try ObjectFetchRequest("Note", where: format)) })
    guard case .unknownProperty(entity, name, nearest) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(
      error.cause
        == "The fetch refers to \"\(name)\", which is not a property of \"\(entity)\""
        + (nearest.map { "; did you mean \"\($0)\"?" } ?? "."))
  }

  @Test func `a misspelt name in an order is told, with the nearest one`() throws {
    var request = ObjectFetchRequest("Note")
    request.sortDescriptors = [SortDescription(keyPath: "author.nam", ascending: true)]
    let error = try #require(throws: FetchError.self, performing: { try context.fetch(request) })
    guard case .unknownProperty("Person", "nam", "name") = error else {
      Issue.record("\(error)")
      return
    }
  }
}
