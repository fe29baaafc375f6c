import Foundation
import Heirloom
import TestSupport
import Testing

/// Constraints that both versions have, and whose unique index another program took out of the store.
struct UnenforcedConstraintTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("Store.sqlite") }

  init() throws { directory = try TemporaryDirectory() }

  private static func model(hasMemo: Bool, changesName: Bool) throws -> ManagedObjectModel {
    var tag = Make.entity(
      "Tag",
      [Make.attribute("name", optional: !changesName, value: changesName ? .string("") : nil)]
        + (hasMemo ? [Make.attribute("memo")] : []))
    tag.uniquenessConstraints = [["name"]]
    return try ManagedObjectModel(entities: [tag])
  }

  private static let indexes = [
    "DROP INDEX Z_Tag_UNIQUE_name",
    "DROP INDEX Z_Tag_UNIQUE_name; CREATE INDEX Z_Tag_UNIQUE_name ON ZTAG (ZNAME COLLATE BINARY ASC)",
  ]

  private func makeStore(_ statements: String, names: [String?]) throws {
    try PersistentStore.create(at: url, model: Self.model(hasMemo: false, changesName: false)).close()
    let connection = try Connection(path: url.path, mode: .readWrite)
    for statement in statements.split(separator: ";") { try connection.execute(String(statement)) }
    for (index, name) in names.enumerated() {
      let text = name.map { "'\($0)'" } ?? "NULL"
      try connection.execute("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (\(index + 1), 1, 1, \(text))")
    }
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(names.count)")
    try connection.close()
  }

  private func assistant(
    _ decisions: [DataDecision], _ builder: MigrationPlan.Builder, changesName: Bool = false
  ) throws -> MigrationAssistant {
    DataDecisionTests.assistant(
      url, try Self.model(hasMemo: false, changesName: false),
      try Self.model(hasMemo: true, changesName: changesName), decisions, builder: .always(builder))
  }

  @Test(arguments: indexes, [.rebuild, .cloneAndAlter] as [MigrationPlan.Builder])
  func `rows that are equal all the same are a blocker, which each choice settles`(
    statements: String, builder: MigrationPlan.Builder
  ) throws {
    for choice in [DataDecision.Choice.keepNewest(), .merge(), .quarantine] {
      try? FileManager.default.removeItem(at: url)
      try makeStore(statements, names: ["a", "b", "a", nil, nil])
      let plan = try #require(try assistant([], builder).plan())
      #expect(plan.blockers.map(\.kind) == ["duplicate"] && plan.blockers.map(\.rows) == [1], "\(plan.blockers)")
      #expect(throws: MigrationAssistantError.self) { try assistant([], builder).migrateStore() }
      let decision = DataDecision(entity: "Tag", property: "name", choice)
      let report = try assistant([decision], builder).migrate()
      #expect(report.plan.decisions.map(\.removed) == [1])
      let rows = try Connection(reading: url, options: .inspecting)
        .rows("SELECT Z_PK, ZNAME FROM ZTAG ORDER BY Z_PK")
      #expect(rows.map { $0[1].text } == ["b", "a", nil, nil])
      try FileManager.default.removeItem(at: directory.file("Store.sqlite.heirloom"))
    }
  }

  @Test(arguments: indexes, [.rebuild, .cloneAndAlter] as [MigrationPlan.Builder])
  func `rows that differ are no blocker, and the index is there again`(
    statements: String, builder: MigrationPlan.Builder
  ) throws {
    try makeStore(statements, names: ["a", "b", nil, nil])
    #expect(try #require(try assistant([], builder).plan()).blockers.isEmpty)
    try assistant([], builder).migrate()
    let connection = try Connection(path: url.path, mode: .readWrite)
    #expect(throws: SQLiteError.self) {
      try connection.execute("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (9, 1, 1, 'a')")
    }
  }
}
