import Foundation
import Heirloom

/// A migration by Heirloom and by hand, each in its own process and in turns.
enum MigrationBenchmark {
  /// In the order of a round.
  enum Way: String {
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

    /// Those of every workload.
    static let compared: [Way] = [.limit, .limitProven, .heirloom]

    var isInPlace: Bool { [.inPlace, .inPlaceProven, .inPlaceSteps].contains(self) }

    var title: String {
      switch self {
      case .limit: "limit"
      case .limitProven: "limit, proven"
      case .heirloom: "Heirloom"
      case .rebuild: "always rebuild"
      case .cloneAndAlter: "always cloneAndAlter"
      case .inPlace: "in place"
      case .inPlaceProven: "in place, proven"
      case .inPlaceSteps: "in place, 50 steps"
      }
    }
  }

  static let childName = "migration"

  // MARK: The parent

  static func run(
    _ workload: MigrationWorkload, _ arguments: BenchmarkArguments, in work: BenchmarkFolder
  ) throws -> ReportTable {
    let original = try work.notes(arguments.notes, seed: arguments.seed)
    let size = try POSIXFileOperations().status(of: original)?.size ?? 0
    let ways: [Way] =
      Way.compared + workload.furtherWays
      + (arguments.comparesBuilders ? [.rebuild, .cloneAndAlter] : [])
    var migration = try CheckedMigration(workload, of: original)
    let series = try Series(ways, rounds: arguments.rounds, copiesOf: original, in: work) { way, path in
      try migration.run(way, at: path)
    }
    let rows = migration.earlierSums.rowCount
    return ReportTable(
      workload: workload.rawValue, notes: arguments.notes,
      title: "\(workload.rawValue), \(workload.title); old version kept: \(arguments.notes) notes, \(rows) rows,"
        + " \(FigureUnit.diskBytes.text(Double(size))); \(arguments.rounds) rounds, in turns",
      rows: ways.map { way in
        let seconds = max(series[way].map(\.seconds).median, 1e-9)
        return series.row(
          way, way.title, to: [(.limit, "limit"), (.limitProven, "proven")],
          own: [Figure("rows/s", Double(rows) / seconds, .count), Figure("MB/s", Double(size) / 1e6 / seconds, .count)])
      },
      goals: workload.goals(series, notes: arguments.notes, storeBytes: size),
      remarks: ["the sums of all results agree, and those of all kept versions"])
  }

  // MARK: The child

  static func inChildProcess(_ workload: MigrationWorkload, _ way: Way, _ path: String) throws -> Measurement {
    try ChildProcess.run(childName, [workload.rawValue, way.rawValue, path], returning: Measurement.self)
  }

  static func runChild(_ words: [String]) throws {
    guard words.count == 3, let workload = MigrationWorkload(rawValue: words[0]), let way = Way(rawValue: words[1])
    else {
      throw BenchmarkError.usage("The run \(childName) needs a workload, a way and a store.")
    }
    let path = words[2]
    let before = ProcessCounters.now()
    var measured: Measurement
    switch way {
    case .limit: measured = try migrateByHand(path, workload, isProven: false)
    case .limitProven: measured = try migrateByHand(path, workload, isProven: true)
    case .inPlace: measured = try migrateInPlace(path, [try workload.lastStep()])
    case .inPlaceProven: measured = try migrateInPlace(path, [try workload.lastStep()], proving: workload)
    case .inPlaceSteps: measured = try migrateInPlace(path, try workload.steps())
    case .heirloom: measured = try migrate(path, workload, builder: .automatic)
    case .rebuild: measured = try migrate(path, workload, builder: .always(.rebuild))
    case .cloneAndAlter: measured = try migrate(path, workload, builder: .always(.cloneAndAlter))
    }
    let counters = ProcessCounters.now().since(before)
    (measured.peakBytes, measured.writtenBytes) = (counters.peakBytes, counters.writtenBytes)
    measured.initialPeakBytes = before.peakBytes
    try ChildProcess.answer(measured)
  }

  private static func migrateByHand(
    _ path: String, _ workload: MigrationWorkload, isProven: Bool
  ) throws -> Measurement {
    var metadata = try StoreMetadata(contentsOf: URL(fileURLWithPath: path))
    metadata.adopt(try workload.destination())
    let migration = HandWrittenMigration(
      path: path, keptPath: path + ".kept", workload: workload, propertyList: try metadata.propertyList())
    let counter = SyncCounter()
    var watch = Stopwatch()
    try migration.run(isProven: isProven, watch: &watch)
    var measured = Measurement(watch)
    (measured.keptPath, measured.syncs) = (migration.keptPath, counter.count)
    return measured
  }

  /// `workload` is proven afterwards; `nil` for no proof.
  private static func migrateInPlace(
    _ path: String, _ steps: [MigrationWorkload.Step], proving workload: MigrationWorkload? = nil
  ) throws -> Measurement {
    let migration = try InPlaceMigration(path: path, steps: steps)
    let counter = SyncCounter()
    var watch = Stopwatch()
    try migration.run()
    watch.finish("alter")
    if let workload {
      try HandWrittenProof(path: path, oldPath: nil, workload: workload).run()
      watch.finish("prove")
    }
    var measured = Measurement(watch)
    measured.syncs = counter.count
    return measured
  }

  private static func migrate(
    _ path: String, _ workload: MigrationWorkload, builder: BuilderChoice
  ) throws -> Measurement {
    let (history, configuration) = (try workload.history(), try workload.configuration())
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
    var measured = Measurement(listener.watch)
    guard case .migrated(let report) = outcome else {
      throw BenchmarkError.unexpectedOutcome(expected: "migrated", found: "\(outcome)")
    }
    (measured.keptPath, measured.syncs) = (report.previousVersion.storeURL.path, counter.count)
    if case .automatic = builder { measured.builder = report.plan.builder.rawValue }
    return measured
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
