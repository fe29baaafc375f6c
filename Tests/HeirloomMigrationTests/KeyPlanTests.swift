import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

/// The primary keys of objects whose tree comes under another root.
///
/// Core Data counts keys from 1 within a tree and never hands one out twice. So the keys of those that come begin above
/// all that the tree that stays ever handed out; both numbers follow by hand from the keys and `Z_MAX` of each.
struct KeyPlanTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The keys of the objects that stay, and the highest handed out, as an SQL literal; `guests`
    /// are those that come.
    let home: ([Int64], String)
    let guests: ([Int64], String)
    /// `nil` if there is no room.
    let expected: (offset: Int64, highest: Int64)?

    init(
      _ name: String, _ home: ([Int64], String), _ guests: ([Int64], String), _ expected: (Int64, Int64)?
    ) {
      (testDescription, self.home, self.guests) = (name, home, guests)
      self.expected = expected.map { (offset: $0.0, highest: $0.1) }
    }
  }

  private static let most = Int64.max

  static let cases: [Case] = [
    Case("both count from 1", ([1, 2], "2"), ([1, 5], "5"), (2, 7)),
    Case("keys of deleted objects are not handed out again", ([1, 2], "500"), ([1, 5], "9"), (500, 509)),
    Case("the record of those that stay is behind", ([600], "500"), ([1], "1"), (600, 601)),
    Case("the record of those that come is behind", ([1], "1"), ([7], "3"), (1, 8)),
    Case("a record is no number", ([3], "'many'"), ([7], "NULL"), (3, 10)),
    Case("a record is below 0", ([3], "-9"), ([7], "-9"), (3, 10)),
    Case("none stays", ([], "0"), ([3], "9"), (0, 9)),
    Case("none stays, but some were there", ([], "30"), ([3], "9"), (0, 30)),
    Case("none comes", ([4], "4"), ([], "0"), (0, 4)),
    Case("none comes, but some were there", ([4], "4"), ([], "30"), (0, 30)),
    Case("none stays or comes", ([], "0"), ([], "0"), (0, 0)),
    Case("a key is 0", ([5], "5"), ([0, 2], "2"), (6, 8)),
    Case("a key is below 0", ([5], "5"), ([-7, 2], "2"), (13, 15)),
    Case("those that stay have a key below 1 only", ([-7], "0"), ([1], "1"), (0, 1)),
    Case("both have a key below 1 only", ([-7], "0"), ([-7], "0"), (8, 8)),
    Case("the last number is enough", ([most - 1], "0"), ([1], "1"), (most - 1, most)),
    Case("the last number is not enough", ([most - 1], "0"), ([1], "2"), nil),
    Case("no number is left", ([1], "\(most)"), ([1], "1"), nil),
    Case("keys span half of all numbers", ([-1], "0"), ([.min + 2], "0"), (most, most)),
    Case("keys span too many numbers", ([1], "1"), ([.min + 2], "0"), nil),
    Case("the lowest key is the lowest number", ([1], "1"), ([.min], "0"), nil),
  ]

  private static func rows(_ table: String, _ number: Int, _ keys: [Int64]) -> [String] {
    // The lowest number can't be written as a literal of its own.
    keys.map {
      "INSERT INTO \(table) (Z_PK, Z_ENT, Z_OPT) VALUES (\($0 == .min ? "-\(most) - 1" : "\($0)"), \(number), 1)"
    }
  }

  private static func maximum(_ entity: String, _ literal: String) -> String {
    "UPDATE Z_PRIMARYKEY SET Z_MAX = \(literal) WHERE Z_NAME = '\(entity)'"
  }

  private static func routing(
    _ store: PlannedStore, _ connection: Connection, mapping: MappingModel? = nil,
    keeping: [(source: String, destination: String)] = []
  ) throws -> EntityRouting {
    let source = PhysicalSchema(model: store.hop.source)
    return try EntityRouting(
      mapping: mapping ?? store.hop.mapping, compiled: CompiledMappings(), keepingKeys: keeping, source: source,
      destination: PhysicalSchema(model: store.hop.destination),
      counts: try StoreCounts(connection: connection, schema: source), connection: connection)
  }

  /// Tree E comes under the root of tree P.
  private static func store(_ home: ([Int64], String), _ guests: ([Int64], String)) throws -> PlannedStore {
    try PlannedStore(
      [Make.entity("E"), Make.entity("P")], [Make.entity("E", parent: "P"), Make.entity("P")],
      rows("ZE", 1, guests.0) + rows("ZP", 2, home.0) + [maximum("E", guests.1), maximum("P", home.1)])
  }

  @Test(arguments: cases) func `those that come are put above all that were handed out`(planned: Case) throws {
    let store = try Self.store(planned.home, planned.guests)
    let connection = try store.open()
    guard let expected = planned.expected else {
      let error = #expect(throws: MigrationError.self) { try Self.routing(store, connection) }
      guard case .storeContradictsModel? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      return
    }
    let keys = try Self.routing(store, connection).keys
    #expect(keys.offset(from: "E", to: "P") == expected.offset)
    #expect(keys.offset(from: "P", to: "P") == 0)
    #expect(keys.highest == ["P": expected.highest])
    #expect(keys.moved("k", from: "E", to: "P") == (expected.offset == 0 ? "k" : "k + \(expected.offset)"))
    #expect(Self.moves(keys) == (expected.offset == 0 ? 0 : 1))
    // Core Data's record is a whole number that no key is above.
    let behind = [planned.home, planned.guests].filter { keys, record in Int64(record) ?? -1 < keys.max() ?? 0 }
    #expect(keys.warnings.count - Self.moves(keys) == behind.count, "\(keys.warnings)")
    // What the numbers are for: no key is two objects', and none will be handed out again.
    let moved = planned.guests.0.map { $0 + expected.offset }
    #expect(Set(moved).isDisjoint(with: planned.home.0))
    #expect((moved + planned.home.0).allSatisfy { $0 <= expected.highest })
  }

  @Test func `trees that come follow each other in the order of their names`() throws {
    let below = ["D", "E", "F"].map { Make.entity($0, parent: "P") }
    let store = try PlannedStore(
      ["D", "E", "F", "P"].map { Make.entity($0) }, below + [Make.entity("P")],
      Self.rows("ZD", 1, []) + Self.rows("ZE", 2, [1, 2]) + Self.rows("ZF", 3, [1]) + Self.rows("ZP", 4, [1])
        + [Self.maximum("D", "40")])
    let keys = try Self.routing(store, try store.open()).keys
    // D has no objects, but its 40 keys stay handed out. E: 40 + 1 and 40 + 2; F: 42 + 1.
    #expect(["D", "E", "F", "P"].map { keys.offset(from: $0, to: "P") } == [0, 40, 42, 0])
    #expect(keys.highest == ["P": 43])
    #expect(Self.moves(keys) == 2)
  }

  @Test func `keys of an empty tree stay handed out, wherever its name is in the order`() throws {
    for empty in ["D", "E", "F"] {
      let names = ["D", "E", "F"]
      let store = try PlannedStore(
        (names + ["P"]).map { Make.entity($0) }, names.map { Make.entity($0, parent: "P") } + [Make.entity("P")],
        names.enumerated().reduce(Self.rows("ZP", 4, [1])) { rows, item in
          rows + Self.rows("Z\(item.element)", item.offset + 1, item.element == empty ? [] : [1])
        } + [Self.maximum(empty, "40")])
      let keys = try Self.routing(store, try store.open()).keys
      let offsets = (names + ["P"]).filter { $0 != empty }.map { keys.offset(from: $0, to: "P") }
      // One of the three trees keeps its keys, which it had before.
      #expect(
        offsets.count { $0 == 0 } == 1 && offsets.filter { $0 > 0 }.allSatisfy { $0 >= 40 }, "\(empty): \(offsets)")
    }
  }

  @Test func `trees that stay apart keep their keys`() throws {
    let store = try PlannedStore(
      ["E", "P"].map { Make.entity($0) }, ["A", "E", "P"].map { Make.entity($0) },
      Self.rows("ZE", 1, [1, 9]) + Self.rows("ZP", 2, [1]) + [Self.maximum("E", "4"), Self.maximum("P", "6")])
    let keys = try Self.routing(store, try store.open()).keys
    #expect(keys.highest == ["E": 9, "P": 6])
    #expect(keys.offset(from: "E", to: "E") == 0)
    #expect(keys.warnings == ["Z_PRIMARYKEY has 4 as the highest key of E: it is changed to 9, the highest in ZE"])
  }

  @Test func `keys of objects that are made one by one count as handed out`() throws {
    let store = try Self.store(([1, 2], "20"), ([7], "3"))
    let connection = try store.open()
    let none = MappingModel(entityMappings: [])
    let kept = try Self.routing(
      store, connection, mapping: none, keeping: [(source: "E", destination: "P"), (source: "P", destination: "P")])
    #expect(kept.keys.highest == ["P": 20])
    #expect(try Self.routing(store, connection, mapping: none, keeping: [("E", "P")]).keys.highest == ["P": 7])
    #expect(try Self.routing(store, connection, mapping: none).keys.highest.isEmpty)
  }

  @Test func `of a store that doesn't say which keys were handed out the keys that are there count`() throws {
    let store = try Self.store(([1], "1"), ([4], "4"))
    let connection = try store.open()
    try connection.execute("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'E'")
    let keys = try Self.routing(store, connection).keys
    #expect(keys.highest == ["P": 5])
    #expect(
      keys.warnings.contains(
        "Z_PRIMARYKEY has no number as the highest key of E: it is changed to 4, the highest in ZE"))
  }

  private static func moves(_ keys: KeyPlan) -> Int { keys.warnings.count { $0.contains("is added to each key") } }
}
