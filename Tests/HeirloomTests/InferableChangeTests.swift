import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import HeirloomSupport
import TestSupport
import Testing

/// Changes of a model that are inferred, each carried out on generated stores of several sizes.
struct InferableChangeTests: ModelMaking {
  struct Change: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let before: [EntityDescription]
    let after: [EntityDescription]

    init(_ name: String, _ before: [EntityDescription], _ after: [EntityDescription]) {
      testDescription = name
      self.before = before
      self.after = after
    }
  }

  private static let name = attribute("name")

  private static func indexed(_ entity: EntityDescription) -> EntityDescription {
    var entity = entity
    entity.indexes = [FetchIndexDescription(name: "byName", elements: [.init(property: "name")])]
    return entity
  }

  private static func derived(_ name: String, _ type: AttributeType, _ expression: String) -> AttributeDescription {
    var attribute = attribute(name, type)
    attribute.derivation = DerivedAttributeDescription(derivationExpression: ValueExpression(keeping: expression))
    return attribute
  }

  static let changes: [Change] = [
    Change("attribute added", [entity("A", [name])], [entity("A", [name, attribute("x", .integer32)])]),
    Change(
      "attribute added with a default", [entity("A", [name])],
      [entity("A", [name, attribute("x", .string, optional: false, value: .string("it's\u{0}"))])]),
    Change("attribute removed", [entity("A", [name, attribute("x", .uuid)])], [entity("A", [name])]),
    Change("attribute renamed", [entity("A", [name])], [entity("A", [attribute("title", id: "name")])]),
    Change(
      "names swapped", [entity("A", [attribute("x"), attribute("y")])],
      [entity("A", [name, attribute("x", id: "y"), attribute("y", id: "x")])]),
    Change("required to optional", [entity("A", [attribute("x", optional: false)])], [entity("A", [attribute("x")])]),
    Change(
      "optional to required with a default", [entity("A", [attribute("x", .integer64)])],
      [entity("A", [attribute("x", .integer64, optional: false, value: .integer(7))])]),
    Change(
      "wider integers", [entity("A", [attribute("x", .integer16), attribute("y", .integer32)])],
      [entity("A", [attribute("x", .integer64), attribute("y", .double)])]),
    Change(
      "Boolean to integer", [entity("A", [attribute("x", .boolean)])], [entity("A", [attribute("x", .integer32)])]),
    Change(
      "external storage switched on", [entity("A", [attribute("x", .binary)])],
      [entity("A", [attribute("x", .binary, external: true)])]),
    Change(
      "transient to persistent", [entity("A", [name, attribute("x", transient: true)])],
      [entity("A", [name, attribute("x")])]),
    Change("entity added first", [entity("M", [name])], [entity("A", [name]), entity("M", [name])]),
    Change("entity removed", [entity("A", [name]), entity("M", [name])], [entity("M", [name])]),
    Change("entity renamed", [entity("A", [name])], [entity("Z", [name], id: "A")]),
    Change(
      "to-one added", [entity("A", [name]), entity("B", [name])],
      [entity("A", [name], [toOne("b", "B", "as")]), entity("B", [name], [toMany("as", "A", "b")])]),
    Change(
      "to-one and inverse renamed",
      [entity("A", [name], [toOne("b", "B", "as")]), entity("B", [], [toMany("as", "A", "b")])],
      [
        entity("A", [name], [toOne("c", "B", "xs", id: "b")]),
        entity("B", [], [toMany("xs", "A", "c", id: "as")]),
      ]),
    Change(
      "to-one to to-many", [entity("A", [], [toOne("b", "B", "as")]), entity("B", [], [toMany("as", "A", "b")])],
      [entity("A", [], [toMany("b", "B", "as")]), entity("B", [], [toMany("as", "A", "b")])]),
    Change(
      "to-many to to-one", [entity("A", [], [toMany("bs", "B", "as")]), entity("B", [], [toMany("as", "A", "bs")])],
      [entity("A", [], [toOne("bs", "B", "as")]), entity("B", [], [toMany("as", "A", "bs")])]),
    Change(
      "many-to-many to one-to-many, ordered",
      [entity("A", [], [toMany("bs", "B", "as", ordered: true)]), entity("B", [], [toMany("as", "A", "bs")])],
      [entity("A", [], [toMany("bs", "B", "as", ordered: true)]), entity("B", [], [toOne("as", "A", "bs")])]),
    Change(
      "one-to-many to many-to-many, ordered",
      [entity("A", [], [toMany("bs", "B", "a", ordered: true)]), entity("B", [], [toOne("a", "A", "bs")])],
      [entity("A", [], [toMany("bs", "B", "a", ordered: true)]), entity("B", [], [toMany("a", "A", "bs")])]),
    Change(
      "to-one without inverse to one-to-one", [entity("A", [], [toOne("b", "B")]), entity("B", [name])],
      [entity("A", [], [toOne("b", "B", "a")]), entity("B", [name], [toOne("a", "A", "b")])]),
    Change(
      "one-to-many to one-to-one", [entity("A", [], [toMany("b", "B", "a")]), entity("B", [], [toOne("a", "A", "b")])],
      [entity("A", [], [toOne("b", "B", "a")]), entity("B", [], [toOne("a", "A", "b")])]),
    Change(
      "to-many without inverse gets one", [entity("A", [], [toMany("bs", "B")]), entity("B", [name])],
      [entity("A", [], [toMany("bs", "B", "a")]), entity("B", [name], [toOne("a", "A", "bs")])]),
    Change(
      "relationship to itself", [entity("A", [], [toMany("friends", "A", "friends")])],
      [entity("A", [name], [toMany("friends", "A", "friends")])]),
    Change(
      "unordered to ordered", [entity("A", [], [toMany("bs", "B", "a")]), entity("B", [], [toOne("a", "A", "bs")])],
      [entity("A", [], [toMany("bs", "B", "a", ordered: true)]), entity("B", [], [toOne("a", "A", "bs")])]),
    Change(
      "order kept",
      [entity("A", [], [toMany("bs", "B", "a", ordered: true)]), entity("B", [], [toOne("a", "A", "bs")])],
      [
        entity("A", [name], [toMany("bs", "B", "a", ordered: true)]), entity("AA"),
        entity("B", [], [toOne("a", "A", "bs")]),
      ]),
    Change(
      "ordered many-to-many kept among renumbered entities",
      [
        entity("M", [], [toMany("ns", "N", "ms", ordered: true)]), entity("N", [], [toMany("ms", "M", "ns")]),
      ],
      [
        entity("A", [name]), entity("M", [name], [toMany("ns", "N", "ms", ordered: true)]),
        entity("N", [], [toMany("ms", "M", "ns")]),
      ]),
    Change(
      "many-to-many within one entity",
      [entity("P", [name], [toMany("likes", "P", "likedBy"), toMany("likedBy", "P", "likes")])],
      [
        entity("A"),
        entity("P", [name, attribute("x")], [toMany("likes", "P", "likedBy"), toMany("likedBy", "P", "likes")]),
      ]),
    Change(
      "one-to-one kept", [entity("A", [], [toOne("b", "B", "a")]), entity("B", [], [toOne("a", "A", "b")])],
      [entity("A", [name], [toOne("b", "B", "a")]), entity("AB"), entity("B", [], [toOne("a", "A", "b")])]),
    Change(
      "inverse added", [entity("A", [], [toOne("b", "B")]), entity("B", [name])],
      [entity("A", [], [toOne("b", "B", "as")]), entity("B", [name], [toMany("as", "A", "b")])]),
    Change(
      "to-many without inverse", [entity("A", [], [toMany("bs", "B")]), entity("B", [name])],
      [entity("A", [name], [toMany("bs", "B")]), entity("AA"), entity("B", [name])]),
    Change(
      "property moved up, siblings merged",
      [entity("P"), entity("C", [name], parent: "P"), entity("D", [name], parent: "P")],
      [entity("P", [name]), entity("C", parent: "P"), entity("D", parent: "P")]),
    Change(
      "property moved down", [entity("P", [name]), entity("C", parent: "P"), entity("D", parent: "P")],
      [entity("P"), entity("C", [name], parent: "P"), entity("D", [name], parent: "P")]),
    Change(
      "parent inserted", [entity("C", [name])],
      [entity("P", [attribute("x", .integer16)], isAbstract: true), entity("C", [name], parent: "P")]),
    Change(
      "entity moved out of a hierarchy", [entity("P", [name]), entity("C", [attribute("x")], parent: "P")],
      [entity("P", [name]), entity("C", [name, attribute("x")])]),
    Change(
      "subentity removed, links to its objects dropped",
      [
        entity("A", [], [toOne("p", "P", "as")]), entity("P", [name], [toMany("as", "A", "p")]),
        entity("C", [attribute("x")], parent: "P"), entity("D", parent: "P"),
      ],
      [
        entity("A", [], [toOne("p", "P", "as")]), entity("P", [name], [toMany("as", "A", "p")]),
        entity("D", parent: "P"),
      ]),
    Change(
      "destination gets its first subentity",
      [entity("A", [], [toOne("p", "P", "as")]), entity("P", [name], [toMany("as", "A", "p")])],
      [
        entity("A", [], [toOne("p", "P", "as")]), entity("P", [name], [toMany("as", "A", "p")]),
        entity("C", parent: "P"),
      ]),
    Change(
      "renamed again with the first identifier", [entity("A", [attribute("y", id: "x")])],
      [entity("A", [attribute("z", id: "x")])]),
    Change(
      "integer to Boolean, and the other way round",
      [entity("A", [attribute("x", .integer32), attribute("y", .boolean)])],
      [entity("A", [attribute("x", .boolean), attribute("y", .integer16)])]),
    Change(
      "other numbers", [entity("A", [attribute("x", .float), attribute("y", .decimal), attribute("z", .double)])],
      [entity("A", [attribute("x", .double), attribute("y", .double), attribute("z", .decimal)])]),
    Change(
      "the default NO on an integer", [entity("A", [attribute("x", .integer32)])],
      [entity("A", [attribute("x", .integer32, optional: false, value: .boolean(false))])]),
    Change(
      "relationship removed on both sides",
      [entity("A", [name], [toOne("b", "B", "as")]), entity("B", [name], [toMany("as", "A", "b")])],
      [entity("A", [name]), entity("B", [name])]),
    Change(
      "ordered to unordered",
      [entity("A", [], [toMany("bs", "B", "a", ordered: true)]), entity("B", [], [toOne("a", "A", "bs")])],
      [entity("A", [], [toMany("bs", "B", "a")]), entity("B", [], [toOne("a", "A", "bs")])]),
    Change(
      "persistent to transient", [entity("A", [name, attribute("x")])],
      [entity("A", [name, attribute("x", transient: true)])]),
    Change(
      "inverse removed",
      [entity("A", [], [toOne("b", "B", "as")]), entity("B", [name], [toMany("as", "A", "b")])],
      [entity("A", [], [toOne("b", "B")]), entity("B", [name])]),
    Change(
      "parent removed, its property moved down",
      [entity("P", [name], isAbstract: true), entity("C", parent: "P"), entity("D", parent: "P")],
      [entity("C", [name]), entity("D", [name])]),
    Change(
      "entity moved into a new hierarchy", [entity("C", [name]), entity("Z", [name])],
      [entity("P"), entity("C", [name], parent: "P"), entity("Z", [name])]),
    Change(
      "constraint removed", [entity("A", [attribute("x", .integer64)], unique: [["x"]])],
      [entity("A", [attribute("x", .integer64)])]),
    Change("index added", [entity("A", [name])], [indexed(entity("A", [name, attribute("x")]))]),
    Change("index removed", [indexed(entity("A", [name]))], [entity("A", [name, attribute("x")])]),
    Change(
      "composite added", [entity("A", [name])],
      [entity("A", [name, composite("c", [attribute("e"), composite("d", [attribute("f", .double)])])])]),
    Change(
      "composite removed", [entity("A", [name, composite("c", [attribute("e")])])], [entity("A", [name])]),
    Change(
      "owner of a to-many without inverse removed",
      [
        entity("P", [name], [toMany("bs", "B")]), entity("C", [attribute("x")], parent: "P"), entity("B", [name]),
      ],
      [entity("P", [name], [toMany("bs", "B")]), entity("B", [name])]),
    Change(
      "many-to-many to one-to-one",
      [entity("A", [], [toMany("b", "B", "a")]), entity("B", [], [toMany("a", "A", "b")])],
      [entity("A", [], [toOne("b", "B", "a")]), entity("B", [], [toOne("a", "A", "b")])]),
    Change(
      "constraint added on values that differ", [entity("A", [attribute("x", .integer64)])],
      [entity("A", [attribute("x", .integer64)], unique: [["x"]])]),
  ]

  /// Changes that the rows stop, with the plan's message.
  static let blocked: [(change: Change, blocker: String)] = [
    (
      Change(
        "constraint added on values that come twice", [entity("A", [attribute("x", .boolean)])],
        [entity("A", [attribute("x", .boolean)], unique: [["x"]])]),
      "duplicate A.x"
    ),
    (
      Change(
        "a default in place of NULL makes values equal",
        [entity("A", [attribute("x", .integer64)], unique: [["x"]])],
        [entity("A", [attribute("x", .integer64, optional: false, value: .integer(7))], unique: [["x"]])]),
      "duplicate A.x"
    ),
    (
      Change(
        "rounding makes values equal", [entity("A", [attribute("x", .integer64)])],
        [entity("A", [attribute("x", .boolean)], unique: [["x"]])]),
      "duplicate A.x"
    ),
    (
      Change(
        "a required link leads to an object that is dropped",
        [entity("A", [], [toOne("p", "P")]), entity("P", [name]), entity("C", parent: "P")],
        [entity("A", [], [toOne("p", "P", optional: false)]), entity("P", [name])]),
      "missingLink A.p"
    ),
    (
      Change("numbers too large", [entity("A", [attribute("x", .double)])], [entity("A", [attribute("x", .float)])]),
      "overflow A.x"
    ),
  ]

  @Test(arguments: blocked.indices)
  func `rows that a change can't take are counted before anything is built`(index: Int) throws {
    let (change, blocker) = Self.blocked[index]
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let source = try ManagedObjectModel(entities: change.before)
    try StoreGenerator.makeStore(
      at: store, model: source, objects: 40, seed: 1, isVaried: change.testDescription == "numbers too large")
    let assistant = MigrationAssistant(
      store,
      ModelHistory(
        current: try ManagedObjectModel(entities: change.after), earlier: [("before", source)]), .withBothProofs)
    let plan = try #require(try assistant.plan())
    #expect(
      plan.blockers.map { "\($0.kind) \($0.entity).\($0.property ?? "")" } == [blocker], "\(change.testDescription)")
    withExtendedLifetime(directory) {}
  }

  @Test func `new derived attributes have their values in objects that are there already`() throws {
    let before = [
      Self.entity("A", [Self.name], [Self.toMany("bs", "B", "a")]),
      Self.entity("B", [Self.attribute("x", .integer32)], [Self.toOne("a", "A", "bs")]),
    ]
    var after = before
    after[0].attributes += [
      Self.derived("n", .integer64, "bs.@count"), Self.derived("total", .integer64, "bs.@sum.x"),
      Self.derived("highest", .integer32, "bs.@max.x"), Self.derived("upper", .string, "uppercase:(name)"),
      Self.derived("changed", .date, "now()"),
    ]
    after[1].attributes.append(Self.derived("owner", .string, "a.name"))
    after[1].attributes.append(Self.derived("siblings", .integer64, "a.n"))
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let (source, destination) = (try ManagedObjectModel(entities: before), try ManagedObjectModel(entities: after))
    try StoreGenerator.makeStore(at: store, model: source, objects: 40, seed: 1)
    let assistant = MigrationAssistant(
      store, ModelHistory(current: destination, earlier: [("before", source)]), .withBothProofs)
    let report = try assistant.migrate()
    #expect(report.plan.warnings.isEmpty)
    let found = try StoreContents(of: store, model: destination)
    let (owners, members) = (try #require(found.objects["A"]), try #require(found.objects["B"]))
    for object in owners.values {
      let numbers = object.links["bs", default: []].compactMap { members[$0]?.values["x"]?.integer }
      #expect(object.values["n"]?.integer == Int64(object.links["bs", default: []].count))
      #expect(object.values["total"]?.integer == numbers.reduce(0, +))
      #expect(object.values["highest"]?.integer == numbers.max())
      #expect(object.values["upper"]?.text == object.values["name"]?.text?.uppercased())
      #expect(object.values["changed"] != .null)
    }
    for object in members.values {
      let owner = object.links["a"]?.first.flatMap { owners[$0] }
      #expect(object.values["owner"]?.text == owner?.values["name"]?.text)
      #expect(object.values["siblings"]?.integer == owner?.values["n"]?.integer)
    }
    withExtendedLifetime(directory) {}
  }

  @Test func `a composite without value stays without value when an element in it becomes required`() throws {
    func model(isOptional: Bool) throws -> ManagedObjectModel {
      var composite = Self.attribute("c", .composite)
      composite.composite = CompositeAttributeDescription(elements: [
        Self.attribute("e", optional: isOptional, value: .string("new"))
      ])
      return try ManagedObjectModel(entities: [Self.entity("A", [composite])])
    }
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: store, model: model(isOptional: true), objects: 40, seed: 1)
    let before = try StoreContents(of: store, model: model(isOptional: true))
    let assistant = MigrationAssistant(
      store,
      ModelHistory(
        current: try model(isOptional: false), earlier: [("before", try model(isOptional: true))]), .withBothProofs)
    try assistant.migrate()
    #expect(before.objects["A"]?.values.contains { $0.values["c.e"] == .null } == true)
    #expect(try StoreContents(of: store, model: model(isOptional: false)) == before)
    withExtendedLifetime(directory) {}
  }

  /// Each change with the number of objects of each entity; in a quick run, one of the small stores for each.
  private static let sizes: [(change: Change, objects: Int)] = (changes + arrivals).enumerated().flatMap {
    (number, change) in (LongTests.areOn ? [0, 1, 40] : [number % 2, 40]).map { (change, $0) }
  }

  @Test(arguments: sizes)
  func `an inferable change keeps every object, value and link`(change: Change, objects: Int) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let source = try ManagedObjectModel(entities: change.before)
    let destination = try ManagedObjectModel(entities: change.after)
    try StoreGenerator.makeStore(at: store, model: source, objects: objects, seed: UInt64(objects) + 5)
    let before = try StoreContents(of: store, model: source)
    let assistant = MigrationAssistant(
      store, ModelHistory(current: destination, earlier: [("before", source)]), .withBothProofs)
    let report = try assistant.migrate()
    let after = try StoreContents(of: store, model: destination)
    let differences = KeptObjects.differences(
      before: before, source: source, after: after, destination: destination, mapping: report.plan.mapping)
    #expect(differences.isEmpty)
    #expect(before.count == 0 || objects > 0)
    #expect(try StoreContents(of: report.previousVersion.storeURL, model: source) == before)
    let faults = try StoreVerification.report(onStoreAt: store.path).findings.filter { $0.severity < .note }
    #expect(faults.map { "\($0)" } == [])
    try assistant.requireNothingToDo()
    withExtendedLifetime(directory) {}
  }
}
