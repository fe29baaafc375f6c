import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

struct ValidationTests {
  private let directory: TemporaryDirectory
  private let store: PersistentStore
  private let context: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    var name = Make.attribute("name", .string)
    name.isOptional = false
    name.validationRules = try ["length >= 2", "length <= 5", "SELF MATCHES \"[a-z]+\""].map {
      ValidationRule(predicate: try PredicateDescription(parsing: $0))
    }
    var stars = Make.attribute("stars", .integer16)
    stars.validationRules = try ["SELF >= 0", "SELF <= 5"].map {
      ValidationRule(predicate: try PredicateDescription(parsing: $0))
    }
    var odd = Make.attribute("odd", .integer16)
    odd.validationRules = [ValidationRule(predicate: try PredicateDescription(parsing: "SELF.nothing == 1"))]
    var pages = Make.toMany("pages", "Page", "books")
    pages.minCount = 2
    pages.maxCount = 3
    let model = try ManagedObjectModel(entities: [
      Make.entity("Book", [name, stars, odd], [pages]),
      Make.entity("Page", [], [Make.toMany("books", "Book", "pages")]),
    ])
    store = try PersistentStore.create(at: directory.file("Store.sqlite"), model: model)
    context = ManagedObjectContext(store: store)
  }

  @Test(
    arguments: [
      ("ab", 0, nil), ("abcde", 5, nil), ("a", 0, "length >= 2"), ("abcdef", 0, "length <= 5"),
      ("ab1", 0, #"SELF MATCHES "[a-z]+""#), ("abc", -1, "SELF >= 0"), ("abc", 6, "SELF <= 5"),
    ] as [(String, Int, String?)])
  func `a value outside its rules is refused, by its rule`(name: String, stars: Int, rule: String?) throws {
    let book = try context.insert("Book")
    try book.set(name, for: "name")
    try book.set(stars, for: "stars")
    // A rule that can't be evaluated refuses nothing.
    try book.set(3, for: "odd")
    guard let rule else { return try context.save() }
    let property = rule.contains("SELF >") || rule.contains("SELF <") ? "stars" : "name"
    let error = ManagedObjectError.invalidValue(entity: "Book", property: property, rule: rule)
    #expect(throws: error) { try context.save() }
    #expect(throws: error) { try context.validate(book) }
    #expect(try store.connection.firstInteger("SELECT COUNT(*) FROM ZBOOK") == 0)
    try book.set("abc", for: "name")
    try book.set(1, for: "stars")
    try context.save()
    try context.validate(book)
  }

  @Test func `numbers of related objects keep to their limits`() throws {
    let book = try context.insert("Book")
    try book.set("abc", for: "name")
    let pages = try (0..<4).map { _ in try context.insert("Page") }
    try book.setObjects([pages[0]], forRelationship: "pages")
    #expect(throws: ManagedObjectError.tooFewObjects(entity: "Book", relationship: "pages", found: 1, minimum: 2)) {
      try context.save()
    }
    try book.setObjects(pages, forRelationship: "pages")
    #expect(throws: ManagedObjectError.tooManyObjects(entity: "Book", relationship: "pages", found: 4, maximum: 3)) {
      try context.save()
    }
    try book.setObjects(Array(pages.prefix(3)), forRelationship: "pages")
    try context.save()
    // An optional relationship may have no objects.
    try book.setObjects([], forRelationship: "pages")
    try context.save()
  }

  @Test func `a streaming context writes what validation finds afterwards`() throws {
    let writing = ManagedObjectContext(streamingInto: store)
    let book = try writing.insert("Book")
    try book.set(9, for: "stars")
    try writing.writePendingChanges()
    #expect(throws: ManagedObjectError.missingValue(entity: "Book", property: "name")) { try writing.validate(book) }
    try book.set("abc", for: "name")
    #expect(throws: ManagedObjectError.invalidValue(entity: "Book", property: "stars", rule: "SELF <= 5")) {
      try writing.validate(book)
    }
    // Existing values are not refused when something else is changed.
    try writing.writePendingChanges()
    let saved = try #require(try context.fetch("Book").first)
    try saved.set("abcd", for: "name")
    try context.save()
    #expect(throws: ManagedObjectError.self) { try context.validate(saved) }
  }
}
