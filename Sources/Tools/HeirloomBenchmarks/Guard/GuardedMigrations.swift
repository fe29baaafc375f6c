import Heirloom

/// Migrations by Heirloom and by hand in turns; all workloads use the same two stores.
struct GuardedMigrations {
  struct Measured {
    /// Processor time, divided by the limit's.
    var ratio: Double
    var provenRatio: Double
    var peakBytes: Double?
    var peakBytesOfMany: Double?
    /// The most in one migration.
    var syncs: Double?
  }

  private let work: BenchmarkFolder
  private let store: String
  private let sums: StoreSums
  private let largeStore: String

  private static let ways: [MigrationBenchmark.Way] = [.limit, .limitProven, .heirloom]

  init(in work: BenchmarkFolder, seed: UInt64) throws {
    self.work = work
    store = work.file("Guard.sqlite")
    largeStore = work.file("GuardMany.sqlite")
    try StoreGenerator(notes: GuardCeilings.notes, seed: seed).makeStore(at: store)
    try StoreGenerator(notes: GuardCeilings.manyNotes, seed: seed).makeStore(at: largeStore)
    sums = try StoreSums(of: store, model: try BenchmarkModels.notes())
  }

  /// The last copy is of the larger store.
  func makeCopies(rounds: Int, named name: String) throws(FileError) -> RestingCopies {
    let stores = Array(repeating: store, count: rounds * Self.ways.count) + [largeStore]
    return try RestingCopies(of: stores, in: try work.emptyFolder(name))
  }

  /// Uses the smaller store in turns, then the larger one; all results must be equal.
  func measure(_ workload: MigrationWorkload, _ copies: RestingCopies) throws -> Measured {
    let (earlier, later) = (try BenchmarkModels.notes(), try workload.destination())
    var expected: StoreSums?
    var measured: [MigrationBenchmark.Way: [MigrationBenchmark.Measured]] = [:]
    copies.wait()
    for (index, path) in copies.paths.dropLast().enumerated() {
      let way = Self.ways[index % Self.ways.count]
      let result = try migrate(path, workload, way)
      let migrated = try StoreSums(of: path, model: later, after: workload)
      if let expected { try migrated.check(against: expected) }
      expected = expected ?? migrated
      guard let keptPath = result.keptPath else {
        throw BenchmarkError.unexpectedOutcome(expected: "the old version kept", found: "none")
      }
      try StoreSums(of: keptPath, model: earlier).check(against: sums)
      measured[way, default: []].append(result)
    }
    let many = try copies.paths.last.map { try migrate($0, workload, .heirloom) }
    let runs = measured[.heirloom] ?? []
    // All runs of a round share the same load, so ratios vary less than minima or medians of times.
    func ratio(to limit: MigrationBenchmark.Way) -> Double {
      zip(runs, measured[limit] ?? []).map { $0.processorSeconds / max($1.processorSeconds, 1e-9) }.median
    }
    return Measured(
      ratio: ratio(to: .limit), provenRatio: ratio(to: .limitProven),
      peakBytes: runs.compactMap(\.peakBytes).max().map(Double.init),
      peakBytesOfMany: many?.peakBytes.map(Double.init),
      syncs: runs.compactMap(\.syncs).max().map(Double.init))
  }

  private func migrate(
    _ path: String, _ workload: MigrationWorkload, _ way: MigrationBenchmark.Way
  ) throws -> MigrationBenchmark.Measured {
    let words = [workload.rawValue, way.rawValue, path]
    return try ChildProcess.run(MigrationBenchmark.childName, words, returning: MigrationBenchmark.Measured.self)
  }
}
