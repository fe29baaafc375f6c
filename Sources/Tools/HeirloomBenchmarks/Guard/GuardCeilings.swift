/// The guard's limits: change a ceiling only here, and give the reason in the commit.
///
/// Instructions were counted on x86-64 with Debian's SQLite 3.40 and zlib. They vary by thousandths
/// between runs, so a margin of a tenth covers other versions of these libraries. (Compiling for
/// size costs a tenth more instructions for what doesn't depend on rows, and for each object that
/// code makes.) Processor time varies by a tenth on an idle machine and by a quarter on a busy one.
enum GuardCeilings {
  static let notes = 30_000
  /// The larger store, whose migration must not take more memory.
  static let manyNotes = 120_000
  /// As a fraction of the smaller store's peak.
  static let memoryGrowth = 0.1

  struct Migration {
    /// Instructions per note, divided by those of the unproven limit.
    ///
    /// `nil` if the limit takes next to none: adding two columns doesn't depend on the notes.
    var instructions: Double?
    var provenInstructions: Double
    /// Millions of instructions that don't depend on size, including process start.
    var fixed: Double
    /// Divided by the limit's; above the goal, because the store is too small for that.
    var processor: Double
    var provenProcessor: Double
    /// In MB of 2²⁰ bytes.
    var peak: Double = 42
    /// Including SQLite's own.
    var syncs: Double = 17
  }

  static func migration(_ workload: MigrationWorkload) -> Migration {
    // The instructions per note have goals, shown beside them: lower a ceiling as its figure falls.
    switch workload {
    case .additive:
      Migration(instructions: 3.5, provenInstructions: 1.17, fixed: 101, processor: 3.5, provenProcessor: 1.45)
    case .plain:
      Migration(instructions: nil, provenInstructions: 0.96, fixed: 98, processor: 10.8, provenProcessor: 1.5)
    case .renumbering:
      Migration(instructions: 2.85, provenInstructions: 1.37, fixed: 103, processor: 2.8, provenProcessor: 1.5)
    case .reshaping:
      Migration(instructions: 2.7, provenInstructions: 1.47, fixed: 117, processor: 3.1, provenProcessor: 1.65)
    case .computing:
      Migration(instructions: 3.6, provenInstructions: 1.22, fixed: 127, processor: 4.2, provenProcessor: 1.55)
    case .splitting:
      Migration(instructions: 2.85, provenInstructions: 2.1, fixed: 144, processor: 3.1, provenProcessor: 2.3)
    case .splittingTyped:
      Migration(instructions: 3.15, provenInstructions: 2.3, fixed: 144, processor: 3.3, provenProcessor: 2.45)
    case .splittingBoxed:
      Migration(instructions: 3.6, provenInstructions: 2.62, fixed: 144, processor: 3.5, provenProcessor: 2.5)
    case .fiftyVersions:
      Migration(instructions: 3.5, provenInstructions: 1.05, fixed: 128, processor: 3.3, provenProcessor: 1.5)
    case .fiftyVersionsFirst:
      Migration(instructions: 3.0, provenInstructions: 1.32, fixed: 130, processor: 3.0, provenProcessor: 1.5)
    }
  }

  /// In millions.
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

  /// Appending an object to a list of thousands, divided by setting its owner instead.
  static let appending = 1.65

  static let fleetStores = 200
  /// Per store, divided by those of a hand-written loop.
  static let fleetInstructions = 29.2
  /// Per store, divided by those of a loop that checks each store.
  static let fleetProvenInstructions = 25.8

  /// Without symbols, in MB of 2²⁰ bytes.
  static let toolSize = 12.0
  /// The smallest app without symbols, which shows how much the library adds; in MB of 2²⁰ bytes.
  static let appSize = 6.5
  /// Those that the released tool loads.
  static let foundationLibraries = 5.0
  /// All that the tool loads; the system's libxml2 determines how many it adds.
  static let libraries = 27.0
}
