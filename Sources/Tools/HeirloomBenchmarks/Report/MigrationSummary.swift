/// A line of the table at the top of the report: one workload at one size.
struct MigrationSummary: Codable, Hashable {
  let workload: MigrationWorkload
  let notes: Int
  let seconds: Double
  let ratioToLimit: Double
  /// Processor time hardly depends on other load.
  let processorRatioToLimit: Double
  let ratioToProvenLimit: Double
  let processorRatioToProvenLimit: Double
  /// Valid from ``PerformanceGoals/leastNotes`` notes on.
  let goalRatio: Double
  let hasTimeGoal: Bool
  /// Even if the goal is for another size.
  let isTimeGoalMet: Bool
  let rowsPerSecond: Double
  let bytesPerSecond: Double
  let writtenBytes: Double?
  /// The most in one run.
  let syncs: Int?
  /// The highest of all runs.
  let peakBytes: Int64?
  /// At any size.
  let goalPeakBytes: Int64
  /// `nil` if the peak is unknown.
  let isMemoryGoalMet: Bool?
  /// Of the proven limit's process, which is also a Swift program.
  let limitPeakBytes: Int64?
  /// The highest before the migrations: the cost of starting a Swift program.
  let initialPeakBytes: Int64?

  /// `nil` if Heirloom wasn't measured.
  init?(_ report: MigrationBenchmark.Report) {
    guard let heirloom = report.ways.first(where: { $0.way == .heirloom }) else { return nil }
    workload = report.workload
    notes = report.notes
    seconds = heirloom.seconds
    ratioToLimit = heirloom.ratioToLimit
    processorRatioToLimit = heirloom.processorRatioToLimit
    ratioToProvenLimit = heirloom.ratioToProvenLimit
    processorRatioToProvenLimit = heirloom.processorRatioToProvenLimit
    goalRatio = report.goalRatio
    hasTimeGoal = report.notes >= PerformanceGoals.leastNotes
    isTimeGoalMet = heirloom.ratioToLimit <= report.goalRatio
    rowsPerSecond = heirloom.rowsPerSecond
    bytesPerSecond = heirloom.bytesPerSecond
    writtenBytes = heirloom.writtenBytes
    syncs = heirloom.syncs
    peakBytes = heirloom.peakBytes
    goalPeakBytes = report.goalPeakBytes
    isMemoryGoalMet = heirloom.peakBytes.map { $0 <= report.goalPeakBytes }
    limitPeakBytes = report.ways.first { $0.way == .limitProven }?.peakBytes
    initialPeakBytes = report.ways.compactMap(\.initialPeakBytes).max()
  }

  static func lines(of summaries: [MigrationSummary]) -> [String] {
    var table = TextTable([
      "", "notes", "median ms", "× limit", "CPU ×", "goal", "time", "× proven", "CPU ×", "rows/s", "MB/s", "written MB",
      "syncs", "peak MB", "goal", "memory", "limit's", "at start",
    ])
    for summary in summaries { table.add(summary.cells) }
    let sizes =
      summaries.contains { !$0.hasTimeGoal }
      ? ["  in brackets: the goals of time are for stores of \(PerformanceGoals.leastNotes) notes and more"] : []
    return [
      "migrations by Heirloom, old version kept and proven; × limit, CPU ×: ratios of time and of processor time to the same"
        + " by hand, which proves nothing; × proven, CPU ×: to the same by hand with the same proof"
    ]
      + table.lines + sizes + [
        "  peak MB: of the whole process; limit's: that of the proven limit's; at start: before the migration begins"
      ]
  }

  private var cells: [String] {
    let time = isTimeGoalMet ? "met" : "missed by " + percent(ratioToLimit / goalRatio - 1)
    let memory = peakBytes.map { peak in
      peak <= goalPeakBytes ? "met" : "missed by \(BenchmarkReport.megabytes(peak - goalPeakBytes)) MB"
    }
    return [
      workload.rawValue, "\(notes)", BenchmarkReport.number(seconds * 1000, 1),
      BenchmarkReport.number(ratioToLimit, 2), BenchmarkReport.number(processorRatioToLimit, 2),
      BenchmarkReport.number(goalRatio, 2), hasTimeGoal ? time : "(\(time))",
      BenchmarkReport.number(ratioToProvenLimit, 2), BenchmarkReport.number(processorRatioToProvenLimit, 2),
      BenchmarkReport.number(rowsPerSecond, 0),
      BenchmarkReport.number(bytesPerSecond / 1e6, 1),
      writtenBytes.map { BenchmarkReport.number($0 / 1e6, 1) } ?? "?", syncs.map(String.init) ?? "?",
      BenchmarkReport.megabytes(peakBytes), BenchmarkReport.megabytes(goalPeakBytes), memory ?? "?",
      BenchmarkReport.megabytes(limitPeakBytes), BenchmarkReport.megabytes(initialPeakBytes),
    ]
  }

  private func percent(_ part: Double) -> String {
    let digits = part < 0.1 ? 1 : 0
    return BenchmarkReport.number(part * 100, digits) + " %"
  }
}
