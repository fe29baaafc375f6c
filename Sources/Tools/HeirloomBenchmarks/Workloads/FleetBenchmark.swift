/// Each run has newly made stores, and a process of its own that runs the tool's command.
///
/// Then the same command runs again and finds all stores up to date. A hand-written loop migrates
/// the same stores in turns with it: once unchecked, once with `quick_check`.
enum FleetBenchmark {
  struct Turn: Hashable {
    let way: MigrationBenchmark.Way
    /// The number of stores migrated at a time.
    var jobs = 1
  }

  private static let defaultStoreCount = 10_000
  private static let defaultJobCounts = [1, 2, 4]

  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> ReportTable {
    let stores = try FleetStores(count: arguments.storeCount ?? defaultStoreCount, seed: arguments.seed, in: work)
    let jobCounts = arguments.jobCounts ?? defaultJobCounts
    // A single run of many stores repeats a migration often enough.
    let rounds = arguments.roundCount ?? 1
    let (series, again) = try measure(stores, jobCounts: jobCounts, rounds: rounds)
    var rows: [ReportRow] = []
    var goals: [Goal] = []
    for jobs in jobCounts {
      let turns = MigrationBenchmark.Way.compared.map { Turn(way: $0, jobs: jobs) }
      for turn in turns {
        let figures = figures(of: series[turn], stores: stores.count)
        let single = Turn(way: turn.way)
        let speed = series[single].isEmpty ? nil : series.ratio(single, to: turn, \.seconds)
        rows.append(
          ReportRow(
            name: "\(jobs) at a time: \(turn.way.title)",
            figures: figures + series.ratios(turn, to: [(turns[0], "limit"), (turns[1], "proven")])
              + [Figure("speed × 1 job", speed, .times)]))
      }
      rows.append(
        ReportRow(name: "\(jobs) at a time: again", figures: figures(of: again[jobs] ?? [], stores: stores.count)))
      let own = series[turns[2]]
      goals += [
        Goal(
          "\(jobs) at a time, processor time of a store",
          own.map(\.processorSeconds).median / Double(stores.count), .seconds,
          atMost: PerformanceGoals.fleetProcessorSeconds),
        Goal(
          "\(jobs) at a time, time by the proven limit's", series.ratio(turns[2], to: turns[1], \.seconds), .times,
          atMost: 1 / PerformanceGoals.fleetSpeed),
      ]
    }
    return ReportTable(
      workload: FleetRun.childName,
      title: "fleet: \(stores.count) stores of \(stores.meanByteCount / 1000) kB, old versions kept;"
        + " \(rounds == 1 ? "1 round" : "\(rounds) rounds"), in turns; times by store, CPU of both processors",
      rows: rows, goals: goals,
      remarks: [
        "peak before the first store, after 100, after all; again: the same command, all up to date",
        "limit: by hand, unchecked; proven: by hand, with quick_check; syncs: of a store, SQLite's among them;"
          + " \(stores.checkedCount) stores of each run and their kept versions agree in their sums",
      ])
  }

  /// `again` has the second runs of the command, by the number of stores at a time.
  static func measure(
    _ stores: FleetStores, jobCounts: [Int], rounds: Int
  ) throws -> (series: Series<Turn>, again: [Int: [Measurement]]) {
    var again: [Int: [Measurement]] = [:]
    let turns = jobCounts.flatMap { jobs in MigrationBenchmark.Way.compared.map { Turn(way: $0, jobs: jobs) } }
    let series = try Series(turns, rounds: rounds) { turn in
      let list = try stores.make()
      let (jobs, isByHand) = (turn.jobs, turn.way != .heirloom)
      let run =
        isByHand
        ? try HandWrittenFleet.inChildProcess(list, jobs: jobs, isChecked: turn.way == .limitProven)
        : try FleetRun.inChildProcess(list, stores: stores, jobs: jobs, outcome: "migrated")
      if !isByHand {
        again[jobs, default: []].append(
          try FleetRun.inChildProcess(list, stores: stores, jobs: jobs, outcome: "upToDate"))
      }
      try stores.check(isByHand: isByHand)
      try stores.remove()
      return run
    }
    return (series, again)
  }

  /// Times and syncs are those of a store.
  private static func figures(of runs: [Measurement], stores: Int) -> [Figure] {
    let count = Double(stores)
    let seconds = runs.map(\.seconds).median
    // Only the command reports the times of single stores.
    let single: [Figure] =
      runs.contains { !$0.pieces.isEmpty }
      ? [
        Figure("median", runs.map { $0.pieces.median }.median, .seconds),
        Figure("99 %", runs.map { high($0.pieces) }.median, .seconds),
      ] : []
    return [Figure("mean", seconds / count, .seconds)] + single + [
      Figure("CPU", runs.map(\.processorSeconds).median / count, .seconds),
      Figure("stores/s", count / max(seconds, 1e-9), .count),
      Figure("syncs a store", runs.most(\.syncs).map { $0 / count }, .count),
    ] + runs.counters.filter { $0.name != "syncs" }
  }

  private static func high(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
  }
}
