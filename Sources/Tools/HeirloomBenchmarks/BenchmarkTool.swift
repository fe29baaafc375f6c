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
      let table = try ModelBenchmark.run(arguments.models[0], arguments.models[1])
      return print((table.lines + ReportTable.goals(of: [table])).joined(separator: "\n"))
    }

    let work = try BenchmarkFolder(in: arguments.directory)
    try checkGenerator(in: work, seed: arguments.seed)
    if arguments.guards { return try PerformanceGuard.run(arguments, in: work) }
    var report = try BenchmarkReport(directory: work.path)
    let workloads = BenchmarkWorkload.all.filter(arguments.includes)
    for workload in workloads where !workload.isBySize { report.add(try workload.run(arguments, in: work)) }
    for size in arguments.sizes {
      let sized = arguments.at(notes: size)
      for workload in workloads where workload.isBySize { report.add(try workload.run(sized, in: work)) }
      work.removeNotes(size)
    }
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
    try BenchmarkError.require(
      contents[0] == contents[1], "the generator", expected: "the same bytes for the same seed", found: "others")
    // Changing the journal mode of a new store syncs its file.
    try BenchmarkError.require(counter.count != 0, expected: "a count of SQLite's syncs", found: "none")
  }

  private static let childRuns: [String: @Sendable ([String]) throws -> Void] = [
    LaunchBenchmark.childName: LaunchBenchmark.runChild, LargeModelBenchmark.childName: LargeModelBenchmark.runChild,
    RowBenchmark.childName: RowBenchmark.runChild, RetentionBenchmark.childName: RetentionBenchmark.runChild,
    RemovalBenchmark.childName: RemovalBenchmark.runChild, MigrationBenchmark.childName: MigrationBenchmark.runChild,
    FleetRun.childName: FleetRun.runChild, HandWrittenFleet.childName: HandWrittenFleet.runChild,
    CountedWork.childName: CountedWork.runChild, CountedAppending.childName: CountedAppending.runChild,
  ]

  private static func runChild(_ words: [String]) throws {
    let name = words.first ?? ""
    guard let run = childRuns[name] else { throw BenchmarkError.usage("\"\(name)\" is no run.") }
    try run(Array(words.dropFirst()))
  }
}
