extension MigrationWorkload {
  typealias Runs = Series<MigrationBenchmark.Way>

  func goals(_ runs: Runs, notes: Int, storeBytes: Int64) -> [Goal] {
    let heirloom = runs[.heirloom]
    let sharesBlocks = sharesBlocks(runs, storeBytes: storeBytes)
    // The limit takes next to no time if blocks are shared, so the goal of the plain change is a time.
    let ratio =
      self == .plain && sharesBlocks
      ? PerformanceGoals.sharedBlocksSeconds / max(runs[.limit].map(\.seconds).median, 1e-9)
      : PerformanceGoals.ratio(self, notes: notes)
    return [
      Goal(
        "time by the limit's, without proof", runs.ratio(.heirloom, to: .limit, \.seconds), .times, atMost: ratio,
        isBinding: notes >= PerformanceGoals.leastNotes),
      Goal(
        "peak of memory", heirloom.most(\.peakBytes), .bytes, atMost: Double(PerformanceGoals.peakBytes(self))),
    ] + furtherGoals(runs, sharesBlocks: sharesBlocks)
  }

  /// True if a store and its clone share blocks: the limit then writes only its changes.
  private func sharesBlocks(_ runs: Runs, storeBytes: Int64) -> Bool {
    (runs[.limit].compactMap(\.writtenBytes).max() ?? storeBytes) < storeBytes / 2
  }

  private func furtherGoals(_ runs: Runs, sharesBlocks: Bool) -> [Goal] {
    let heirloom = runs[.heirloom]
    func compare(_ way: MigrationBenchmark.Way, _ value: (Measurement, Measurement) -> Double) -> Double {
      zip(heirloom, runs[way]).map(value).median
    }
    let place = sharesBlocks ? "blocks are shared" : "blocks are copied"
    switch self {
    case .plain where sharesBlocks:
      return [
        Goal(
          "time at any size (\(place))", heirloom.map(\.seconds).median, .seconds,
          atMost: PerformanceGoals.sharedBlocksSeconds)
      ]
    case .plain:
      return [
        Goal(
          "time by the limit's clone and sync alone (\(place))",
          compare(.limit) { $0.seconds / $1.seconds(of: ["clone", "sync"]) }, .times,
          atMost: PerformanceGoals.ratio(self, notes: 0))
      ]
    case .additive:
      return [
        Goal(
          "time by that of the proven migration in place (\(place))",
          compare(.inPlaceProven) { $0.seconds / $1.seconds }, .times,
          atMost: sharesBlocks ? PerformanceGoals.inPlaceRatio : nil)
      ]
    case .fiftyVersions:
      let clone = runs[.limitProven].map { $0.seconds(of: ["clone", "sync"]) }.median
      return [
        Goal(
          "time, less the limit's clone and sync, by that of the proven jump in place (\(place))",
          compare(.inPlaceProven) { ($0.seconds - clone) / $1.seconds }, .times, atMost: PerformanceGoals.inPlaceRatio),
        Goal(
          "50 steps in place, unproven, by Heirloom's jump", compare(.inPlaceSteps) { $1.seconds / $0.seconds }, .times,
          atLeast: PerformanceGoals.fiftySteps),
      ]
    default: return []
    }
  }
}
