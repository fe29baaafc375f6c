/// The design's goals, all in one place; the guard shows those that are not met yet.
///
/// A ratio is to the limit without proof, at its best settings: what Heirloom proves is part of its price.
enum PerformanceGoals {
  /// The least store for which the ratios are meant, in notes.
  static let leastNotes = 100_000
  /// The store from which on additive migrations must come nearer to the limit, in notes.
  static let manyNotes = 1_000_000

  /// Returns the highest ratio of a migration's time to that of the limit.
  static func ratio(_ workload: MigrationWorkload, notes: Int) -> Double {
    switch workload {
    case .additive, .fiftyVersions: notes >= manyNotes ? 1.15 : 1.2
    case .plain: 1.25
    // Their rows are rewritten, and so they are checked.
    case .renumbering, .reshaping, .computing, .fiftyVersionsFirst: 1.35
    case .splitting: 1.3
    case .splittingTyped: 1.45
    case .splittingBoxed: 2
    }
  }

  /// Returns the highest peak of a process's memory, in bytes, at any size.
  static func peakBytes(_ workload: MigrationWorkload) -> Int64 {
    switch workload {
    case .splitting, .splittingTyped: 40 << 20
    case .splittingBoxed: 48 << 20
    default: 30 << 20
    }
  }

  /// The most milliseconds for two attributes in a store of any size whose blocks are shared with its copy.
  static let sharedBlocksMilliseconds = 25.0
  /// The most processor time for each small store of a fleet, in seconds.
  static let fleetProcessorSeconds = 0.002
  /// The least part of the stores a second that a loop by hand migrates and checks.
  static let fleetSpeed = 0.25
}
