import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

/// The planners' steps, whose statements plain SQLite runs on rows written by hand.
struct PlannerTests {
  private func check(_ planned: PlannerCase) throws {
    let store = try PlannedStore(planned.before, planned.after, planned.rows)
    let connection = try store.open()
    let plan = try store.plan(connection)
    #expect(plan.builder == .rebuild && plan.blockers.isEmpty)
    #expect(plan.lines(of: [.gatherLinks, .copyRows, .copyLinks, .orderMembers]) == planned.steps)
    try PlannedStore.carryOut(plan, connection)
    for (query, rows) in planned.expected {
      let names = query.replacing(" FROM ", with: " FROM candidate.") + " ORDER BY 1, 2"
      #expect(try connection.lines(names) == rows, "\(query)")
    }
  }

  @Test(arguments: PlannerCase.objects) func `the rows of a table come from the rows of the source`(
    planned: PlannerCase
  ) throws {
    try check(planned)
  }

  @Test(arguments: PlannerCase.links) func `links come from the links of the source`(planned: PlannerCase) throws {
    try check(planned)
  }

  /// Six objects, three of which are called x; two have no name, which equals nothing.
  private static let rows = [
    "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZNAME, ZSTAMP, ZNOTE, ZCODE) VALUES (1, 1, 1, 'x', 10.0, 'first', 'c1'),"
      + " (2, 1, 1, 'x', 30.0, NULL, NULL), (3, 1, 1, 'x', 20.0, 'third', 'c3'), (4, 1, 1, 'y', 99.0, NULL, 'c4'),"
      + " (5, 1, 1, NULL, 1.0, NULL, NULL), (6, 1, 1, NULL, 2.0, NULL, NULL)",
    "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 2, 1, 1), (2, 2, 1, 3), (3, 2, 1, 2), (4, 2, 1, 4)",
  ]

  private static func model(unique: Bool, required: Bool = false) -> [EntityDescription] {
    [
      Make.entity(
        "A",
        [Make.attribute("code"), Make.attribute("name"), Make.attribute("stamp", .date), Make.attribute("note")],
        [Make.toMany("bs", "B", "a")], unique: unique ? [["name"], ["code"]] : []),
      Make.entity("B", [], [Make.toOne("a", "A", "bs", optional: !required)]),
    ]
  }

  struct Decided: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var required = false
    let decisions: [DataDecision]
    /// Key, name, note, and the code, which must differ too.
    let objects: [String]
    let links: [String]
    /// The rows that each decision filled, dropped, merged and put into the file.
    let outcomes: [[Int64]]
  }

  static let decided: [Decided] = [
    Decided(
      testDescription: "the newest by an attribute",
      decisions: [DataDecision(entity: "A", property: "name", .keepNewest(by: "stamp"))],
      objects: ["2 'x' - -", "4 'y' - 'c4'", "5 - - -", "6 - - -"], links: ["1 -", "2 -", "3 2", "4 4"],
      outcomes: [[0, 2, 0, 0]]),
    Decided(
      testDescription: "the newest by its key",
      decisions: [DataDecision(entity: "A", property: "name", .keepNewest())],
      objects: ["3 'x' 'third' 'c3'", "4 'y' - 'c4'", "5 - - -", "6 - - -"], links: ["1 -", "2 3", "3 -", "4 4"],
      outcomes: [[0, 2, 0, 0]]),
    Decided(
      testDescription: "merged: what the newest lacks comes from the next in age",
      decisions: [DataDecision(entity: "A", property: "name", .merge(by: "stamp"))],
      objects: ["2 'x' 'third' 'c3'", "4 'y' - 'c4'", "5 - - -", "6 - - -"], links: ["1 2", "2 2", "3 2", "4 4"],
      outcomes: [[0, 0, 2, 0]]),
    Decided(
      testDescription: "put into a file",
      decisions: [DataDecision(entity: "A", property: "name", .quarantine)],
      objects: ["3 'x' 'third' 'c3'", "4 'y' - 'c4'", "5 - - -", "6 - - -"], links: ["1 -", "2 3", "3 -", "4 4"],
      outcomes: [[0, 0, 0, 2]]),
    Decided(
      testDescription: "what must lead to an object that goes, goes too", required: true,
      decisions: [
        DataDecision(entity: "A", property: "name", .keepNewest(by: "stamp")),
        DataDecision(entity: "B", property: "a", .quarantine),
      ], objects: ["2 'x' - -", "4 'y' - 'c4'", "5 - - -", "6 - - -"], links: ["3 2", "4 4"],
      outcomes: [[0, 2, 0, 0], [0, 0, 0, 2]]),
  ]

  @Test(arguments: decided) func `decisions leave the objects and links that they say`(decided: Decided) throws {
    let store = try PlannedStore(
      Self.model(unique: false, required: decided.required), Self.model(unique: true, required: decided.required),
      Self.rows)
    let connection = try store.open()
    let plan = try store.plan(connection, decisions: decided.decisions)
    #expect(plan.blockers.isEmpty)
    #expect(plan.decisions.map { [$0.filled, $0.dropped, $0.merged, $0.quarantined] } == decided.outcomes)
    #expect(plan.lines(of: [.findRows]) == ["findRows ZA, ZB -"])
    try PlannedStore.carryOut(plan, connection)
    #expect(try connection.lines("SELECT Z_PK, ZNAME, ZNOTE, ZCODE FROM candidate.ZA ORDER BY 1") == decided.objects)
    #expect(try connection.lines("SELECT Z_PK, ZA FROM candidate.ZB ORDER BY 1") == decided.links)
    // The store is only read.
    #expect(try connection.lines("SELECT COUNT(*) FROM main.ZA") == ["6"])
  }

  @Test func `what is not decided is counted and left to decide`() throws {
    func blockers(required: Bool, _ decisions: DataDecision...) throws -> [String] {
      let store = try PlannedStore(
        Self.model(unique: false, required: required), Self.model(unique: true, required: required), Self.rows)
      return try store.plan(try store.open(), decisions: decisions).blockers.map {
        "\($0.kind) \($0.entity).\($0.property ?? "") \($0.rows)"
      }
    }
    // One of three that are equal may stay.
    #expect(try blockers(required: false) == ["duplicate A.name 2"])
    // The links of the two that go are required, so their owners are the next question.
    let newest = DataDecision(entity: "A", property: "name", .keepNewest(by: "stamp"))
    #expect(try blockers(required: true, newest) == ["missingLink B.a 2"])
    #expect(try blockers(required: false, newest).isEmpty)
  }

  @Test func `a value that many rows get makes them equal, which is counted anew`() throws {
    func model(_ optional: Bool) -> [EntityDescription] {
      [Make.entity("A", [Make.attribute("name", optional: optional)], unique: optional ? [] : [["name"]])]
    }
    let store = try PlannedStore(
      model(true), model(false),
      ["INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'x'), (2, 1, 1, NULL), (3, 1, 1, NULL)"])
    let connection = try store.open()
    let fill = DataDecision(entity: "A", property: "name", .fill(.string("x")))
    let open = try store.plan(connection, decisions: [fill])
    #expect(open.blockers.map { "\($0.kind) \($0.rows)" } == ["duplicate 2"])
    let plan = try store.plan(
      connection, decisions: [fill, DataDecision(entity: "A", property: "name", .keepNewest())])
    #expect(plan.decisions.map { [$0.filled, $0.dropped] } == [[2, 0], [0, 2]])
    try PlannedStore.carryOut(plan, connection)
    #expect(try connection.lines("SELECT Z_PK, ZNAME FROM candidate.ZA") == ["3 'x'"])
  }

  @Test(arguments: [
    [DataDecision(entity: "A", property: "name", .fill(.string("z")))],
    [DataDecision(entity: "A", property: "nothing", .quarantine)],
    [DataDecision(entity: "Nobody", property: "name", .keepNewest())],
    [DataDecision(entity: "A", property: "name", .keepNewest(by: "nothing"))],
    [
      DataDecision(entity: "A", property: "name", .keepNewest()), DataDecision(entity: "A", property: "name", .merge()),
    ],
  ]) func `a decision that answers no question is refused`(decisions: [DataDecision]) throws {
    let store = try PlannedStore(Self.model(unique: false), Self.model(unique: true), Self.rows)
    let error = #expect(throws: MigrationError.self) { try store.plan(try store.open(), decisions: decisions) }
    guard case .unfitDecision? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}
