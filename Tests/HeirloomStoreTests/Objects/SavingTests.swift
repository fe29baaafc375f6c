import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

struct SavingTests {
  private let directory: TemporaryDirectory
  private let store: PersistentStore
  private let context: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    let name = Make.attribute("name", optional: false)
    var stars = Make.attribute("stars", .integer16)
    stars.defaultValue = .integer(3)
    var count = Make.attribute("pageCount", .integer32)
    count.derivation = DerivedAttributeDescription(derivationExpression: .keyPath("pages.@count"))
    var scratch = Make.attribute("scratch", .string)
    scratch.isTransient = true
    var pages = Make.toMany("pages", "Page", "book")
    pages.deleteRule = .cascade
    var loans = Make.toMany("loans", "Loan", "book")
    loans.deleteRule = .deny
    var book = Make.entity("Book", [name, stars, count, scratch], [pages, loans])
    book.uniquenessConstraints = [["name"]]
    var base = Make.entity("Base")
    base.isAbstract = true
    let model = try ManagedObjectModel(entities: [
      book, base, Make.entity("Leaf", parent: "Base"),
      Make.entity("Page", [], [Make.toOne("book", "Book", "pages")]),
      Make.entity("Loan", [], [Make.toOne("book", "Book", "loans")]),
    ])
    store = try PersistentStore.create(at: directory.file("Store.sqlite"), model: model)
    context = ManagedObjectContext(store: store)
  }

  private func book(_ name: String) throws -> ManagedObject {
    let book = try context.insert("Book")
    book["name"] = .string(name)
    return book
  }

  @Test func `a required value must be there`() throws {
    let book = try context.insert("Book")
    #expect(throws: ManagedObjectError.missingValue(entity: "Book", property: "name")) { try context.save() }
    book["name"] = .string("a")
    try context.save()
    #expect(book["stars"] == .integer(3))
    book["name"] = nil
    #expect(throws: ManagedObjectError.missingValue(entity: "Book", property: "name")) { try context.save() }
    context.rollback()
    #expect(book["name"] == .string("a"))
  }

  @Test func `equal values under a constraint are refused and nothing of the save stays`() throws {
    _ = try book("a")
    try context.save()
    let page = try context.insert("Page")
    let second = try book("a")
    page[toOne: "book"] = second
    #expect(throws: ManagedObjectError.notUnique(entity: "Book", properties: ["name"])) { try context.save() }
    #expect(try store.connection.firstInteger("SELECT COUNT(*) FROM ZPAGE") == 0)
    #expect(try store.connection.firstInteger("SELECT MAX(Z_MAX) FROM Z_PRIMARYKEY") == 1)
    #expect(!store.connection.isInTransaction)
    second["name"] = .string("b")
    try context.save()
    #expect(second.objectID?.primaryKey == 2)
  }

  @Test func `a unique value goes from a deleted object to a new one in one save`() throws {
    let old = try book("a")
    try context.save()
    try context.delete(old)
    let new = try book("a")
    try context.save()
    #expect(try store.connection.rows("SELECT Z_PK, ZNAME FROM ZBOOK") == [[.integer(2), .text("a")]])
    #expect(new["name"] == .string("a"))
  }

  @Test func `derived values are computed by the store`() throws {
    let book = try book("a")
    let pages = try (0..<3).map { _ in try context.insert("Page") }
    book[toMany: "pages"] = pages
    try context.save()
    #expect(book["pageCount"] == .integer(3))
    #expect(throws: ManagedObjectError.readOnlyProperty(entity: "Book", property: "pageCount")) {
      try book.setValue(.integer(1), forAttribute: "pageCount")
    }
    try context.delete(pages[0])
    pages[1][toOne: "book"] = nil
    try context.save()
    #expect(try store.connection.firstInteger("SELECT ZPAGECOUNT FROM ZBOOK") == 1)
  }

  @Test func `delete rules cascade or deny`() throws {
    let book = try book("a")
    book[toMany: "pages"] = try (0..<3).map { _ in try context.insert("Page") }
    let loan = try context.insert("Loan")
    loan[toOne: "book"] = book
    try context.save()
    #expect(throws: ManagedObjectError.deletionDenied(entity: "Book", relationship: "loans")) {
      try context.delete(book)
    }
    #expect(!context.hasChanges)
    try context.delete(loan)
    try context.delete(book)
    try context.save()
    for table in ["ZBOOK", "ZPAGE", "ZLOAN"] {
      #expect(try store.connection.firstInteger("SELECT COUNT(*) FROM \(table)") == 0)
    }
  }

  @Test func `transient values live in memory`() throws {
    let book = try book("a")
    book["scratch"] = .string("x")
    try context.save()
    #expect(book["scratch"] == .string("x"))
  }

  @Test func `objects of an abstract entity are those of its subentities`() throws {
    #expect(throws: ManagedObjectError.abstractEntity("Base")) { try context.insert("Base") }
    let leaf = try context.insert("Leaf")
    #expect(try context.fetch("Base") == [leaf])
    try context.save()
    #expect(try context.fetch("Base", limit: 1) == [leaf])
    #expect(try context.fetch("Base", limit: 0) == [])
  }

  @Test func `many objects are read without being held`() throws {
    for index in 0..<500 { _ = try book("\(index)") }
    try context.save()
    var names: [AttributeValue?] = []
    try context.forEach("Book") { object throws(ManagedObjectError) in
      names.append(try object.value(forAttribute: "name"))
      return names.count < 300
    }
    #expect(names.count == 300 && names.last == .string("299"))
  }
}
