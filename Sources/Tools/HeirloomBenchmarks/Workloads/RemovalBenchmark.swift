import Foundation
import Heirloom

/// A migration that removes much, with clean-up at once or deferred.
enum RemovalBenchmark {
  enum Way: String, CaseIterable {
    case atOnce
    case deferred
  }

  static let childName = "removal"

  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> ReportTable {
    let original = work.file("Grown.sqlite")
    defer { work.remove("Grown.sqlite", "run") }
    try StoreGenerator(notes: arguments.notes, seed: arguments.seed).makeStore(isGrown: true, at: original)
    let earlier = try BenchmarkModels.notesBeforeRemovals()
    let kept = try StoreSums(of: original, model: earlier)
    let series = try Series(Way.allCases, rounds: arguments.rounds, copiesOf: original, in: work) { way, path in
      let run = try ChildProcess.run(childName, [way.rawValue, path], returning: Measurement.self)
      try StoreSums(of: run.keptPath ?? path, model: earlier).check(against: kept)
      return run
    }
    let size = try POSIXFileOperations().status(of: original)?.size ?? 0
    return ReportTable(
      workload: childName, notes: arguments.notes,
      title:
        "removal of tags, their links, nine attributes and two indexes; old version kept: \(arguments.notes) notes,"
        + " \(FigureUnit.diskBytes.text(Double(size))); \(arguments.rounds) rounds, in turns",
      rows: Way.allCases.map { way in
        let pieces = series[way].map(\.pieces)
        return series.row(
          way, way.rawValue,
          own: [
            Figure("later", pieces.map { $0.reduce(0, +) }.median, .seconds),
            Figure("pieces", pieces.first.map { Double($0.count) }, .count),
            Figure("longest", pieces.map { $0.max() ?? 0 }.median, .seconds),
          ])
      },
      goals: [
        Goal(
          "a launch that leaves the clean-up is faster", series.ratio(.atOnce, to: .deferred, \.seconds), .times,
          atLeast: PerformanceGoals.deferral)
      ])
  }

  // MARK: The child

  static func runChild(_ words: [String]) throws {
    guard words.count == 2, let way = Way(rawValue: words[0]) else {
      throw BenchmarkError.usage("The run \(childName) needs a way and a store.")
    }
    let url = URL(fileURLWithPath: words[1])
    let current = try BenchmarkModels.notesAfterRemovals()
    var configuration = MigrationAssistant.Configuration()
    configuration.defersLightweightMigration = way == .deferred
    let listener = PartListener()
    let assistant = MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url),
      history: ModelHistory(
        current: current, name: "removal", earlier: [("grown", try BenchmarkModels.notesBeforeRemovals())]),
      configuration: configuration)
    assistant.delegate = listener
    let outcome = try assistant.migrateStore()
    var measured = Measurement(listener.watch)
    guard case .migrated(let report) = outcome else {
      throw BenchmarkError.unexpectedOutcome(expected: "migrated", found: "\(outcome)")
    }
    measured.keptPath = report.previousVersion.storeURL.path
    measured.builder = report.plan.builder.rawValue
    measured.peakBytes = ProcessCounters.now().peakBytes
    let store = try PersistentStore.open(at: url, model: current)
    measured.sums = try sums(store)
    var isMore = way == .deferred
    while isMore {
      let watch = Stopwatch()
      isMore = try store.finishDeferredLightweightMigrationTask()
      measured.pieces.append(watch.seconds)
    }
    let sumsAfter = try sums(store)
    try BenchmarkError.require(
      sumsAfter == measured.sums, "the clean-up", expected: "\(measured.sums)", found: "\(sumsAfter)")
    try store.close()
    try ChildProcess.answer(measured)
  }

  private static func sums(_ store: PersistentStore) throws -> [String] {
    try [
      "SELECT COUNT(*), SUM(LENGTH(ZBODY)), SUM(ZAUTHOR), SUM(Z_PK % 97 * LENGTH(ZBODY)), MAX(ZBODY), SUM(LENGTH(ZTITLE)),"
        + " TOTAL(ZCREATEDAT), TOTAL(ZEDITEDAT), SUM(Z_PK % 97 * ZWORDCOUNT) FROM ZNOTE",
      "SELECT COUNT(*) FROM ZNOTE INDEXED BY Z_Note_byTitle WHERE ZTITLE > 'h'",
      "SELECT COUNT(*) FROM ZNOTE INDEXED BY Z_Note_byEditedAt WHERE ZEDITEDAT > 650000000",
      "SELECT COUNT(*), SUM(ZAGE), SUM(LENGTH(ZEMAIL)), SUM(LENGTH(ZNAME)), MAX(ZNAME) FROM ZPERSON",
      "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT", "PRAGMA quick_check",
    ].flatMap { try store.connection.rows($0).flatMap { $0.map { "\($0)" } } }
  }
}
