import Foundation
import Heirloom

/// Compares Heirloom's performance with minimal hand-written code for the same work.
@main
struct BenchmarkTool {
  static func main() {
    do {
      try run()
    } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      if case .usage? = error as? BenchmarkError {
        FileHandle.standardError.write(Data((BenchmarkArguments.usage + "\n").utf8))
        exit(2)
      }
      exit(1)
    }
  }

  private static func run() throws {
    let arguments = try BenchmarkArguments(Array(CommandLine.arguments.dropFirst()))
    if let child = arguments.child { return try runChild(child) }
    guard !arguments.printsUsage else { return print(BenchmarkArguments.usage) }
    if arguments.models.count == 2 {
      return print(try ModelBenchmark.run(arguments.models[0], arguments.models[1]))
    }

    let work = try BenchmarkFolder(in: arguments.directory)
    try checkGenerator(in: work, seed: arguments.seed)
    if arguments.guards { return try PerformanceGuard.run(arguments, in: work) }
    var report = try BenchmarkReport(directory: work.path)
    if arguments.includes(.launch) { report.launch = try LaunchBenchmark.run(in: work) }
    if arguments.includes(.models) { report.models = try LargeModelBenchmark.run(in: work) }
    if arguments.includes(.memory) { report.memory = try MemoryBenchmark.run(arguments, in: work) }
    if arguments.includes(.retention) { report.retention = try RetentionBenchmark.run(arguments, in: work) }
    if arguments.includes(.fleet) { report.fleet = try FleetBenchmark.run(arguments, in: work) }
    for size in arguments.sizes {
      let sized = arguments.at(notes: size)
      if arguments.includes(.removal) { report.removal["\(size)"] = try RemovalBenchmark.run(sized, in: work) }
      if arguments.includes(.cancellation) { report.cancellation += try CancellationBenchmark.run(sized, in: work) }
      if arguments.includes(.rows) { report.rows["\(size)"] = try RowBenchmark.run(sized, in: work) }
      for workload in MigrationWorkload.allCases where arguments.includes(.migration(workload)) {
        report.migrations[workload.rawValue, default: [:]]["\(size)"] =
          try MigrationBenchmark.run(workload, sized, in: work)
      }
      work.remove(MigrationBenchmark.storeName, "run")
    }
    report.summary = report.orderedMigrations.compactMap(MigrationSummary.init)
    print(arguments.printsJSON ? try report.json() : report.text)
    // The report comes first, because it must not be lost if the file can't be written.
    if let path = arguments.plotPath {
      guard FileManager.default.createFile(atPath: path, contents: Data(CostPlot(report).svg.utf8)) else {
        throw BenchmarkError.unwritable(path: path)
      }
    }
  }

  /// Comparisons between machines need equal stores for equal seeds, and a count of SQLite's syncs.
  private static func checkGenerator(in work: BenchmarkFolder, seed: UInt64) throws {
    let files = POSIXFileOperations()
    let counter = SyncCounter()
    let contents = try ["first.sqlite", "second.sqlite"].map { name in
      try StoreGenerator(notes: 200, seed: seed).makeStore(at: work.file(name))
      return try files.readFile(work.file(name), limit: 1 << 24)
    }
    guard contents[0] == contents[1] else {
      throw BenchmarkError.differentContents(
        subject: "the generator", expected: "the same bytes for the same seed", found: "others")
    }
    // Changing the journal mode of a new store syncs its file.
    guard counter.count != 0 else {
      throw BenchmarkError.unexpectedOutcome(expected: "a count of SQLite's syncs", found: "none")
    }
  }

  private static let childRuns: [String: @Sendable ([String]) throws -> Void] = [
    LaunchBenchmark.childName: LaunchBenchmark.runChild, LargeModelBenchmark.childName: LargeModelBenchmark.runChild,
    RowBenchmark.childName: RowBenchmark.runChild, RetentionBenchmark.childName: RetentionBenchmark.runChild,
    RemovalBenchmark.childName: RemovalBenchmark.runChild,
    FleetRun.childName: FleetRun.runChild, HandWrittenFleet.childName: HandWrittenFleet.runChild,
    CountedWork.childName: CountedWork.runChild, CountedAppending.childName: CountedAppending.runChild,
    MigrationBenchmark.childName: MigrationBenchmark.runChild,
  ]

  private static func runChild(_ words: [String]) throws {
    let name = words.first ?? ""
    guard let run = childRuns[name] else { throw BenchmarkError.usage("\"\(name)\" is no run.") }
    try run(Array(words.dropFirst()))
  }
}
