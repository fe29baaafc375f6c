import Foundation
import Heirloom

/// Times are in seconds and sizes in bytes; unmeasured and unknown values are left out.
///
/// Other programs may rely on the JSON's keys, which are the names of properties: a change of their
/// meaning changes ``format``.
struct BenchmarkReport: Codable {
  var format = 2
  var system: String
  var processors: Int
  var sqliteVersion: String
  var isOptimized: Bool
  /// Empty if the system doesn't report it.
  var fileSystem: String
  var launch: LaunchBenchmark.Report?
  var models: LargeModelBenchmark.Report?
  var rows: [String: RowBenchmark.Report] = [:]
  var removal: [String: RemovalBenchmark.Report] = [:]
  var memory: MemoryBenchmark.Report?
  var retention: RetentionBenchmark.Report?
  var cancellation: [CancellationBenchmark.Report] = []
  var fleet: FleetBenchmark.Report?
  var summary: [MigrationSummary] = []
  var migrations: [String: [String: MigrationBenchmark.Report]] = [:]

  /// `directory` is the folder of the stores.
  init(directory: String) throws {
    system = ProcessInfo.processInfo.operatingSystemVersionString
    processors = ProcessInfo.processInfo.activeProcessorCount
    let connection = try Connection(path: "", mode: .memory)
    sqliteVersion = try connection.firstValue("SELECT sqlite_version()")?.text ?? ""
    #if DEBUG
      isOptimized = false
    #else
      isOptimized = true
    #endif
    fileSystem = try POSIXFileOperations().volume(of: directory).fileSystemName
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  /// In the order of workloads, and by size within each.
  var orderedMigrations: [MigrationBenchmark.Report] {
    MigrationWorkload.allCases.flatMap { workload in
      (migrations[workload.rawValue] ?? [:]).values.sorted { $0.notes < $1.notes }
    }
  }

  // MARK: Text

  var machine: String {
    "\(system), \(processors) processors, \(fileSystem.isEmpty ? "unknown file system" : fileSystem), SQLite \(sqliteVersion)"
      + (isOptimized ? "" : ", not optimized: run with -c release")
  }

  var text: String {
    var lines = [machine]
    if !summary.isEmpty { lines += [""] + MigrationSummary.lines(of: summary) }
    if let launch { lines += [""] + Self.lines(of: launch) }
    if let models { lines += [""] + Self.lines(of: models) }
    for report in rows.values.sorted(by: { $0.notes < $1.notes }) { lines += [""] + Self.lines(of: report) }
    for report in removal.values.sorted(by: { $0.notes < $1.notes }) { lines += [""] + Self.lines(of: report) }
    if let memory { lines += [""] + Self.lines(of: memory) }
    if let retention { lines += [""] + retention.lines }
    if !cancellation.isEmpty { lines += [""] + Self.lines(of: cancellation) }
    if let fleet { lines += [""] + fleet.lines }
    for report in orderedMigrations { lines += [""] + Self.lines(of: report) }
    return lines.joined(separator: "\n")
  }

  private static func lines(of launch: LaunchBenchmark.Report) -> [String] {
    var table = TextTable(["", "median ms", "least ms", "CPU ms", "goal ms"])
    let goal = "< " + number(launch.goalSeconds * 1000, 1)
    table.add([
      "first in a process", number(launch.firstSeconds * 1000, 2), number(launch.firstLeastSeconds * 1000, 2),
      number(launch.firstProcessorSeconds * 1000, 2), goal,
    ])
    table.add([
      "later", number(launch.laterSeconds * 1000, 2), number(launch.laterLeastSeconds * 1000, 2),
      number(launch.laterProcessorSeconds * 1000, 2), goal,
    ])
    let written = launch.writtenBytes.map { "\($0) bytes" } ?? "an unknown number of bytes"
    let calls = launch.writeCalls.map { "\($0) calls" } ?? "an unknown number of calls"
    let left = launch.sideFiles.isEmpty ? "none" : launch.sideFiles.joined(separator: ", ")
    return [
      "launch with nothing to do: \(launch.entities) entities, \(launch.attributes) attributes,"
        + " \(launch.relationships) relationships; model in memory, store in WAL mode"
    ] + table.lines + [
      "  \(launch.launches) launches: \(launch.fileChanges) syncs, locks or changes of files by Heirloom;"
        + " \(launch.comparedFiles) files and folders unchanged",
      "  written in \(calls), all by SQLite to its side files: \(written); side files left: \(left)",
    ]
  }

  private static func lines(of models: LargeModelBenchmark.Report) -> [String] {
    var table = TextTable(["", "median ms", "least ms", "CPU ms", "first ms", "kB", "goal ms", ""])
    for step in models.steps {
      table.add([
        step.step.title, number(step.seconds * 1000, 2), number(step.leastSeconds * 1000, 2),
        number(step.processorSeconds * 1000, 2), number(step.firstSeconds * 1000, 2),
        step.bytes.map { number(Double($0) / 1000, 1) } ?? "", step.goalSeconds.map { number($0 * 1000, 0) } ?? "",
        step.goalSeconds.map { $0 >= step.seconds ? "met" : "missed by \(number((step.seconds - $0) * 1000, 1)) ms" }
          ?? "",
      ])
    }
    return [
      "models: \(models.entities) entities, \(models.attributes) attributes, \(models.relationships) relationships;"
        + " \(models.runs) runs of each, in turns"
    ] + table.lines + ["  first: in a new process; read and make: from and to bytes in memory"]
  }

  private static func lines(of rows: RowBenchmark.Report) -> [String] {
    var table = TextTable(["", "median ms", "CPU ms", "× limit", "CPU × limit", "goal", "peak MB"])
    for way in rows.ways {
      table.add([
        way.way.rawValue, number(way.seconds * 1000, 1), number(way.processorSeconds * 1000, 1),
        number(way.ratioToLimit, 2), number(way.processorRatio, 2), number(way.goalRatio, 2), megabytes(way.peakBytes),
      ])
    }
    return [
      "rows: \(rows.notes) notes split into \(rows.verses) verses of another database; \(rows.rounds) rounds, in turns"
    ] + table.lines + [
      "  goals are those of a whole migration; there is nothing to prove here; the verses of all ways agree"
    ]
  }

  private static func lines(of report: RemovalBenchmark.Report) -> [String] {
    var table = TextTable([
      "clean-up", "median ms", "least ms", "CPU ms", "later ms", "pieces", "longest ms", "peak MB",
    ])
    for way in report.ways {
      table.add([
        "\(way.way.rawValue) (\(way.builder))", number(way.seconds * 1000, 1), number(way.leastSeconds * 1000, 1),
        number(way.processorSeconds * 1000, 1), number(way.cleanUpSeconds * 1000, 1), "\(way.pieceCount)",
        number(way.longestPieceSeconds * 1000, 1), megabytes(way.peakBytes),
      ])
    }
    let parts = report.ways.map { way in
      let list = way.parts.map { "\($0.name) \(number($0.seconds * 1000, 1))" }.joined(separator: ", ")
      return "  \(way.way.rawValue), ms: \(list)"
    }
    return [
      "removal of tags, their links, nine attributes and two indexes; old version kept: \(report.notes) notes,"
        + " \(number(Double(report.storeBytes) / 1e6, 1)) MB; \(report.rounds) rounds, in turns"
    ] + table.lines + parts + [
      "  a launch that leaves the clean-up is \(number(report.ratio, 2)) × as fast; goal: \(number(report.goalRatio, 1))"
    ]
  }

  private static func lines(of cancellation: [CancellationBenchmark.Report]) -> [String] {
    var table = TextTable(["", "notes", "whole s", "cancelled", "longest s", "after", "too late", "longest s", "after"])
    for report in cancellation {
      let endings = [report.cancelled, report.completed].flatMap {
        ["\($0.runs)", number($0.longestSeconds, 3), $0.longestAfter]
      }
      table.add([report.workload.rawValue, "\(report.notes)", number(report.seconds, 3)] + endings)
    }
    return ["from cancel() to the end of the migration, when its locks are gone"] + table.lines
  }

  private static func lines(of memory: MemoryBenchmark.Report) -> [String] {
    var table = TextTable([""] + memory.notes.map { "\($0) notes" } + ["growth", "goal MB"])
    for report in memory.workloads {
      let growth = report.growth.map { number($0 * 100, 1) + " %" } ?? "?"
      table.add(
        [report.workload.rawValue] + report.peakBytes.map(megabytes) + [growth, megabytes(report.goalPeakBytes)])
    }
    return ["peak memory of whole processes, MB; goal: growth of at most \(number(memory.goalGrowth * 100, 0)) %"]
      + table.lines
  }

  private static func lines(of report: MigrationBenchmark.Report) -> [String] {
    var table = TextTable([
      "", "median ms", "least ms", "CPU ms", "× limit", "CPU ×", "× proven", "CPU ×", "rows/s", "MB/s", "written MB",
      "syncs", "peak MB",
    ])
    for way in report.ways {
      table.add([
        name(of: way), number(way.seconds * 1000, 1), number(way.leastSeconds * 1000, 1),
        number(way.processorSeconds * 1000, 1),
        number(way.ratioToLimit, 2), number(way.processorRatioToLimit, 2), number(way.ratioToProvenLimit, 2),
        number(way.processorRatioToProvenLimit, 2), number(way.rowsPerSecond, 0),
        number(way.bytesPerSecond / 1e6, 1), way.writtenBytes.map { number($0 / 1e6, 1) } ?? "?",
        way.syncs.map(String.init) ?? "?",
        megabytes(way.peakBytes),
      ])
    }
    let parts = report.ways.map { way in
      let list = way.parts.map { "\($0.name) \(number($0.seconds * 1000, 1))" }.joined(separator: ", ")
      return "  \(name(of: way)), ms: \(list)"
    }
    let initial = report.ways.compactMap(\.initialPeakBytes).max()
    return [
      "\(report.workload.rawValue), \(report.workload.title)",
      "  old version kept: \(report.notes) notes, \(report.rows) rows, \(number(Double(report.storeBytes) / 1e6, 1)) MB;"
        + " \(report.rounds) rounds, in turns",
    ] + table.lines + parts + report.furtherGoals.map { "  \($0)" } + [
      "  goals: at most \(number(report.goalRatio, 2)) × limit without proof, peak at most"
        + " \(megabytes(report.goalPeakBytes)) MB (\(megabytes(initial)) MB before the migration begins)",
      "  the sums of all results agree, and those of all kept versions",
    ]
  }

  private static func name(of way: MigrationBenchmark.WayReport) -> String {
    switch way.way {
    case .limit: "limit"
    case .limitProven: "limit, proven"
    case .heirloom: "Heirloom (\(way.builder ?? ""))"
    case .rebuild: "always rebuild"
    case .cloneAndAlter: "always cloneAndAlter"
    case .inPlace: "in place"
    case .inPlaceProven: "in place, proven"
    case .inPlaceSteps: "in place, 50 steps"
    }
  }

  static func megabytes(_ bytes: Int64?) -> String {
    bytes.map { number(Double($0) / Double(1 << 20), 1) } ?? "?"
  }

  static func number(_ value: Double, _ digits: Int) -> String {
    String(format: "%.\(digits)f", value)
  }
}
