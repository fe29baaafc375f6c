import Foundation
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

/// Objects that are visited one after the other, and the state of those that someone keeps.
struct StreamingTests {
  private let directory: TemporaryDirectory
  private let url: URL
  private let model: ManagedObjectModel

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("Store.sqlite")
    model = try Models.everything()
    try StoreGenerator.makeStore(at: url, model: model, objects: 150, seed: 3, isVaried: false)
  }

  private func context() throws -> ManagedObjectContext {
    ManagedObjectContext(store: try PersistentStore.open(at: url, model: model))
  }

  private func paths(_ entity: String) -> [String] {
    let schema = PhysicalSchema(model: model)
    return model.attributes(of: entity).flatMap { schema.columns(ofAttribute: $0.name, in: entity) }
      .map { $0.path.joined(separator: ".") }
  }

  private func values(_ object: ManagedObject) throws(ManagedObjectError) -> [String: AttributeValue] {
    var values: [String: AttributeValue] = [:]
    for path in paths(object.entityName) { values[path] = try object.value(forAttribute: path) }
    return values
  }

  @Test(arguments: LongTests.selection(of: ["Note", "Person", "Worker", "Boss", "Cover"], every: 2))
  func `an object has the same values while it is streamed, kept, or found by its key`(entity: String) throws {
    let (streaming, single) = (try context(), try context())
    var seen: [[String: AttributeValue]] = []
    var kept: [ManagedObject] = []
    try streaming.forEach(entity) { object throws(ManagedObjectError) in
      seen.append(try values(object))
      // Some are read before they are kept, some after, some not at all.
      if seen.count % 3 == 0 { kept.append(object) }
      return true
    }
    let objects = try single.fetch(entity)
    #expect(objects.count == seen.count && objects.count >= 40)
    for (object, values) in zip(objects, seen) {
      let id = try #require(object.objectID)
      let other = try #require(try context().object(with: id))
      #expect(try self.values(object) == values && self.values(other) == values)
    }
    for (place, object) in kept.enumerated() {
      #expect(object.objectID == objects[place * 3 + 2].objectID)
      #expect(try values(object) == seen[place * 3 + 2])
    }
    #expect(Set(kept).count == kept.count)
  }

  @Test func `typed values are those of any kind`() throws {
    try context().forEach("Note") { note throws(ManagedObjectError) in
      #expect(try note.string("text").map { .string($0) } == note.value(forAttribute: "text"))
      #expect(try note.string("uri").map { .uri($0) } == note.value(forAttribute: "uri"))
      for name in ["a16", "a32", "a64"] {
        #expect(try note.int64(name).map { .integer($0) } == note.value(forAttribute: name))
        #expect(try note.int(name).map { .integer(Int64($0)) } == note.value(forAttribute: name))
      }
      #expect(try note.bool("bool").map { .boolean($0) } == note.value(forAttribute: "bool"))
      for name in ["double", "float", "place.geo.latitude"] {
        #expect(try note.double(name).map { .double($0) } == note.value(forAttribute: name))
      }
      #expect(
        try note.date("date").map { .date($0.timeIntervalSinceReferenceDate) } == note.value(forAttribute: "date"))
      for name in ["raw", "photo", "transformed"] {
        #expect(try note.bytes(name).map { .binary($0) } == note.value(forAttribute: name))
        #expect(try note.data(name).map { Array($0) } == note.bytes(name))
      }
      if case .uuid(let bytes)? = try note.value(forAttribute: "uuid") {
        #expect(try note.uuid("uuid").map { withUnsafeBytes(of: $0.uuid) { Array($0) } } == bytes)
      }
      return true
    }
  }

  @Test(arguments: [false, true])
  func `what is set in typed form comes back, whether the context streams or not`(streams: Bool) throws {
    let store = try PersistentStore.open(at: url, model: model)
    let context = streams ? ManagedObjectContext(streamingInto: store) : ManagedObjectContext(store: store)
    let note = try context.insert("Note")
    let uuid = UUID()
    let date = Date(timeIntervalSinceReferenceDate: 12.5)
    func set() throws {
      try note.set("Zoë 🙂", for: "text")
      try note.set("https://example.org", for: "uri")
      try note.set(Int64(7), for: "a16")
      try note.set(8, for: "a32")
      try note.set(1.5, for: "double")
      try note.set(true, for: "bool")
      try note.set(date, for: "date")
      try note.set(uuid, for: "uuid")
      try note.set([1, 2] as [UInt8], for: "raw")
      try note.set(Data(), for: "photo")
      try note.set(Decimal(string: "12.25"), for: "decimal")
    }
    func check() throws {
      #expect(try note.string("text") == "Zoë 🙂" && note.string("uri") == "https://example.org")
      #expect(try note.int64("a16") == 7 && note.int("a32") == 8 && note.double("double") == 1.5)
      #expect(try note.bool("bool") == true && note.date("date") == date && note.uuid("uuid") == uuid)
      #expect(try note.bytes("raw") == [1, 2] && note.data("photo") == Data())
      #expect(try note.decimal("decimal") == Decimal(string: "12.25"))
    }
    try set()
    try check()
    try context.save()
    try check()
    // This overwrites the values, and uses bytes.
    try note.set(nil as String?, for: "text")
    #expect(try note.string("text") == nil)
    try set()
    try "Zoë 🙂".utf8.withContiguousStorageIfAvailable { try note.set(utf8: UnsafeRawBufferPointer($0), for: "text") }
    try [UInt8]([1, 2]).withUnsafeBytes { try note.set(bytes: $0, for: "raw") }
    try context.save()
    try check()
    #expect(
      try store.connection.rows("SELECT TYPEOF(ZTEXT), TYPEOF(ZRAW), ZPHOTO FROM ZNOTE WHERE Z_PK = \(note.key)")
        == [[.text("text"), .text("blob"), .blob([1])]])
  }

  @Test func `a wrong kind, a cut character and a name of nothing are told and change nothing`() throws {
    let context = ManagedObjectContext(streamingInto: try PersistentStore.open(at: url, model: model))
    let note = try context.insert("Note")
    #expect(throws: ManagedObjectError.wrongKind(entity: "Note", property: "text", expected: "String")) {
      try note.set(1, for: "text")
    }
    #expect(throws: ManagedObjectError.wrongKind(entity: "Note", property: "a16", expected: "Integer 16")) {
      try note.string("a16")
    }
    #expect(throws: ManagedObjectError.unstorableValue(entity: "Note", property: "a16")) {
      try note.set(70_000, for: "a16")
    }
    #expect(throws: ManagedObjectError.unknownProperty(entity: "Note", property: "author", nearest: "author")) {
      try note.string("author")
    }
    let text = Array("abcdefghijklmé".utf8)
    try text.withUnsafeBytes { bytes in
      #expect(throws: ManagedObjectError.unstorableValue(entity: "Note", property: "text")) {
        try note.set(utf8: UnsafeRawBufferPointer(rebasing: bytes.dropLast()), for: "text")
      }
      #expect(throws: ManagedObjectError.wrongKind(entity: "Note", property: "raw", expected: "Binary")) {
        try note.set(utf8: bytes, for: "raw")
      }
      #expect(throws: ManagedObjectError.unknownProperty(entity: "Note", property: "none", nearest: nil)) {
        try note.set(utf8: bytes, for: "none")
      }
      #expect(throws: ManagedObjectError.self) { try note.set(bytes: bytes, for: "text") }
      #expect(throws: ManagedObjectError.self) { try note.withBytes(of: "a16") { _ in } }
      #expect(try note.string("text") == nil && note.int("a16") == nil)
      try note.set(utf8: bytes, for: "text")
    }
    #expect(try note.string("text") == "abcdefghijklmé")
  }

  @Test func `borrowed bytes are the value's, and stay so while others are read`() throws {
    let context = try context()
    var count = 0
    try context.forEach("Note") { note throws(ManagedObjectError) in
      for name in ["text", "raw", "photo", "uri"] {
        let expected: [UInt8]?
        switch try note.value(forAttribute: name) {
        case .string(let text), .uri(let text): expected = Array(text.utf8)
        case .binary(let bytes): expected = bytes
        default: expected = nil
        }
        let found = try? note.withBytes(of: name) { bytes in
          let before = Array(bytes)
          // Reads of the same column and of others, in other forms, leave the bytes where they are.
          _ = try note.value(forAttribute: name)
          _ = try note.string("text")
          _ = try note.objects(forRelationship: "editors")
          #expect(Array(bytes) == before)
          return before
        }
        #expect(found == expected)
        count += expected?.count ?? 0
      }
      return true
    }
    #expect(count > 100)
  }

  @Test func `the object of the row is the one that others lead to`() throws {
    let context = try context()
    var found = 0
    try context.forEach("Person") { person throws(ManagedObjectError) in
      for note in try person.objects(forRelationship: "notes") {
        #expect(try note.object(forRelationship: "author") === person)
        found += 1
      }
      return true
    }
    #expect(found > 10)
  }

  @Test func `changes made on the way are saved, and what was only visited is not`() throws {
    let context = try context()
    let keys = try context.store.connection.rows("SELECT Z_PK FROM ZNOTE ORDER BY 1").compactMap(\.first?.integer)
    let (doomed, changed) = (keys[6], Set(keys.enumerated().filter { $0.offset % 5 == 4 }.map(\.element)))
    try context.forEach("Note") { note throws(ManagedObjectError) in
      if changed.contains(note.key) { note["a64"] = .integer(note.key * 1000) }
      if note.key == doomed { try context.delete(note) }
      return true
    }
    #expect(keys.count >= 150)
    #expect(try context.changedObjects(of: "Note").count < keys.count / 2)
    try context.save()
    let rows = try context.store.connection.rows("SELECT Z_PK FROM ZNOTE WHERE ZA64 = Z_PK * 1000 ORDER BY 1")
    #expect(rows == changed.sorted().map { [.integer($0)] })
    #expect(try context.count("Note") == keys.count - 1)
    #expect(try context.store.connection.firstInteger("SELECT COUNT(*) FROM ZNOTE WHERE Z_PK = \(doomed)") == 0)
  }

  @Test func `what is read late on the way is found, though it was not asked for at first`() throws {
    let (streaming, other) = (try context(), try context())
    let expected = try other.fetch("Note")
    var place = 0
    try streaming.forEach("Note") { note throws(ManagedObjectError) in
      let same = expected[place]
      #expect(try note.string("text") == same.string("text"))
      if place % 40 == 39 || place > 110 {
        #expect(try values(note) == values(same))
        #expect((try? note.withBytes(of: "raw") { Array($0) }) == (try same.bytes("raw")))
      }
      if place == 100 { note["a16"] = .integer(1) }
      place += 1
      return true
    }
    #expect(place == expected.count && place >= 150)
    try streaming.save()
    let id = try #require(expected[100].objectID)
    let found = try #require(try context().object(with: id))
    var changed = try values(expected[100])
    changed["a16"] = .integer(1)
    #expect(try values(found) == changed)
  }

  @Test func `an error or an early end leaves objects that can be used`() throws {
    let context = try context()
    var kept: [ManagedObject] = []
    #expect(throws: ManagedObjectError.unknownEntity("stop", nearest: nil)) {
      try context.forEach("Note") { note throws(ManagedObjectError) in
        kept.append(note)
        throw .unknownEntity("stop", nearest: nil)
      }
    }
    try context.forEach("Cover") { cover throws(ManagedObjectError) in
      kept.append(cover)
      return kept.count < 3
    }
    #expect(kept.map(\.entityName) == ["Note", "Cover", "Cover"] && kept[1] !== kept[2])
    for object in kept { #expect(try values(object).count > 0) }
  }

  @Test func `objects of a streaming context are used again only when nobody has them`() throws {
    let context = ManagedObjectContext(streamingInto: try PersistentStore.open(at: url, model: model))
    var kept: [ManagedObject] = []
    var keys: [Int64] = []
    for index in 0..<200 {
      let cover = try context.insert("Cover")
      try cover.set("cover \(index)", for: "title")
      keys.append(cover.key)
      if index % 7 == 0 { kept.append(cover) }
      if index % 10 == 9 { try context.writePendingChanges() }
    }
    try context.writePendingChanges()
    #expect(Set(keys).count == 200 && Set(kept).count == kept.count)
    for (place, cover) in kept.enumerated() {
      #expect(cover.key == keys[place * 7])
      #expect(try cover.string("title") == "cover \(place * 7)")
      #expect(try context.object(inTreeOf: "Cover", key: cover.key) === cover)
    }
    let first = try #require(kept.first)
    try first.set("changed", for: "title")
    try context.delete(try #require(kept.last))
    try context.writePendingChanges()
    let titles = try context.store.connection.rows("SELECT ZTITLE FROM ZCOVER WHERE Z_PK >= \(keys[0]) ORDER BY Z_PK")
    var expected = (0..<200).map { SQLiteValue.text("cover \($0)") }
    expected[0] = .text("changed")
    expected.remove(at: (kept.count - 1) * 7)
    #expect(titles == expected.map { [$0] })
  }

  @Test func `a streaming context finds rows by keys in order, and those that come and go meanwhile`() throws {
    let context = ManagedObjectContext(streamingInto: try PersistentStore.open(at: url, model: model))
    for _ in 0..<300 { _ = try context.insert("Cover") }
    try context.writePendingChanges()
    var known = Set(try context.store.connection.rows("SELECT Z_PK FROM ZCOVER").compactMap { $0[0].integer })
    let last = try #require(known.max())
    func check(_ key: Int64) throws {
      #expect((try context.object(inTreeOf: "Cover", key: key) != nil) == known.contains(key))
    }
    func delete(_ key: Int64) throws {
      guard let cover = try context.object(inTreeOf: "Cover", key: key) else { return }
      try context.delete(cover)
      try context.writePendingChanges()
      known.remove(key)
    }
    for key in -3...last + 20 {
      try check(key)
      // These are ahead of the next key, and behind it.
      if key % 40 == 7 { for gone in [key + 1, key + 2, key + 30, key - 5] { try delete(gone) } }
      if key % 40 == 20, !known.contains(key + 17) {
        _ = try context.insert("Cover", preferredKey: key + 17)
        known.insert(key + 17)
      }
      if key % 60 == 50 { for other in [key - 20, key + 3, .max, .min, key] { try check(other) } }
    }
    for key in stride(from: last + 20, through: -3, by: -1) { try check(key) }
  }

  @Test(arguments: [1, 2, 7, 8, 9, 40])
  func `as many rows as there are new objects are written, whatever they hold`(count: Int) throws {
    let context = ManagedObjectContext(streamingInto: try PersistentStore.open(at: url, model: model))
    let connection = context.store.connection
    let counts = {
      try (
        connection.firstInteger("SELECT COUNT(*) FROM ZCOVER"), connection.firstInteger("SELECT COUNT(*) FROM ZNOTE")
      )
    }
    let before = try counts()
    var expected: [[SQLiteValue]] = []
    for round in 0..<3 {
      for number in 0..<count {
        let cover = try context.insert("Cover")
        if number % 3 != round { try cover.set("\(round) \(number)", for: "title") }
        expected.append([.integer(cover.key), number % 3 != round ? .text("\(round) \(number)") : .null])
        if number % 5 == 4 { try context.insert("Note").set(number, for: "a32") }
      }
      try context.writePendingChanges()
    }
    let first = try #require(expected.first?.first)
    #expect(try connection.rows("SELECT Z_PK, ZTITLE FROM ZCOVER WHERE Z_PK >= ?1 ORDER BY Z_PK", [first]) == expected)
    let after = try counts()
    #expect(after.0 == (before.0 ?? 0) + Int64(3 * count) && after.1 == (before.1 ?? 0) + Int64(3 * (count / 5)))
  }
}
