import Foundation
import Heirloom
import HeirloomSupport
import TestSupport
import Testing

/// Rows that don't fit, with a decision about them: nothing disappears without being counted.
struct DataDecisionTests {
  /// Has every kind of link to and from tags, whose names are to be unique.
  static func graph(unique: Bool, required: Bool = false) -> [EntityDescription] {
    let constraints = unique ? [["name"]] : []
    return [
      Make.entity(
        "Tag",
        [
          Make.attribute("date", .date), Make.attribute("memo"), Make.attribute("name"),
          Make.attribute("size", .integer32),
        ],
        [
          Make.toOne("badge", "Badge", "tag"), Make.toMany("children", "Tag", "parent", ordered: true),
          Make.toMany("friends", "Tag", "friends"), Make.toMany("marks", "Note", "marked", ordered: true),
          Make.toMany("notes", "Note", "tag", ordered: true), Make.toOne("parent", "Tag", "children"),
          Make.toMany("loose", "Leaf"),
        ], unique: constraints),
      Make.entity("SubTag", [Make.attribute("extra")], [Make.toMany("subs", "Note", "sub")], parent: "Tag"),
      Make.entity(
        "Note", [Make.attribute("title")],
        [
          Make.toMany("marked", "Tag", "marks"), Make.toOne("sub", "SubTag", "subs"),
          Make.toOne("tag", "Tag", "notes", optional: !required),
        ]),
      Make.entity("Badge", [Make.attribute("number", .integer16)], [Make.toOne("tag", "Tag", "badge")]),
      Make.entity("Leaf", [Make.attribute("number", .integer16)], [Make.toOne("note", "Note", optional: true)]),
    ]
  }

  static func makeStore(
    _ entities: [EntityDescription], in directory: TemporaryDirectory, objects: Int, names: Int, seed: UInt64
  ) throws -> (url: URL, model: ManagedObjectModel) {
    let model = try ManagedObjectModel(entities: entities)
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: model, objects: objects, seed: seed)
    let connection = try Connection(path: url.path, mode: .readWrite)
    try connection.registerCoreDataFunctions()
    try connection.execute(
      "UPDATE ZTAG SET ZNAME = CASE WHEN (Z_PK * 7 + \(seed)) % 11 = 0 THEN NULL ELSE 'n' || (Z_PK * 31 % \(names)) END,"
        + " ZDATE = CASE WHEN Z_PK % 5 = 0 THEN NULL ELSE (Z_PK * 7919) % 101 END,"
        + " ZMEMO = CASE WHEN Z_PK % 3 = 0 THEN NULL ELSE 'm' || Z_PK END")
    try connection.close()
    return (url, model)
  }

  static func assistant(
    _ url: URL, _ source: ManagedObjectModel, _ destination: ManagedObjectModel, _ decisions: [DataDecision],
    builder: BuilderChoice = .automatic, account: (@Sendable (AccountSources) throws -> Void)? = nil
  ) -> MigrationAssistant {
    var configuration = MigrationAssistant.Configuration()
    (configuration.decisions, configuration.account) = (decisions, account)
    return MigrationAssistant(url, from: source, to: destination, configuration, builder: builder)
  }

  /// Without the faults that generated stores always have.
  static func faults(_ url: URL) throws -> [String] {
    try StoreVerification.report(onStoreAt: url.path).findings
      .filter { $0.severity < .note && $0.kind != .unusedExternalFile }.map(\.message)
  }

  static let choices: [DataDecision.Choice] = [
    .keepNewest(), .keepNewest(by: "date"), .merge(), .merge(by: "date"), .quarantine,
  ]

  /// `names` is the number of different names of tags.
  struct Amount: Sendable {
    let objects: Int
    let names: Int
    let seed: UInt64
  }

  static let amounts: [Amount] = {
    let few =
      [(0, 3), (1, 1), (6, 100), (9, 3), (14, 1)].map { Amount(objects: $0.0, names: $0.1, seed: 5) }
      // A tag takes over the link of one merged into it to itself, behind one whose parent became the same tag.
      + [Amount(objects: 3, names: 1, seed: 0)]
    guard LongTests.areOn else { return few }
    return few + (0..<60).map { Amount(objects: 3 + Int($0 * 7 % 23), names: 1 + Int($0 % 9), seed: $0) }
  }()

  @Test(arguments: LongTests.pairs(of: choices, amounts, every: 3))
  func `kept rows and rows counted by decision are the rows there were, and a second run does nothing`(
    choice: DataDecision.Choice, amount: Amount
  ) throws {
    let directory = try TemporaryDirectory()
    let (url, source) = try Self.makeStore(
      Self.graph(unique: false), in: directory, objects: amount.objects, names: amount.names, seed: amount.seed)
    let faultsBefore = Set(try Self.faults(url))
    let destination = try ManagedObjectModel(entities: Self.graph(unique: true))
    let before = try TagGraph(url)
    let bytes = try Data(contentsOf: url)

    let undecided = try #require(try Self.assistant(url, source, destination, []).plan())
    let surplus = before.surplus
    #expect(undecided.blockers.map(\.rows) == (surplus > 0 ? [surplus] : []))
    #expect(undecided.blockers.allSatisfy { $0.choices == [.newest, .merge, .quarantine] })
    #expect(try Data(contentsOf: url) == bytes)

    let decision = DataDecision(entity: "Tag", property: "name", choice)
    let assistant = Self.assistant(url, source, destination, [decision])
    let plan = try #require(try assistant.plan())
    #expect(plan.blockers.isEmpty)
    #expect(try Data(contentsOf: url) == bytes)
    let report = try assistant.migrate()
    #expect(report.plan.decisions == plan.decisions)
    #expect(report.plan.losses == plan.losses)
    let outcome = try #require(report.plan.decisions.first)
    #expect(outcome.removed == surplus)
    let counted = [outcome.dropped, outcome.merged, outcome.quarantined]
    #expect(counted.filter { $0 > 0 }.count <= 1)
    let after = try TagGraph(url)
    #expect(Int64(after.tags.count) + outcome.removed == Int64(before.tags.count))
    for rows in report.plan.rows where ["Tag", "SubTag"].contains(rows.entity) {
      #expect(rows.after == Int64(after.tags.values.filter { $0.entity == rows.entity }.count))
    }
    #expect(after == before.expected(choice))
    #expect(Set(try Self.faults(url)).subtracting(faultsBefore) == [])
    #expect(report.quarantine.isEmpty == (outcome.quarantined == 0))
    if choice == .quarantine { try checkQuarantine(report, before: before, after: after) }

    let result = try Data(contentsOf: url)
    try Self.assistant(url, source, destination, [decision]).requireNothingToDo()
    #expect(try Data(contentsOf: url) == result)
    withExtendedLifetime(directory) {}
  }

  private func checkQuarantine(_ report: MigrationReport, before: TagGraph, after: TagGraph) throws {
    var keys: [Int64] = []
    for url in report.quarantine {
      #expect(url.deletingLastPathComponent().lastPathComponent == "quarantine")
      #expect(url.lastPathComponent == report.previousVersion.id + ".jsonl")
      for line in try String(contentsOf: url, encoding: .utf8).split(separator: "\n") {
        let row = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let key = try #require(row["key"] as? NSNumber).int64Value
        keys.append(key)
        let tag = try #require(before.tags[key])
        #expect(row["entity"] as? String == tag.entity)
        #expect((row["objectID"] as? String)?.hasSuffix("/\(tag.entity)/p\(key)") == true)
        let attributes = try #require(row["attributes"] as? [String: Any])
        #expect(attributes["name"] as? String == tag.name)
        #expect(attributes["memo"] as? String == tag.memo)
        #expect((attributes["date"] as? NSNumber)?.doubleValue == tag.date)
        let links = try #require(row["relationships"] as? [String: Any])
        #expect((links["parent"] as? String)?.split(separator: "p").last.flatMap { Int64($0) } == tag.parent)
        #expect((links["notes"] as? [String])?.count == before.notes[key, default: []].count)
        #expect((row["reason"] as? String)?.contains("equal to") == true)
        #expect(row["decision"] as? String == "Tag.name=quarantine")
      }
    }
    #expect(keys.sorted() == Set(before.tags.keys).subtracting(after.tags.keys).sorted())
  }

  @Test func `the file names an object that a row leads to and that isn't there`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(optional: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Make.entity("A", [Make.attribute("name", optional: optional)], [Make.toOne("b", "B")]), Make.entity("B"),
      ])
    }
    let (source, destination) = (try model(optional: true), try model(optional: false))
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: source))
      _ = try context.insert("A")
      try context.save()
    }
    try Connection(path: url.path, mode: .readWrite).execute("UPDATE ZA SET ZB = 77")
    let decision = DataDecision(entity: "A", property: "name", .quarantine)
    let report = try Self.assistant(url, source, destination, [decision]).migrate()
    let texts = try report.quarantine.map { try String(contentsOf: $0, encoding: .utf8) }
    #expect(texts.count == 1 && texts.allSatisfy { $0.contains("/B/p77\"") })
  }

  @Test(arguments: choices, [3, 8, 17])
  func `both builders carry decisions out alike`(choice: DataDecision.Choice, seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    let (url, source) = try Self.makeStore(
      Self.graph(unique: false), in: directory, objects: 12, names: 4, seed: seed)
    let destination = try ManagedObjectModel(entities: Self.graph(unique: true))
    var configuration = MigrationAssistant.Configuration()
    configuration.decisions = [DataDecision(entity: "Tag", property: "name", choice)]
    let plan = try BuilderTests.compare(
      url, in: directory, history: ModelHistory(current: destination, earlier: [("1", source)]),
      configuration: configuration)
    #expect(plan?.decisions.first?.removed ?? 0 > 0)
    withExtendedLifetime(directory) {}
  }

  // MARK: Values

  @Test(arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter], [0, 1, 9])
  func `rows without a required value get one, or go into quarantine`(
    builder: MigrationPlan.Builder, objects: Int
  ) throws {
    for isNew in [false, true] {
      for choice in [DataDecision.Choice.fill(.string("?")), .quarantine] {
        let directory = try TemporaryDirectory()
        let old = isNew ? [] : [Make.attribute("x")]
        let before = [
          Make.entity("A", old + [Make.attribute("y")], [Make.toMany("bs", "B", "a")]),
          Make.entity("B", [Make.attribute("z")], [Make.toOne("a", "A", "bs")]),
        ]
        let after = [
          Make.entity("A", [Make.attribute("x", optional: false), Make.attribute("y")], [Make.toMany("bs", "B", "a")]),
          before[1],
        ]
        let source = try ManagedObjectModel(entities: before)
        let destination = try ManagedObjectModel(entities: after)
        let url = directory.file("Store.sqlite")
        try StoreGenerator.makeStore(at: url, model: source, objects: objects, seed: 2)
        let connection = try Connection(reading: url)
        let condition = isNew ? "1" : "ZX IS NULL"
        let lacking = try connection.firstInteger("SELECT COUNT(*) FROM ZA WHERE \(condition)") ?? 0
        let linked =
          try connection.firstInteger(
            "SELECT COUNT(*) FROM ZB WHERE ZA IN (SELECT Z_PK FROM ZA WHERE \(condition))") ?? 0
        try connection.close()
        let decision = DataDecision(entity: "A", property: "x", choice)
        let assistant = Self.assistant(url, source, destination, [decision], builder: .always(builder))
        let report = try assistant.migrate()
        let outcome = try #require(report.plan.decisions.first)
        let migrated = try Connection(reading: url)
        let rows = try migrated.firstInteger("SELECT COUNT(*) FROM ZA") ?? 0
        let filled = try migrated.firstInteger("SELECT COUNT(*) FROM ZA WHERE ZX = '?'") ?? 0
        #expect(try migrated.firstInteger("SELECT COUNT(*) FROM ZA WHERE ZX IS NULL") == 0)
        if choice == .quarantine {
          #expect(outcome.quarantined == lacking && rows == Int64(objects) - lacking)
          #expect(report.plan.losses.first { $0.property == "a" }?.rows ?? 0 == linked)
          #expect(report.quarantine.count == (lacking > 0 ? 1 : 0))
        } else {
          #expect(outcome.filled == lacking && filled == lacking && rows == Int64(objects))
          #expect(report.plan.losses.isEmpty)
        }
        try migrated.close()
        #expect(try Self.faults(url) == [])
        withExtendedLifetime(directory) {}
      }
    }
  }

  @Test(arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter])
  func `numbers that are too large get another value, or their rows go into quarantine`(
    builder: MigrationPlan.Builder
  ) throws {
    for choice in [DataDecision.Choice.fill(.integer(-1)), .quarantine] {
      let directory = try TemporaryDirectory()
      let source = try ManagedObjectModel(entities: [Make.entity("A", [Make.attribute("x", .integer64)])])
      let destination = try ManagedObjectModel(entities: [Make.entity("A", [Make.attribute("x", .integer16)])])
      let url = directory.file("Store.sqlite")
      try StoreGenerator.makeStore(at: url, model: source, objects: 9, seed: 2)
      let connection = try Connection(path: url.path, mode: .readWrite)
      try connection.execute("UPDATE ZA SET ZX = Z_PK")
      try connection.execute("UPDATE ZA SET ZX = 40000 WHERE Z_PK IN (SELECT Z_PK FROM ZA ORDER BY Z_PK LIMIT 2)")
      try connection.execute("UPDATE ZA SET ZX = NULL WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZA)")
      let kept = try connection.rows("SELECT Z_PK, ZX FROM ZA WHERE ZX IS NOT 40000 ORDER BY 1")
      try connection.close()
      let decision = DataDecision(entity: "A", property: "x", choice)
      let assistant = Self.assistant(url, source, destination, [decision], builder: .always(builder))
      let report = try assistant.migrate()
      let migrated = try Connection(reading: url)
      #expect(try migrated.rows("SELECT Z_PK, ZX FROM ZA WHERE ZX IS NOT -1 ORDER BY 1") == kept)
      let outcome = try #require(report.plan.decisions.first)
      #expect(choice == .quarantine ? outcome.quarantined == 2 : outcome.filled == 2)
      #expect(report.plan.losses.map(\.rows) == [2])
      #expect(
        try migrated.firstInteger("SELECT COUNT(*) FROM ZA WHERE ZX = -1") == (choice == .quarantine ? 0 : 2))
      try migrated.close()
      withExtendedLifetime(directory) {}
    }
  }

  // MARK: Consequences of decisions

  @Test(arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter])
  func `objects that must be linked to one that goes are a blocker themselves, and may follow it`(
    builder: MigrationPlan.Builder
  ) throws {
    let directory = try TemporaryDirectory()
    let (url, source) = try Self.makeStore(
      Self.graph(unique: false, required: true), in: directory, objects: 12, names: 3, seed: 4)
    let destination = try ManagedObjectModel(entities: Self.graph(unique: true, required: true))
    let before = try TagGraph(url)
    let newest = DataDecision(entity: "Tag", property: "name", .keepNewest())
    let gone = Set(before.tags.keys).subtracting(before.expected(.keepNewest()).tags.keys)
    let lost = Int64(gone.reduce(0) { $0 + before.notes[$1, default: []].count })
    #expect(lost > 0)
    let plan = try #require(try Self.assistant(url, source, destination, [newest]).plan())
    #expect(
      plan.blockers.map { "\($0.kind) \($0.entity).\($0.property ?? "") \($0.rows)" } == [
        "missingLink Note.tag \(lost)"
      ])
    #expect(plan.blockers.first?.choices == [.new, .quarantine])
    let bytes = try Data(contentsOf: url)
    do {
      _ = try Self.assistant(url, source, destination, [newest]).migrateStore()
      Issue.record("migrated in spite of a blocker")
    } catch MigrationAssistantError.decisionNeeded {
      #expect(try Data(contentsOf: url) == bytes)
    }
    // Merging leaves nothing without its link.
    let merge = DataDecision(entity: "Tag", property: "name", .merge())
    let merging = try #require(try Self.assistant(url, source, destination, [merge]).plan())
    #expect(merging.blockers.isEmpty)
    let both = [newest, DataDecision(entity: "Note", property: "tag", .quarantine)]
    let assistant = Self.assistant(url, source, destination, both, builder: .always(builder))
    let report = try assistant.migrate()
    #expect(report.plan.decisions.map(\.removed) == [Int64(gone.count), lost])
    #expect(report.plan.decisions[1].quarantined == lost)
    let migrated = try Connection(reading: url)
    #expect(try migrated.firstInteger("SELECT COUNT(*) FROM ZNOTE WHERE ZTAG IS NULL") == 0)
    #expect(try migrated.firstInteger("SELECT COUNT(*) FROM ZNOTE") == 12 - lost)
    try migrated.close()
    #expect(try Self.faults(url) == [])
    withExtendedLifetime(directory) {}
  }

  @Test(arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter])
  func `merging makes others equal whose constraint is about what was merged`(builder: MigrationPlan.Builder) throws {
    func entities(unique: Bool) -> [EntityDescription] {
      [
        Make.entity(
          "Album", [Make.attribute("code"), Make.attribute("name")], [Make.toMany("photos", "Photo", "album")],
          unique: unique ? [["name"], ["code"]] : []),
        Make.entity(
          "Photo", [Make.attribute("number", .integer32), Make.attribute("text")],
          [Make.toOne("album", "Album", "photos")],
          unique: unique ? [["album", "number"]] : []),
      ]
    }
    let source = try ManagedObjectModel(entities: entities(unique: false))
    let destination = try ManagedObjectModel(entities: entities(unique: true))
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: source, objects: 0, seed: 2)
    let connection = try Connection(path: url.path, mode: .readWrite)
    try connection.executeScript(
      """
      INSERT INTO ZALBUM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCODE) VALUES
        (1, 1, 1, 'a', 'x'), (2, 1, 1, 'a', NULL), (3, 1, 1, 'c', 'x'), (4, 1, 1, 'd', 'y');
      INSERT INTO ZPHOTO (Z_PK, Z_ENT, Z_OPT, ZALBUM, ZNUMBER, ZTEXT) VALUES
        (1, 2, 1, 1, 1, 'first'), (2, 2, 1, 2, 1, NULL), (3, 2, 1, 3, 1, 'third'), (4, 2, 1, 4, 1, 'fourth'),
        (5, 2, 1, 1, 2, 'fifth');
      UPDATE Z_PRIMARYKEY SET Z_MAX = 5;
      """)
    try connection.close()
    let name = DataDecision(entity: "Album", property: "name", .merge())
    let first = try #require(try Self.assistant(url, source, destination, [name]).plan())
    // Album 2 takes the code of album 1, which album 3 also has, and photos 1 and 2 come into one album.
    #expect(
      first.blockers.map { "\($0.entity).\($0.property ?? "") \($0.rows)" }.sorted()
        == ["Album.code 1", "Photo.album, number 1"])
    let all = [
      name, DataDecision(entity: "Album", property: "code", .merge()),
      DataDecision(entity: "Photo", constraint: ["number", "album"], .merge()),
    ]
    let assistant = Self.assistant(url, source, destination, all, builder: .always(builder))
    let report = try assistant.migrate()
    #expect(report.plan.decisions.map(\.merged) == [1, 1, 2])
    let migrated = try Connection(reading: url)
    let text = SQLiteValue.text
    #expect(
      try migrated.rows("SELECT Z_PK, ZNAME, ZCODE FROM ZALBUM ORDER BY 1")
        == [[.integer(3), text("c"), text("x")], [.integer(4), text("d"), text("y")]])
    #expect(
      try migrated.rows("SELECT Z_PK, ZALBUM, ZNUMBER, ZTEXT FROM ZPHOTO ORDER BY 1") == [
        [.integer(3), .integer(3), .integer(1), text("third")],
        [.integer(4), .integer(4), .integer(1), text("fourth")],
        [.integer(5), .integer(3), .integer(2), text("fifth")],
      ])
    try migrated.close()
    #expect(try Self.faults(url) == [])
    withExtendedLifetime(directory) {}
  }

  @Test func `a long chain of required links goes as a whole, to a file of its own`() throws {
    func entities(unique: Bool) -> [EntityDescription] {
      [
        Make.entity(
          "Link", [Make.attribute("name")],
          [Make.toMany("next", "Link", "before"), Make.toOne("before", "Link", "next", optional: false)],
          unique: unique ? [["name"]] : [])
      ]
    }
    let source = try ManagedObjectModel(entities: entities(unique: false))
    let destination = try ManagedObjectModel(entities: entities(unique: true))
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: source, objects: 0, seed: 2)
    try Connection.execute(
      "INSERT INTO ZLINK (Z_PK, Z_ENT, Z_OPT, ZNAME, ZBEFORE) SELECT value, 1, 1, CASE WHEN value < 3 THEN 'twice' END,"
        + " MAX(1, value - 1) FROM generate_series(1, 200)".replacingOccurrences(
          of: "generate_series(1, 200)",
          with:
            "(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 200) SELECT value FROM n)"
        ), "UPDATE Z_PRIMARYKEY SET Z_MAX = 200", on: url.path)
    let decisions = [
      DataDecision(entity: "Link", property: "name", .quarantine),
      DataDecision(entity: "Link", property: "before", .quarantine),
    ]
    let assistant = Self.assistant(url, source, destination, decisions)
    let report = try assistant.migrate()
    // The first is equal to the second and goes; the second leads to the first, and so on.
    #expect(report.plan.decisions.map(\.quarantined) == [1, 199])
    #expect(report.plan.rows.map(\.after) == [0])
    let lines = try report.quarantine.map { try String(contentsOf: $0, encoding: .utf8).split(separator: "\n").count }
    #expect(lines == [200])
    withExtendedLifetime(directory) {}
  }
}
