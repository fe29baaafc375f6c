import Foundation
import Heirloom
import TestSupport
import Testing

/// The two builders, compared with each other: both must make the same store from the same source.
struct BuilderTests {
  @Test(
    arguments: LongTests.selection(of: InferableChangeTests.changes + InferableChangeTests.arrivals, every: 2),
    LongTests.areOn ? [0, 1, 7, 40] : [7])
  func `both builders make the same store of a generated one`(
    change: InferableChangeTests.Change, objects: Int
  ) throws {
    let directory = try TemporaryDirectory()
    let source = try ManagedObjectModel(entities: change.before)
    let destination = try ManagedObjectModel(entities: change.after)
    let store = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: store, model: source, objects: objects, seed: UInt64(objects) + 11)
    let plan = try Self.compare(
      store, in: directory, history: ModelHistory(current: destination, earlier: [("1", source)]))
    #expect(plan != nil)
  }

  /// Changes in which a builder could easily keep the wrong things, with objects that an app added to the file.
  static let traps: [InferableChangeTests.Change] = {
    let values = ["a", "b", "c"].map { Make.attribute($0) }
    let renamed = [Make.attribute("b", id: "a"), Make.attribute("c", id: "b"), Make.attribute("a", id: "c")]
    func indexed(_ entity: EntityDescription, _ properties: [String]) -> EntityDescription {
      var entity = entity
      entity.indexes = properties.map {
        FetchIndexDescription(name: "by\($0)", elements: [FetchIndexElementDescription(property: $0)])
      }
      return entity
    }
    let place = [Make.attribute("x", .double), Make.attribute("y", .double)]
    func placed(_ entity: EntityDescription) -> EntityDescription {
      var entity = entity
      let elements = ["x", "y"].map { name in
        var element = FetchIndexElementDescription(property: name)
        element.collation = .rTree
        return element
      }
      entity.indexes.append(FetchIndexDescription(name: "byPlace", elements: elements))
      return entity
    }
    return [
      InferableChangeTests.Change(
        "names in a circle, each indexed", [indexed(Make.entity("A", values), ["a", "b"])],
        [indexed(Make.entity("A", renamed), ["a", "b", "c"])]),
      InferableChangeTests.Change(
        "names of entities in a circle", ["A", "B", "C"].map { indexed(Make.entity($0, values), ["a"]) },
        [("B", "A"), ("C", "B"), ("A", "C")].map { indexed(Make.entity($0, values, id: $1), ["a"]) }),
      InferableChangeTests.Change(
        "default beside a new attribute without", [Make.entity("A", [Make.attribute("m")])],
        [
          Make.entity(
            "A",
            [
              Make.attribute("b", .double), Make.attribute("m"),
              Make.attribute("n", .integer16, optional: false, value: .integer(3)), Make.attribute("z"),
            ])
        ]),
      InferableChangeTests.Change(
        "new attribute has the old name of a renamed one",
        [Make.entity("A", [Make.attribute("x"), Make.attribute("y")])],
        [
          Make.entity(
            "A",
            [
              Make.attribute("y"), Make.attribute("w", id: "x"),
              Make.attribute("x", .string, optional: false, value: .string("new"), id: "other"),
            ])
        ]),
      InferableChangeTests.Change(
        "one attribute removed, others changed and renamed",
        [indexed(Make.entity("A", values + [Make.attribute("n", .integer64)]), ["a", "b"])],
        [
          indexed(
            Make.entity(
              "A",
              [
                Make.attribute("b"), Make.attribute("d", id: "c"),
                Make.attribute("n", .integer64, optional: false, value: .integer(4)),
              ]), ["b", "n"])
        ]),
      InferableChangeTests.Change(
        "two attributes removed", [Make.entity("A", values)], [Make.entity("A", [Make.attribute("b")])]),
      InferableChangeTests.Change(
        "type changed", [Make.entity("A", values + [Make.attribute("n", .integer16)])],
        [Make.entity("A", values + [Make.attribute("n", .double)])]),
      InferableChangeTests.Change(
        "indexes changed only", [indexed(Make.entity("A", values), ["a", "b"])],
        [indexed(Make.entity("A", values), ["b", "c"])]),
      InferableChangeTests.Change(
        "constraint on a value that is filled", [Make.entity("A", [Make.attribute("x", .integer64)])],
        [Make.entity("A", [Make.attribute("x", .integer64), Make.attribute("k")], unique: [["x"]])]),
      InferableChangeTests.Change(
        "places in an R-tree", [placed(Make.entity("A", place))],
        [placed(Make.entity("A", place + [Make.attribute("k")])), Make.entity("B")]),
      InferableChangeTests.Change(
        "R-tree added", [Make.entity("A", place)], [placed(Make.entity("A", place))]),
      InferableChangeTests.Change(
        "entity moved out of a tree that it leaves empty", [Make.entity("P", values), Make.entity("C", parent: "P")],
        [Make.entity("C", values), Make.entity("P", values)]),
      InferableChangeTests.Change(
        "links of renumbered entities",
        [
          Make.entity("M", values, [Make.toMany("ns", "N", "ms")]),
          Make.entity("N", [], [Make.toMany("ms", "M", "ns"), Make.toMany("os", "O", "ns")]),
          Make.entity("O", [], [Make.toMany("ns", "N", "os")]),
        ],
        [
          Make.entity("A", values), Make.entity("M", values, [Make.toMany("ns", "N", "ms")]),
          Make.entity("N", [], [Make.toMany("ms", "M", "ns"), Make.toMany("os", "O", "ns")]),
          Make.entity("O", [], [Make.toMany("ns", "N", "os")]),
        ]),
      InferableChangeTests.Change(
        "keys to a renumbered tree",
        [
          Make.entity("A", [], [Make.toOne("p", "P", "as")]),
          Make.entity("P", values, [Make.toMany("as", "A", "p")]), Make.entity("Q", parent: "P"),
        ],
        [
          Make.entity("A", [], [Make.toOne("p", "P", "as")]), Make.entity("B"),
          Make.entity("P", values, [Make.toMany("as", "A", "p")]), Make.entity("Q", parent: "P"),
        ]),
    ]
  }()

  @Test(arguments: traps, [0, 9])
  func `both builders make the same store where much depends on names`(
    change: InferableChangeTests.Change, objects: Int
  ) throws {
    let directory = try TemporaryDirectory()
    let source = try ManagedObjectModel(entities: change.before)
    // Indexes and renaming identifiers alone don't make another version.
    let destination = try ManagedObjectModel(entities: change.after + [EntityDescription(name: "Zone")])
    let store = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: store, model: source, objects: objects, seed: 3)
    let app = try Connection(path: store.path, mode: .readWrite)
    let schema = PhysicalSchema(model: source)
    let table = try #require(schema.tables.first)
    let column = try #require(table.columns.last)
    for sql in [
      "CREATE TABLE app_log (line TEXT)", "INSERT INTO app_log (rowid, line) VALUES (7, 'seventh')",
      "CREATE TABLE app_serial (id INTEGER PRIMARY KEY AUTOINCREMENT, x)", "INSERT INTO app_serial VALUES (41, 'x')",
      "CREATE INDEX app_index ON \(quote(table.name)) (\(quote(column.name)) DESC)",
      "CREATE INDEX app_expression ON \(quote(table.name)) (Z_PK + Z_OPT)",
      "CREATE VIEW app_view AS SELECT \(quote(column.name)) AS v FROM \(quote(table.name))",
      "CREATE TRIGGER app_trigger AFTER INSERT ON app_log BEGIN DELETE FROM \(quote(table.name)); END",
      "CREATE VIRTUAL TABLE app_search USING fts4(body)",
      "INSERT INTO app_search (body) VALUES ('the quick brown fox')",
      "ANALYZE", "PRAGMA user_version = 77",
    ] { try app.execute(sql) }
    try app.close()
    let history = ModelHistory(current: destination, earlier: [("1", source)])
    #expect(try Self.compare(store, in: directory, history: history) != nil)
  }

  @Test func `rows stay where they are when a table only gains columns`() throws {
    let directory = try TemporaryDirectory()
    let before = [Make.entity("A", [Make.attribute("x")]), Make.entity("B", [Make.attribute("x")])]
    let after = [
      Make.entity("A", [Make.attribute("a"), Make.attribute("x")]),
      Make.entity("B", [Make.attribute("x", .string, optional: false, value: .string("?"))]), Make.entity("C"),
    ]
    let store = directory.file("Store.sqlite")
    var generator = StoreGenerator(objectsPerEntity: 5, seed: 3)
    let source = try ManagedObjectModel(entities: before)
    try generator.makeStore(at: store, model: source)
    let history = ModelHistory(current: try ManagedObjectModel(entities: after), earlier: [("1", source)])
    let plan = try #require(try Self.compare(store, in: directory, history: history))
    #expect(plan.steps.filter { $0.kind == .keepRows }.map(\.subject) == ["ZA"])
    #expect(plan.steps.filter { $0.kind == .changeRows }.map(\.subject) == ["ZB"])
    #expect(plan.steps.allSatisfy { $0.kind != .copyRows })
    #expect(plan.rowsRewritten == 5)
  }

  /// Core Data fills a column that it adds whatever the entity, as seen in stores that it migrated.
  @Test(arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter], [false, true])
  func `the default of a new attribute is in every row of the table, unless it must be unique`(
    builder: MigrationPlan.Builder, isUnique: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let before = [
      Make.entity("P", [Make.attribute("x")]), Make.entity("C", parent: "P"), Make.entity("D", parent: "P"),
    ]
    let new = Make.attribute("n", .integer16, value: .integer(3))
    let after = [before[0], Make.entity("C", [new], parent: "P", unique: isUnique ? [["n"]] : []), before[2]]
    var generator = StoreGenerator(objectsPerEntity: isUnique ? 1 : 4, seed: 5)
    let source = try ManagedObjectModel(entities: before)
    try generator.makeStore(at: store, model: source)
    let assistant = MigrationAssistant(
      store, from: source, to: try ManagedObjectModel(entities: after), .withBothProofs, builder: .always(builder))
    try assistant.migrate()
    let values = try Connection(reading: store, options: .inspecting).rows("SELECT Z_ENT = 2, ZN FROM ZP")
    #expect(values.count == (isUnique ? 3 : 12))
    #expect(values.allSatisfy { isUnique && $0[0] == .integer(0) ? $0[1] == .null : $0[1] == .integer(3) })
  }

  /// Copies are migrated; the result is the second builder's plan, or `nil` if both refuse.
  @discardableResult
  static func compare(
    _ store: URL, in directory: TemporaryDirectory, history: ModelHistory,
    configuration: MigrationAssistant.Configuration = .withBothProofs
  ) throws -> MigrationPlan? {
    var contents: [FileContents] = []
    var refusals: [String] = []
    var plan: MigrationPlan?
    for builder in [MigrationPlan.Builder.rebuild, .cloneAndAlter] {
      let folder = directory.file(builder.rawValue)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let copy = folder.appendingPathComponent(store.lastPathComponent)
      for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store.path + suffix) {
        try FileManager.default.copyItem(atPath: store.path + suffix, toPath: copy.path + suffix)
      }
      let assistant = MigrationAssistant(copy, history, configuration, builder: .always(builder))
      do {
        guard case .migrated(let report) = try assistant.migrateStore() else {
          Issue.record("expected a migration")
          return nil
        }
        #expect(report.plan.builder == builder)
        plan = report.plan
        contents.append(try FileContents(of: copy))
      } catch let error as MigrationAssistantError {
        switch error {
        case .mappingNeeded, .decisionNeeded: refusals.append("\(error)")
        default: Issue.record("\(builder): \(error)")
        }
      }
    }
    guard contents.count == 2 else {
      #expect(contents.isEmpty && refusals.count == 2)
      return nil
    }
    #expect(contents[0].differences(from: contents[1]).isEmpty)
    #expect(contents.allSatisfy { $0.header.last == "text(\"ok\")" })
    return plan
  }
}
