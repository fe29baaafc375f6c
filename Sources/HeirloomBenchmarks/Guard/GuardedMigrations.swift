import Foundation
import Heirloom

/// Migrations by Heirloom and by hand in turns, as the guard needs them: two stores that all workloads start from.
struct GuardedMigrations {
  /// What the rounds of one workload came to.
  struct Measured {
    /// The processor time of Heirloom by that of the proven limit.
    var ratio: Double
    /// The highest peak of Heirloom's process, in bytes; `nil` where the system doesn't tell.
    var peakBytes: Double?
    /// The most waits for the disk of one migration, SQLite's own among them; `nil` where they can't be counted.
    var syncs: Double?
  }

  private let work: BenchmarkFolder
  private let store: String
  private let sums: StoreSums
  private let largeStore: String

  /// Generates the stores.
  init(in work: BenchmarkFolder, seed: UInt64) throws {
    self.work = work
    store = work.file("Guard.sqlite")
    largeStore = work.file("GuardMany.sqlite")
    try StoreGenerator(notes: GuardCeilings.notes, seed: seed).makeStore(at: store)
    try StoreGenerator(notes: GuardCeilings.manyNotes, seed: seed).makeStore(at: largeStore)
    sums = try StoreSums(of: store, model: try BenchmarkModels.notes())
  }

  /// Migrates the smaller store in turns by hand and by Heirloom; all results must hold the same.
  func measure(_ workload: MigrationWorkload, rounds: Int) throws -> Measured {
    let later = try workload.destination()
    var expected: StoreSums?
    var measured: [MigrationBenchmark.Way: [MigrationBenchmark.Measured]] = [:]
    for _ in 0..<rounds {
      for way in [MigrationBenchmark.Way.limitProven, .heirloom] {
        let (path, result) = try migrate(store, workload, way)
        let migrated = try StoreSums(of: path, model: later, after: workload)
        if let expected { try migrated.check(against: expected) }
        expected = expected ?? migrated
        guard let keptPath = result.keptPath else {
          throw BenchmarkError.unexpectedOutcome(expected: "the old version kept", found: "none")
        }
        try StoreSums(of: keptPath, model: try BenchmarkModels.notes()).check(against: sums)
        measured[way, default: []].append(result)
      }
    }
    let (limits, runs) = (measured[.limitProven] ?? [], measured[.heirloom] ?? [])
    // Of the two of a round, which the same load slows down: steadier than the least or the middle of all.
    let ratios = zip(runs, limits).map { $0.processorSeconds / max($1.processorSeconds, 1e-9) }
    return Measured(
      ratio: ratios.median, peakBytes: runs.compactMap(\.peakBytes).max().map(Double.init),
      syncs: runs.compactMap(\.syncs).max().map(Double.init))
  }

  /// Returns the peak of the process that migrates the larger store, in bytes; `nil` where the system doesn't tell.
  func peakOfMany(_ workload: MigrationWorkload) throws -> Double? {
    try migrate(largeStore, workload, .heirloom).measured.peakBytes.map(Double.init)
  }

  private func migrate(
    _ store: String, _ workload: MigrationWorkload, _ way: MigrationBenchmark.Way
  ) throws -> (path: String, measured: MigrationBenchmark.Measured) {
    let path = StoreLocation.join(try work.emptyFolder("run"), "Notes.sqlite")
    try POSIXFileOperations().copyFile(store, to: path, attributes: FileAttributes(mode: 0o644))
    let words = [workload.rawValue, way.rawValue, path]
    return (
      path, try ChildProcess.run(MigrationBenchmark.childName, words, returning: MigrationBenchmark.Measured.self)
    )
  }
}
