import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing

/// Random changes of random models on random rows, each compared with the result that follows from the edits alone.
///
/// `HEIRLOOM_LONG_TESTS=1` runs a thousand cases; `HEIRLOOM_SEED=…` runs the one that a failure named, or with
/// `…-…` a range.
struct RandomMigrationTests {
  private static let isLong = LongTests.areOn
  private static let parts = RandomSeeds.parts(quick: 40, long: 1000)

  @Test(.slow("random stores, each made and migrated"), arguments: parts)
  func `every object, value, link and place is where the edits say`(seeds: [UInt64]) throws {
    for seed in seeds {
      let example = RandomCase(seed: seed)
      do {
        let problems = try RandomMigration(example).run()
        if !problems.isEmpty { report(example, problems) }
      } catch {
        report(example, ["\(error)"])
      }
    }
  }

  private func report(_ example: RandomCase, _ problems: [String]) {
    let edits = example.edits.map(\.rawValue).joined(separator: ", ")
    Issue.record("HEIRLOOM_SEED=\(example.seed) [\(edits)]:\n  \(problems.prefix(6).joined(separator: "\n  "))")
  }

  @Test func `a thousand cases meet each kind of change twenty times`() {
    var counts: [RandomEdit: Int] = [:]
    for seed in UInt64(0)..<1000 {
      for edit in Set(RandomCase(seed: seed).edits) { counts[edit, default: 0] += 1 }
    }
    for edit in RandomEdit.allCases {
      #expect(counts[edit, default: 0] >= 20, "\(edit)")
      if Self.isLong { print(String(counts[edit, default: 0]), edit) }
    }
  }
}

struct RandomMigration {
  let example: RandomCase
  private let source: ManagedObjectModel
  private let destination: ManagedObjectModel

  init(_ example: RandomCase) throws {
    self.example = example
    source = try example.source.model()
    destination = try example.destination.model()
  }

  func run() throws -> [String] {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let store = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: store, model: source, objects: example.objects, seed: example.seed, isVaried: true)
    try example.source.deriveValues(inStoreAt: store)
    let before = RowOracle.normal(try StoreContents(of: store, model: source), source)
    let oracle = RowOracle(from: example.source, to: example.destination, before: before)
    // The builders take turns; the choice must not matter.
    let assistant = MigrationAssistant(
      store, ModelHistory(current: destination, earlier: [("before", source)]), .withBothProofs,
      builder: .always(example.seed.isMultiple(of: 2) ? .rebuild : .cloneAndAlter))
    let isSame = source.versionHashes() == destination.versionHashes()
    do {
      switch try assistant.migrateStore() {
      case .migrated(let report):
        guard oracle.obstacles.isEmpty, oracle.blockers.isEmpty, !isSame else {
          return ["migrated in spite of \(oracle.obstacles) \(oracle.blockers)"]
        }
        return try problems(after: report, assistant, store, oracle, before)
      case .upToDate: return isSame ? [] : ["nothing was done"]
      default: return ["unexpected outcome"]
      }
    } catch MigrationAssistantError.mappingNeeded(_, let obstacles, _) {
      let found = Set(obstacles.map { "\($0.kind) \($0.entity)\($0.property.map { "." + $0 } ?? "")" })
      return found == oracle.obstacles ? [] : ["obstacles \(found), expected \(oracle.obstacles)"]
    } catch MigrationAssistantError.decisionNeeded(_, let plan) {
      let found = Dictionary(
        plan.blockers.map { ("\($0.kind) \($0.entity)\($0.property.map { "." + $0 } ?? "")", $0.rows) },
        uniquingKeysWith: +)
      guard oracle.obstacles.isEmpty else { return ["blockers \(found), expected obstacles \(oracle.obstacles)"] }
      return found == oracle.blockers ? [] : ["blockers \(found), expected \(oracle.blockers)"]
    }
  }

  private func problems(
    after report: MigrationReport, _ assistant: MigrationAssistant, _ store: URL, _ oracle: RowOracle,
    _ before: StoreContents
  ) throws -> [String] {
    let after = RowOracle.normal(try StoreContents(of: store, model: destination), destination)
    var problems = oracle.differences(from: after)
    if RowOracle.normal(try StoreContents(of: report.previousVersion.storeURL, model: source), source) != before {
      problems.append("the previous version is not the original")
    }
    let lost = Dictionary(
      report.plan.losses.map { ("\($0.entity)\($0.property.map { "." + $0 } ?? "")", $0.rows) }, uniquingKeysWith: max)
    for (subject, rows) in oracle.losses where lost[subject] != rows {
      problems.append("\(subject): \(rows) lost, the plan says \(lost[subject] ?? 0)")
    }
    problems += oracle.unreportedLinks(in: after, lost: Set(lost.keys))
    problems += try bookkeepingProblems(store)
    guard case .upToDate = try assistant.migrateStore() else { return problems + ["a second run does something"] }
    try PersistentStore.open(at: store, model: destination).close()
    return problems
  }

  private func bookkeepingProblems(_ store: URL) throws -> [String] {
    let connection = try Connection(reading: store, options: .inspecting)
    var problems: [String] = []
    let check = try connection.rows("PRAGMA quick_check").compactMap(\.first?.text)
    if check != ["ok"] { problems.append("quick_check: \(check)") }
    let schema = PhysicalSchema(model: destination)
    let rows = try connection.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
    let expected = schema.entities.map { [$0.number, $0.superentityNumber] }
    if rows.map({ [Int($0[0].integer ?? -1), Int($0[2].integer ?? -1)] }) != expected
      || rows.map({ $0[1].text }) != schema.entities.map(\.name)
    {
      problems.append("Z_PRIMARYKEY has \(rows)")
    }
    for (entity, row) in zip(schema.entities, rows) where entity.superentityNumber == 0 {
      let highest = try connection.firstInteger("SELECT MAX(Z_PK) FROM \(quote(entity.table))") ?? 0
      if highest > row[3].integer ?? 0 { problems.append("Z_MAX of \(entity.name) is \(row[3]), below \(highest)") }
      let numbers = try connection.rows("SELECT DISTINCT Z_ENT FROM \(quote(entity.table))").compactMap(
        \.first?.integer)
      if !numbers.allSatisfy({ entity.treeNumbers.contains(Int($0)) }) {
        problems.append("\(entity.name): Z_ENT \(numbers)")
      }
    }
    return problems
  }
}
