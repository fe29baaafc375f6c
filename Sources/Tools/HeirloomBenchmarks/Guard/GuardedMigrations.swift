import Heirloom

/// Migrations by Heirloom and by hand in turns; all workloads use the same two stores.
struct GuardedMigrations {
  private let work: BenchmarkFolder
  private let store: String
  private let largeStore: String

  init(in work: BenchmarkFolder, seed: UInt64) throws {
    self.work = work
    store = try work.notes(GuardCeilings.notes, seed: seed)
    largeStore = try work.notes(GuardCeilings.manyNotes, seed: seed)
  }

  func makeCopies(rounds: Int, named name: String) throws(FileError) -> RestingCopies {
    let stores = Array(repeating: store, count: rounds * MigrationBenchmark.Way.compared.count) + [largeStore]
    return try RestingCopies(of: stores, in: try work.emptyFolder(name))
  }

  /// Uses the smaller store in turns, then the larger one; all results must be equal.
  ///
  /// Only `times` depend on other load.
  func measure(
    _ workload: MigrationWorkload, _ copies: RestingCopies
  ) throws -> (times: [GuardedFigure], others: [GuardedFigure]) {
    var migration = try CheckedMigration(workload, of: store)
    var paths = copies.paths[...]
    guard let largeCopy = paths.popLast() else {
      throw BenchmarkError.unexpectedOutcome(expected: "copies of both stores", found: "none")
    }
    copies.wait()
    let series = try Series(
      MigrationBenchmark.Way.compared, rounds: paths.count / MigrationBenchmark.Way.compared.count
    ) { way in
      try migration.run(way, at: paths.removeFirst())
    }
    let many = try MigrationBenchmark.inChildProcess(workload, .heirloom, largeCopy)
    let (name, ceilings) = (workload.rawValue, GuardCeilings.migration(workload))
    let times = [
      GuardedFigure(
        "\(name): processor time by the limit's", series.ratio(.heirloom, to: .limit, \.processorSeconds),
        atMost: ceilings.processor, .times,
        goal: PerformanceGoals.ratio(workload, notes: PerformanceGoals.leastNotes)),
      GuardedFigure(
        "\(name): by the proven limit's", series.ratio(.heirloom, to: .limitProven, \.processorSeconds),
        atMost: ceilings.provenProcessor, .times),
    ]
    // A system that doesn't report these has no figure of them.
    let syncs = series[.heirloom].most(\.syncs).map {
      GuardedFigure("\(name): waits for the disk", $0, atMost: ceilings.syncs, .count)
    }
    guard let peak = series[.heirloom].most(\.peakBytes), let larger = many.peakBytes.map(Double.init) else {
      return (times, [syncs].compactMap { $0 })
    }
    return (
      times,
      [syncs].compactMap { $0 } + [
        GuardedFigure(
          "\(name): peak of memory", max(peak, larger), atMost: ceilings.peak * 1_048_576, .bytes,
          goal: Double(PerformanceGoals.peakBytes(workload))),
        GuardedFigure(
          "\(name): more with \(GuardCeilings.manyNotes) notes", larger / max(peak, 1) - 1,
          atMost: GuardCeilings.memoryGrowth, .part),
      ]
    )
  }
}
