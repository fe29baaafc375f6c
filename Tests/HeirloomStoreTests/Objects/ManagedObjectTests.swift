import Foundation
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

struct ManagedObjectTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("Store.sqlite") }
  private let model: ManagedObjectModel
  private let store: PersistentStore
  private let context: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    model = try Models.everything()
    store = try PersistentStore.create(at: directory.file("Store.sqlite"), model: model)
    context = ManagedObjectContext(store: store)
  }

  /// As another process does.
  private func reopened() throws -> ManagedObjectContext {
    ManagedObjectContext(store: try PersistentStore.open(at: url, model: model))
  }

  private func rows(_ sql: String) throws -> [[SQLiteValue]] {
    try store.connection.rows(sql)
  }

  private static func randomValue(
    of type: AttributeType, using generator: inout some RandomNumberGenerator
  ) -> AttributeValue? {
    if Int.random(in: 0..<5, using: &generator) == 0 { return nil }
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) } }
    func text() -> String {
      let characters = Array("aZ \"';%\u{0}é🙂\n")
      return String(
        (0..<Int.random(in: 0..<8, using: &generator)).map { _ in
          characters[Int.random(in: 0..<characters.count, using: &generator)]
        })
    }
    switch type {
    case .integer16: return .integer(Int64(Int16.random(in: .min ... .max, using: &generator)))
    case .integer32: return .integer(Int64(Int32.random(in: .min ... .max, using: &generator)))
    case .integer64: return .integer(Int64.random(in: .min ... .max, using: &generator))
    case .boolean: return .boolean(Bool.random(using: &generator))
    case .double, .float: return .double(Double.random(in: -1e6...1e6, using: &generator))
    case .date:
      // Whole seconds are stored as integers.
      let seconds = Double.random(in: -1e9...1e9, using: &generator)
      return .date(Bool.random(using: &generator) ? seconds : seconds.rounded())
    case .decimal: return .decimal(["0", "12.5", "-3", "0.001", "123456.75"].randomElement(using: &generator) ?? "1")
    case .string: return .string(text())
    case .uri: return .uri("https://example.org/" + text())
    case .binary, .transformable: return .binary(bytes(Int.random(in: 0..<40, using: &generator)))
    case .uuid: return .uuid(bytes(16))
    case .undefined, .objectID, .composite: return nil
    }
  }

  @Test func `values of every type survive a save and a reopening`() throws {
    var generator = SystemRandomNumberGenerator()
    let columns = model.attributes(of: "Note").flatMap { store.schema.columns(ofAttribute: $0.name, in: "Note") }
    #expect(columns.count == 17)
    var expected: [[String: AttributeValue]] = []
    for _ in 0..<100 {
      let object = try context.insert("Note")
      var values: [String: AttributeValue] = [:]
      for column in columns {
        let name = column.path.joined(separator: ".")
        values[name] = Self.randomValue(of: column.attribute.type, using: &generator)
        try object.setValue(values[name], forAttribute: name)
        #expect(try object.value(forAttribute: name) == values[name])
      }
      expected.append(values)
    }
    try context.save()
    #expect(!context.hasChanges)
    for context in [context, try reopened()] {
      let objects = try context.fetch("Note")
      #expect(objects.map { $0.objectID?.primaryKey } == (1...100).map { $0 })
      for (object, values) in zip(objects, expected) {
        for column in columns {
          let name = column.path.joined(separator: ".")
          #expect(try object.value(forAttribute: name) == values[name])
        }
      }
    }
    #expect(try rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Note'") == [[.integer(100)]])
    #expect(try rows("SELECT DISTINCT Z_OPT, Z_ENT FROM ZNOTE") == [[.integer(1), .integer(2)]])
    // Core Data's forms are used: whole dates as integers, truth values as 0 and 1, external data inline with a tag.
    #expect(try rows("SELECT COUNT(*) FROM ZNOTE WHERE ZBOOL NOT IN (0, 1)") == [[.integer(0)]])
    #expect(
      try rows("SELECT COUNT(*) FROM ZNOTE WHERE ZPHOTO NOT NULL AND HEX(SUBSTR(ZPHOTO, 1, 1)) <> '01'") == [
        [.integer(0)]
      ])
    #expect(try rows("SELECT COUNT(*) FROM ZNOTE WHERE TYPEOF(ZUUID) NOT IN ('blob', 'null')") == [[.integer(0)]])
  }

  @Test(arguments: [
    ("a16", AttributeValue.integer(40_000)), ("a32", .integer(1 << 40)), ("double", .double(.nan)),
    ("date", .date(.nan)), ("decimal", .decimal("one")), ("uuid", .uuid([1])),
  ])
  func `a value that would not come back is refused`(name: String, value: AttributeValue) throws {
    let object = try context.insert("Note")
    #expect(throws: ManagedObjectError.unstorableValue(entity: "Note", property: name)) {
      try object.setValue(value, forAttribute: name)
    }
  }

  @Test func `mistakes are thrown by the functions and by the save after a subscript`() throws {
    let object = try context.insert("Note")
    #expect(throws: ManagedObjectError.wrongKind(entity: "Note", property: "text", expected: "String")) {
      try object.setValue(.integer(1), forAttribute: "text")
    }
    #expect(throws: ManagedObjectError.unknownProperty(entity: "Note", property: "none", nearest: nil)) {
      try object.value(forAttribute: "none")
    }
    #expect(throws: ManagedObjectError.unknownEntity("None", nearest: "Note")) { try context.insert("None") }
    let person = try context.insert("Person")
    #expect(
      throws: ManagedObjectError.wrongDestination(
        entity: "Note", relationship: "anyone", expected: "Worker", found: "Person")
    ) { try object.setObject(person, forRelationship: "anyone") }
    object["text"] = .string("kept")
    object["none"] = .string("lost")
    #expect(object["none"] == nil)
    #expect(throws: ManagedObjectError.unknownProperty(entity: "Note", property: "none", nearest: nil)) {
      try context.save()
    }
    #expect(try rows("SELECT COUNT(*) FROM ZNOTE") == [[.integer(0)]])
    try context.save()
    #expect(try rows("SELECT ZTEXT FROM ZNOTE") == [[.text("kept")]])
  }

  @Test func `both sides of a one-to-many relationship tell the same, before and after saving`() throws {
    let note1 = try context.insert("Note")
    let note2 = try context.insert("Note")
    let note3 = try context.insert("Note")
    let worker = try context.insert("Worker")
    let boss = try context.insert("Boss")
    note1[toOne: "author"] = worker
    note2[toOne: "author"] = worker
    #expect(worker[toMany: "notes"] == [note1, note2])
    worker[toMany: "notes"] = [note3, note1]
    #expect(note2[toOne: "author"] == nil)
    #expect(note3[toOne: "author"] == worker)
    try context.save()
    #expect(worker[toMany: "notes"] == [note3, note1])
    #expect(note1[toOne: "author"] == worker)
    // Worker is entity 5, in the table of Person, which has subentities.
    #expect(
      try rows("SELECT ZAUTHOR, Z3_AUTHOR, Z_FOK_AUTHOR FROM ZNOTE ORDER BY Z_PK") == [
        [.integer(1), .integer(5), .integer(3072)], [.null, .null, .null], [.integer(1), .integer(5), .integer(2048)],
      ])
    note2[toOne: "author"] = worker
    note1[toOne: "author"] = boss
    #expect(worker[toMany: "notes"] == [note3, note2])
    #expect(boss[toMany: "notes"] == [note1])
    try context.save()
    #expect(
      try rows("SELECT ZAUTHOR, Z3_AUTHOR, Z_FOK_AUTHOR, Z_OPT FROM ZNOTE ORDER BY Z_PK") == [
        [.integer(2), .integer(6), .integer(2048), .integer(2)],
        [.integer(1), .integer(5), .integer(4096), .integer(2)],
        [.integer(1), .integer(5), .integer(2048), .integer(1)],
      ])
    let other = try reopened()
    #expect(try other.fetch("Worker", includesSubentities: false).map { $0[toMany: "notes"].count } == [2])
    #expect(try other.fetch("Person").map(\.entityName) == ["Worker", "Boss"])
    #expect(try other.count("Person") == 2)
    #expect(try other.count("Person", includesSubentities: false) == 0)
    // The root gives the keys.
    #expect(
      try rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_MAX > 0 ORDER BY Z_NAME") == [
        [.text("Note"), .integer(3)], [.text("Person"), .integer(2)],
      ])
  }

  @Test func `a one-to-one relationship lets go of the ones before`() throws {
    let notes = try (0..<2).map { _ in try context.insert("Note") }
    let covers = try (0..<2).map { _ in try context.insert("Cover") }
    notes[0][toOne: "cover"] = covers[0]
    covers[1][toOne: "note"] = notes[1]
    try context.save()
    #expect(try rows("SELECT ZCOVER FROM ZNOTE ORDER BY Z_PK") == [[.integer(1)], [.integer(2)]])
    #expect(try rows("SELECT ZNOTE FROM ZCOVER ORDER BY Z_PK") == [[.integer(1)], [.integer(2)]])
    notes[0][toOne: "cover"] = covers[1]
    #expect(notes[1][toOne: "cover"] == nil)
    #expect(covers[0][toOne: "note"] == nil)
    try context.save()
    #expect(try rows("SELECT ZCOVER FROM ZNOTE ORDER BY Z_PK") == [[.integer(2)], [.null]])
    #expect(try rows("SELECT ZNOTE FROM ZCOVER ORDER BY Z_PK") == [[.null], [.integer(1)]])
  }

  @Test func `a many-to-many relationship keeps its order and both sides`() throws {
    let note = try context.insert("Note")
    let people = try (0..<4).map { _ in try context.insert("Person") }
    note[toMany: "editors"] = [people[2], people[0], people[2]]
    #expect(people[0][toMany: "edited"] == [note])
    try context.save()
    #expect(note[toMany: "editors"] == [people[2], people[0]])
    people[3][toMany: "edited"] = [note]
    #expect(note[toMany: "editors"] == [people[2], people[0], people[3]])
    try context.save()
    #expect(
      try rows("SELECT Z_3EDITORS, Z_FOK_3EDITORS FROM Z_2EDITORS WHERE Z_2EDITED = 1 ORDER BY 2") == [
        [.integer(3), .integer(2048)], [.integer(1), .integer(3072)], [.integer(4), .integer(4096)],
      ])
    note[toMany: "editors"] = [people[3], people[1], people[2]]
    try context.save()
    #expect(people[0][toMany: "edited"] == [])
    #expect(try reopened().fetch("Note")[0][toMany: "editors"].map { $0.objectID?.primaryKey } == [4, 2, 3])
    #expect(try rows("SELECT COUNT(*) FROM Z_2EDITORS") == [[.integer(3)]])
  }

  @Test func `relationships within one entity, its own inverse included, are kept`() throws {
    let notes = try (0..<3).map { _ in try context.insert("Note") }
    notes[0][toMany: "uses"] = [notes[1], notes[2]]
    notes[0][toMany: "friends"] = [notes[1]]
    #expect(notes[1][toMany: "sources"] == [notes[0]])
    #expect(notes[1][toMany: "friends"] == [notes[0]])
    try context.save()
    let found = try reopened().fetch("Note")
    #expect(found[0][toMany: "uses"] == [found[1], found[2]])
    #expect(found[0][toMany: "sources"] == [])
    #expect(found[2][toMany: "sources"] == [found[0]])
    #expect(found[0][toMany: "friends"] == [found[1]])
    #expect(found[1][toMany: "friends"] == [found[0]])
    notes[1][toMany: "friends"] = []
    #expect(notes[0][toMany: "friends"] == [])
    try context.save()
    #expect(try rows("SELECT COUNT(*) FROM Z_2FRIENDS") == [[.integer(0)]])
  }

  @Test func `a relationship without inverse is kept by its destinations`() throws {
    let note = try context.insert("Note")
    let covers = try (0..<3).map { _ in try context.insert("Cover") }
    note[toMany: "attachments"] = [covers[2], covers[0]]
    try context.save()
    #expect(
      try rows("SELECT Z2ATTACHMENTS, Z_FOK_2ATTACHMENTS FROM ZCOVER ORDER BY Z_PK") == [
        [.integer(1), .integer(3072)], [.null, .null], [.integer(1), .integer(2048)],
      ])
    #expect(try reopened().fetch("Note")[0][toMany: "attachments"].map { $0.objectID?.primaryKey } == [3, 1])
  }

  @Test func `a deleted object leaves no key and no link behind`() throws {
    let note = try context.insert("Note")
    let other = try context.insert("Note")
    let person = try context.insert("Person")
    let cover = try context.insert("Cover")
    note[toOne: "author"] = person
    note[toOne: "cover"] = cover
    note[toMany: "editors"] = [person]
    note[toMany: "uses"] = [other]
    note[toMany: "friends"] = [other]
    note[toMany: "attachments"] = [cover]
    try context.save()
    try context.delete(note)
    #expect(try context.count("Note") == 1)
    #expect(try context.fetch("Note") == [other])
    #expect(person[toMany: "notes"] == [] && person[toMany: "edited"] == [])
    #expect(other[toMany: "friends"] == [] && other[toMany: "sources"] == [])
    #expect(throws: ManagedObjectError.deleted(entity: "Note")) { try note.value(forAttribute: "text") }
    try context.save()
    #expect(try rows("SELECT COUNT(*) FROM Z_2EDITORS") == [[.integer(0)]])
    #expect(try rows("SELECT COUNT(*) FROM Z_2USES") == [[.integer(0)]])
    #expect(try rows("SELECT COUNT(*) FROM Z_2FRIENDS") == [[.integer(0)]])
    #expect(try rows("SELECT ZNOTE, Z2ATTACHMENTS FROM ZCOVER") == [[.null, .null]])
    // The key isn't used again.
    let new = try context.insert("Note")
    try context.save()
    #expect(new.objectID?.primaryKey == 3)
    try context.delete(person)
    try context.save()
    #expect(try rows("SELECT COUNT(*) FROM ZPERSON") == [[.integer(0)]])
  }

  @Test func `an object that was made and deleted is never saved`() throws {
    let note = try context.insert("Note")
    let person = try context.insert("Person")
    note[toOne: "author"] = person
    try context.delete(person)
    #expect(note[toOne: "author"] == nil)
    try context.save()
    #expect(try rows("SELECT ZAUTHOR, Z3_AUTHOR FROM ZNOTE") == [[.null, .null]])
    #expect(try rows("SELECT COUNT(*) FROM ZPERSON") == [[.integer(0)]])
  }

  @Test func `rolling back gives what the store has`() throws {
    let note = try context.insert("Note")
    note["text"] = .string("saved")
    try context.save()
    note["text"] = .string("changed")
    let new = try context.insert("Note")
    try context.delete(note)
    context.rollback()
    #expect(!context.hasChanges)
    #expect(note["text"] == .string("saved"))
    #expect(throws: ManagedObjectError.deleted(entity: "Note")) { try new.value(forAttribute: "text") }
    try context.save()
    #expect(try rows("SELECT ZTEXT FROM ZNOTE") == [[.text("saved")]])
  }

  @Test func `a change by someone else is not overwritten`() throws {
    let note = try context.insert("Note")
    try context.save()
    let other = try reopened()
    let id = try #require(note.objectID)
    let same = try #require(try other.object(with: id))
    #expect(note["text"] == nil && same["text"] == nil)
    same["text"] = .string("first")
    try other.save()
    note["text"] = .string("second")
    #expect(throws: ManagedObjectError.conflict(id)) { try context.save() }
    #expect(try rows("SELECT ZTEXT, Z_OPT FROM ZNOTE") == [[.text("first"), .integer(2)]])
    #expect(note["text"] == .string("second"))
    context.rollback()
    #expect(note["text"] == .string("first"))
    try context.delete(note)
    try context.save()
    #expect(same["text"] == .string("first") || same["text"] == nil)
    same["text"] = .string("third")
    #expect(throws: ManagedObjectError.self) { try other.save() }
  }

  @Test func `an object is in a context once`() throws {
    let note = try context.insert("Note")
    try context.save()
    #expect(try context.fetch("Note")[0] === note)
    let id = try #require(note.objectID)
    #expect(try context.object(with: id) === note)
    #expect(ManagedObjectID(uriRepresentation: id.uriRepresentation) == id)
    #expect(try context.object(with: ManagedObjectID(storeIdentifier: "x", entityName: "Note", primaryKey: 1)) == nil)
    #expect(
      try context.object(with: ManagedObjectID(storeIdentifier: id.storeIdentifier, entityName: "Cover", primaryKey: 1))
        == nil)
  }

  @Test(arguments: [
    "", "x-coredata://", "x-coredata://a/b", "x-coredata://a/b/1", "x-coredata://a/b/p0", "x-coredata:///b/p1",
    "x-coredata://a/b/p1/c",
  ])
  func `a text of another form is no identifier`(text: String) {
    #expect(ManagedObjectID(uriRepresentation: text) == nil)
  }

  @Test func `contexts and their objects are released once changes are ended`() throws {
    weak var released: ManagedObject?
    weak var releasedContext: ManagedObjectContext?
    do {
      let other = ManagedObjectContext(store: store)
      let note = try other.insert("Note")
      let person = try other.insert("Person")
      note[toOne: "author"] = person
      note[toMany: "editors"] = [person]
      released = note
      releasedContext = other
      other.rollback()
    }
    #expect(released == nil && releasedContext == nil)
  }

  @Test func `large values in files of Core Data are read, and no file outside`() throws {
    let name = "0A1B2C3D-0000-4000-8000-00000000ABCD"
    let folder = directory.file(".Store_SUPPORT/_EXTERNAL_DATA")
    let note = try context.insert("Note")
    try context.save()
    func point(at text: String) throws {
      try store.connection.execute(
        "UPDATE ZNOTE SET ZPHOTO = ?1", [.blob([2] + Array(text.utf8) + [0])])
      context.rollback()
    }
    try point(at: name)
    let fresh = try #require(try reopened().fetch("Note").first)
    #expect(throws: ManagedObjectError.self) { try fresh.value(forAttribute: "photo") }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data([1, 2, 3]).write(to: folder.appendingPathComponent(name))
    #expect(try reopened().fetch("Note").first?.value(forAttribute: "photo") == .binary([1, 2, 3]))
    try Data([9]).write(to: directory.file("secret"))
    try point(at: "../../secret" + String(repeating: " ", count: 24))
    let id = try #require(note.objectID)
    #expect(throws: ManagedObjectError.undecodableValue(id, property: "photo")) {
      try reopened().fetch("Note").first?.value(forAttribute: "photo")
    }
  }

  @Test func `expressions look at objects`() throws {
    let note = try context.insert("Note")
    let person = try context.insert("Person")
    person["name"] = .string("Ann")
    note[toOne: "author"] = person
    note["place.geo.latitude"] = .double(3)
    guard case .object(let author) = try note.value(forKey: "author"),
      case .value(let name) = try author.value(forKey: "name"),
      case .list(let notes) = try author.value(forKey: "notes"),
      case .object(let place) = try note.value(forKey: "place"),
      case .object(let geo) = try place.value(forKey: "geo"),
      case .value(let latitude) = try geo.value(forKey: "latitude"), case .null = try place.value(forKey: "city")
    else {
      Issue.record("a value is missing")
      return
    }
    #expect(name == .string("Ann") && notes.count == 1 && latitude == .double(3))
    #expect(try note.value(forKey: "none") == nil)
  }
}
