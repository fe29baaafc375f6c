import Foundation
import Heirloom

/// A migration by Heirloom and by hand, each in its own process and in turns.
enum MigrationBenchmark {
  /// In the order of a round.
  enum Way: String, Codable, CaseIterable {
    /// By hand, unproven.
    case limit
    case limitProven
    /// A call of `MigrationAssistant.migrateStore()` with the standard proof.
    case heirloom
    case rebuild
    case cloneAndAlter
    /// By hand in the store itself, without a previous version.
    case inPlace
    case inPlaceProven
    /// By hand in the store itself, version by version.
    case inPlaceSteps

    /// Only Heirloom's runs use it.
    var builder: BuilderChoice {
      switch self {
      case .limit, .limitProven, .heirloom, .inPlace, .inPlaceProven, .inPlaceSteps: .automatic
      case .rebuild: .always(.rebuild)
      case .cloneAndAlter: .always(.cloneAndAlter)
      }
    }
  }

  static let childName = "migration"
  static let storeName = "Notes.sqlite"

  struct Measured: Codable {
    /// From before the store is opened until after the last sync.
    var seconds: Double
    var processorSeconds: Double
    var parts: [MeasuredPart]
    /// The store that holds the previous version.
    var keptPath: String?
    /// `nil` for runs by hand.
    var builder: String?
    var writtenBytes: Int64?
    /// Of the process.
    var peakBytes: Int64?
    /// Before the migration: that of the program itself.
    var initialPeakBytes: Int64?
    /// Including SQLite's.
    var syncs: Int?
  }

  struct WayReport: Codable {
    var way: Way
    var builder: String?
    var seconds: Double
    var leastSeconds: Double
    var processorSeconds: Double
    /// The median of the ratios to the unproven limit of the same round.
    var ratioToLimit: Double
    var processorRatioToLimit: Double
    var ratioToProvenLimit: Double
    var processorRatioToProvenLimit: Double
    var rowsPerSecond: Double
    var bytesPerSecond: Double
    var writtenBytes: Double?
    /// The most in one run, including SQLite's.
    var syncs: Int?
    var peakBytes: Int64?
    var initialPeakBytes: Int64?
    var parts: [MeasuredPart]
  }

  struct Report: Codable {
    var workload: MigrationWorkload
    var notes: Int
    var rows: Int64
    var storeBytes: Int64
    var rounds: Int
    /// For the ratio to the unproven limit.
    var goalRatio: Double
    var goalPeakBytes: Int64
    var ways: [WayReport]
    var furtherGoals: [MigrationGoal]
  }

  // MARK: The parent

  static func run(
    _ workload: MigrationWorkload, _ arguments: BenchmarkArguments, in work: BenchmarkFolder
  ) throws -> Report {
    let earlier = try BenchmarkModels.notes()
    let later = try workload.destination()
    let original = work.file(storeName)
    if try POSIXFileOperations().status(of: original) == nil {
      try StoreGenerator(notes: arguments.notes, seed: arguments.seed).makeStore(at: original)
    }
    let sums = try StoreSums(of: original, model: earlier)
    guard let size = try POSIXFileOperations().status(of: original)?.size else {
      throw BenchmarkError.unexpectedOutcome(expected: "a generated store", found: "none")
    }

    var ways: [Way] = [.limit, .limitProven, .heirloom] + workload.furtherWays
    if arguments.comparesBuilders { ways += [.rebuild, .cloneAndAlter] }
    var expected: StoreSums?
    var measured: [Way: [Measured]] = [:]
    for round in 0..<arguments.rounds {
      // The order alternates, because the after-effects of a run must not always hit the same way.
      let turns = round.isMultiple(of: 2) ? ways : ways.reversed()
      for copies in FreshCopies.batches(of: original, size: size, for: turns) {
        let paths = try copies.make(in: try work.emptyFolder("run"))
        for (way, path) in zip(copies.ways, paths) {
          // A copy that shares blocks isn't in memory yet.
          try BenchmarkFolder.readThrough(path)
          let words = [workload.rawValue, way.rawValue, path]
          let result = try ChildProcess.run(childName, words, returning: Measured.self)
          let migrated = try StoreSums(of: path, model: later, after: workload)
          if let expected { try migrated.check(against: expected) }
          expected = expected ?? migrated
          if let keptPath = result.keptPath { try StoreSums(of: keptPath, model: earlier).check(against: sums) }
          measured[way, default: []].append(result)
          work.remove(PathText.join("run", way.rawValue))
        }
      }
    }
    return Report(
      workload: workload, notes: arguments.notes, rows: sums.rowCount, storeBytes: size, rounds: arguments.rounds,
      goalRatio: goalRatio(workload, notes: arguments.notes, measured, storeBytes: size),
      goalPeakBytes: PerformanceGoals.peakBytes(workload),
      ways: ways.compactMap { report($0, measured, rows: Double(sums.rowCount), bytes: Double(size)) },
      furtherGoals: workload.furtherGoals(measured, storeBytes: size))
  }

  private static func report(_ way: Way, _ all: [Way: [Measured]], rows: Double, bytes: Double) -> WayReport? {
    guard let runs = all[way], let first = runs.first else { return nil }
    func ratio(to limit: Way, of seconds: (Measured) -> Double) -> Double {
      zip(runs, all[limit] ?? []).map { seconds($0) / max(seconds($1), 1e-9) }.median
    }
    let seconds = runs.map(\.seconds)
    let written = runs.compactMap { $0.writtenBytes.map(Double.init) }
    return WayReport(
      way: way, builder: first.builder, seconds: seconds.median, leastSeconds: seconds.min() ?? 0,
      processorSeconds: runs.map(\.processorSeconds).median, ratioToLimit: ratio(to: .limit, of: \.seconds),
      processorRatioToLimit: ratio(to: .limit, of: \.processorSeconds),
      ratioToProvenLimit: ratio(to: .limitProven, of: \.seconds),
      processorRatioToProvenLimit: ratio(to: .limitProven, of: \.processorSeconds),
      rowsPerSecond: rows / max(seconds.median, 1e-9),
      bytesPerSecond: bytes / max(seconds.median, 1e-9), writtenBytes: written.isEmpty ? nil : written.median,
      syncs: runs.compactMap(\.syncs).max(), peakBytes: runs.compactMap(\.peakBytes).max(),
      initialPeakBytes: runs.compactMap(\.initialPeakBytes).max(),
      parts: first.parts.indices.map { index in
        MeasuredPart(
          name: first.parts[index].name,
          seconds: runs.compactMap { $0.parts.indices.contains(index) ? $0.parts[index].seconds : nil }.median)
      })
  }

  // MARK: The child

  static func runChild(_ words: [String]) throws {
    guard words.count == 3, let workload = MigrationWorkload(rawValue: words[0]), let way = Way(rawValue: words[1])
    else {
      throw BenchmarkError.usage("The run \(childName) needs a workload, a way and a store.")
    }
    let path = words[2]
    let before = ProcessCounters.now()
    var measured: Measured
    switch way {
    case .limit: measured = try migrateByHand(path, workload, isProven: false)
    case .limitProven: measured = try migrateByHand(path, workload, isProven: true)
    case .inPlace: measured = try migrateInPlace(path, [try workload.lastStep()])
    case .inPlaceProven: measured = try migrateInPlace(path, [try workload.lastStep()], proving: workload)
    case .inPlaceSteps: measured = try migrateInPlace(path, try workload.steps())
    case .heirloom, .rebuild, .cloneAndAlter: measured = try migrate(path, workload, builder: way.builder)
    }
    let after = ProcessCounters.now()
    measured.initialPeakBytes = before.peakBytes
    measured.peakBytes = after.peakBytes
    if let bytes = after.writtenBytes, let earlier = before.writtenBytes { measured.writtenBytes = bytes - earlier }
    try ChildProcess.answer(measured)
  }

  private static func migrateByHand(
    _ path: String, _ workload: MigrationWorkload, isProven: Bool
  ) throws -> Measured {
    var metadata = try StoreMetadata(contentsOf: URL(fileURLWithPath: path))
    metadata.adopt(try workload.destination())
    let migration = HandWrittenMigration(
      path: path, keptPath: path + ".kept", workload: workload, propertyList: try metadata.propertyList())
    let counter = SyncCounter()
    var watch = Stopwatch()
    try migration.run(isProven: isProven, watch: &watch)
    let (seconds, work) = (watch.seconds, watch.processorSeconds)
    return Measured(
      seconds: seconds, processorSeconds: work, parts: watch.parts, keptPath: migration.keptPath, syncs: counter.count)
  }

  private static func migrate(
    _ path: String, _ workload: MigrationWorkload, builder: BuilderChoice
  ) throws -> Measured {
    let history = ModelHistory(
      current: try workload.destination(), name: workload.rawValue, earlier: [("V1", try BenchmarkModels.notes())])
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = try workload.mappings()
    let files = POSIXFileOperations()
    let url = URL(fileURLWithPath: path)
    let counter = SyncCounter()
    let listener = PartListener()
    let controller = ModelController(storeURL: url, files: files)
    let assistant = MigrationAssistant(
      storeURL: url, modelController: controller, history: history, configuration: configuration,
      files: files, builder: builder)
    assistant.delegate = listener
    let outcome = try assistant.migrateStore()
    let (seconds, work) = (listener.watch.seconds, listener.watch.processorSeconds)
    guard case .migrated(let report) = outcome else {
      throw BenchmarkError.unexpectedOutcome(expected: "migrated", found: "\(outcome)")
    }
    return Measured(
      seconds: seconds, processorSeconds: work, parts: listener.watch.parts,
      keptPath: report.previousVersion.storeURL.path, builder: report.plan.builder.rawValue, syncs: counter.count)
  }
}

/// Measures the time between a migration's events.
final class PartListener: MigrationAssistantDelegate {
  /// Started when the listener is created.
  private(set) var watch = Stopwatch()

  func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {
    switch event {
    case .started: watch.finish("plan")
    case .held: watch.finish("hold")
    case .built: watch.finish("build")
    case .proven: watch.finish("prove")
    case .previousVersionKept: watch.finish("sync and keep")
    case .finished: watch.finish("swap")
    default: break
    }
  }
}
