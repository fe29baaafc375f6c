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

  /// As a fraction of the lowest peak, whatever the number of notes.
  static let memoryGrowth = 0.1
  /// For adding two attributes to a store of any size, if its copy shares its blocks.
  static let sharedBlocksSeconds = 0.025
  /// To a proven migration in place.
  static let inPlaceRatio = 1.2
  /// By which one jump is faster than fifty unproven steps in place.
  static let fiftySteps = 4.0
  /// By which a launch that leaves the clean-up for later is faster.
  static let deferral = 3.0
  /// For a launch with nothing to do.
  static let launchSeconds = 0.002
  /// For reading a large model, and for comparing two.
  static let modelSeconds = 0.03
  /// For keeping a store's file, if no block is copied.
  static let keepingSeconds = 0.01
  /// For keeping a store's file by a copy, to a copy by hand.
  static let keepingRatio = 1.1
  /// In addition to the process's own.
  static let keepingBytes: Int64 = 4 << 20
  /// Per small store.
  static let fleetProcessorSeconds = 0.002
  /// As a fraction of a hand-written loop that checks each store.
  static let fleetSpeed = 0.25
}
