import Foundation
import Heirloom
import TestSupport
import Testing

/// Stores whose rows can all be read though the file's map of its pages, or an index, is wrong.
struct DamagedPagesTests {
  /// A store of teams and persons, in files with a map of their pages as Core Data makes them.
  struct Place {
    let directory: TemporaryDirectory
    let url: URL
    let model: ManagedObjectModel

    init() throws {
      directory = try TemporaryDirectory()
      url = directory.file("Club.sqlite")
      model = try Self.model { _, _ in }
      try PersistentStore.create(at: url, model: model).close()
      try change { connection in
        let schema = PhysicalSchema(model: model)
        func number(_ entity: String) -> Int64 { Int64(schema.entity(named: entity)?.number ?? 0) }
        for key in 1...40 as ClosedRange<Int64> {
          try connection.execute(
            "INSERT INTO ZTEAM (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?1, ?2, 1, ?3)",
            [.integer(key), .integer(number("Team")), .text("team \(key)")])
        }
        for key in 1...400 as ClosedRange<Int64> {
          try connection.execute(
            "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME, ZTEAM) VALUES (?1, ?2, 1, ?3, ?4)",
            [
              .integer(key), .integer(number(key % 4 == 0 ? "Coach" : "Person")),
              .text("person \(key) " + String(repeating: "x", count: 100)), .integer(key % 40 + 1),
            ])
        }
        for key in 1...5 as ClosedRange<Int64> {
          try connection.execute(
            "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?1, ?2, 1, ?3)",
            [.integer(key), .integer(number("Tag")), .text("tag \(key)")])
        }
        let (table, owner, target) = try Self.links(model)
        for key in 1...200 as ClosedRange<Int64> {
          try connection.execute(
            "INSERT INTO \(table) (\(owner), \(target)) VALUES (?1, ?2)", [.integer(key), .integer(key % 5 + 1)])
        }
        try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_NAME WHEN 'Team' THEN 40 ELSE 400 END")
      }
    }

    static func model(
      _ change: (inout EntityDescription, inout EntityDescription) throws -> Void
    ) throws -> ManagedObjectModel {
      var team = Make.entity("Team", [Make.attribute("name")], [Make.toMany("persons", "Person", "team")])
      var name = Make.attribute("name")
      name.isOptional = true
      var person = Make.entity(
        "Person", [name], [Make.toOne("team", "Team", "persons"), Make.toMany("tags", "Tag", "persons")])
      try change(&team, &person)
      let tag = Make.entity("Tag", [Make.attribute("name")], [Make.toMany("persons", "Person", "tags")])
      return try ManagedObjectModel(entities: [team, person, Make.entity("Coach", parent: "Person"), tag])
    }

    static func links(_ model: ManagedObjectModel) throws -> (table: String, person: String, tag: String) {
      guard
        case .join(let table, let owner, let target, _)? = PhysicalSchema(model: model).storage(
          ofRelationship: "tags", in: "Person")
      else { throw CocoaError(.featureUnsupported) }
      return (table, owner, target)
    }

    /// Changes rows of a table while SQLite doesn't know of one of its indexes, which then has what it had.
    func change(_ sql: String, behind index: String) throws {
      let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
      let columns = "type, name, tbl_name, rootpage, sql"
      let row = try #require(
        try connection.rows("SELECT \(columns) FROM sqlite_schema WHERE name = '\(index)'").first, "\(index)")
      try connection.execute("PRAGMA writable_schema = ON")
      // Without the entry of a constraint's index, the table's statement would not be read.
      let statement = try connection.firstValue(
        "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1", [row[2]])?.text
      let bare = statement.map { $0.replacing(/, PRIMARY KEY \(.*\) *\)/, with: ")") }
      func setStatement(_ sql: String?) throws {
        try connection.execute(
          "UPDATE sqlite_schema SET sql = ?1 WHERE type = 'table' AND name = ?2",
          [.text(try #require(sql)), row[2]])
      }
      if row[4] == .null { try setStatement(bare) }
      try connection.execute("DELETE FROM sqlite_schema WHERE name = '\(index)'")
      try connection.execute("PRAGMA writable_schema = RESET")
      try connection.executeScript(sql)
      try connection.execute("PRAGMA writable_schema = ON")
      if row[4] == .null { try setStatement(statement) }
      try connection.execute("INSERT INTO sqlite_schema (\(columns)) VALUES (?1, ?2, ?3, ?4, ?5)", row)
      try connection.execute("PRAGMA writable_schema = RESET")
      _ = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
      try connection.close()
    }

    /// Everything ends up in the main file.
    func change(_ body: (Connection) throws -> Void) throws {
      let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
      try connection.execute("BEGIN")
      try body(connection)
      try connection.execute("COMMIT")
      _ = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
      try connection.close()
    }

    func read<Value>(_ body: (Connection) throws -> Value) throws -> Value {
      try body(try Connection(path: url.path, mode: .readWrite, options: .building))
    }

    func assistant(to later: ManagedObjectModel) throws -> MigrationAssistant {
      MigrationAssistant(url, from: model, to: later)
    }
  }

  // MARK: The map of pages

  private static func grown() throws -> ManagedObjectModel {
    try Place.model { team, person in
      team.attributes.append(Make.attribute("city"))
      person.attributes.append(Make.attribute("nick"))
      person.indexes = [
        FetchIndexDescription(
          name: "byName", elements: [FetchIndexElementDescription(subject: .property("name"))])
      ]
    }
  }

  @Test func `a wrong entry of the page map keeps no migration from its end`() throws {
    let place = try Place()
    let whole = try Data(contentsOf: place.url)
    let rows = try place.read { try $0.rows("SELECT Z_PK, ZNAME, ZTEAM FROM ZPERSON ORDER BY Z_PK") }
    let pageSize = Int(whole[16]) << 8 | Int(whole[17])
    let later = try Self.grown()
    var told = 0
    // The second page begins with the entries of the third page and of those after it, five bytes each.
    for page in 3...whole.count / pageSize {
      let isWhole = page == 3
      var bytes = whole
      if !isWhole { bytes[pageSize + 5 * (page - 3) + 4] ^= 0x10 }
      try bytes.write(to: place.url)
      for suffix in ["-wal", "-shm", ".heirloom"] {
        try? FileManager.default.removeItem(atPath: place.url.path + suffix)
      }
      _ = try #require(try place.assistant(to: later).plan(), "page \(page)")
      guard case .migrated(let report) = try place.assistant(to: later).migrateStore() else {
        Issue.record("expected a migration with page \(page)")
        continue
      }
      let (found, check) = try place.read { connection in
        (
          try connection.rows("SELECT Z_PK, ZNAME, ZTEAM FROM ZPERSON ORDER BY Z_PK"),
          try connection.firstValue("PRAGMA integrity_check")?.text
        )
      }
      #expect(found == rows, "page \(page)")
      #expect(check == "ok", "page \(page): \(check ?? "")")
      if report.plan.warnings.contains(where: { $0.contains("pointer map") }) {
        told += 1
        #expect(report.plan.builder == .rebuild)
      }
      #expect(!isWhole || report.plan.warnings.isEmpty)
    }
    #expect(told > 10)
  }

  // MARK: Indexes

  /// A change to the rows that an index doesn't learn of.
  enum Damage: CaseIterable, Sendable {
    case linkLacking, linkSwapped, entityLacking, entitySwapped, pairLacking, pairSwapped

    /// True if the index has as many entries as before.
    var isSwapped: Bool { [.linkSwapped, .entitySwapped, .pairSwapped].contains(self) }

    func apply(to place: Place) throws {
      let schema = PhysicalSchema(model: place.model)
      let (table, person, tag) = try Place.links(place.model)
      let coach = schema.entity(named: "Coach")?.number ?? 0
      func index(_ table: String, on column: String) throws -> String {
        try #require(schema.indexes.first { $0.table == table && $0.columns.first == column }).name
      }
      let more =
        "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME, ZTEAM) SELECT Z_PK + 1000, \(coach), 1, 'late', ZTEAM FROM"
        + " ZPERSON WHERE Z_PK <= 30; UPDATE Z_PRIMARYKEY SET Z_MAX = 1400 WHERE Z_NAME = 'Person'"
      switch self {
      case .linkLacking: try place.change(more, behind: index("ZPERSON", on: "ZTEAM"))
      case .linkSwapped:
        try place.change(
          "UPDATE ZPERSON SET ZTEAM = 41 - ZTEAM WHERE Z_PK <= 30", behind: index("ZPERSON", on: "ZTEAM"))
      case .entityLacking: try place.change(more, behind: index("ZPERSON", on: "Z_ENT"))
      case .entitySwapped:
        try place.change(
          "UPDATE ZPERSON SET Z_ENT = \(coach) WHERE Z_PK <= 30", behind: index("ZPERSON", on: "Z_ENT"))
      case .pairLacking:
        try place.change(
          "INSERT INTO \(table) (\(person), \(tag)) SELECT Z_PK, 1 FROM ZPERSON WHERE Z_PK BETWEEN 301 AND 330",
          behind: "sqlite_autoindex_\(table)_1")
      case .pairSwapped:
        try place.change(
          "UPDATE \(table) SET \(person) = \(person) + 300 WHERE \(person) <= 30",
          behind: "sqlite_autoindex_\(table)_1")
      }
    }
  }

  enum Change: String, CaseIterable, Sendable {
    case attributeAdded, attributeDropped, attributeRequired, teamDropped, coachDropped, linkDropped, linkSingle
    case linkOrdered, linkRequired, tagsDropped, tagsSingle, personsCounted

    func model() throws -> ManagedObjectModel {
      if self == .coachDropped {
        return try ManagedObjectModel(
          entities: Place.model { _, _ in }.entities.filter { $0.name != "Coach" })
      }
      if self == .tagsSingle {
        var entities = try Place.model { _, person in
          person.relationships[1] = Make.toOne("tags", "Tag", "persons")
        }.entities
        entities.removeAll { $0.name == "none" }
        return try ManagedObjectModel(entities: entities)
      }
      if self == .teamDropped || self == .tagsDropped {
        let entities = try Place.model { _, _ in }.entities.filter {
          $0.name != (self == .teamDropped ? "Team" : "Tag")
        }
        return try ManagedObjectModel(
          entities: entities.map { entity in
            var entity = entity
            entity.relationships.removeAll { $0.name == (self == .teamDropped ? "team" : "tags") }
            return entity
          })
      }
      return try Place.model { team, person in
        switch self {
        case .attributeAdded: person.attributes.append(Make.attribute("nick"))
        case .attributeDropped: person.attributes = []
        case .attributeRequired: person.attributes[0].isOptional = false
        case .linkDropped:
          team.relationships = []
          person.relationships.removeFirst()
        case .linkSingle: team.relationships = [Make.toOne("persons", "Person", "team")]
        case .linkOrdered: team.relationships = [Make.toMany("persons", "Person", "team", ordered: true)]
        case .linkRequired: team.relationships[0].isOptional = false
        case .personsCounted:
          var count = Make.attribute("count", .integer64)
          count.derivation = DerivedAttributeDescription(
            derivationExpression: .function(operand: nil, selector: "count:", arguments: [.keyPath("persons")]))
          team.attributes.append(count)
        case .teamDropped, .coachDropped, .tagsDropped, .tagsSingle: break
        }
      }
    }
  }

  /// Columns are in the order of their names.
  private static func rows(of place: Place, _ model: ManagedObjectModel) throws -> [String: [[SQLiteValue]]] {
    try place.read { connection in
      var rows: [String: [[SQLiteValue]]] = [:]
      for table in PhysicalSchema(model: model).tables {
        let columns = table.columns.map { quote($0.name) }.sorted().joined(separator: ", ")
        rows[table.name] = try connection.rows(
          "SELECT \(columns) FROM \(table.name) NOT INDEXED ORDER BY \(columns)")
      }
      return rows
    }
  }

  @Test(
    .slow("stores, each migrated and held against another"),
    arguments: LongTests.pairs(of: Change.allCases, Damage.allCases, every: 5))
  func `a plan and a migration are those of the store with right indexes`(_ change: Change, _ damage: Damage) throws {
    let (whole, place) = (try Place(), try Place())
    let later = try change.model()
    for place in [whole, place] { try damage.apply(to: place) }
    try whole.read { try $0.execute("REINDEX") }
    #expect(try place.read { try $0.firstValue("PRAGMA integrity_check")?.text } != "ok")
    let (expected, plan) = (
      try #require(try whole.assistant(to: later).plan()), try #require(try place.assistant(to: later).plan())
    )
    func told(_ plan: MigrationPlan) -> [String] {
      plan.losses.map { "\($0)" } + plan.blockers.map { "\($0)" } + plan.rows.map { "\($0)" }
        + plan.warnings.filter { !$0.contains("the index ") && !$0.contains("an index ") }
    }
    // Rows that are neither queried nor written are left as they are, and not counted.
    let isTold = plan.warnings.contains { $0.contains("index") }
    if isTold || plan.builder == .rebuild { #expect(told(plan) == told(expected)) }
    #expect(plan.losses == expected.losses && plan.blockers.count == expected.blockers.count)
    guard plan.blockers.isEmpty else { return }
    guard case .migrated = try whole.assistant(to: later).migrateStore(),
      case .migrated(let report) = try place.assistant(to: later).migrateStore()
    else {
      Issue.record("expected a migration")
      return
    }
    #expect(report.plan.losses == plan.losses && report.plan.warnings == plan.warnings)
    #expect(try Self.rows(of: place, later) == Self.rows(of: whole, later))
    if isTold {
      #expect(report.plan.builder == .rebuild)
      #expect(try place.read { try $0.firstValue("PRAGMA integrity_check")?.text } == "ok")
    }
  }

  @Test func `an index that lacks entries is named with their number`() throws {
    let place = try Place()
    try Damage.linkLacking.apply(to: place)
    let plan = try #require(try place.assistant(to: Change.linkDropped.model()).plan())
    #expect(
      plan.warnings.contains {
        $0.contains("of the table ZPERSON lacks 30 of 430 entries; it is rebuilt") && $0.contains("ZPERSON_ZTEAM")
      }, "\(plan.warnings)")
  }

  @Test(arguments: [true, false])
  func `pages that can't be read cost nothing where they are an index's, and are named where they are a table's`(
    isIndex: Bool
  ) throws {
    let place = try Place()
    let later = try Change.linkDropped.model()
    let rows = try place.read { try $0.rows("SELECT Z_PK, ZNAME FROM ZPERSON ORDER BY Z_PK") }
    let root = try place.read { connection in
      try connection.firstInteger(
        "SELECT rootpage FROM sqlite_schema WHERE "
          + (isIndex ? "type = 'index' AND sql LIKE '%ON ZPERSON%ZTEAM%'" : "type = 'table' AND name = 'ZPERSON'"))
    }
    var bytes = try Data(contentsOf: place.url)
    let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
    bytes[(Int(try #require(root)) - 1) * pageSize] = 0xff
    try bytes.write(to: place.url)
    let assistant = try place.assistant(to: later)
    guard isIndex else {
      let calls: [() throws -> Void] = [{ _ = try assistant.plan() }, { _ = try assistant.migrateStore() }]
      for call in calls {
        let error = try #require(#expect(throws: MigrationAssistantError.self) { try call() })
        #expect("\(error)".contains("rows can't be read from ZPERSON;"), "\(error)")
        #expect(error.recoverySuggestion?.contains("alvage") == true, "\(error.recoverySuggestion ?? "")")
      }
      return
    }
    let plan = try #require(try assistant.plan())
    #expect(plan.warnings.contains { $0.contains("of the table ZPERSON can't be read; it is rebuilt") })
    let report = try assistant.migrate()
    #expect(report.plan.warnings == plan.warnings && report.plan.losses == plan.losses)
    let (found, check) = try place.read { connection in
      (
        try connection.rows("SELECT Z_PK, ZNAME FROM ZPERSON ORDER BY Z_PK"),
        try connection.firstValue("PRAGMA integrity_check")?.text
      )
    }
    #expect(found == rows && check == "ok")
  }

  final class Plain: EntityMigrationPolicy {}

  @Test func `code that would find objects by a damaged index is not run, and the plan says the same`() throws {
    let place = try Place()
    try Damage.linkLacking.apply(to: place)
    let later = try Change.attributeAdded.model()
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [
      try MappingInference(
        from: place.model, to: later, given: [EntityMapping(from: "Person", to: "Person", policy: Plain.self)]
      ).mappingModel()
    ]
    let assistant = MigrationAssistant(place.url, from: place.model, to: later, configuration)
    let calls: [() throws -> Void] = [{ _ = try assistant.plan() }, { _ = try assistant.migrateStore() }]
    for call in calls {
      let error = try #require(#expect(throws: MigrationAssistantError.self) { try call() })
      #expect("\(error)".contains("ZPERSON lacks 30 of 430 entries"), "\(error)")
      #expect(error.recoverySuggestion?.contains("alvage") == true, "\(error.recoverySuggestion ?? "")")
    }
    #expect(try place.read { try $0.firstInteger("SELECT COUNT(*) FROM ZPERSON NOT INDEXED") } == 430)
  }
}
