import Foundation
import Heirloom
import TestSupport
import Testing

/// Decisions about models whose shape is easily forgotten.
extension DataDecisionTests {
  private func store(
    _ entities: [EntityDescription], objects: Int, in directory: TemporaryDirectory, _ statements: [String] = []
  ) throws -> (url: URL, model: ManagedObjectModel) {
    let model = try ManagedObjectModel(entities: entities)
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: model, objects: objects, seed: 7)
    let connection = try Connection(path: url.path, mode: .readWrite)
    try connection.registerCoreDataFunctions()
    for sql in statements { try connection.execute(sql) }
    try connection.close()
    return (url, model)
  }

  private func query(_ url: URL, _ sql: String) throws -> [[SQLiteValue]] {
    return try Connection(reading: url, options: .inspecting).rows(sql)
  }

  static let builders: [MigrationPlan.Builder] = [.rebuild, .cloneAndAlter]

  @Test(arguments: builders, [false, true])
  func `a constraint on an inherited property counts all that have the property`(
    builder: MigrationPlan.Builder, isMerge: Bool
  ) throws {
    func entities(unique: Bool) -> [EntityDescription] {
      [
        Make.entity("P", [Make.attribute("name")]),
        Make.entity("C", [Make.attribute("more")], parent: "P", unique: unique ? [["name"]] : []),
        Make.entity("D", parent: "P"), Make.entity("Zone"),
      ]
    }
    let directory = try TemporaryDirectory()
    let (url, source) = try store(entities(unique: false), objects: 5, in: directory, ["UPDATE ZP SET ZNAME = 'n'"])
    let decision = DataDecision(entity: "C", property: "name", isMerge ? .merge() : .quarantine)
    let report = try Self.assistant(
      url, source, try ManagedObjectModel(entities: entities(unique: true)), [decision], builder: .always(builder)
    ).migrate()
    #expect(report.plan.decisions.map(\.removed) == [14])
    #expect(report.plan.rows.filter { $0.entity != "Zone" }.map(\.after) == [0, 1, 0])
    // The object that stays has no "more".
    #expect(report.plan.losses.map(\.name).sorted() == (isMerge ? ["C", "C.more", "D", "P"] : ["C", "D", "P"]))
    #expect(try query(url, "SELECT COUNT(*) FROM ZP") == [[.integer(1)]])
    #expect(try Self.faults(url) == [])
    let lines = try report.quarantine.map { try String(contentsOf: $0, encoding: .utf8).split(separator: "\n") }
    #expect(lines.map(\.count) == (isMerge ? [] : [14]))
    withExtendedLifetime(directory) {}
  }

  @Test(arguments: builders)
  func `objects of trees that come under one root are equal across the trees`(builder: MigrationPlan.Builder) throws {
    let before = [
      Make.entity("A", [Make.attribute("name")]), Make.entity("B", [Make.attribute("name"), Make.attribute("b")]),
      Make.entity("L", [], [Make.toOne("a", "A"), Make.toOne("b", "B")]),
    ]
    let after = [
      Make.entity("A", [Make.attribute("name")], unique: [["name"]]),
      Make.entity("B", [Make.attribute("b")], parent: "A"),
      Make.entity("L", [], [Make.toOne("a", "A"), Make.toOne("b", "B")]),
    ]
    for choice in [DataDecision.Choice.merge(), .quarantine] {
      let directory = try TemporaryDirectory()
      let (url, source) = try store(
        before, objects: 6, in: directory, ["UPDATE ZA SET ZNAME = 'n' || Z_PK", "UPDATE ZB SET ZNAME = 'n' || Z_PK"])
      let equal = try query(url, "SELECT COUNT(*) FROM ZA JOIN ZB ON ZA.Z_PK = ZB.Z_PK")[0][0].integer ?? 0
      let names = try query(url, "SELECT ZNAME FROM ZA UNION SELECT ZNAME FROM ZB ORDER BY 1")
      let links = try query(url, "SELECT COUNT(ZA), COUNT(ZB) FROM ZL")
      #expect(equal > 0)
      let assistant = Self.assistant(
        url, source, try ManagedObjectModel(entities: after),
        [DataDecision(entity: "A", property: "name", choice)], builder: .always(builder))
      do {
        let report = try assistant.migrate()
        #expect(report.plan.decisions.map(\.removed) == [equal])
        #expect(try query(url, "SELECT ZNAME FROM ZA ORDER BY 1") == names)
        let kept = try query(url, "SELECT COUNT(ZA), COUNT(ZB) FROM ZL")
        if case .merge = choice { #expect(kept == links) }
        #expect(try Self.faults(url) == [])
        for file in report.quarantine {
          for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let row = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            // The highest key stays, and the second tree has it; the file names the object as the store did.
            #expect(row["entity"] as? String == "A")
            let key = try #require(row["key"] as? Int)
            #expect((row["attributes"] as? [String: Any])?["name"] as? String == "n\(key)")
            #expect((row["reason"] as? String)?.contains("/B/p\(key)") == true)
          }
        }
      } catch MigrationAssistantError.mappingNeeded {
        Issue.record("the trees are not merged")
      }
      withExtendedLifetime(directory) {}
    }
  }

  @Test(arguments: builders)
  func `derived attributes follow what decisions change`(builder: MigrationPlan.Builder) throws {
    func derived(_ name: String, _ expression: String) -> AttributeDescription {
      var attribute = Make.attribute(name, .integer64)
      attribute.derivation = DerivedAttributeDescription(derivationExpression: ValueExpression(keeping: expression))
      return attribute
    }
    func entities(unique: Bool) -> [EntityDescription] {
      [
        Make.entity(
          "Tag", [Make.attribute("name"), derived("n", "notes.@count")], [Make.toMany("notes", "Note", "tag")],
          unique: unique ? [["name"]] : []),
        Make.entity("Note", [Make.attribute("x", .integer32)], [Make.toOne("tag", "Tag", "notes")]),
      ]
    }
    for choice in [DataDecision.Choice.keepNewest(), .merge(), .quarantine] {
      let directory = try TemporaryDirectory()
      let (url, source) = try store(
        entities(unique: false), objects: 9, in: directory,
        [
          "UPDATE ZTAG SET ZNAME = 'n' || (Z_PK % 2)",
          "UPDATE ZTAG SET ZN = (SELECT COUNT(*) FROM ZNOTE WHERE ZTAG = ZTAG.Z_PK)",
        ])
      _ = try Self.assistant(
        url, source, try ManagedObjectModel(entities: entities(unique: true)),
        [DataDecision(entity: "Tag", property: "name", choice)], builder: .always(builder)
      ).migrate()
      let stale = try query(
        url, "SELECT t.Z_PK FROM ZTAG AS t WHERE t.ZN <> (SELECT COUNT(*) FROM ZNOTE AS n WHERE n.ZTAG = t.Z_PK)")
      #expect(stale == [])
      withExtendedLifetime(directory) {}
    }
  }

  @Test(arguments: builders)
  func `elements of a composite attribute are filled alone and taken over together`(
    builder: MigrationPlan.Builder
  ) throws {
    func entities(isNew: Bool) -> [EntityDescription] {
      var place = Make.attribute("place", .composite)
      place.composite = CompositeAttributeDescription(
        name: "Place",
        elements: [Make.attribute("city", optional: !isNew), Make.attribute("street")])
      place.isOptional = false
      return [
        Make.entity("A", [Make.attribute("name"), place], unique: isNew ? [["name"]] : [])
      ]
    }
    let directory = try TemporaryDirectory()
    let (url, source) = try store(
      entities(isNew: false), objects: 4, in: directory,
      [
        "DELETE FROM ZA",
        "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCITY, ZSTREET) VALUES"
          + " (1, 1, 1, 'a', 'Rome', 'x'), (2, 1, 1, 'a', NULL, NULL), (3, 1, 1, 'b', NULL, 's'), (4, 1, 1, 'b', 'Bonn', 't')",
      ])
    let decisions = [
      DataDecision(entity: "A", property: "name", .merge()),
      DataDecision(entity: "A", property: "place.city", .fill(.string("?"))),
    ]
    let report = try Self.assistant(
      url, source, try ManagedObjectModel(entities: entities(isNew: true)), decisions, builder: .always(builder)
    ).migrate()
    #expect(report.plan.decisions.map(\.filled) == [0, 2])
    #expect(
      try query(url, "SELECT Z_PK, ZCITY, ZSTREET FROM ZA ORDER BY 1")
        == [[.integer(2), .text("?"), .null], [.integer(4), .text("Bonn"), .text("t")]])
    withExtendedLifetime(directory) {}
  }

  @Test(arguments: builders)
  func `a value that many rows get makes them equal`(builder: MigrationPlan.Builder) throws {
    func entities(optional: Bool) -> [EntityDescription] {
      [Make.entity("A", [Make.attribute("x", optional: optional), Make.attribute("y")], unique: [["x"]])]
    }
    let directory = try TemporaryDirectory()
    let (url, source) = try store(
      entities(optional: true), objects: 9, in: directory, ["UPDATE ZA SET ZX = NULL WHERE Z_PK > 6"])
    let destination = try ManagedObjectModel(entities: entities(optional: false))
    let lacking = try query(url, "SELECT COUNT(*) FROM ZA WHERE ZX IS NULL")[0][0].integer ?? 0
    let fill = DataDecision(entity: "A", property: "x", .fill(.string("?")))
    let plan = try #require(try Self.assistant(url, source, destination, [fill]).plan())
    #expect(plan.blockers.map { "\($0.kind) \($0.rows)" } == ["duplicate \(lacking - 1)"])
    let newest = DataDecision(entity: "A", property: "x", .keepNewest())
    let report = try Self.assistant(url, source, destination, [fill, newest], builder: .always(builder)).migrate()
    #expect(report.plan.decisions.map(\.filled) == [lacking, 0])
    #expect(report.plan.decisions.map(\.dropped) == [0, lacking - 1])
    #expect(
      try query(url, "SELECT COUNT(*), COUNT(DISTINCT ZX) FROM ZA") == [
        [.integer(10 - lacking), .integer(10 - lacking)]
      ])
    withExtendedLifetime(directory) {}
  }

  @Test func `what lies outside the store is named in the file`() throws {
    func entities(unique: Bool) -> [EntityDescription] {
      [
        Make.entity(
          "A",
          [
            Make.attribute("data", .binary, external: true), Make.attribute("id", .uuid), Make.attribute("name"),
            Make.attribute("on", .boolean), Make.attribute("price", .decimal),
          ], unique: unique ? [["name"]] : [])
      ]
    }
    let name = "01234567-89AB-CDEF-0123-456789ABCDEF"
    let directory = try TemporaryDirectory()
    let (url, source) = try store(
      entities(unique: false), objects: 2, in: directory,
      [
        "UPDATE ZA SET ZNAME = 'same', ZON = 1, ZPRICE = 2.5, ZID = X'000102030405060708090A0B0C0D0E0F',"
          + " ZDATA = CAST(X'02' || '\(name)' || X'00' AS BLOB)"
      ])
    let folder = directory.url.appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data([1, 2, 3]).write(to: folder.appendingPathComponent(name))
    let report = try Self.assistant(
      url, source, try ManagedObjectModel(entities: entities(unique: true)),
      [DataDecision(entity: "A", property: "name", .quarantine)]
    ).migrate()
    let file = try #require(report.quarantine.first)
    let row = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    let attributes = try #require(row["attributes"] as? [String: Any])
    let path = try #require((attributes["data"] as? [String: String])?["file"])
    #expect(try Data(contentsOf: directory.url.appendingPathComponent(path)) == Data([1, 2, 3]))
    #expect(attributes["id"] as? String == "00010203-0405-0607-0809-0A0B0C0D0E0F")
    #expect(attributes["on"] as? Bool == true)
    #expect(attributes["price"] as? String == "2.5")
    withExtendedLifetime(directory) {}
  }
}
