/// What can be measured.
enum BenchmarkWorkload: Hashable {
  /// A launch with nothing to do.
  case launch
  /// A very large model without rows: reading, comparing, planning, archiving.
  case models
  /// The loop over rows alone.
  case rows
  /// The keeping of an old version alone.
  case retention
  /// A migration that removes much, with its clean-up at once and later.
  case removal
  /// A migration.
  case migration(MigrationWorkload)
  /// The memory of migrations with policies, by the number of notes.
  case memory
  /// The migration of many small stores, by the number of those that are migrated at a time.
  case fleet
  /// The two ways to make a candidate, by what becomes of the rows.
  case thresholds

  /// All, in the order in which they are told.
  static let all: [BenchmarkWorkload] =
    [.launch, .models, .rows, .retention, .removal] + MigrationWorkload.allCases.map(Self.migration)
    + [.memory, .fleet, .thresholds]

  /// The workload of a name, whose case doesn't matter.
  init?(_ name: String) {
    let named = Self.all.first { $0.name.lowercased() == name.lowercased() }
    guard let named else { return nil }
    self = named
  }

  /// The name.
  var name: String {
    if case .migration(let workload) = self { workload.rawValue } else { "\(self)" }
  }

  /// Whether it takes long, so that it is run only if it is asked for.
  var isOnRequest: Bool {
    switch self {
    case .memory, .fleet, .thresholds: true
    case .launch, .models, .rows, .retention, .removal, .migration: false
    }
  }

  /// The names of those that are run without being asked for, or of the others.
  static func names(isOnRequest: Bool) -> String {
    all.filter { $0.isOnRequest == isOnRequest }.map(\.name).joined(separator: ", ")
  }
}
