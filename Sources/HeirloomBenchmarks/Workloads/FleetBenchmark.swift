import Foundation

/// The migration of many small stores by the tool's own command, by the number of stores that are migrated at a time.
///
/// Each run has newly made stores and a process of its own, which does the work of this command:
/// `heirloom migrate --files-from LIST --jobs N`. Then the same command runs again and finds all stores up to date.
/// Before it, in turns, a loop by hand migrates the same stores: once without any check, once with `quick_check`.
enum FleetBenchmark {
  /// The number of stores, if the caller names none.
  static let defaultStoreCount = 10_000
  /// The numbers of stores that are migrated at a time, in the order of a round, if the caller doesn't say.
  static let defaultJobCounts = [1, 2, 4]

  /// The times that the stores of a run took.
  struct StoreTimes: Codable {
    /// The mean, in seconds: the time of a run, divided by its stores.
    var meanSeconds: Double
    /// The median, in seconds from a store's turn to its end; 0 for a loop by hand.
    var medianSeconds: Double
    /// The time that 99 of 100 stores stay below, in seconds; 0 for a loop by hand.
    var highSeconds: Double
    /// Stores a second.
    var storesPerSecond: Double
    /// The processor time of the process for each store, in seconds.
    var processorSeconds: Double
    /// The waits for the disk for each store, including SQLite's; `nil` on systems where they aren't counted.
    var syncs: Double?
  }

  /// The report on one number of jobs.
  struct JobsReport: Codable {
    /// The number of stores that are migrated at a time.
    var jobs: Int
    /// The migration: its waits for the disk include the archiving of its model.
    var migration: StoreTimes
    /// The loop by hand, unchecked.
    var limit: StoreTimes
    /// The loop by hand with `quick_check`.
    var limitProven: StoreTimes
    /// The median of the ratios of a run's time to that of the loop of the same round.
    var ratioToLimit: Double
    /// The same ratio of processor time.
    var processorRatioToLimit: Double
    /// The median of the ratios to the loop that checks.
    var ratioToProvenLimit: Double
    /// The same ratio of processor time.
    var processorRatioToProvenLimit: Double
    /// The speed, as a multiple of the same round's run with one job.
    ///
    /// It is the median of the rounds; `nil` if there is none with one job.
    var scaling: Double?
    /// The peak of the process's memory before the first store, in bytes.
    var initialPeakBytes: Int64?
    /// The same peak after a hundred stores.
    var earlyPeakBytes: Int64?
    /// The same peak after all stores.
    var peakBytes: Int64?
    /// The most files that were open at once, among the moments when they were counted.
    var openFiles: Int?
    /// Files that are open after the run and were not before.
    var leftOpenFiles: Int?
    /// The second run, which finds all stores up to date.
    var secondRun: StoreTimes
  }

  /// The report on all runs.
  struct Report: Codable {
    /// The number of stores.
    var stores: Int
    /// The mean size of a store before, in bytes.
    var storeBytes: Int64
    /// The number of runs with each number of jobs.
    var rounds: Int
    /// The number of migrated stores in each run that were compared, with their previous versions.
    var checkedStores: Int
    /// The most processor time for each store that the design allows, in seconds.
    var goalProcessorSeconds = PerformanceGoals.fleetProcessorSeconds
    /// The least speed that the design asks for, as a part of that of the loop that checks.
    var goalSpeed = PerformanceGoals.fleetSpeed
    /// The runs, by the numbers of jobs.
    var runs: [JobsReport]
  }

  /// A round's runs with one number of jobs.
  private struct Round {
    var limit: FleetRun.Measured
    var limitProven: FleetRun.Measured
    var first: FleetRun.Measured
    var second: FleetRun.Measured
  }

  /// Migrates the stores with each number of jobs, in turns.
  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> Report {
    // One run of many stores already repeats a migration many times.
    try run(
      stores: arguments.storeCount ?? defaultStoreCount, jobCounts: arguments.jobCounts ?? defaultJobCounts,
      rounds: arguments.roundCount ?? 1, seed: arguments.seed, in: work)
  }

  /// Migrates a number of stores with each number of jobs, in turns.
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

  /// Returns the value that 99 of 100 values don't exceed.
  private static func high(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
  }
}

// MARK: - Text

extension FleetBenchmark.Report {
  /// The report for people.
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
