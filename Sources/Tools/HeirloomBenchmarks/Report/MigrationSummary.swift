/// The main results of one workload at one size: a line of the table at the top of the report.
struct MigrationSummary: Codable, Hashable {
  let workload: MigrationWorkload
  let notes: Int
  /// The median duration of Heirloom's migrations, in seconds.
  let seconds: Double
  /// The median of the ratios to the unproven limit of the same round.
  let ratioToLimit: Double
  /// The same ratio of processor time, which hardly depends on other load.
  let processorRatioToLimit: Double
  /// The median of the ratios to the limit with the same proof.
  let ratioToProvenLimit: Double
  /// The same ratio of processor time.
  let processorRatioToProvenLimit: Double
  /// The goal for the ratio to the limit, valid from ``PerformanceGoals/leastNotes`` notes on.
  let goalRatio: Double
  /// True if there is a time goal for this size.
  let hasTimeGoal: Bool
  /// True if the ratio meets the goal, even if the goal is for another size.
  let isTimeGoalMet: Bool
  /// The store's rows per second.
  let rowsPerSecond: Double
  /// The store's bytes per second.
  let bytesPerSecond: Double
  /// The median of the bytes written; `nil` if the system doesn't report them.
  let writtenBytes: Double?
  /// The most calls of `fsync` and `fdatasync`; `nil` on systems where they aren't counted.
  let syncs: Int?
  /// The highest peak memory of the process, in bytes; `nil` if the system doesn't report it.
  let peakBytes: Int64?
  /// The goal for peak memory, in bytes, at any size.
  let goalPeakBytes: Int64
  /// True if the peak meets the goal; `nil` if it is unknown.
  let isMemoryGoalMet: Bool?
  /// The highest peak memory of the proven limit's process, also a Swift program, in bytes.
  let limitPeakBytes: Int64?
  /// The highest peak memory of these processes before their migrations, in bytes: the cost of starting a Swift
  /// program.
  let initialPeakBytes: Int64?

  /// Takes the main results from a report; `nil` if Heirloom wasn't measured.
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

  // MARK: Text

  /// Returns the table of all lines.
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
