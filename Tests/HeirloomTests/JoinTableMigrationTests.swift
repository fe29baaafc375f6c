import Foundation
import Heirloom
import TestSupport
import Testing
import HeirloomSalvage
import HeirloomSupport

/// Migrations of many-to-many relationships whose tables have Core Data's names, or those of an earlier Heirloom.
struct JoinTableMigrationTests {
  /// The changes of a migration, and the resulting table, spelled out.
  struct Scene: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The names of entities in the destination by those in the source.
    var names: [String: String] = [:]
    var removed: Set<String> = []
    var ordered: Set<String> = ["kinds"]
    var orderedAfter: Set<String> = ["kinds"]
    let table: String
    let labelKey: String
    let kindKey: String
    /// True when the name that earlier versions gave is Core Data's in the destination.
    var isFormerName = false

    /// Makes the model; labels have the number 6 and kinds 2, but `Label` comes before `LabelKind`.
    func model(isAfter: Bool) throws -> ManagedObjectModel {
      let ordered = isAfter ? orderedAfter : ordered
      func name(_ entity: String) -> String { isAfter ? names[entity] ?? entity : entity }
      func many(_ relationship: String, _ entity: String, _ inverse: String) -> RelationshipDescription {
        Make.toMany(relationship, name(entity), inverse, ordered: ordered.contains(relationship))
      }
      func entity(
        _ entity: String, _ relationships: [RelationshipDescription] = [], parent: String? = nil
      ) -> EntityDescription {
        let attributes = parent == nil ? [Make.attribute("name", optional: false)] : []
        return Make.entity(name(entity), attributes, relationships, parent: parent, id: isAfter ? entity : nil)
      }
      var entities = [
        entity("Attachment"), entity("LabelKind", [many("labels", "Label", "kinds")]), entity("Person"),
        entity("Place"), entity("Record"), entity("Label", [many("kinds", "LabelKind", "labels")], parent: "Record"),
      ]
      if isAfter {
        entities[3].attributes.append(Make.attribute("note"))
        entities.removeAll { removed.contains($0.name) }
      }
      return try ManagedObjectModel(entities: entities)
    }
  }

  static let scenes = [
    Scene(
      testDescription: "attribute of another entity", table: "Z_6KINDS", labelKey: "Z_6LABELS", kindKey: "Z_2KINDS"),
    Scene(
      testDescription: "both sides ordered", ordered: ["kinds", "labels"], orderedAfter: ["kinds", "labels"],
      table: "Z_6KINDS", labelKey: "Z_6LABELS", kindKey: "Z_2KINDS"),
    Scene(
      testDescription: "order gone", orderedAfter: [], table: "Z_6KINDS", labelKey: "Z_6LABELS", kindKey: "Z_2KINDS"),
    Scene(
      testDescription: "entity removed, others renumbered", removed: ["Attachment"], table: "Z_5KINDS",
      labelKey: "Z_5LABELS", kindKey: "Z_1KINDS"),
    Scene(
      testDescription: "owner renamed to come last", names: ["Label": "Tag"], table: "Z_2LABELS", labelKey: "Z_6LABELS",
      kindKey: "Z_2KINDS", isFormerName: true),
    Scene(
      testDescription: "other side renamed to come first", names: ["LabelKind": "Kind"], ordered: ["labels"],
      orderedAfter: ["labels"], table: "Z_2LABELS", labelKey: "Z_6LABELS", kindKey: "Z_2KINDS", isFormerName: true),
  ]

  enum Naming: String, CaseIterable, CustomTestStringConvertible {
    case coreData, earlier
    var testDescription: String { rawValue }
  }

  /// Returns the links by the names of the objects, with their positions among each other; the given names are read.
  private static func links(
    in url: URL, _ table: String, _ labelKey: String, _ kindKey: String, ordered: Set<String>
  ) throws -> [[SQLiteValue]] {
    let connection = try Connection(reading: url, options: .inspecting)
    let places = [("kinds", labelKey, kindKey), ("labels", kindKey, labelKey)].map { name, owner, member in
      // The rank counts, not the number.
      ordered.contains(name) ? "RANK() OVER (PARTITION BY j.\(owner) ORDER BY j.Z_FOK_\(member.dropFirst(2)))" : "NULL"
    }
    return try connection.rows(
      "SELECT l.ZNAME, k.ZNAME, \(places.joined(separator: ", ")) FROM \(table) AS j LEFT JOIN"
        + " \(try self.table(of: "RECORD", in: connection)) AS l ON l.Z_PK = j.\(labelKey) LEFT JOIN"
        + " \(try self.table(of: "KIND", in: connection)) AS k ON k.Z_PK = j.\(kindKey) ORDER BY 1, 2")
  }

  private static func table(of word: String, in connection: Connection) throws -> String {
    try #require(
      try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE ?1", [.text("Z%" + word)])
        .first?.first?.text)
  }

  private static let builders = [MigrationPlan.Builder.rebuild, .cloneAndAlter]

  @Test(arguments: scenes, Naming.allCases)
  func `every link is kept and its table has Core Data's name`(scene: Scene, naming: Naming) throws {
    let (source, destination) = (try scene.model(isAfter: false), try scene.model(isAfter: true))
    for builder in Self.builders {
      for isWAL in [false, true] {
        let directory = try TemporaryDirectory()
        let url = directory.file("Store.sqlite")
        try Self.makeStore(at: url, source, naming)
        if isWAL { try Self.change(url, "PRAGMA journal_mode = WAL") }
        let before = try Self.links(
          in: url, naming == .earlier ? "Z_2LABELS" : "Z_6KINDS", "Z_6LABELS", "Z_2KINDS", ordered: scene.ordered)
        #expect(before.count > 5)
        let assistant = MigrationAssistant(url, from: source, to: destination, builder: .always(builder))
        let report = try assistant.migrate()
        let told = report.plan.steps.map(\.summary).filter { $0.contains("as Core Data names the table") }
        #expect(told.count == (naming == .earlier && !scene.isFormerName ? 1 : 0), "\(told)")
        #expect(told.allSatisfy { $0.contains("Z_2LABELS") && $0.contains(scene.table) })

        let kept = scene.ordered.intersection(scene.orderedAfter)
        let wanted = before.map { row in
          [row[0], row[1], kept.contains("kinds") ? row[2] : .null, kept.contains("labels") ? row[3] : .null]
        }
        let after = try Self.links(in: url, scene.table, scene.labelKey, scene.kindKey, ordered: kept)
        #expect(after == wanted, "\(builder)")
        let findings = try StoreVerification.report(onStoreAt: url.path).findings
        #expect(findings == [], "\(builder)")
        let connection = try Connection(reading: url, options: .inspecting)
        let joins = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'Z_[0-9]*'"
        #expect(try connection.rows(joins) == [[.text(scene.table)]])
        try connection.close()
        try assistant.requireNothingToDo()
        withExtendedLifetime(directory) {}
      }
    }
  }

  @Test func `a deferred migration leaves the table under its earlier name, and the clean-up drops it`() throws {
    let scene = try #require(Self.scenes.first)
    let (source, destination) = (try scene.model(isAfter: false), try scene.model(isAfter: true))
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    try Self.makeStore(at: url, source, .earlier)
    let before = try Self.links(in: url, "Z_2LABELS", "Z_6LABELS", "Z_2KINDS", ordered: scene.ordered)
    let plan = try #require(try DeferredMigrationTests.migrate(url, from: source, to: destination, defers: true))
    #expect(plan.deferred.tables == ["Z_2LABELS"])
    try DeferredMigrationTests.checkPending(plan.deferred, in: url, model: destination)
    let store = try PersistentStore.open(at: url, model: destination)
    try store.finishDeferredLightweightMigration()
    try store.close()
    #expect(try Self.links(in: url, "Z_6KINDS", "Z_6LABELS", "Z_2KINDS", ordered: scene.ordered) == before)
    #expect(try StoreVerification.report(onStoreAt: url.path).findings == [])
    withExtendedLifetime(directory) {}
  }

  @Test func `the links of a damaged store with the earlier name are salvaged`() throws {
    let scene = try #require(Self.scenes.first)
    let source = try scene.model(isAfter: false)
    let directory = try TemporaryDirectory()
    let (url, output) = (directory.file("Store.sqlite"), directory.file("Salvaged.sqlite"))
    try Self.makeStore(at: url, source, .earlier)
    let before = try Self.links(in: url, "Z_2LABELS", "Z_6LABELS", "Z_2KINDS", ordered: scene.ordered)
    // An index leads nowhere, so SQLite can't read the store as a whole.
    try Self.change(
      url,
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 99999 WHERE name = 'Z_2LABELS_Z_6LABELS_INDEX'")
    _ = try StoreSalvage(storeURL: url, models: [source]).run(to: output)
    #expect(try Self.links(in: output, "Z_2LABELS", "Z_6LABELS", "Z_2KINDS", ordered: scene.ordered) == before)
    #expect(!(try StoreVerification.report(onStoreAt: output.path).hasFaults))
    withExtendedLifetime(directory) {}
  }

  @Test func `columns of links without a type are migrated without a warning and get one`() throws {
    let scene = try #require(Self.scenes.first)
    let (source, destination) = (try scene.model(isAfter: false), try scene.model(isAfter: true))
    for builder in Self.builders {
      let directory = try TemporaryDirectory()
      let url = directory.file("Store.sqlite")
      try Self.makeStore(at: url, source, .coreData)
      try Self.change(
        url,
        """
        ALTER TABLE Z_6KINDS RENAME TO old;
        CREATE TABLE Z_6KINDS ( Z_6LABELS, Z_2KINDS, Z_FOK_2KINDS, PRIMARY KEY (Z_6LABELS, Z_2KINDS) );
        INSERT INTO Z_6KINDS SELECT * FROM old;
        DROP TABLE old;
        """)
      let before = try Self.links(in: url, "Z_6KINDS", "Z_6LABELS", "Z_2KINDS", ordered: scene.ordered)
      let plan = try #require(
        try DeferredMigrationTests.migrate(
          url, from: source, to: destination, defers: false, builder: .always(builder)))
      #expect(plan.warnings == [] && plan.losses == [])
      #expect(try Self.links(in: url, "Z_6KINDS", "Z_6LABELS", "Z_2KINDS", ordered: scene.ordered) == before)
      #expect(try StoreVerification.report(onStoreAt: url.path).findings == [])
      withExtendedLifetime(directory) {}
    }
  }

  /// Checks that a real store becomes the same store, whatever its tables of links are called.
  static func check(_ run: CorpusRun) throws {
    for copy in run.copies {
      try Corpus.withCopy(of: run.store) { url in
        let model = try #require(try StoreModelCache.model(inStoreAt: url))
        let names = try OtherJoinNames.give(
          to: url, relationships: Set(model.entities.flatMap { $0.relationships.map(\.name) }))
        #expect(!names.isEmpty)
        let report = try StoreVerification.report(onStoreAt: url.path)
        #expect(report.findings.count { $0.kind == .otherTableName } == names.count)
        #expect(report.findings.filter { $0.severity < .note && $0.kind != .missingExternalFile } == [])
        let assistant = MigrationAssistant(url, run.history, builder: .always(copy.report.plan.builder))
        guard case .migrated = try assistant.migrateStore() else {
          Issue.record("\(run.name): expected a migration")
          return
        }
        #expect(try FileContents(of: url).differences(from: copy.file) == [], run.name)
      }
    }
  }

  private static func makeStore(at url: URL, _ model: ManagedObjectModel, _ naming: Naming) throws {
    try StoreGenerator.makeStore(at: url, model: model, objects: 12, seed: 8)
    guard naming == .earlier else { return }
    #expect(try OtherJoinNames.give(to: url, relationships: ["labels", "kinds"]) == ["Z_6KINDS": "Z_2LABELS"])
  }

  private static func change(_ url: URL, _ sql: String) throws {
    let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
    try connection.executeScript(sql)
    try connection.close()
  }
}
