/// The only place that sets the guard's limits: change a ceiling here, and say in the commit why.
///
/// Instructions were counted on x86-64 with Debian's SQLite 3.40 and zlib. They differ by thousandths from run to run,
/// so a tenth above the measured value is margin enough for other versions of these. Processor time differs by a tenth
/// on a quiet machine and by a quarter on a busy one.
enum GuardCeilings {
  /// Notes in the store whose migration is compared with the limit.
  static let notes = 30_000
  /// Notes in the store whose migration must not take more memory.
  static let manyNotes = 120_000
  /// The growth that the peak of memory may have from one to the other, as a part of the smaller peak.
  static let memoryGrowth = 0.1

  /// The ceilings of a migration.
  struct Migration {
    /// Instructions for each note, divided by those of the proven limit.
    var instructions: Double
    /// Millions of instructions at any size, including the start of the process.
    var fixed: Double
    /// Processor time, divided by the proven limit's: higher than the goal, for which the store is too small.
    var processor: Double
    /// The peak of the process's memory, in MB of 2²⁰ bytes.
    var peak: Double = 42
    /// Waits for the disk, including SQLite's own.
    var syncs: Double = 16
  }

  /// Returns the ceilings of a workload's migration.
  static func migration(_ workload: MigrationWorkload) -> Migration {
    switch workload {
    case .additive: Migration(instructions: 0.85, fixed: 87, processor: 1.45)
    case .plain: Migration(instructions: 0.73, fixed: 85, processor: 1.45)
    case .renumbering: Migration(instructions: 1.22, fixed: 89, processor: 1.5)
    case .reshaping: Migration(instructions: 1.1, fixed: 96, processor: 1.4)
    case .computing: Migration(instructions: 1.12, fixed: 101, processor: 1.4)
    case .splitting: Migration(instructions: 1.26, fixed: 108, processor: 1.6)
    case .splittingTyped: Migration(instructions: 1.5, fixed: 108, processor: 1.8)
    case .splittingBoxed: Migration(instructions: 1.7, fixed: 108, processor: 2.1)
    case .fiftyVersions: Migration(instructions: 0.88, fixed: 111, processor: 1.45)
    }
  }

  /// Returns the ceiling of a work, in millions of instructions.
  static func instructions(_ work: CountedWork) -> Double {
    switch work {
    case .firstLaunch: 13.3
    case .laterLaunch: 12.6
    case .readSource: 92
    case .readArchive: 80
    case .readSnapshot: 78
    case .inferMapping: 204
    }
  }

  /// The size of the released tool without symbols, in MB of 2²⁰ bytes.
  static let toolSize = 11.0
  /// The libraries of Foundation that the released tool loads.
  static let foundationLibraries = 5.0
  /// All shared libraries that it loads; the system decides how many of them libxml2 brings.
  static let libraries = 27.0
}
