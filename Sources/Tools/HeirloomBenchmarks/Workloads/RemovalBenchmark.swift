import Foundation
import Heirloom

/// A migration that removes much, with clean-up at once or deferred.
enum RemovalBenchmark {
  /// In the order of a round.
  enum Way: String, Codable, CaseIterable {
    case atOnce
    case deferred
  }

  static let childName = "removal"
  /// The factor by which deferring the clean-up makes a launch faster.
  static let goalRatio = 3.0

  struct Measured: Codable {
    /// Of the launch alone.
    var seconds: Double
    var processorSeconds: Double
    var parts: [MeasuredPart]
    var keptPath: String
    var builder: String
    var deferred: [String]
    /// The seconds of each piece of clean-up.
    var pieces: [Double]
    /// After the launch, and after the clean-up.
    var sums: [[String]]
    var peakBytes: Int64?
  }

  struct WayReport: Codable {
    var way: Way
    var builder: String
    var seconds: Double
    var leastSeconds: Double
    var processorSeconds: Double
    /// The median of the total after the launch.
    var cleanUpSeconds: Double
    var longestPieceSeconds: Double
    var pieceCount: Int
    var deferred: [String]
    var peakBytes: Int64?
    var parts: [MeasuredPart]
  }

  struct Report: Codable {
    var notes: Int
    var storeBytes: Int64
    var rounds: Int
    /// The median of the ratios of both launches of a round.
    var ratio: Double
    var goalRatio: Double
    var isGoalMet: Bool
    var ways: [WayReport]
  }

  // MARK: The parent

  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> Report {
    let files = POSIXFileOperations()
    let original = work.file("Grown.sqlite")
    defer { work.remove("Grown.sqlite", "run") }
    try StoreGenerator(notes: arguments.notes, seed: arguments.seed).makeGrownStore(at: original)
    let earlier = try BenchmarkModels.notesBeforeRemovals()
    let kept = try StoreSums(of: original, model: earlier)
    var measured: [Way: [Measured]] = [:]
    var sums: [String]?
    for round in 0..<arguments.rounds {
      for way in round.isMultiple(of: 2) ? Way.allCases : Way.allCases.reversed() {
        let path = PathText.join(try work.emptyFolder("run"), "Notes.sqlite")
        try files.copyFile(original, to: path, attributes: FileAttributes(mode: 0o644))
        // An app's store has been at rest since its last run.
        try files.synchronizeFile(path)
        Thread.sleep(forTimeInterval: VaultConfiguration().restTime + 0.5)
        TouchedMemory.prepare(byteCount: 2 * (try files.status(of: path)?.size ?? 0))
        let result = try ChildProcess.run(childName, [way.rawValue, path], returning: Measured.self)
        for found in result.sums where found != sums ?? found {
          throw BenchmarkError.differentContents(
            subject: "the store of \(way.rawValue)", expected: "\(sums ?? [])", found: "\(found)")
        }
        sums = result.sums.last
        try StoreSums(of: result.keptPath, model: earlier).check(against: kept)
        measured[way, default: []].append(result)
      }
    }
    let (atOnce, deferred) = (measured[.atOnce] ?? [], measured[.deferred] ?? [])
    let ratio = zip(atOnce, deferred).map { $0.seconds / max($1.seconds, 1e-9) }.median
    return Report(
      notes: arguments.notes, storeBytes: try files.status(of: original)?.size ?? 0, rounds: arguments.rounds,
      ratio: ratio, goalRatio: goalRatio, isGoalMet: ratio >= goalRatio,
      ways: Way.allCases.compactMap { way in measured[way].flatMap { report(way, $0) } })
  }

  private static func report(_ way: Way, _ runs: [Measured]) -> WayReport? {
    guard let first = runs.first else { return nil }
    let seconds = runs.map(\.seconds)
    return WayReport(
      way: way, builder: first.builder, seconds: seconds.median, leastSeconds: seconds.min() ?? 0,
      processorSeconds: runs.map(\.processorSeconds).median,
      cleanUpSeconds: runs.map { $0.pieces.reduce(0, +) }.median,
      longestPieceSeconds: runs.map { $0.pieces.max() ?? 0 }.median, pieceCount: first.pieces.count,
      deferred: first.deferred, peakBytes: runs.compactMap(\.peakBytes).max(),
      parts: first.parts.indices.map { index in
        MeasuredPart(
          name: first.parts[index].name,
          seconds: runs.compactMap { $0.parts.indices.contains(index) ? $0.parts[index].seconds : nil }.median)
      })
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
    let (seconds, work) = (listener.watch.seconds, listener.watch.processorSeconds)
    guard case .migrated(let report) = outcome else {
      throw BenchmarkError.unexpectedOutcome(expected: "migrated", found: "\(outcome)")
    }
    var measured = Measured(
      seconds: seconds, processorSeconds: work, parts: listener.watch.parts,
      keptPath: report.previousVersion.storeURL.path,
      builder: report.plan.builder.rawValue, deferred: report.plan.deferred.items, pieces: [], sums: [],
      peakBytes: ProcessCounters.now().peakBytes)
    let store = try PersistentStore.open(at: url, model: current)
    measured.sums.append(try sums(store))
    var isMore = way == .deferred
    while isMore {
      let watch = Stopwatch()
      isMore = try store.finishDeferredLightweightMigrationTask()
      measured.pieces.append(watch.seconds)
    }
    measured.sums.append(try sums(store))
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
