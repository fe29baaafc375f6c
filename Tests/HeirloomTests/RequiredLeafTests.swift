import Foundation
import Heirloom
import TestSupport
import Testing

/// Leaves of composite attributes that become required, over rows that lack them.
struct RequiredLeafTests {
  private static let builders: [MigrationPlan.Builder] = [.rebuild, .cloneAndAlter]

  private static func model(
    composite isOptional: Bool, leaf isLeafOptional: Bool, added: Bool = false, nested: Bool = false
  ) throws -> ManagedObjectModel {
    var elements = [Make.attribute("primary", optional: isLeafOptional), Make.attribute("width", .integer16)]
    if added { elements.append(Make.attribute("finish", optional: false)) }
    if nested {
      var inner = Make.attribute("inner", .composite, optional: false)
      inner.composite = CompositeAttributeDescription(elements: elements)
      elements = [inner]
    }
    var composite = Make.attribute("scheme", .composite, optional: isOptional)
    composite.composite = CompositeAttributeDescription(elements: elements)
    return try ManagedObjectModel(entities: [Make.entity("Aircraft", [composite, Make.attribute("tail")])])
  }

  private static func fill(_ url: URL, _ model: ManagedObjectModel) throws {
    try PersistentStore.create(at: url, model: model).close()
    let connection = try Connection(path: url.path, mode: .readWrite)
    for (key, values) in ["'red', 3", "NULL, 4", "NULL, NULL"].enumerated() {
      try connection.execute(
        "INSERT INTO ZAIRCRAFT (Z_PK, Z_ENT, Z_OPT, ZPRIMARY, ZWIDTH) VALUES (\(key + 1), 1, 1, \(values))")
    }
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 3")
    try connection.close()
  }

  /// A next version, with the rows that lack the leaf.
  struct Case: Sendable {
    let isOptional: Bool
    var isAdded = false
    var isNested = false
    /// The primary keys of the rows at fault.
    let keys: [Int64]
    var leaf: String { "scheme." + (isNested ? "inner." : "") + (isAdded ? "finish" : "primary") }
    var column: String { isAdded ? "ZFINISH" : "ZPRIMARY" }
  }

  // An optional composite may lack all of its leaves, but not a required one alone.
  static let cases = [
    Case(isOptional: true, keys: [2]), Case(isOptional: true, isNested: true, keys: [2]),
    Case(isOptional: false, keys: [2, 3]), Case(isOptional: true, isAdded: true, keys: [1, 2]),
  ]

  private static func models(_ one: Case) throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
    (
      try model(composite: one.isOptional, leaf: true, nested: one.isNested),
      try model(composite: one.isOptional, leaf: one.isAdded, added: one.isAdded, nested: one.isNested)
    )
  }

  @Test(arguments: cases, builders)
  func `rows that lack the leaf are a blocker, which a value settles`(
    one: Case, builder: MigrationPlan.Builder
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let (source, destination) = try Self.models(one)
    try Self.fill(url, source)
    let plan = try #require(
      try DataDecisionTests.assistant(url, source, destination, [], builder: .always(builder)).plan())
    #expect(plan.blockers.map(\.kind) == ["missingValue"] && plan.blockers.map(\.rows) == [Int64(one.keys.count)])
    #expect(plan.blockers.first?.property == one.leaf && plan.blockers.first?.choices == [.fill, .quarantine])
    let decision = DataDecision(entity: "Aircraft", property: one.leaf, .fill(.string("blue")))
    let assistant = DataDecisionTests.assistant(url, source, destination, [decision], builder: .always(builder))
    let report = try assistant.migrate()
    #expect(report.plan.losses.isEmpty && report.plan.decisions.map(\.filled) == [Int64(one.keys.count)])
    let found = try Connection(reading: url, options: .inspecting)
    let rows = try found.rows("SELECT Z_PK, \(one.column), ZWIDTH FROM ZAIRCRAFT ORDER BY Z_PK")
    #expect(rows.filter { $0[1] == .text("blue") }.compactMap(\.[0].integer) == one.keys)
    #expect(rows.map(\.[2]) == [.integer(3), .integer(4), .null])
    // Each object can be saved.
    let context = ManagedObjectContext(store: try PersistentStore.open(at: url, model: destination))
    for object in try context.fetch(ObjectFetchRequest("Aircraft")) { try object.set("changed", for: "tail") }
    try context.save()
  }

  @Test(arguments: cases, builders)
  func `rows that lack the leaf can go to a file`(one: Case, builder: MigrationPlan.Builder) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let (source, destination) = try Self.models(one)
    try Self.fill(url, source)
    let decision = DataDecision(entity: "Aircraft", property: one.leaf, .quarantine)
    let assistant = DataDecisionTests.assistant(url, source, destination, [decision], builder: .always(builder))
    try assistant.migrate()
    let found = try Connection(reading: url, options: .inspecting)
    #expect(
      try found.rows("SELECT Z_PK FROM ZAIRCRAFT ORDER BY Z_PK").compactMap(\.[0].integer)
        == [1, 2, 3].filter { !one.keys.contains($0) })
  }

  @Test func `a leaf that was required before needs no decision`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let source = try Self.model(composite: true, leaf: false)
    let destination = try ManagedObjectModel(entities: source.entities + [Make.entity("Added")])
    try Self.fill(url, source)
    let plan = try #require(try DataDecisionTests.assistant(url, source, destination, []).plan())
    #expect(plan.blockers.isEmpty)
  }

  @Test func `a leaf of a new composite needs no decision`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let source = try ManagedObjectModel(entities: [Make.entity("Aircraft", [Make.attribute("tail")])])
    var composite = Make.attribute("scheme", .composite)
    composite.composite = CompositeAttributeDescription(elements: [
      Make.attribute("primary", optional: false), Make.attribute("finish", value: .string("matt")),
    ])
    let destination = try ManagedObjectModel(entities: [
      Make.entity("Aircraft", [composite, Make.attribute("tail")])
    ])
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: source))
      try context.insert("Aircraft").set("N1", for: "tail")
      try context.save()
    }
    let plan = try #require(try DataDecisionTests.assistant(url, source, destination, []).plan())
    #expect(plan.blockers.isEmpty)
  }
}
