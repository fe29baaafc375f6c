import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMapping
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing

/// Objects that come under an entity of another tree, where other objects have their keys.
struct MovedKeyTests {
  /// A store with the objects of P and E, and A with keys to both; E comes under P.
  private struct Scene {
    let directory: TemporaryDirectory
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    var store: URL { directory.file("Store.sqlite") }

    init(objects: Int = 9) throws {
      directory = try TemporaryDirectory()
      let name = Make.attribute("name")
      let others = [
        Make.entity("A", [name], [Make.toOne("e", "E"), Make.toOne("p", "P"), Make.toMany("es", "E", "as")]),
        Make.entity("P", [name]), Make.entity("Q", [], parent: "P"),
      ]
      let links = [Make.toMany("as", "A", "es")]
      source = try ManagedObjectModel(entities: others + [Make.entity("E", [Make.attribute("x")], links)])
      destination = try ManagedObjectModel(
        entities: others + [Make.entity("E", [Make.attribute("x")], links, parent: "P")])
      try StoreGenerator.makeStore(at: store, model: source, objects: objects, seed: 4)
    }

    func edit(_ statements: String...) throws {
      let connection = try Connection(path: store.path, mode: .readWrite)
      for sql in statements { try connection.execute(sql) }
      try connection.close()
    }

    func number(_ sql: String) throws -> Int64? {
      try Connection(reading: store, options: .inspecting).firstInteger(sql)
    }

    var links: (table: String, target: String)? {
      guard
        case .join(let table, _, let target, _)? = PhysicalSchema(model: source).storage(
          ofRelationship: "es", in: "A")
      else { return nil }
      return (quote(table), quote(target))
    }

    func rows(_ sql: String) throws -> [[SQLiteValue]] {
      try Connection(reading: store, options: .inspecting).rows(sql)
    }

    func assistant(_ builder: MigrationPlan.Builder = .rebuild) -> MigrationAssistant {
      MigrationAssistant(store, from: source, to: destination, builder: .always(builder))
    }

    func migrate(_ builder: MigrationPlan.Builder = .rebuild) throws -> MigrationPlan? {
      guard case .migrated(let report) = try assistant(builder).migrateStore() else { return nil }
      return report.plan
    }
  }

  private static let builders: [MigrationPlan.Builder] = [.rebuild, .cloneAndAlter]

  @Test(arguments: builders) func `those that come are put above those that stay, and the plan says so`(
    builder: MigrationPlan.Builder
  ) throws {
    let scene = try Scene()
    // The highest key that was ever given counts, not the highest that is there.
    try scene.edit("UPDATE Z_PRIMARYKEY SET Z_MAX = 500 WHERE Z_NAME = 'P'")
    let highest = try #require(try scene.number("SELECT MAX(Z_PK) FROM ZE"))
    let homes = try scene.rows("SELECT Z_PK, ZNAME FROM ZP ORDER BY Z_PK")
    let guests = try scene.rows("SELECT Z_PK + 500, ZX, Z_OPT FROM ZE ORDER BY Z_PK")
    let plan = try #require(try scene.migrate(builder))
    let number = try #require(PhysicalSchema(model: scene.destination).entity(named: "E")?.number)
    #expect(try scene.rows("SELECT Z_PK, ZNAME FROM ZP WHERE Z_ENT <> \(number) ORDER BY Z_PK") == homes)
    #expect(try scene.rows("SELECT Z_PK, ZX, Z_OPT FROM ZP WHERE Z_ENT = \(number) ORDER BY Z_PK") == guests)
    #expect(try scene.number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'P'") == 500 + highest)
    #expect(plan.warnings.count == 1)
    #expect(plan.warnings.first?.hasPrefix("9 objects of \"E\" move to the table of \"P\"") == true)
    #expect(plan.warnings.first?.contains(" 500 is added to each key;") == true)
  }

  @Test(arguments: builders, ["ZP", "ZE"]) func `keys are kept where only one tree has objects`(
    builder: MigrationPlan.Builder, empty: String
  ) throws {
    let scene = try Scene()
    let links = try #require(scene.links?.table)
    try scene.edit(
      "DELETE FROM \(empty)", "UPDATE ZA SET \(empty) = NULL", "DELETE FROM \(links)")
    let before = try StoreContents(of: scene.store, model: scene.source)
    let plan = try #require(try scene.migrate(builder))
    #expect(plan.warnings.isEmpty)
    var after = try StoreContents(of: scene.store, model: scene.destination)
    // The objects now inherit this attribute.
    for key in after.objects["E", default: [:]].keys { after.objects["E"]?[key]?.values["name"] = nil }
    #expect(after == before)
  }

  @Test(arguments: builders) func `a key that leads nowhere leads to none of those that come`(
    builder: MigrationPlan.Builder
  ) throws {
    let scene = try Scene()
    let taken = try #require(try scene.number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'P'"))
    let links = try #require(scene.links)
    let key = try #require(try scene.number("SELECT MIN(Z_PK) FROM ZE"))
    // One key is above all that P ever gave, and one of E's would be one of P's.
    try scene.edit(
      "UPDATE ZA SET ZP = \(taken + key), ZE = -\(taken - 1) WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZA)",
      "UPDATE ZA SET ZE = 9223372036854775807 WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZA)",
      "UPDATE \(links.table) SET \(links.target) = \(links.target) - 1000")
    _ = try #require(try scene.migrate(builder))
    let row = try #require(try scene.rows("SELECT ZP, ZE FROM ZA WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZA)").first)
    #expect(row == [.null, .null])
    #expect(try scene.rows("SELECT ZE FROM ZA WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZA)") == [[.null]])
    #expect(
      try StoreContents(of: scene.store, model: scene.destination).objects["A"]?.values.allSatisfy {
        $0.links["es"] == nil
      } == true)
  }

  @Test func `a store without numbers left above its keys is refused and left alone`() throws {
    let scene = try Scene()
    try scene.edit("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775800 WHERE Z_NAME = 'P'")
    let before = try StoreContents(of: scene.store, model: scene.source)
    #expect(throws: MigrationAssistantError.self) { try scene.assistant().migrateStore() }
    #expect(try StoreContents(of: scene.store, model: scene.source) == before)
  }

  @Test(arguments: builders) func `two trees that come under one root on the way of a history keep all`(
    builder: MigrationPlan.Builder
  ) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let a = Make.entity("A", [Make.attribute("x")], [Make.toMany("bs", "B", "as"), Make.toOne("b", "B")])
    let b = Make.entity("B", [Make.attribute("y")], [Make.toMany("as", "A", "bs"), Make.toOne("c", "B")])
    func below(_ entity: EntityDescription) -> EntityDescription {
      var entity = entity
      entity.superentity = "P"
      return entity
    }
    let first = try ManagedObjectModel(entities: [a, b])
    let second = try ManagedObjectModel(entities: [Make.entity("P", isAbstract: true), below(a), b])
    let third = try ManagedObjectModel(entities: [Make.entity("P", isAbstract: true), below(a), below(b)])
    try StoreGenerator.makeStore(at: store, model: first, objects: 12, seed: 4)
    let before = try StoreContents(of: store, model: first)
    let assistant = MigrationAssistant(
      store, ModelHistory(current: third, earlier: [("1", first), ("2", second)]), builder: .always(builder))
    let report = try assistant.migrate()
    let differences = KeptObjects.differences(
      before: before, source: first, after: try StoreContents(of: store, model: third), destination: third,
      mapping: report.plan.mapping)
    #expect(differences.isEmpty)
    #expect(report.plan.warnings.count == 1)
    withExtendedLifetime(directory) {}
  }

  @Test func `two trees that come under one root in one step of a history stay an obstacle`() throws {
    let name = Make.attribute("name")
    let merged = [
      Make.entity("P", isAbstract: true), Make.entity("A", [name], parent: "P"), Make.entity("B", [name], parent: "P"),
    ]
    let versions = [
      try ManagedObjectModel(entities: [Make.entity("A", [name]), Make.entity("B", [name])]),
      try ManagedObjectModel(entities: merged), try ManagedObjectModel(entities: merged + [Make.entity("C", [name])]),
    ]
    let inference = try #require(MappingInference(through: versions))
    #expect(inference.obstacles.map(\.kind) == [.mergedHierarchies])
  }

  @Test func `required links of the tree that stays are missing in objects that come, whatever keys they have`() throws
  {
    let up = Make.toOne("up", "P", "down", optional: false)
    let home = Make.entity("P", [], [up, Make.toMany("down", "P", "up")])
    let source = try ManagedObjectModel(entities: [home, Make.entity("E", [Make.attribute("x")])])
    let destination = try ManagedObjectModel(entities: [home, Make.entity("E", [Make.attribute("x")], parent: "P")])
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: store, model: source, objects: 9, seed: 4)
    let assistant = MigrationAssistant(store, from: source, to: destination)
    let plan = try #require(try assistant.plan())
    #expect(plan.blockers.map(\.rows) == [9])
    withExtendedLifetime(directory) {}
  }

  @Test(arguments: builders, [[0, -7], [-7, 0], [Int64.min / 2, -1]] as [[Int64]])
  func `keys below 1 come above those taken too`(
    builder: MigrationPlan.Builder, odd: [Int64]
  ) throws {
    let scene = try Scene()
    let links = try #require(scene.links)
    for (key, new) in zip(try scene.rows("SELECT Z_PK FROM ZE ORDER BY Z_PK LIMIT 2").compactMap(\.first?.integer), odd)
    {
      try scene.edit(
        "UPDATE ZE SET Z_PK = \(new) WHERE Z_PK = \(key)", "UPDATE ZA SET ZE = \(new) WHERE ZE = \(key)",
        "UPDATE \(links.table) SET \(links.target) = \(new) WHERE \(links.target) = \(key)")
    }
    // The home tree may have such a key as well.
    try scene.edit("UPDATE ZP SET Z_PK = -7 WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZP)")
    let before = try StoreContents(of: scene.store, model: scene.source)
    _ = try #require(try scene.migrate(builder))
    let after = try StoreContents(of: scene.store, model: scene.destination)
    let (old, new) = (try #require(before.objects["E"]), try #require(after.objects["E"]))
    #expect(new.count == old.count)
    #expect(after.objects["P", default: [:]].count == before.objects["P", default: [:]].count)
    // Each key moves by the same number, and links to it follow.
    let offset = try #require(new.keys.min()) - #require(old.keys.min())
    #expect(old.allSatisfy { new[$0.key + offset]?.values["x"] == $0.value.values["x"] })
    for (key, object) in try #require(before.objects["A"]) {
      #expect(after.objects["A"]?[key]?.links["e"] == object.links["e"]?.map { $0 + offset })
      #expect(after.objects["A"]?[key]?.links["es"] == object.links["es"]?.map { $0 + offset })
    }
    let highest = try #require(new.keys.max())
    #expect(try scene.number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'P'") ?? 0 >= highest)
    #expect(Set(new.keys).isDisjoint(with: after.objects["P", default: [:]].keys))
  }

  @Test(arguments: builders) func `links that have no room in merged trees are counted by object, not by key`(
    builder: MigrationPlan.Builder
  ) throws {
    let name = Make.attribute("name")
    func model(isAfter: Bool) throws -> ManagedObjectModel {
      let ofTrees = isAfter ? "P" : nil
      return try ManagedObjectModel(entities: [
        Make.entity("A", [name], isAfter ? [Make.toMany("xs", "P")] : []),
        Make.entity("A1", [], isAfter ? [] : [Make.toMany("xs", "P", "as")], parent: "A"),
        Make.entity("A2", [], isAfter ? [] : [Make.toMany("xs", "E", "bs")], parent: "A"),
        Make.entity("B", [], [Make.toMany("ts", isAfter ? "P" : "T")]),
        Make.entity("P", [name], isAfter ? [] : [Make.toMany("as", "A1", "xs")]),
        Make.entity("E", isAfter ? [] : [name], isAfter ? [] : [Make.toMany("bs", "A2", "xs")], parent: ofTrees),
        Make.entity("T", [name], isAbstract: true), Make.entity("T2", [], parent: "T"),
        Make.entity("T1", parent: isAfter ? "P" : "T"),
      ])
    }
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let (source, destination) = (try model(isAfter: false), try model(isAfter: true))
    try StoreGenerator.makeStore(at: store, model: source, objects: 12, seed: 5)
    let before = try StoreContents(of: store, model: source)
    let assistant = MigrationAssistant(store, from: source, to: destination, builder: .always(builder))
    let report = try assistant.migrate()
    let after = try StoreContents(of: store, model: destination)
    func count(_ name: String, _ entities: [String], _ contents: StoreContents) -> Int {
      entities.reduce(0) {
        $0 + contents.objects[$1, default: [:]].values.reduce(0) { $0 + ($1.links[name]?.count ?? 0) }
      }
    }
    let gone = count("xs", ["A1", "A2"], before) - count("xs", ["A1", "A2"], after)
    let foreign = count("ts", ["B"], before) - count("ts", ["B"], after)
    #expect(gone > 0)
    #expect(foreign > 0)
    let losses = Dictionary(
      report.plan.losses.map { ("\($0.entity).\($0.property ?? "")", Int($0.links ?? $0.rows)) }, uniquingKeysWith: +)
    #expect(losses["A.xs"] == gone)
    #expect(losses["B.ts"] == foreign)
    withExtendedLifetime(directory) {}
  }
}
