import Foundation
import HeirloomModel
import HeirloomStore
import HeirloomSupport
import TestSupport
import Testing

struct CompositeTests {
  private let directory: TemporaryDirectory
  private let store: PersistentStore
  private let context: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    store = try PersistentStore.create(at: directory.file("Store.sqlite"), model: Self.model())
    context = ManagedObjectContext(store: store)
  }

  private static func model() throws -> ManagedObjectModel {
    var finish = Make.attribute("finish", .string)
    finish.defaultValue = .string("matt")
    var width = Make.attribute("width", .integer16)
    width.validationRules = [ValidationRule(predicate: try PredicateDescription(parsing: "SELF <= 9"))]
    var hue = Make.attribute("hue", .double)
    hue.isOptional = false
    var stripe = Make.composite("stripe", [hue, width])
    stripe.validationRules = [ValidationRule(predicate: try PredicateDescription(parsing: "SELF.hue != 7"))]
    var cached = Make.attribute("cached", .integer64)
    cached.isTransient = true
    var photo = Make.attribute("photo", .binary)
    photo.allowsExternalBinaryDataStorage = true
    var code = Make.attribute("code", .string)
    code.isOptional = false
    return try ManagedObjectModel(entities: [
      Make.entity(
        "Aircraft",
        [
          Make.composite("colorScheme", [Make.attribute("primary", .string), finish, stripe, cached, photo]),
          Make.composite("registration", [code]),
          // The address is optional; one that is there has a code.
          Make.composite(
            "owner", [Make.attribute("name", .string), Make.composite("address", [code])], optional: false),
          Make.attribute("tail", .string),
        ], [Make.toOne("wingman", "Aircraft")])
    ])
  }

  private func aircraft(_ tail: String) throws -> ManagedObject {
    let aircraft = try context.insert("Aircraft")
    aircraft["tail"] = .string(tail)
    aircraft["owner.name"] = .string("N. N.")
    return aircraft
  }

  private static let scheme: [String: AttributeValue] = [
    "primary": .string("red"), "stripe": .composite(["hue": .double(0.5), "width": .integer(3)]),
    "photo": .binary([1, 2, 3]),
  ]

  @Test func `a composite is read and written as a dictionary and by path`() throws {
    let one = try aircraft("N1")
    #expect(one["colorScheme"] == .composite(["finish": .string("matt")]))
    one["colorScheme"] = .composite(Self.scheme)
    #expect(one["colorScheme.primary"] == .string("red"))
    #expect(one["colorScheme.finish"] == nil)
    #expect(one["colorScheme.stripe.width"] == .integer(3))
    #expect(one["colorScheme.stripe"]?.elements == ["hue": .double(0.5), "width": .integer(3)])
    #expect(try one.composite("colorScheme") == Self.scheme)
    #expect(try one.string("colorScheme.primary") == "red")
    #expect(try one.double("colorScheme.stripe.hue") == 0.5)
    #expect(try one.bytes("colorScheme.photo") == [1, 2, 3])
    try one.set("blue", for: "colorScheme.primary")
    try one.set(["width": .integer(4), "hue": .double(1)], for: "colorScheme.stripe")
    try context.save()
    let again = try #require(try ManagedObjectContext(store: store).fetch("Aircraft").first)
    var expected = Self.scheme
    expected["primary"] = .string("blue")
    expected["stripe"] = .composite(["hue": .double(1), "width": .integer(4)])
    #expect(again["colorScheme"]?.elements == expected)
    #expect(
      try store.connection.rows("SELECT ZPRIMARY, ZFINISH, ZHUE, ZWIDTH FROM ZAIRCRAFT") == [
        [.text("blue"), .null, .real(1), .integer(4)]
      ])
    one["colorScheme"] = nil
    #expect(one["colorScheme"] == nil && one["colorScheme.stripe"] == nil)
    try context.save()
    #expect(
      try store.connection.rows("SELECT ZPRIMARY, ZFINISH, ZHUE, ZWIDTH, ZPHOTO FROM ZAIRCRAFT") == [
        Array(repeating: .null, count: 5)
      ])
    withExtendedLifetime(directory) {}
  }

  @Test func `a transient element lives in memory`() throws {
    let one = try aircraft("N1")
    one["colorScheme"] = .composite(["primary": .string("red"), "cached": .integer(9)])
    #expect(one["colorScheme.cached"] == .integer(9))
    #expect(try one.composite("colorScheme")?["cached"] == .integer(9))
    one["colorScheme.cached"] = .integer(10)
    #expect(one["colorScheme"]?.elements?["cached"] == .integer(10))
    withExtendedLifetime(directory) {}
  }

  @Test func `what no element can hold is refused, and nothing is changed`() throws {
    let one = try aircraft("N1")
    one["colorScheme"] = .composite(Self.scheme)
    func check(_ value: AttributeValue?, at name: String = "colorScheme", _ error: ManagedObjectError) {
      #expect(throws: error) { try one.setValue(value, forAttribute: name) }
      #expect(one["colorScheme"] == .composite(Self.scheme))
    }
    func unknown(_ name: String, _ nearest: String? = nil) -> ManagedObjectError {
      .unknownProperty(entity: "Aircraft", property: name, nearest: nearest)
    }
    func wrong(_ name: String, _ expected: String) -> ManagedObjectError {
      .wrongKind(entity: "Aircraft", property: name, expected: expected)
    }
    check(.composite(["primary": .string("x"), "colour": .string("y")]), unknown("colorScheme.colour"))
    check(.composite(["stripe": .composite(["depth": .integer(1)])]), unknown("colorScheme.stripe.depth"))
    check(.composite(["primary": .integer(1)]), wrong("colorScheme.primary", "String"))
    check(.composite(["primary": .composite([:])]), wrong("colorScheme.primary", "String"))
    check(.composite(["stripe": .integer(1)]), wrong("colorScheme.stripe", "Composite"))
    check(.string("red"), wrong("colorScheme", "Composite"))
    check(
      .composite(["stripe": .composite(["width": .integer(40_000)])]),
      .unstorableValue(entity: "Aircraft", property: "colorScheme.stripe.width"))
    check(.string("x"), at: "colorScheme.colour", unknown("colorScheme.colour"))
    check(.string("x"), at: "colorScheme.primary.more", unknown("colorScheme.primary.more", "colorScheme.primary"))
    check(.composite([:]), at: "tail", wrong("tail", "String"))
    #expect(throws: unknown("colorScheme.colour")) { try one.value(forAttribute: "colorScheme.colour") }
    #expect(throws: unknown("colour")) { try one.composite("colour") }
    #expect(throws: wrong("tail", "Composite")) { try one.composite("tail") }
    #expect(throws: wrong("colorScheme", "String")) { try one.string("colorScheme") }
    withExtendedLifetime(directory) {}
  }

  @Test func `elements are looked at before a save`() throws {
    func refusal(_ change: (ManagedObject) throws -> Void) throws -> ManagedObjectError? {
      let object = try aircraft("N1")
      defer { context.rollback() }
      try change(object)
      return #expect(throws: ManagedObjectError.self) { try context.save() }
    }
    func missing(_ name: String) -> ManagedObjectError { .missingValue(entity: "Aircraft", property: name) }
    #expect(try refusal { $0["owner"] = nil } == missing("owner"))
    #expect(try refusal { $0["colorScheme.stripe.width"] = .integer(3) } == missing("colorScheme.stripe.hue"))
    #expect(
      try refusal { $0["colorScheme"] = .composite(["stripe": .composite(["width": .integer(1)])]) }
        == missing("colorScheme.stripe.hue"))
    let rule = ManagedObjectError.invalidValue(
      entity: "Aircraft", property: "colorScheme.stripe.width", rule: "SELF <= 9")
    #expect(
      try refusal { $0["colorScheme.stripe"] = .composite(["hue": .double(1), "width": .integer(10)]) } == rule)
    // Parts of an optional composite that is missing as a whole are not a fault.
    let object = try aircraft("N2")
    object["colorScheme"] = nil
    try context.save()
    // Neither are values that nobody changed.
    try store.connection.execute("UPDATE ZAIRCRAFT SET ZWIDTH = 40, ZNAME = NULL")
    let other = ManagedObjectContext(store: store)
    let found = try #require(try other.fetch("Aircraft").first)
    found["tail"] = .string("N3")
    try other.save()
    found["colorScheme.primary"] = .string("red")
    #expect(throws: missing("colorScheme.stripe.hue")) { try other.save() }
    withExtendedLifetime(directory) {}
  }

  @Test(arguments: [false, true])
  func `fetches look at elements and at whole composites, saved or not`(isSaved: Bool) throws {
    let one = try aircraft("N1")
    one["colorScheme"] = .composite(Self.scheme)
    let two = try aircraft("N2")
    two["colorScheme"] = .composite(["primary": .string("blue")])
    two[toOne: "wingman"] = one
    let three = try aircraft("N3")
    three["colorScheme"] = nil
    three[toOne: "wingman"] = two
    if isSaved { try context.save() }
    func tails(_ format: String, _ arguments: (any FetchArgument)?..., sort: String = "tail") throws -> [String] {
      var request =
        arguments.isEmpty
        ? try ObjectFetchRequest("Aircraft", where: format)
        : try ObjectFetchRequest("Aircraft", where: format, arguments[0])
      request.sortDescriptors = [SortDescription(keyPath: sort, ascending: true)]
      #expect(try context.count(request) == context.fetch(request).count)
      return try context.fetch(request).compactMap { try $0.string("tail") }
    }
    #expect(try tails("colorScheme.primary == %@", "red") == ["N1"])
    #expect(try tails("colorScheme.stripe.width > 2") == ["N1"])
    #expect(try tails("colorScheme.primary BEGINSWITH 'b'") == ["N2"])
    #expect(try tails("colorScheme.stripe.hue == nil") == ["N2", "N3"])
    #expect(try tails("colorScheme.stripe == nil") == ["N2", "N3"])
    #expect(try tails("colorScheme == nil") == ["N3"])
    #expect(try tails("colorScheme != nil") == ["N1", "N2"])
    #expect(try tails("wingman.colorScheme.primary == %@", "red") == ["N2"])
    #expect(try tails("wingman.colorScheme == nil") == ["N1"])
    #expect(try tails("colorScheme == %@", ["primary": AttributeValue.string("blue")]) == ["N2"])
    #expect(try tails("colorScheme IN %@", [AttributeValue.composite(["primary": .string("blue")])]) == ["N2"])
    #expect(try tails("colorScheme == colorScheme") == ["N1", "N2", "N3"])
    #expect(try tails("colorScheme == wingman.colorScheme") == [])
    #expect(try tails("TRUEPREDICATE", sort: "colorScheme.primary") == ["N3", "N2", "N1"])
    #expect(try tails("TRUEPREDICATE", sort: "colorScheme.stripe.hue").last == "N1")
    for (format, sort) in [
      ("colorScheme.colour == 1", "tail"), ("colorScheme.stripe.depth == nil", "tail"),
      ("tail != nil", "colorScheme.colour"),
    ] {
      var request = try ObjectFetchRequest("Aircraft", where: format)
      request.sortDescriptors = [SortDescription(keyPath: sort, ascending: true)]
      #expect(throws: FetchError.self) { try context.fetch(request) }
    }
    var request = ObjectFetchRequest("Aircraft")
    request.sortDescriptors = [SortDescription(keyPath: "colorScheme", ascending: true)]
    #expect(throws: FetchError.self) { try context.fetch(request) }
    withExtendedLifetime(directory) {}
  }

  @Test func `an element that must have a value is missed only where its composite is there`() throws {
    _ = try aircraft("N1")
    try context.save()
    let path = directory.file("Store.sqlite").path
    #expect(try StoreVerification.report(onStoreAt: path).findings.filter { $0.severity < .note } == [])
  }
}
