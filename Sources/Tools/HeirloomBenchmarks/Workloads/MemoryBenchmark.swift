import Heirloom

/// Memory must not grow with the number of notes.
enum MemoryBenchmark {
  /// One for each way in which a policy reads and sets values.
  private static let workloads: [MigrationWorkload] = [.splitting, .splittingTyped, .splittingBoxed]
  private static let defaultCounts = [10_000, 100_000, 1_000_000]

  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> ReportTable {
    let counts = arguments.noteCounts ?? defaultCounts
    var peaks: [MigrationWorkload: [Int64?]] = [:]
    for count in counts {
      let original = try work.notes(count, seed: arguments.seed)
      for workload in workloads {
        let run = try MigrationBenchmark.inChildProcess(workload, .heirloom, try work.copy(of: original))
        peaks[workload, default: []].append(run.peakBytes)
      }
      work.removeNotes(count)
    }
    var rows: [ReportRow] = []
    var goals: [Goal] = []
    for workload in workloads {
      let name = workload.rawValue
      let all = peaks[workload] ?? []
      let known = all.compactMap { $0.map(Double.init) }
      let (least, most) = (known.min(), known.max())
      let growth = most.flatMap { most in least.map { most / max($0, 1) - 1 } }
      let figures = zip(counts, all).map { Figure("\($0) notes", $1.map(Double.init), .bytes) }
      rows.append(ReportRow(name: name, figures: figures + [Figure("growth", growth, .part)]))
      goals += [
        Goal("\(name), peak", most, .bytes, atMost: Double(PerformanceGoals.peakBytes(workload))),
        Goal("\(name), growth from the lowest peak", growth, .part, atMost: PerformanceGoals.memoryGrowth),
      ]
    }
    return ReportTable(workload: "memory", title: "peak memory of whole processes", rows: rows, goals: goals)
  }
}
