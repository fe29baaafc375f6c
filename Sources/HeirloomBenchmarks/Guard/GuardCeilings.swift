/// The only place that sets the guard's limits: change a ceiling here, and say in the commit why.
///
/// Instructions were counted on x86-64 with Debian's SQLite 3.40 and zlib. They differ by thousandths from run to run,
/// so a tenth above the measured value is margin enough for other versions of these. (The library is compiled for size,
/// which costs a migration a tenth of what doesn't depend on rows, and code that makes objects as much for each.)
/// Processor time differs by a tenth on a quiet machine and by a quarter on a busy one.
enum GuardCeilings {
  /// Notes in the store whose migration is compared with the limit.
  static let notes = 30_000
  /// Notes in the store whose migration must not take more memory.
  static let manyNotes = 120_000
  /// The growth that the peak of memory may have from one to the other, as a part of the smaller peak.
  static let memoryGrowth = 0.1

  /// The ceilings of a migration.
  struct Migration {
    /// Instructions for each note, divided by those of the limit, which proves nothing.
    ///
    /// It is `nil` where the limit has next to none: two columns are added whatever the number of notes.
    var instructions: Double?
    /// The same, divided by those of the proven limit.
    var provenInstructions: Double
    /// Millions of instructions at any size, including the start of the process.
    var fixed: Double
    /// Processor time, divided by the limit's: higher than the goal, for which the store is too small.
    var processor: Double
    /// The same, divided by the proven limit's.
    var provenProcessor: Double
    /// The peak of the process's memory, in MB of 2²⁰ bytes.
    var peak: Double = 42
    /// Waits for the disk, including SQLite's own.
    var syncs: Double = 17
  }

  /// Returns the ceilings of a workload's migration.
  static func migration(_ workload: MigrationWorkload) -> Migration {
    // The first and the fourth have goals, which the guard prints beside them: lower a ceiling as its figure falls.
    switch workload {
    case .additive:
      Migration(
        instructions: 3.5, provenInstructions: 1.17, fixed: 101, processor: 3.5, provenProcessor: 1.45)
    case .plain:
      Migration(
        instructions: nil, provenInstructions: 0.96, fixed: 98, processor: 10.8, provenProcessor: 1.5)
    case .renumbering:
      Migration(
        instructions: 2.85, provenInstructions: 1.37, fixed: 103, processor: 2.8, provenProcessor: 1.5)
    case .reshaping:
      Migration(
        instructions: 2.7, provenInstructions: 1.47, fixed: 117, processor: 3.1, provenProcessor: 1.65)
    case .computing:
      Migration(
        instructions: 3.6, provenInstructions: 1.22, fixed: 127, processor: 4.2, provenProcessor: 1.55)
    case .splitting:
      Migration(
        instructions: 2.85, provenInstructions: 2.1, fixed: 144, processor: 3.1, provenProcessor: 2.3)
    case .splittingTyped:
      Migration(
        instructions: 3.15, provenInstructions: 2.3, fixed: 144, processor: 3.3, provenProcessor: 2.45)
    case .splittingBoxed:
      Migration(
        instructions: 3.6, provenInstructions: 2.62, fixed: 144, processor: 3.5, provenProcessor: 2.5)
    case .fiftyVersions:
      Migration(
        instructions: 3.5, provenInstructions: 1.05, fixed: 128, processor: 3.3, provenProcessor: 1.5)
    case .fiftyVersionsFirst:
      Migration(
        instructions: 3.0, provenInstructions: 1.32, fixed: 130, processor: 3.0, provenProcessor: 1.5)
    }
  }

  /// Returns the ceiling of a work, in millions of instructions.
  static func instructions(_ work: CountedWork) -> Double {
    switch work {
    case .firstLaunch: 14.0
    case .laterLaunch: 12.6
    case .readSource: 107
    case .readArchive: 92
    case .readSnapshot: 87
    case .inferMapping: 268
    }
  }

  /// Instructions for appending an object to a list of thousands, divided by those for setting its owner instead.
  static let appending = 1.65

  /// The small stores that are migrated.
  static let fleetStores = 200
  /// Processor time for each of them, divided by that of a loop by hand.
  static let fleetProcessor = 20.0
  /// The same, divided by that of a loop that checks each store.
  static let fleetProvenProcessor = 16.0

  /// The size of the released tool without symbols, in MB of 2²⁰ bytes.
  static let toolSize = 12.0
  /// The size of the smallest app without symbols: what an app gets of the library, in MB of 2²⁰ bytes.
  static let appSize = 6.5
  /// The libraries of Foundation that the released tool loads.
  static let foundationLibraries = 5.0
  /// All shared libraries that it loads; the system decides how many of them libxml2 brings.
  static let libraries = 27.0
}
