import Foundation
import Heirloom

/// A launch with nothing to do, which every start of an app pays for.
///
/// The model is already in memory, and the store is migrated and archived: an app then creates a
/// controller and an assistant and calls `migrateStore()` and `archive(_:)`.
enum LaunchBenchmark {
  static let childName = "launch"

  private static let processes = 15
  private static let callsEach = 100

  private struct Launches: Codable {
    var runs: [Measurement] = []
    /// By all launches, including SQLite's side files.
    var writtenBytes: Int64?
    var writeCalls: Int64?
    var fileChanges = 0
  }

  static func run(in work: BenchmarkFolder) throws -> ReportTable {
    let folder = try work.emptyFolder("launch")
    let path = PathText.join(folder, "Large.sqlite")
    let model = try BenchmarkModels.large()
    try prepare(path, model: model)

    let before = try FolderContent(of: folder)
    let launches = try (0..<processes).map { _ in
      try ChildProcess.run(childName, [path, String(callsEach)], returning: Launches.self)
    }
    let after = try FolderContent(of: folder)
    if let change = after.changes(since: before).first { throw BenchmarkError.unexpectedChange(change) }
    let fileChanges = launches.reduce(0) { $0 + $1.fileChanges }
    guard fileChanges == 0 else {
      throw BenchmarkError.unexpectedChange("\(fileChanges) calls that change, sync or lock files")
    }
    let first = launches.compactMap(\.runs.first)
    let later = launches.flatMap { $0.runs.dropFirst() }
    func goal(_ subject: String, _ runs: [Measurement]) -> Goal {
      Goal(subject, runs.map(\.seconds).median, .seconds, atMost: PerformanceGoals.launchSeconds)
    }
    let names = try POSIXFileOperations().names(in: folder)
    let sideFiles = names.filter { name in StoreLocation.sideSuffixes.contains { name.hasSuffix($0) } }
    return ReportTable(
      workload: childName,
      title: "launch with nothing to do: \(model.sizeText); model in memory, store in WAL mode",
      rows: [
        ReportRow(name: "first in a process", figures: first.times), ReportRow(name: "later", figures: later.times),
      ],
      goals: [goal("first in a process", first), goal("later", later)],
      remarks: [
        "\(first.count + later.count) launches: \(fileChanges) syncs, locks or changes of files by Heirloom;"
          + " \(after.count) files and folders unchanged",
        "written in \(sum(launches.map(\.writeCalls))) calls, all by SQLite to its side files:"
          + " \(sum(launches.map(\.writtenBytes))) bytes; side files left:"
          + " \(sideFiles.isEmpty ? "none" : sideFiles.joined(separator: ", "))",
      ])
  }

  private static func sum(_ counts: [Int64?]) -> String {
    let known = counts.compactMap { $0 }
    return known.count == counts.count ? "\(known.reduce(0, +))" : "an unknown number of"
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

  private static func launch(
    _ url: URL, history: ModelHistory, files: any FileOperations
  ) throws -> (outcome: MigrationOutcome, isWritten: Bool) {
    let controller = ModelController(storeURL: url, files: files)
    let assistant = MigrationAssistant(
      storeURL: url, modelController: controller, history: history, configuration: MigrationAssistant.Configuration(),
      files: files)
    let outcome = try assistant.migrateStore()
    return (outcome, try controller.archive(history.current))
  }

  static func launchUpToDate(_ url: URL, history: ModelHistory, files: any FileOperations) throws {
    let (outcome, isWritten) = try launch(url, history: history, files: files)
    guard case .upToDate = outcome, !isWritten else {
      throw BenchmarkError.unexpectedOutcome(expected: "up to date", found: "\(outcome), \(isWritten)")
    }
  }

  // MARK: The child

  static func runChild(_ words: [String]) throws {
    guard words.count == 2, let count = Int(words[1]), count > 0 else {
      throw BenchmarkError.usage("The run \(childName) needs a store and a number.")
    }
    let history = ModelHistory(current: try BenchmarkModels.large())
    let files = CountingFiles()
    let url = URL(fileURLWithPath: words[0])
    var launches = Launches()
    let before = ProcessCounters.now()
    for _ in 0..<count {
      let watch = Stopwatch()
      try launchUpToDate(url, history: history, files: files)
      launches.runs.append(Measurement(watch))
    }
    let counters = ProcessCounters.now().since(before)
    (launches.writtenBytes, launches.writeCalls) = (counters.writtenBytes, counters.writeCalls)
    launches.fileChanges = files.count
    try ChildProcess.answer(launches)
  }
}
