import HeirloomModel
import TestSupport
import Testing

/// Two models, rows written by hand, and the rows that must be in a new file.
struct PlannerCase: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let before: [EntityDescription]
  let after: [EntityDescription]
  let rows: [String]
  /// The steps that fill tables and gather links, in order.
  let steps: [String]
  let expected: [(query: String, rows: [String])]

  init(
    _ name: String, _ before: [EntityDescription], _ after: [EntityDescription], _ rows: [String], steps: [String],
    _ expected: [(query: String, rows: [String])]
  ) {
    (testDescription, self.before, self.after, self.rows, self.steps, self.expected) =
      (name, before, after, rows, steps, expected)
  }
}

// Entities are numbered by their names, subentities after their parent; the tables and columns are those that Core Data
// would make. Expected rows follow by hand from the rows above them.
extension PlannerCase {
  private static let name = Make.attribute("name")
  private static let tree = [
    Make.entity("P", [name]), Make.entity("Q", parent: "P"), Make.entity("R", parent: "P"),
  ]

  static let objects: [PlannerCase] = [
    PlannerCase(
      "entities get the numbers of the destination", [Make.entity("B", [name])],
      [Make.entity("A"), Make.entity("B", [name])],
      ["INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (7, 1, 1, NULL), (1, 1, 4, 'b')"],
      steps: ["copyRows ZB 2"], [("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME FROM ZB", ["1 2 4 'b'", "7 2 1 -"])]),
    PlannerCase(
      "names are swapped", [Make.entity("A", [Make.attribute("x"), Make.attribute("y")])],
      [Make.entity("A", [Make.attribute("x", id: "y"), Make.attribute("y", id: "x")])],
      ["INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZX, ZY) VALUES (1, 1, 1, 'x', 'y'), (2, 1, 1, NULL, 'only y')"],
      steps: ["copyRows ZA 2"], [("SELECT Z_PK, ZX, ZY FROM ZA", ["1 'y' 'x'", "2 'only y' -"])]),
    PlannerCase(
      "a new attribute of a subentity has its default in every row", tree,
      [tree[0], Make.entity("Q", [Make.attribute("n", .integer32, value: .integer(7))], parent: "P"), tree[2]],
      ["INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1), (3, 3, 1)"], steps: ["copyRows ZP 3"],
      [("SELECT Z_PK, Z_ENT, ZN FROM ZP", ["1 1 7", "2 2 7", "3 3 7"])]),
    PlannerCase(
      "what has become required is filled where it was missing", [Make.entity("A", [name])],
      [Make.entity("A", [Make.attribute("name", optional: false, value: .string("it's"))])],
      ["INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, NULL), (2, 1, 1, ''), (3, 1, 1, 'c')"],
      steps: ["copyRows ZA 3"], [("SELECT Z_PK, ZNAME FROM ZA", ["1 'it's'", "2 ''", "3 'c'"])]),
    PlannerCase(
      "a subentity's numbers are cut off, and its siblings have none",
      [tree[0], Make.entity("Q", [Make.attribute("n", .double)], parent: "P"), tree[2]],
      [tree[0], Make.entity("Q", [Make.attribute("n", .integer64)], parent: "P"), tree[2]],
      ["INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (1, 2, 1, 2.9), (2, 2, 1, -2.9), (3, 3, 1, NULL)"],
      steps: ["copyRows ZP 3"], [("SELECT Z_PK, ZN FROM ZP", ["1 2", "2 -2", "3 -"])]),
    PlannerCase(
      "objects whose entity is gone stay behind, and links to them are emptied",
      tree + [Make.entity("A", [], [Make.toOne("to", "P", "as")])].linked,
      [tree[0], tree[2], Make.entity("A", [], [Make.toOne("to", "P", "as")])].linked,
      [
        "INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1), (3, 4, 1)",
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZTO, Z2_TO) VALUES"
          + " (1, 1, 1, 1, 2), (2, 1, 1, 2, 3), (3, 1, 1, 3, 4), (4, 1, 1, NULL, NULL)",
      ], steps: ["copyRows ZA 4", "copyRows ZP 2"],
      [
        ("SELECT Z_PK, Z_ENT FROM ZP", ["1 2", "3 3"]),
        ("SELECT Z_PK, ZTO, Z2_TO FROM ZA", ["1 1 2", "2 - -", "3 3 3", "4 - -"]),
      ]),
    PlannerCase(
      "a tree that comes under another's root moves above it, and keys that lead nowhere are emptied",
      [Make.entity("A", [], [Make.toOne("e", "E", "as")]), tree[0], Make.entity("E", [Make.attribute("x")])].linked,
      [
        Make.entity("A", [], [Make.toOne("e", "E", "as")]), tree[0],
        Make.entity("E", [Make.attribute("x")], parent: "P"),
      ]
      .linked,
      [
        "INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 3, 1, 'p'), (4, 3, 2, 'q')",
        "INSERT INTO ZE (Z_PK, Z_ENT, Z_OPT, ZX) VALUES (1, 2, 3, 'e'), (5, 2, 4, 'f')",
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZE) VALUES (1, 1, 1, 5), (2, 1, 1, 1), (3, 1, 1, 4), (4, 1, 1, NULL)",
      ], steps: ["copyRows ZA 4", "copyRows ZP 2", "copyRows ZP 2"],
      [
        (
          "SELECT Z_PK, Z_ENT, Z_OPT, ZNAME, ZX FROM ZP",
          ["1 2 1 'p' -", "4 2 2 'q' -", "5 3 3 - 'e'", "9 3 4 - 'f'"]
        ), ("SELECT Z_PK, ZE FROM ZA", ["1 9", "2 5", "3 -", "4 -"]),
      ]),
    PlannerCase(
      "columns of one name and two types that no model knows become one, in which each cell is as it was",
      [Make.entity("E"), tree[0]], [Make.entity("E", parent: "P"), tree[0]],
      [
        "ALTER TABLE ZP ADD COLUMN ZLEFTOVER VARCHAR", "ALTER TABLE ZE ADD COLUMN ZLEFTOVER INTEGER",
        "INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT, ZLEFTOVER) VALUES (1, 2, 1, '007'), (2, 2, 1, NULL)",
        "INSERT INTO ZE (Z_PK, Z_ENT, Z_OPT, ZLEFTOVER) VALUES (1, 1, 1, 7)",
      ], steps: ["copyRows ZP 2", "copyRows ZP 1"],
      [("SELECT Z_PK, Z_ENT, ZLEFTOVER FROM ZP", ["1 1 '007'", "2 1 -", "3 2 7"])]),
    PlannerCase(
      "of several objects that lead to one, the lowest stays where there is room for one only",
      [Make.entity("A", [], [Make.toMany("bs", "B", "a")]), Make.entity("B", [], [Make.toOne("a", "A", "bs")])],
      [Make.entity("A", [], [Make.toOne("bs", "B", "a")]), Make.entity("B", [], [Make.toOne("a", "A", "bs")])],
      [
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1), (3, 1, 1)",
        "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (9, 2, 1, 1), (4, 2, 1, 1), (5, 2, 1, 3), (6, 2, 1, NULL)",
      ], steps: ["gatherLinks A.bs -", "copyRows ZA 3", "copyRows ZB 4"],
      [
        ("SELECT Z_PK, ZBS FROM ZA", ["1 4", "2 -", "3 5"]),
        ("SELECT Z_PK, ZA FROM ZB", ["4 1", "5 3", "6 -", "9 -"]),
      ]),
    PlannerCase(
      "of many links of an object, the one with the lowest key becomes its only one", many(),
      [Make.entity("A", [], [Make.toOne("bs", "B", "as")]), Make.entity("B", [], [Make.toMany("as", "A", "bs")])],
      [
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1), (3, 1, 1)",
        "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (2, 2, 1), (3, 2, 1)",
        "INSERT INTO Z_1BS (Z_1AS, Z_2BS) VALUES (1, 3), (1, 2), (2, 3)",
      ], steps: ["gatherLinks A.bs -", "copyRows ZA 3", "copyRows ZB 2"],
      [("SELECT Z_PK, ZBS FROM ZA", ["1 2", "2 3", "3 -"])]),
    PlannerCase(
      "values that no type allows and keys at the ends of their range are taken over as they are",
      [Make.entity("A", [Make.attribute("n", .integer32), Make.attribute("x")])],
      [Make.entity("A", [Make.attribute("m", .boolean), Make.attribute("n", .integer32), Make.attribute("x")])],
      [
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZN, ZX) VALUES (9223372036854775807, 1, -5, 'seven', X'00ff'),"
          + " (-9223372036854775807 - 1, 1, 9223372036854775807, 1e300, 'a' || char(0) || 'b')"
      ], steps: ["copyRows ZA 2"],
      [
        (
          "SELECT Z_PK, Z_OPT, ZN, ZM, hex(ZX) FROM ZA",
          ["\(Int64.min) \(Int64.max) 1e+300 - '610062'", "\(Int64.max) -5 'seven' - '00FF'"]
        )
      ]),
  ]

  static func many(ordered: Bool = false) -> [EntityDescription] {
    [
      Make.entity("A", [], [Make.toMany("bs", "B", "as", ordered: ordered)]),
      Make.entity("B", [], [Make.toMany("as", "A", "bs")]),
    ]
  }

  private static let pairs = [
    "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1)",
    "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 2, 1), (3, 2, 1)",
    "INSERT INTO Z_1BS (Z_1AS, Z_2BS) VALUES (2, 3), (1, 3), (1, 1), (2, 2), (2, 1)",
  ]

  static let links: [PlannerCase] = [
    PlannerCase(
      "the table is named after the new numbers, and links without an end are left out", many(),
      many() + [Make.entity("0")], pairs + ["INSERT INTO Z_1BS (Z_1AS, Z_2BS) VALUES (NULL, 1), (1, NULL)"],
      steps: ["copyRows ZA 2", "copyRows ZB 3", "copyLinks Z_2BS 5"],
      [("SELECT Z_2AS, Z_3BS FROM Z_2BS", ["1 1", "1 3", "2 1", "2 2", "2 3"])]),
    PlannerCase(
      "keys become pairs",
      [Make.entity("A", [], [Make.toMany("bs", "B", "as")]), Make.entity("B", [], [Make.toOne("as", "A", "bs")])],
      many(),
      [
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1)",
        "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZAS) VALUES (1, 2, 1, 2), (2, 2, 1, NULL), (3, 2, 1, 1), (4, 2, 1, 2)",
      ], steps: ["copyRows ZA 2", "copyRows ZB 4", "copyLinks Z_1BS 3"],
      [("SELECT Z_1AS, Z_2BS FROM Z_1BS", ["1 3", "2 1", "2 4"])]),
    PlannerCase(
      "links that get an order are numbered by their keys: 2048, then steps of 1024", many(), many(ordered: true),
      pairs,
      steps: ["copyRows ZA 2", "copyRows ZB 3", "copyLinks Z_1BS 5"],
      [
        (
          "SELECT Z_1AS, Z_2BS, Z_FOK_2BS FROM Z_1BS", ["1 1 2048", "1 3 3072", "2 1 2048", "2 2 3072", "2 3 4096"]
        )
      ]),
    PlannerCase(
      "an order that is there is kept, however odd", many(ordered: true), many(ordered: true) + [Make.entity("C")],
      [
        pairs[0], pairs[1],
        "INSERT INTO Z_1BS (Z_1AS, Z_2BS, Z_FOK_2BS) VALUES (1, 3, -9), (1, 1, 9223372036854775807), (2, 2, NULL)",
      ], steps: ["copyRows ZA 2", "copyRows ZB 3", "copyLinks Z_1BS 3"],
      [("SELECT Z_1AS, Z_2BS, Z_FOK_2BS FROM Z_1BS", ["1 1 \(Int64.max)", "1 3 -9", "2 2 -"])]),
    PlannerCase(
      "links to objects whose entity is gone are left out",
      [
        Make.entity("A", [], [Make.toMany("ps", "P", "as")]), Make.entity("P", [], [Make.toMany("as", "A", "ps")]),
        tree[1],
      ],
      [Make.entity("A", [], [Make.toMany("ps", "P", "as")]), Make.entity("P", [], [Make.toMany("as", "A", "ps")])],
      [
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1)",
        "INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1), (3, 2, 1)",
        "INSERT INTO Z_1PS (Z_1AS, Z_2PS) VALUES (1, 1), (1, 2), (1, 3)",
      ], steps: ["copyRows ZA 1", "copyRows ZP 2", "copyLinks Z_1PS 2"],
      [("SELECT Z_1AS, Z_2PS FROM Z_1PS", ["1 1", "1 3"])]),
    PlannerCase(
      "links follow objects that get other keys, and those to nothing are left out",
      [
        Make.entity("A", [], [Make.toMany("es", "E", "as")]), Make.entity("E", [], [Make.toMany("as", "A", "es")]),
        tree[0],
      ],
      [
        Make.entity("A", [], [Make.toMany("es", "E", "as")]),
        Make.entity("E", [], [Make.toMany("as", "A", "es")], parent: "P"), tree[0],
      ],
      [
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1)",
        "INSERT INTO ZE (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 2, 1)",
        "INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT) VALUES (10, 3, 1)",
        "INSERT INTO Z_1ES (Z_1AS, Z_2ES) VALUES (1, 1), (1, 2), (2, 2), (2, 10), (7, 1)",
      ], steps: ["copyRows ZA 2", "copyRows ZP 1", "copyRows ZP 2", "copyLinks Z_1ES 3"],
      [("SELECT Z_1AS, Z_3ES FROM Z_1ES", ["1 11", "1 12", "2 12"])]),
    PlannerCase(
      "members that get an order are numbered by their keys, each owner's apart",
      [Make.entity("A", [], [Make.toMany("bs", "B", "a")]), Make.entity("B", [], [Make.toOne("a", "A", "bs")])],
      [
        Make.entity("A", [], [Make.toMany("bs", "B", "a", ordered: true)]),
        Make.entity("B", [], [Make.toOne("a", "A", "bs")]),
      ],
      [
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1)",
        "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (9, 2, 1, 1), (3, 2, 1, 2), (-4, 2, 1, 1), (5, 2, 1, NULL)",
      ], steps: ["copyRows ZA 2", "copyRows ZB 4", "orderMembers ZB -"],
      [("SELECT Z_PK, ZA, Z_FOK_A FROM ZB", ["-4 1 2048", "3 2 2048", "5 - -", "9 1 3072"])]),
  ]
}

extension [EntityDescription] {
  /// Adds the to-many inverse of the relationship of `A`.
  var linked: [EntityDescription] {
    guard let link = first(where: { $0.name == "A" })?.relationships.first else { return self }
    return map { entity in
      guard entity.name == link.destinationEntity, let inverse = link.inverseRelationship else { return entity }
      var entity = entity
      entity.relationships.append(Make.toMany(inverse, "A", link.name))
      return entity
    }
  }
}
