import Heirloom

/// Migrates copies of a store in processes of their own, and compares the sums of all results.
struct CheckedMigration {
  let workload: MigrationWorkload
  /// Of the original, and so of each kept version.
  let earlierSums: StoreSums

  private let earlier: ManagedObjectModel
  private let later: ManagedObjectModel
  private var laterSums: StoreSums?

  init(_ workload: MigrationWorkload, of original: String) throws {
    self.workload = workload
    (earlier, later) = (try BenchmarkModels.notes(), try workload.destination())
    earlierSums = try StoreSums(of: original, model: earlier)
  }

  mutating func run(_ way: MigrationBenchmark.Way, at path: String) throws -> Measurement {
    let run = try MigrationBenchmark.inChildProcess(workload, way, path)
    let sums = try StoreSums(of: path, model: later, after: workload)
    try sums.check(against: laterSums ?? sums)
    laterSums = laterSums ?? sums
    try BenchmarkError.require((run.keptPath == nil) == way.isInPlace, expected: "the old version kept", found: "none")
    if let keptPath = run.keptPath { try StoreSums(of: keptPath, model: earlier).check(against: earlierSums) }
    return run
  }
}
