import Foundation

/// Each run has newly made stores, and a process of its own that runs the tool's command.
///
/// Then the same command runs again and finds all stores up to date. Before it, in turns, a
/// hand-written loop migrates the same stores: once unchecked, once with `quick_check`.
enum FleetBenchmark {
  static let defaultStoreCount = 10_000
  /// In the order of a round.
  static let defaultJobCounts = [1, 2, 4]

  struct StoreTimes: Codable {
    /// The run's duration divided by the number of stores.
    var meanSeconds: Double
    /// From a store's start to its end; 0 for a hand-written loop.
    var medianSeconds: Double
    /// The 99th percentile; 0 for a hand-written loop.
    var highSeconds: Double
    var storesPerSecond: Double
    var processorSeconds: Double
    /// Including SQLite's.
    var syncs: Double?
  }

  struct JobsReport: Codable {
    /// The number of stores migrated at a time.
    var jobs: Int
    /// Its syncs include archiving the model.
    var migration: StoreTimes
    var limit: StoreTimes
    /// With `quick_check`.
    var limitProven: StoreTimes
    /// The median of the ratios of durations in the same round.
    var ratioToLimit: Double
    var processorRatioToLimit: Double
    var ratioToProvenLimit: Double
    var processorRatioToProvenLimit: Double
    /// The speed, as a multiple of the same round's run with one job; `nil` without such runs.
    var scaling: Double?
    /// Before the first store.
    var initialPeakBytes: Int64?
    /// After a hundred stores.
    var earlyPeakBytes: Int64?
    var peakBytes: Int64?
    /// The most at once, sampled during the run.
    var openFiles: Int?
    var leftOpenFiles: Int?
    /// Finds all stores up to date.
    var secondRun: StoreTimes
  }

  struct Report: Codable {
    var stores: Int
    /// The mean before the migration.
    var storeBytes: Int64
    var rounds: Int
    /// In each run, with their previous versions.
    var checkedStores: Int
    var goalProcessorSeconds = PerformanceGoals.fleetProcessorSeconds
    /// As a fraction of the checked loop's.
    var goalSpeed = PerformanceGoals.fleetSpeed
    var runs: [JobsReport]
  }

  private struct Round {
    var limit: FleetRun.Measured
    var limitProven: FleetRun.Measured
    var first: FleetRun.Measured
    var second: FleetRun.Measured
  }

  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> Report {
    // A single run of many stores repeats a migration often enough.
    try run(
      stores: arguments.storeCount ?? defaultStoreCount, jobCounts: arguments.jobCounts ?? defaultJobCounts,
      rounds: arguments.roundCount ?? 1, seed: arguments.seed, in: work)
  }

  static func run(
    stores count: Int, jobCounts: [Int], rounds: Int, seed: UInt64, in work: BenchmarkFolder
  ) throws -> Report {
    let stores = try FleetStores(count: count, seed: seed, in: work)
    var runs: [Int: [Round]] = [:]
    var expected: [Int: StoreSums] = [:]
    var checked = 0
    func byHand(_ jobs: Int, isChecked: Bool) throws -> FleetRun.Measured {
      let measured = try HandWrittenFleet.inChildProcess(try stores.make(), jobs: jobs, isChecked: isChecked)
      _ = try stores.check(&expected, isByHand: true)
      try stores.remove()
      return measured
    }
    for _ in 0..<rounds {
      for jobs in jobCounts {
        let limit = try byHand(jobs, isChecked: false)
        let limitProven = try byHand(jobs, isChecked: true)
        let list = try stores.make()
        let first = try FleetRun.inChildProcess(list, stores: stores, jobs: jobs, outcome: "migrated")
        let second = try FleetRun.inChildProcess(list, stores: stores, jobs: jobs, outcome: "upToDate")
        checked = try stores.check(&expected)
        try stores.remove()
        runs[jobs, default: []].append(Round(limit: limit, limitProven: limitProven, first: first, second: second))
      }
    }
    return Report(
      stores: stores.count, storeBytes: stores.meanByteCount, rounds: rounds, checkedStores: checked,
      runs: jobCounts.compactMap { jobs in
        runs[jobs].map { report(jobs, $0, single: runs[1] ?? [], stores: stores.count) }
      })
  }

  private static func report(_ jobs: Int, _ runs: [Round], single: [Round], stores: Int) -> JobsReport {
    let first = runs.map(\.first)
    func ratio(_ limit: (Round) -> FleetRun.Measured, _ seconds: (FleetRun.Measured) -> Double) -> Double {
      runs.map { seconds($0.first) / max(seconds(limit($0)), 1e-9) }.median
    }
    return JobsReport(
      jobs: jobs, migration: times(first, stores: stores), limit: times(runs.map(\.limit), stores: stores),
      limitProven: times(runs.map(\.limitProven), stores: stores), ratioToLimit: ratio(\.limit, \.seconds),
      processorRatioToLimit: ratio(\.limit, \.processorSeconds), ratioToProvenLimit: ratio(\.limitProven, \.seconds),
      processorRatioToProvenLimit: ratio(\.limitProven, \.processorSeconds),
      scaling: single.isEmpty ? nil : zip(single, first).map { $0.first.seconds / max($1.seconds, 1e-9) }.median,
      initialPeakBytes: first.compactMap(\.initialPeakBytes).max(),
      earlyPeakBytes: first.compactMap(\.earlyPeakBytes).max(), peakBytes: first.compactMap(\.peakBytes).max(),
      openFiles: first.compactMap(\.openFiles).max(), leftOpenFiles: first.compactMap(\.leftOpenFiles).max(),
      secondRun: times(runs.map(\.second), stores: stores))
  }

  private static func times(_ runs: [FleetRun.Measured], stores: Int) -> StoreTimes {
    let seconds = runs.map(\.seconds).median
    return StoreTimes(
      meanSeconds: seconds / Double(stores), medianSeconds: runs.map { $0.storeSeconds.median }.median,
      highSeconds: runs.map { high($0.storeSeconds) }.median, storesPerSecond: Double(stores) / max(seconds, 1e-9),
      processorSeconds: runs.map(\.processorSeconds).median / Double(stores),
      syncs: runs.compactMap(\.syncs).max().map { Double($0) / Double(stores) })
  }

  /// The 99th percentile.
  private static func high(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
  }
}

// MARK: - Text

extension FleetBenchmark.Report {
  var lines: [String] {
    var table = TextTable([
      "", "median ms", "99 % ms", "mean ms", "stores/s", "× 1 job", "CPU ms", "syncs", "peak MB", "files open",
      "again ms",
      "CPU ms",
    ])
    for run in runs {
      table.add([
        "\(run.jobs) at a time", milliseconds(run.migration.medianSeconds), milliseconds(run.migration.highSeconds),
        milliseconds(run.migration.meanSeconds), number(run.migration.storesPerSecond, 0),
        run.scaling.map { number($0, 2) } ?? "?",
        milliseconds(run.migration.processorSeconds), run.migration.syncs.map { number($0, 1) } ?? "?",
        megabytes(run.peakBytes),
        run.openFiles.map(String.init) ?? "?",
        milliseconds(run.secondRun.meanSeconds), milliseconds(run.secondRun.processorSeconds),
      ])
    }
    var byHand = TextTable([
      "by hand", "mean ms", "stores/s", "CPU ms", "syncs", "checked: mean ms", "stores/s", "CPU ms",
      "Heirloom × by hand",
      "CPU ×", "× checked", "CPU ×",
    ])
    for run in runs {
      byHand.add(
        ["\(run.jobs) at a time"] + cells(run.limit) + [run.limit.syncs.map { number($0, 1) } ?? "?"]
          + cells(run.limitProven)
          + [
            run.ratioToLimit, run.processorRatioToLimit, run.ratioToProvenLimit, run.processorRatioToProvenLimit,
          ].map { number($0, 2) })
    }
    let memory = runs.map { run in
      "\(megabytes(run.initialPeakBytes)), \(megabytes(run.earlyPeakBytes)), \(megabytes(run.peakBytes))"
        + " (\(run.jobs) at a time)"
    }
    let left = runs.map { $0.leftOpenFiles.map(String.init) ?? "?" }
    return [
      "fleet: \(stores) stores of \(number(Double(storeBytes) / 1e3, 0)) kB, old versions kept;"
        + " \(rounds == 1 ? "1 round" : "\(rounds) rounds"), in turns; times by store, CPU of both processors"
    ] + table.lines + byHand.lines + [
      "  goals: at most \(milliseconds(goalProcessorSeconds)) ms of CPU for a store; at least \(number(goalSpeed, 2)) of the"
        + " stores a second of the loop that checks with quick_check: × checked at most \(number(1 / goalSpeed, 2))",
      "  peak MB before the first store, after 100, after all: \(memory.joined(separator: "; "))",
      "  files left open: \(left.joined(separator: ", ")); again: the same command, all up to date",
      "  syncs: of a store, SQLite's among them; \(checkedStores) stores of each run and their kept versions agree in their sums",
    ]
  }

  private func cells(_ times: FleetBenchmark.StoreTimes) -> [String] {
    [milliseconds(times.meanSeconds), number(times.storesPerSecond, 0), milliseconds(times.processorSeconds)]
  }

  private func milliseconds(_ seconds: Double) -> String { number(seconds * 1000, 2) }

  private func megabytes(_ bytes: Int64?) -> String {
    bytes.map { number(Double($0) / Double(1 << 20), 1) } ?? "?"
  }

  private func number(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
}
