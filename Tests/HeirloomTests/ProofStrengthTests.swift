import Foundation
import Heirloom
import HeirloomMigration
import TestSupport
import Testing

/// The findings of the proof of a changed copy, which leaves out everything that no statement wrote.
struct ProofStrengthTests {
  typealias Make = InferableChangeTests

  private static let before = [
    Make.entity("A", [Make.attribute("gone"), Make.attribute("name")], [Make.toOne("b", "B", "as")]),
    Make.entity("B", [Make.attribute("name")], [Make.toMany("as", "A", "b")]),
    Make.entity("C", [Make.attribute("gone"), Make.attribute("name")], [Make.toOne("d", "D", "cs")]),
    Make.entity("D", [Make.attribute("name")], [Make.toMany("cs", "C", "d")]),
  ]
  /// The destination: A is written, C only loses an attribute, B and D stay.
  private static let after = [
    Make.entity(
      "A", [Make.attribute("added", value: .string("new")), Make.attribute("name")], [Make.toOne("b", "B", "as")]),
    Make.entity("B", [Make.attribute("name")], [Make.toMany("as", "A", "b")]),
    Make.entity("C", [Make.attribute("name")], [Make.toOne("d", "D", "cs")]),
    Make.entity("D", [Make.attribute("name")], [Make.toMany("cs", "C", "d")]),
  ]

  /// A fault of a step, and a word of the finding.
  static let faults: [(sql: String, finding: String?)] = [
    ("", nil),
    ("UPDATE ZA SET ZB = 99999 WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZA)", "lead to no object"),
    ("UPDATE ZA SET ZADDED = 'other' || ZNAME WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZA)", "rewritten values"),
    ("DELETE FROM ZA WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZA)", "rows instead of"),
    ("DELETE FROM ZC WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZC)", "rows instead of"),
    ("UPDATE ZC SET ZNAME = ZNAME || 'other' WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZC)", "not as before"),
    ("UPDATE ZC SET ZD = 99999", "not as before"),
    ("UPDATE ZD SET Z_PK = Z_PK + 1000", "not as before"),
    ("UPDATE ZD SET Z_ENT = 99", "another entity"),
    ("UPDATE Z_PRIMARYKEY SET Z_MAX = 0", "Z_MAX"),
    ("ALTER TABLE ZC DROP COLUMN ZGONE", "left for later"),
    ("ALTER TABLE ZD ADD COLUMN ZOTHER", "differs from the model"),
  ]

  @Test(arguments: faults.indices)
  func `a fault in a changed copy is found`(_ index: Int) throws {
    let fault = Self.faults[index]
    let directory = try TemporaryDirectory()
    let source = try ManagedObjectModel(entities: Self.before)
    let destination = try ManagedObjectModel(entities: Self.after)
    let url = directory.file("Store.sqlite")
    var generator = StoreGenerator(objectsPerEntity: 20, seed: 8)
    try generator.makeStore(at: url, model: source)
    let hop = MigrationHop(
      source: source, destination: destination, mapping: try MappingModel.inferred(from: source, to: destination))
    var chain: CandidateChain?
    var checks: [ProofCheck] = []
    func swap() throws {
      _ = try StoreVault(try StoreLocation(resolving: url.path, files: POSIXFileOperations())).replaceStore(
        prepare: { StoreVault.Replacement() },
        build: { hold, candidate in
          let run = CandidateChain(
            hold: hold, candidatePath: candidate, hops: [hop],
            settings: RunSettings(builder: .always(.cloneAndAlter), defers: true))
          chain = run
          checks = try run.build { _, _ in nil }.checks
          guard !fault.sql.isEmpty else { return }
          let connection = try Connection(path: candidate, mode: .readWrite, options: .building)
          try connection.execute("PRAGMA journal_mode = OFF")
          try connection.execute(fault.sql)
          try connection.close()
        }, prove: { _, _ in try chain?.prove() })
    }
    if let finding = fault.finding {
      let error = #expect(throws: MigrationError.self) { try swap() }
      #expect("\(try #require(error))".contains(finding), "\(error.map { "\($0)" } ?? "")")
      #expect(try StoreMetadata(contentsOf: url).versionHashes == source.versionHashes())
    } else {
      try swap()
      #expect(try StoreMetadata(contentsOf: url).versionHashes == destination.versionHashes())
    }
    // The proof looks only for the keys of the table that is written.
    let dangling = checks.compactMap { check -> String? in
      if case .noMore(let subject, _, let found) = check, subject.contains("no object") { found } else { nil }
    }
    #expect(dangling.count == 1 && dangling.allSatisfy { $0.contains("ZA") && !$0.contains("ZC") })
  }

  @Test(arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter])
  func `a row of another entity is refused before the store is held`(builder: MigrationPlan.Builder) throws {
    let directory = try TemporaryDirectory()
    let source = try ManagedObjectModel(entities: Self.before)
    let destination = try ManagedObjectModel(entities: Self.after)
    let url = directory.file("Store.sqlite")
    var generator = StoreGenerator(objectsPerEntity: 20, seed: 8)
    try generator.makeStore(at: url, model: source)
    let connection = try Connection(path: url.path, mode: .readWrite)
    try connection.execute("UPDATE ZC SET Z_ENT = 77 WHERE Z_PK = 3")
    try connection.close()
    let assistant = MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url),
      history: ModelHistory(current: destination, earlier: [("1", source)]),
      configuration: MigrationAssistant.Configuration(), files: POSIXFileOperations(), builder: .always(builder))
    let error = #expect(throws: MigrationAssistantError.self) { try assistant.plan() }
    guard case .failed(_, .storeContradictsModel(let reason)) = error else {
      Issue.record("expected a contradiction, found \(error.map { "\($0)" } ?? "nothing")")
      return
    }
    #expect(reason.contains("ZC") && reason.contains("1 rows"))
    #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    #expect(try StoreMetadata(contentsOf: url).versionHashes == source.versionHashes())
  }
}
