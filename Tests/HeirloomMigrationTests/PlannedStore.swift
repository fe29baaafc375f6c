import Foundation
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

/// A store whose rows were written by hand, and the plan of its migration.
struct PlannedStore {
  let directory: TemporaryDirectory
  let hop: MigrationHop
  var url: URL { directory.file("Store.sqlite") }

  init(
    _ before: [EntityDescription], _ after: [EntityDescription], _ statements: [String], given: [EntityMapping] = []
  ) throws {
    directory = try TemporaryDirectory()
    let (source, destination) = (try ManagedObjectModel(entities: before), try ManagedObjectModel(entities: after))
    hop = MigrationHop(
      source: source, destination: destination,
      mapping: try MappingInference(from: source, to: destination, given: given).mappingModel())
    let connection = try Connection(path: url.path, mode: .createExclusively(), options: .building)
    try connection.execute("BEGIN")
    let schema = PhysicalSchema(model: source)
    for sql in schema.creationStatements { try connection.execute(sql) }
    for entity in schema.entities {
      try connection.execute(
        "INSERT INTO Z_PRIMARYKEY VALUES (?1, ?2, ?3, 0)",
        [.integer(Int64(entity.number)), .text(entity.name), .integer(Int64(entity.superentityNumber))])
    }
    try StoreMetadata(model: source).write(to: connection)
    for sql in statements { try connection.execute(sql) }
    try connection.execute("COMMIT")
    try connection.close()
  }

  func open() throws -> Connection {
    try Connection(path: url.path, mode: .readWrite, options: .building)
  }

  func plan(_ connection: Connection, decisions: [DataDecision] = []) throws -> MigrationPlan {
    var settings = RunSettings(builder: .always(.rebuild), decisions: decisions)
    return try CandidateChain.plan(
      firstOf: [hop], connection: connection, storePath: url.path, settings: &settings)
  }

  /// Runs a plan's statements as they are, and nothing else; the candidate is in memory.
  static func carryOut(_ plan: MigrationPlan, _ connection: Connection) throws {
    try connection.execute("ATTACH ':memory:' AS candidate")
    for step in plan.steps {
      for statement in step.statements {
        try connection.execute(statement.sql, statement.values)
        if let expected = statement.expectedRows { #expect(connection.changes == expected, "\(statement.sql)") }
      }
    }
  }
}

extension Connection {
  /// Each row as its values with spaces between, and `-` for NULL.
  func lines(_ sql: String) throws -> [String] {
    try rows(sql).map { row in
      row.map { value in
        switch value {
        case .null: "-"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): "'\(text)'"
        case .blob(let bytes): "x" + bytes.map { String($0, radix: 16) }.joined(separator: ",")
        }
      }.joined(separator: " ")
    }
  }
}

extension MigrationPlan {
  func lines(of kinds: Set<MigrationStep.Kind>) -> [String] {
    steps.filter { kinds.contains($0.kind) }.map { step in
      "\(step.kind.rawValue) \(step.subject) \(step.rows.map { "\($0)" } ?? "-")"
    }
  }
}
