import Foundation
import Heirloom

/// A launch with nothing to do, which every start of an app pays for.
///
/// The model is already in memory, and the store is migrated and archived: an app then creates a
/// controller and an assistant and calls `migrateStore()` and `archive(_:)`.
enum LaunchBenchmark {
  static let childName = "launch"
  /// In seconds.
  static let goal = 0.002

  private static let processes = 15
  private static let callsEach = 100

  struct Measured: Codable {
    /// The first is the process's first.
    var seconds: [Double]
    var processorSeconds: [Double]
    /// By all launches.
    var writtenBytes: Int64?
    var writeCalls: Int64?
    /// Syncs, file changes and locks of all launches.
    var fileChanges: Int
  }

  struct Report: Codable {
    var entities: Int
    var attributes: Int
    var relationships: Int
    /// The median of the first launches of processes.
    var firstSeconds: Double
    var firstLeastSeconds: Double
    var firstProcessorSeconds: Double
    /// The median of all later launches.
    var laterSeconds: Double
    var laterLeastSeconds: Double
    var laterProcessorSeconds: Double
    var goalSeconds: Double
    /// True if the medians of first and later launches are below the goal.
    var isGoalMet: Bool
    var launches: Int
    /// Including SQLite's side files.
    var writtenBytes: Int64?
    var writeCalls: Int64?
    var fileChanges: Int
    /// Files and folders whose bytes and times were compared before and after.
    var comparedFiles: Int
    /// Those that SQLite left beside the store.
    var sideFiles: [String]
  }

  // MARK: The parent

  static func run(in work: BenchmarkFolder) throws -> Report {
    let folder = try work.emptyFolder("launch")
    let path = PathText.join(folder, "Large.sqlite")
    let model = try BenchmarkModels.large()
    try prepare(path, model: model)

    let before = try FolderContent(of: folder)
    var measured: [Measured] = []
    for _ in 0..<processes {
      measured.append(try ChildProcess.run(childName, [path, String(callsEach)], returning: Measured.self))
    }
    let after = try FolderContent(of: folder)
    if let change = after.changes(since: before).first { throw BenchmarkError.unexpectedChange(change) }
    let fileChanges = measured.reduce(0) { $0 + $1.fileChanges }
    guard fileChanges == 0 else {
      throw BenchmarkError.unexpectedChange("\(fileChanges) calls that change, sync or lock files")
    }
    let first = measured.compactMap(\.seconds.first)
    let later = measured.flatMap { $0.seconds.dropFirst() }
    let firstWork = measured.compactMap(\.processorSeconds.first)
    let laterWork = measured.flatMap { $0.processorSeconds.dropFirst() }
    let names = try POSIXFileOperations().names(in: folder)
    return Report(
      entities: model.entities.count, attributes: model.entities.reduce(0) { $0 + $1.attributes.count },
      relationships: model.entities.reduce(0) { $0 + $1.relationships.count },
      firstSeconds: first.median, firstLeastSeconds: first.min() ?? 0,
      firstProcessorSeconds: firstWork.median,
      laterSeconds: later.median, laterLeastSeconds: later.min() ?? 0,
      laterProcessorSeconds: laterWork.median, goalSeconds: goal,
      isGoalMet: max(first.median, later.median) < goal, launches: first.count + later.count,
      writtenBytes: sum(measured.map(\.writtenBytes)),
      writeCalls: sum(measured.map(\.writeCalls)), fileChanges: fileChanges, comparedFiles: after.count,
      sideFiles: names.filter { name in StoreLocation.sideSuffixes.contains { name.hasSuffix($0) } })
  }

  private static func sum(_ counts: [Int64?]) -> Int64? {
    let known = counts.compactMap { $0 }
    return known.count == counts.count ? known.reduce(0, +) : nil
  }

  /// Launches the app with a store of an earlier version, so that nothing is left to do.
  static func prepare(_ path: String, model: ManagedObjectModel) throws {
    let earlier = try BenchmarkModels.large(attributeCount: BenchmarkModels.largeAttributeCount - 1)
    try StoreGenerator.makeStore(of: earlier, at: path)
    let history = ModelHistory(current: model, name: "2", earlier: [("1", earlier)])
    let url = URL(fileURLWithPath: path)
    let (outcome, isWritten) = try launch(url, history: history, files: POSIXFileOperations())
    guard case .migrated = outcome, isWritten else {
      throw BenchmarkError.unexpectedOutcome(expected: "migrated and archived", found: "\(outcome), \(isWritten)")
    }
  }

  /// The work of an app at each start.
  static func launch(
    _ url: URL, history: ModelHistory, files: any FileOperations
  ) throws -> (outcome: MigrationOutcome, isWritten: Bool) {
    let controller = ModelController(storeURL: url, files: files)
    let assistant = MigrationAssistant(
      storeURL: url, modelController: controller, history: history, configuration: MigrationAssistant.Configuration(),
      files: files)
    let outcome = try assistant.migrateStore()
    return (outcome, try controller.archive(history.current))
  }

  // MARK: The child

  static func runChild(_ words: [String]) throws {
    guard words.count == 2, let count = Int(words[1]), count > 0 else {
      throw BenchmarkError.usage("The run \(childName) needs a store and a number.")
    }
    let model = try BenchmarkModels.large()
    let history = ModelHistory(current: model)
    let files = CountingFiles()
    let url = URL(fileURLWithPath: words[0])
    let before = ProcessCounters.now()
    var seconds: [Double] = []
    var work: [Double] = []
    for _ in 0..<count {
      let watch = Stopwatch()
      let (outcome, isWritten) = try launch(url, history: history, files: files)
      seconds.append(watch.seconds)
      work.append(watch.processorSeconds)
      guard case .upToDate = outcome, !isWritten else {
        throw BenchmarkError.unexpectedOutcome(expected: "up to date", found: "\(outcome), \(isWritten)")
      }
    }
    let after = ProcessCounters.now()
    let counts = files.counts
    try ChildProcess.answer(
      Measured(
        seconds: seconds, processorSeconds: work, writtenBytes: difference(after.writtenBytes, before.writtenBytes),
        writeCalls: difference(after.writeCalls, before.writeCalls),
        fileChanges: counts.syncs + counts.changes + counts.locks))
  }

  private static func difference(_ after: Int64?, _ before: Int64?) -> Int64? {
    guard let after, let before else { return nil }
    return after - before
  }
}
