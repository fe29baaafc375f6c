import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Objects by the types of `Typed/ShelfModel.swift`, against what SQLite has in the same file.
struct TypedObjectsTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("Shelf.sqlite") }
  private let store: PersistentStore
  private let context: ManagedObjectContext

  private static let isBook = "Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book')"

  private static func history() throws -> ModelHistory {
    try ModelHistory(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Typed/Shelf.xcdatamodeld"))
  }

  init() throws {
    directory = try TemporaryDirectory()
    store = try PersistentStore.open(at: directory.file("Shelf.sqlite"), history: try Self.history())
    context = ManagedObjectContext(store: store)
  }

  private func rows(_ sql: String) throws -> [[SQLiteValue]] {
    let rows = try Connection(reading: url, options: .inspecting).rows(sql)
    return rows
  }

  private func execute(_ sql: String) throws {
    try store.connection.execute(sql)
  }

  private func book(_ title: String?, by author: ShelfModel.Person) throws -> ShelfModel.Book {
    let book = try ShelfModel.Book.insert(into: context)
    try book.set(title: title)
    try book.set(author: author)
    return book
  }

  private func person(_ name: String) throws -> ShelfModel.Person {
    let person = try ShelfModel.Person.insert(into: context)
    try person.set(name: name)
    return person
  }

  @Test func `what is set by a type is in the file, and comes back`() throws {
    let ada = try person("Ada")
    let book = try book("Winter", by: ada)
    let uuid = try #require(UUID(uuidString: "0F0E0D0C-0B0A-4908-8706-050403020100"))
    try book.set(bought: Date(timeIntervalSinceReferenceDate: 86_400.5))
    try book.set(colors: Data([1, 2]))
    try book.set(cover: Data([0, 255]))
    try book.set(draft: "in memory")
    try book.set(isRead: true)
    try book.set(link: URL(string: "https://example.org/a?b=c"))
    try book.set(mark: uuid)
    try book.set(pages: -70_000)
    try book.set(place: .init(number: 7, room: "attic", spot: .init(x: 1.5)))
    try book.set(price: Decimal(string: "12.5"))
    try book.set(sold: .max)
    try book.set(stars: .min)
    try book.set(thickness: 0.5)
    try book.set(weight: 1e300)
    let chapters = try ["one", "two", "three"].map { title in
      let chapter = try ShelfModel.Chapter.insert(into: context)
      try chapter.set(title: title)
      return chapter
    }
    try book.set(chapters: [chapters[2], chapters[0], chapters[1]])
    try context.save()
    #expect(
      try rows(
        "SELECT ZTITLE, ZCHAPTERCOUNT, ZBOUGHT, ZCOLORS, ZCOVER, ZISREAD, ZLINK, ZMARK, ZPAGES, ZPRICE, ZSOLD, ZSTARS,"
          + " ZTHICKNESS, ZWEIGHT, ZAUTHOR, ZSEQUEL FROM ZTHING WHERE \(Self.isBook)") == [
          [
            .text("Winter"), .integer(3), .real(86_400.5), .blob([1, 2]), .blob([0, 255]), .integer(1),
            .text("https://example.org/a?b=c"),
            .blob([15, 14, 13, 12, 11, 10, 73, 8, 135, 6, 5, 4, 3, 2, 1, 0]), .integer(-70_000), .real(12.5),
            .integer(.max), .integer(-32_768), .real(0.5), .real(1e300), .integer(1), .null,
          ]
        ])
    let other = ManagedObjectContext(store: store)
    let found = try #require(try ShelfModel.Book.fetch(in: other).first)
    #expect(try found.title == "Winter" && found.chapterCount == 3)
    #expect(try found.bought == Date(timeIntervalSinceReferenceDate: 86_400.5))
    #expect(try found.colors == Data([1, 2]) && found.cover == Data([0, 255]) && found.draft == nil)
    #expect(try found.isRead && found.link?.absoluteString == "https://example.org/a?b=c" && found.mark == uuid)
    #expect(try found.pages == -70_000 && found.price == Decimal(string: "12.5") && found.sold == .max)
    #expect(try found.stars == .min && found.thickness == 0.5 && found.weight == 1e300)
    let place = try #require(try found.place)
    #expect(place.number == 7 && place.room == "attic" && place.spot?.x == 1.5 && place.spot?.y == nil)
    #expect(try found.author.name == "Ada" && found.sequel == nil)
    #expect(try found.chapters.map { try $0.title } == ["three", "one", "two"])
    #expect(try found.author.books == [found])
    #expect(try book.draft == "in memory")
    try book.set(place: nil)
    try book.set(sequel: book)
    try context.save()
    #expect(try book.place == nil && book.sequel == book)
  }

  @Test func `a value that is missing, out of range or no URL is an error and no guess`() throws {
    let ada = try person("Ada")
    let empty = try ShelfModel.Book.insert(into: context)
    #expect(try empty.stars == 0 && empty.title == nil)
    #expect(throws: ManagedObjectError.missingValue(entity: "Book", property: "author")) { try empty.author }
    try empty.set(author: ada)
    try context.save()
    try execute("UPDATE ZTHING SET ZSTARS = NULL, ZSOLD = 'many', ZPAGES = 3000000000, ZLINK = '', ZROOM = 'x'")
    let other = ManagedObjectContext(store: store)
    let book = try #require(try ShelfModel.Book.fetch(in: other).first)
    let id = try #require(book.managedObject.objectID)
    #expect(throws: ManagedObjectError.missingValue(entity: "Book", property: "stars")) { try book.stars }
    #expect(throws: ManagedObjectError.undecodableValue(id, property: "sold")) { try book.sold }
    #expect(throws: ManagedObjectError.undecodableValue(id, property: "pages")) { try book.pages }
    #expect(throws: ManagedObjectError.undecodableValue(id, property: "link")) { try book.link }
    // The place has a room but no number, which it must have.
    #expect(throws: ManagedObjectError.undecodableValue(id, property: "place")) { try book.place }
    #expect(try book.author.name == "Ada")
  }

  @Test func `an object is taken for one of its entity or an ancestor only`() throws {
    let book = try book("a", by: try person("Ada"))
    let thing = try ShelfModel.Thing(book)
    #expect(try thing.title == "a")
    #expect(try ShelfModel.Book(thing) == book)
    #expect(try ShelfModel.Book(book.managedObject) == book)
    #expect(throws: ManagedObjectError.wrongEntity(expected: "Chapter", found: "Book")) {
      try ShelfModel.Chapter(thing)
    }
    #expect(throws: ManagedObjectError.wrongEntity(expected: "Person", found: "Book")) {
      try ShelfModel.Person(book.managedObject)
    }
    // Code of another version meets objects that lack its properties.
    let old = try ShelfSource.Book(book.managedObject)
    #expect(throws: ManagedObjectError.unknownProperty(entity: "Book", property: "author", nearest: "author")) {
      try old.author
    }
  }

  /// By types, and the same in SQL by hand.
  private static let conditions: [(String, String, @Sendable (ShelfModel.Book.Properties) -> PredicateDescription)] = [
    ("equal", "ZTITLE = 'b2'", { $0.title == "b2" }), ("none", "ZTITLE IS NULL", { $0.title == nil }),
    ("any", "ZTITLE IS NOT NULL", { $0.title != nil }), ("less", "ZPAGES < 300", { $0.pages < 300 }),
    ("at most", "ZPAGES <= 300", { $0.pages <= 300 }), ("greater", "ZSTARS > 3", { $0.stars > 3 }),
    ("at least", "ZWEIGHT >= 2.5", { $0.weight >= 2.5 }), ("flag", "ZISREAD = 1", { $0.isRead == true }),
    ("prefix", "ZTITLE GLOB 'b*'", { $0.title.hasPrefix("b") }),
    ("suffix", "ZTITLE GLOB '*2'", { $0.title.hasSuffix("2") }),
    ("contains", "ZTITLE GLOB '*c1*'", { $0.title.contains("c1") }),
    ("one of", "ZPAGES IN (100, 400)", { $0.pages.isOne(of: [100, 400]) }),
    ("date", "ZBOUGHT > 200", { $0.bought > Date(timeIntervalSinceReferenceDate: 200) }),
    ("decimal", "ZPRICE < 2.5", { $0.price < Decimal(string: "2.5") ?? 0 }),
    (
      "uuid", "ZMARK = X'01010101010101010101010101010101'",
      {
        $0.mark == UUID(uuid: (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
      }
    ),
    ("url", "ZLINK = 'https://example.org/3'", { $0.link == URL(string: "https://example.org/3") }),
    ("bytes", "ZCOVER = X'02'", { $0.cover == Data([2]) }), ("float", "ZTHICKNESS = 0.5", { $0.thickness == 0.5 }),
    ("element", "ZNUMBER = 4", { $0.place.number == 4 }),
    ("inner element", "ZX > 1", { $0.place.spot.x > 1 }),
    ("path", "ZAUTHOR IN (SELECT Z_PK FROM ZPERSON WHERE ZNAME = 'Ada')", { $0.author.name == "Ada" }),
    ("longer path", "ZSEQUEL IN (SELECT Z_PK FROM ZTHING WHERE ZPAGES = 100)", { $0.sequel.pages == 100 }),
    ("and", "ZPAGES > 100 AND ZSTARS < 4", { $0.pages > 100 && $0.stars < 4 }),
    ("or", "ZPAGES = 100 OR ZSTARS = 4", { $0.pages == 100 || $0.stars == 4 }),
    ("not", "NOT (ZSTARS = 4)", { !($0.stars == 4) }),
  ]

  private func fill() throws {
    let authors = [try person("Ada"), try person("Ben")]
    var last: ShelfModel.Book?
    for index in 0..<8 {
      let book = try book(index == 5 ? nil : "\("bc".map(String.init)[index % 2])\(index)", by: authors[index % 2])
      try book.set(pages: Int32(index) * 100)
      try book.set(stars: Int16(index % 5))
      try book.set(weight: Double(index) / 2)
      try book.set(isRead: index.isMultiple(of: 3))
      try book.set(bought: Date(timeIntervalSinceReferenceDate: Double(index) * 50))
      try book.set(price: Decimal(index) / 2)
      try book.set(mark: UUID(uuid: (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, index == 2 ? 1 : 2)))
      try book.set(link: URL(string: "https://example.org/\(index)"))
      try book.set(cover: Data([UInt8(index)]))
      try book.set(thickness: Float(index) / 4)
      try book.set(place: .init(number: Int16(index), spot: .init(x: Double(index) / 3)))
      try book.set(sequel: last)
      last = book
    }
    try context.save()
  }

  @Test func `conditions and orders by types find what SQL finds`() throws {
    try fill()
    for (name, sql, condition) in Self.conditions {
      let wanted = try rows("SELECT Z_PK FROM ZTHING WHERE \(Self.isBook) AND (\(sql)) ORDER BY Z_PK").map { $0[0] }
      let found = try ShelfModel.Book.fetch(in: context, where: condition).map { book in
        SQLiteValue.integer(try #require(book.managedObject.objectID).primaryKey)
      }
      #expect(found == wanted && !wanted.isEmpty && wanted.count < 8, "\(name)")
      #expect(try context.count(ShelfModel.Book.request(where: condition)) == wanted.count, "\(name)")
    }
    let sorted = try ShelfModel.Book.fetch(
      in: context, sortedBy: { [$0.stars.descending, $0.title.ascending] }, limit: 3)
    #expect(
      try sorted.map { try $0.title.map { .text($0) } ?? .null }
        == rows("SELECT ZTITLE FROM ZTHING WHERE \(Self.isBook) ORDER BY ZSTARS DESC, ZTITLE LIMIT 3").map { $0[0] })
  }

  // MARK: Migrating

  /// Makes a person of each author's name.
  final class BookToBook: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let old = try ShelfSource.Book(source)
      let new = try ShelfModel.Book.insert(into: manager.destinationContext)
      try new.set(title: old.title)
      try new.set(stars: old.stars)
      let name = try old.author
      let known = try ShelfModel.Person.fetch(in: manager.destinationContext, where: { $0.name == name }).first
      let person = try known ?? .insert(into: manager.destinationContext)
      try person.set(name: name)
      try new.set(author: person)
      try manager.associate(source: source, destination: new.managedObject, for: mapping)
    }
  }

  /// Reads a name that the source doesn't have, by a subscript, which can't throw.
  final class Misspelling: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let new = try ShelfModel.Book.insert(into: manager.destinationContext)
      new.managedObject["title"] = source["titel"]
      try manager.associate(source: source, destination: new.managedObject, for: mapping)
    }
  }

  private func delegate(_ policy: EntityMigrationPolicy.Type) -> ClosureDelegate {
    ClosureDelegate(mapping: { source, destination, _ in
      try MappingModel.inferred(from: source, to: destination) {
        EntityMapping(from: "Book", to: "Book", policy: policy)
      }
    })
  }

  private func makeOldStore(_ history: ModelHistory) throws -> URL {
    let old = directory.file("Old.sqlite")
    try PersistentStore.make(at: old, model: try #require(try history.model(named: "Shelf"))) { before in
      for (title, author) in [("a", "Ada"), ("b", "Ben"), ("c", "Ada")] {
        let book = try before.insert("Book")
        try book.set(title, for: "title")
        try book.set(author, for: "author")
        try book.set(title == "b" ? 4 : 2, for: "stars")
      }
    }
    return old
  }

  @Test func `a misspelt name that a policy reads ends the migration with the nearest one`() throws {
    let history = try Self.history()
    let old = try makeOldStore(history)
    let assistant = MigrationAssistant(old, history)
    assistant.delegate = delegate(Misspelling.self)
    let error = try #require(throws: MigrationAssistantError.self, performing: { try assistant.migrateStore() })
    #expect(
      error.cause.contains("Entity \"Book\" has no property \"titel\"; did you mean \"title\"?"), "\(error.cause)")
  }

  @Test func `a policy reads the version before by its types and writes this one by its own`() throws {
    let history = try Self.history()
    let old = try makeOldStore(history)
    let assistant = MigrationAssistant(old, history)
    assistant.delegate = delegate(BookToBook.self)
    try assistant.migrate()
    let connection = try Connection(reading: old, options: .inspecting)
    #expect(
      try connection.rows("SELECT ZTITLE, ZSTARS, ZNAME FROM ZTHING t JOIN ZPERSON p ON p.Z_PK = t.ZAUTHOR ORDER BY 1")
        == [
          [.text("a"), .integer(2), .text("Ada")], [.text("b"), .integer(4), .text("Ben")],
          [.text("c"), .integer(2), .text("Ada")],
        ])
    #expect(try connection.rows("SELECT COUNT(*) FROM ZPERSON") == [[.integer(2)]])
    try connection.close()
  }
}
