import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

extension PlannerTests {
  /// Two models, rows written by hand, and the losses and blockers that a plan counts of them.
  struct Counted: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let before: [EntityDescription]
    let after: [EntityDescription]
    let rows: [String]
    var given: [EntityMapping] = []
    var decisions: [DataDecision] = []
    /// Each with its kind, its name and its rows, sorted.
    let expected: [String]
  }

  private static let numbered = Make.attribute("n", .integer16)

  static let counted: [Counted] = [
    Counted(
      testDescription: "an order is lost by objects with more than one member",
      before: [Make.entity("A", [], [Make.toMany("bs", "B", "a", ordered: true)]), entity("B", toOne: "a", "A", "bs")],
      after: [Make.entity("A", [], [Make.toMany("bs", "B", "a")]), entity("B", toOne: "a", "A", "bs")],
      rows: [
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1), (3, 1, 1)",
        "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 2, 1, 1), (2, 2, 1, 1), (3, 2, 1, 2), (4, 2, 1, NULL)",
      ], expected: ["order A.bs 1"]),
    Counted(
      testDescription: "numbers that are cut off may be equal afterwards",
      before: [Make.entity("A", [Make.attribute("n", .double)])],
      after: [Make.entity("A", [Make.attribute("n", .integer32)], unique: [["n"]])],
      rows: ["INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (1, 1, 1, 1.2), (2, 1, 1, 1.7), (3, 1, 1, 2.0)"],
      expected: ["changedValues A.n 2", "duplicate A.n 1"]),
    Counted(
      testDescription: "a required link to an object that becomes another kind is missing",
      before: [
        entity("A", toOne: "to", "P", nil, optional: false), Make.entity("P"), Make.entity("Q", parent: "P"),
      ],
      after: [entity("A", toOne: "to", "P", nil, optional: false), Make.entity("P"), Make.entity("Q")],
      rows: [
        "INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1)",
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZTO, Z2_TO) VALUES (1, 1, 1, 1, 2), (2, 1, 1, 2, 3), (3, 1, 1, 2, 3)",
      ], expected: ["linksWithoutRoom A.to 2", "missingLink A.to 2"]),
    Counted(
      testDescription: "of an entity that is split by conditions, links are lost by the objects whose mapping has none",
      before: [Make.entity("A", [numbered], [Make.toOne("b", "B")]), Make.entity("B")],
      after: [Make.entity("B"), Make.entity("C", [numbered], [Make.toOne("b", "B")]), Make.entity("D", [numbered])],
      rows: [
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZN, ZB) VALUES (1, 1, 1, 1, 1), (2, 1, 1, 2, 1), (3, 1, 1, 3, 1)",
        "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1)",
      ],
      given: [
        EntityMapping(from: "A", to: "C", where: "n == 1") { PropertyMapping("b", linksOf: "b") },
        EntityMapping(from: "A", to: "D", where: "n == 2") { PropertyMapping("n", copying: "n") },
      ], expected: ["linksWithoutRoom C.b 1", "objects A 1"]),
    Counted(
      testDescription: "links of all entities of a tree are added",
      before: [entity("P", toOne: "to", "B", nil), Make.entity("Q", parent: "P"), Make.entity("B")],
      after: [Make.entity("P"), Make.entity("Q", parent: "P"), Make.entity("B")],
      rows: [
        "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1)",
        "INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT, ZTO) VALUES (1, 2, 1, 1), (2, 3, 1, 1), (3, 3, 1, 1), (4, 3, 1, NULL)",
      ], expected: ["links P.to 3"]),
    Counted(
      testDescription: "a table is asked about more columns than one query takes",
      before: [Make.entity("A", (1000..<1600).map { Make.attribute("a\($0)") })],
      after: [Make.entity("A", [Make.attribute("other")])],
      rows: ["INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZA1000, ZA1599) VALUES (1, 1, 1, 'first', 'last')"],
      expected: ["values A.a1000 1", "values A.a1599 1"]),
    Counted(
      testDescription: "values that are cut off are changed, also where missing ones are filled",
      before: [Make.entity("A", [Make.attribute("n", .double)])],
      after: [Make.entity("A", [Make.attribute("n", .integer32, optional: false, value: .integer(7))])],
      rows: ["INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (1, 1, 1, 1.5), (2, 1, 1, NULL), (3, 1, 1, 4.0)"],
      expected: ["changedValues A.n 1"]),
    Counted(
      testDescription: "values of a subentity are changed, and those of its sibling stay",
      before: [
        Make.entity("P"), Make.entity("Q", [Make.attribute("n", .double)], parent: "P"), Make.entity("R", parent: "P"),
      ],
      after: [
        Make.entity("P"), Make.entity("Q", [Make.attribute("n", .integer64)], parent: "P"),
        Make.entity("R", parent: "P"),
      ], rows: ["INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (1, 2, 1, 2.9), (2, 2, 1, 2.0), (3, 3, 1, NULL)"],
      expected: ["changedValues Q.n 1"]),
    Counted(
      testDescription: "values that one entity's mapping takes are lost by its siblings",
      before: [Make.entity("P", [numbered]), Make.entity("Q", parent: "P"), Make.entity("R", parent: "P")],
      after: [
        Make.entity("P"), Make.entity("Q", [Make.attribute("m", .integer16)], parent: "P"),
        Make.entity("R", parent: "P"),
      ],
      rows: [
        "INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (1, 1, 1, 5), (2, 2, 1, 5), (3, 3, 1, 5), (4, 3, 1, 6)"
      ], given: [EntityMapping(from: "Q", to: "Q") { PropertyMapping("m", copying: "n") }], expected: ["values P.n 3"]),
    Counted(
      testDescription: "what was no bytes is changed where bytes may lie outside the store",
      before: [Make.entity("A", [Make.attribute("data", .binary)])],
      after: [Make.entity("A", [Make.attribute("data", .binary, external: true)])],
      rows: [
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZDATA) VALUES (1, 1, 1, 'text'), (2, 1, 1, X'00'), (3, 1, 1, NULL)"
      ], expected: ["changedValues A.data 1"]),
    Counted(
      testDescription: "where code runs for each object, links that have no room are counted by the objects taken",
      before: [Make.entity("A", [numbered], [Make.toMany("bs", "B")]), Make.entity("B")],
      after: [Make.entity("A", [numbered], [Make.toOne("b", "B")]), Make.entity("B")],
      rows: [
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (1, 1, 1, 1), (2, 1, 1, 2)",
        "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, Z1BS) VALUES (1, 2, 1, 1), (2, 2, 1, 1), (3, 2, 1, 2), (4, 2, 1, 2)",
      ], given: [EntityMapping(from: "A", to: "A", where: "n == 1") { PropertyMapping("b", linksOf: "bs") }],
      expected: ["linksWithoutRoom A.b 1", "objects A 1"]),
    Counted(
      testDescription: "links to an object that a decision removes are lost",
      before: [
        Make.entity("A", [Make.attribute("name")], [Make.toMany("bs", "B", "as")]),
        Make.entity("B", [], [Make.toMany("as", "A", "bs")]),
      ],
      after: [
        Make.entity("A", [Make.attribute("name")], [Make.toMany("bs", "B", "as")], unique: [["name"]]),
        Make.entity("B", [], [Make.toMany("as", "A", "bs")]),
      ],
      rows: [
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'x'), (2, 1, 1, 'x'), (3, 1, 1, 'y')",
        "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 2, 1)",
        "INSERT INTO Z_1BS (Z_1AS, Z_2BS) VALUES (1, 1), (1, 2), (2, 1), (3, 2)",
      ], decisions: [DataDecision(entity: "A", property: "name", .keepNewest())],
      expected: ["links A.bs 2", "objects A 1"]),
    Counted(
      testDescription: "a decision about one property leaves another to decide",
      before: [Make.entity("A", [Make.attribute("name"), numbered])],
      after: [
        Make.entity("A", [Make.attribute("name", optional: false), Make.attribute("n", .integer16, optional: false)])
      ], rows: ["INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1)"],
      decisions: [DataDecision(entity: "A", property: "name", .fill(.string("x")))],
      expected: ["missingValue A.n 2"]),
  ]

  private static func entity(
    _ name: String, toOne relationship: String, _ target: String, _ inverse: String?, optional: Bool = true
  ) -> EntityDescription {
    Make.entity(name, [], [Make.toOne(relationship, target, inverse, optional: optional)])
  }

  @Test(arguments: counted) func `what is lost or in the way is counted`(counted: Counted) throws {
    let store = try PlannedStore(counted.before, counted.after, counted.rows, given: counted.given)
    let plan = try store.plan(try store.open(), decisions: counted.decisions)
    let found =
      plan.losses.map { "\($0.kind) \($0.name) \($0.links ?? $0.rows)" }
      + plan.blockers.map { "\($0.kind) \($0.entity).\($0.property ?? "") \($0.rows)" }
    #expect(found.sorted() == counted.expected)
  }
  @Test(arguments: ["1", "99", "NULL"])
  func `a row of a tree that has the number of no entity of the tree is refused`(number: String) throws {
    let tree = [Make.entity("A"), Make.entity("P"), Make.entity("Q", parent: "P")]
    let store = try PlannedStore(
      tree, tree + [Make.entity("Z")],
      ["INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1), (3, \(number), 1)"])
    let error = #expect(throws: MigrationError.self) { try store.plan(try store.open()) }
    guard case .storeContradictsModel = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}
