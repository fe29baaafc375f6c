import Foundation
import Heirloom

/// Memory must not grow with the number of notes.
enum MemoryBenchmark {
  /// One for each way in which a policy reads and sets values.
  static let workloads: [MigrationWorkload] = [.splitting, .splittingTyped, .splittingBoxed]
  static let defaultCounts = [10_000, 100_000, 1_000_000]
  /// As a fraction of the lowest peak.
  static let goalGrowth = 0.1

  struct WorkloadReport: Codable {
    var workload: MigrationWorkload
    /// Of the whole process, by the number of notes.
    var peakBytes: [Int64?]
    var goalPeakBytes: Int64

    /// From the lowest peak to the highest, as a fraction of the lowest; `nil` if unknown.
    var growth: Double?
    /// True if peak and growth meet their goals; `nil` if unknown.
    var isGoalMet: Bool?

    init(_ workload: MigrationWorkload, peakBytes: [Int64?]) {
      self.workload = workload
      self.peakBytes = peakBytes
      goalPeakBytes = PerformanceGoals.peakBytes(workload)
      let peaks = peakBytes.compactMap(\.self)
      guard let least = peaks.min(), let most = peaks.max(), least > 0 else { return }
      let growth = Double(most) / Double(least) - 1
      self.growth = growth
      isGoalMet = growth <= MemoryBenchmark.goalGrowth && most <= goalPeakBytes
    }
  }

  struct Report: Codable {
    var notes: [Int]
    var workloads: [WorkloadReport]
    var goalGrowth = MemoryBenchmark.goalGrowth
  }

  /// Each migration has a process of its own.
  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> Report {
    let counts = arguments.noteCounts ?? defaultCounts
    var peaks: [MigrationWorkload: [Int64?]] = [:]
    let original = work.file("Memory.sqlite")
    defer { work.remove("Memory.sqlite", "run") }
    for count in counts {
      if try POSIXFileOperations().status(of: original) != nil { try POSIXFileOperations().unlink(original) }
      try StoreGenerator(notes: count, seed: arguments.seed).makeStore(at: original)
      for workload in workloads {
        let path = PathText.join(try work.emptyFolder("run"), "Notes.sqlite")
        try POSIXFileOperations().copyFile(original, to: path, attributes: FileAttributes(mode: 0o644))
        let words = [workload.rawValue, MigrationBenchmark.Way.heirloom.rawValue, path]
        let measured = try ChildProcess.run(
          MigrationBenchmark.childName, words, returning: MigrationBenchmark.Measured.self)
        peaks[workload, default: []].append(measured.peakBytes)
      }
    }
    return Report(notes: counts, workloads: workloads.map { WorkloadReport($0, peakBytes: peaks[$0] ?? []) })
  }
}
