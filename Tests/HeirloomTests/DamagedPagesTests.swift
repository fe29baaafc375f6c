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
        try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_NAME WHEN 'Team' THEN 40 ELSE 400 END")
      }
    }

    /// Makes the model of the store, after a change to its entities.
    static func model(
      _ change: (inout EntityDescription, inout EntityDescription) throws -> Void
    ) throws -> ManagedObjectModel {
      var team = Make.entity("Team", [Make.attribute("name")], [Make.toMany("persons", "Person", "team")])
      var name = Make.attribute("name")
      name.isOptional = true
      var person = Make.entity("Person", [name], [Make.toOne("team", "Team", "persons")])
      try change(&team, &person)
      return try ManagedObjectModel(entities: [team, person, Make.entity("Coach", parent: "Person")])
    }

    /// Changes the store by SQL; everything ends up in the main file.
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
      MigrationAssistant(
        storeURL: url, modelController: ModelController(storeURL: url),
        history: ModelHistory(current: later, earlier: [("1", model)]))
    }
  }

  // MARK: The map of pages

  /// Adds an attribute to each entity, and an index.
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
      if report.plan.warnings.contains(where: { $0.contains("map of its pages") }) {
        told += 1
        #expect(report.plan.builder == .rebuild)
      }
      #expect(!isWhole || report.plan.warnings.isEmpty)
    }
    #expect(told > 10)
  }
}
