/// All performance goals of the design; the guard shows those that aren't met yet.
///
/// Ratios are to the unproven limit with its best settings, so they include the cost of the proof.
enum PerformanceGoals {
  /// The smallest store for which the ratios are meant.
  static let leastNotes = 100_000
  /// The size from which additive migrations have a stricter goal.
  static let manyNotes = 1_000_000

  static func ratio(_ workload: MigrationWorkload, notes: Int) -> Double {
    switch workload {
    case .additive, .fiftyVersions: notes >= manyNotes ? 1.15 : 1.2
    case .plain: 1.25
    // These rewrite the rows, and therefore check them.
    case .renumbering, .reshaping, .computing, .fiftyVersionsFirst: 1.35
    case .splitting: 1.3
    case .splittingTyped: 1.45
    case .splittingBoxed: 2
    }
  }

  /// In bytes, for the whole process at any size.
  static func peakBytes(_ workload: MigrationWorkload) -> Int64 {
    switch workload {
    case .splitting, .splittingTyped: 40 << 20
    case .splittingBoxed: 48 << 20
    default: 30 << 20
    }
  }

  /// For adding two attributes to a store of any size, if its copy shares its blocks.
  static let sharedBlocksMilliseconds = 25.0
  /// Per small store.
  static let fleetProcessorSeconds = 0.002
  /// As a fraction of a hand-written loop that checks each store.
  static let fleetSpeed = 0.25
}
