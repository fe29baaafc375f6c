enum BenchmarkWorkload: Hashable {
  /// A launch with nothing to do.
  case launch
  /// Reading, comparing, planning and archiving a very large model without rows.
  case models
  /// The loop over rows alone.
  case rows
  /// Keeping a previous version, without a migration.
  case retention
  /// A migration that removes much, with clean-up at once or deferred.
  case removal
  case migration(MigrationWorkload)
  /// The memory of migrations with policies, by the number of notes.
  case memory
  /// The migration of many small stores, by the number migrated at a time.
  case fleet
  /// Both ways to make a candidate, by the share of rows changed or removed.
  case thresholds
  /// The time from a cancellation to the end of the migration.
  case cancellation

  /// All workloads, in the order of listings.
  static let all: [BenchmarkWorkload] =
    [.launch, .models, .rows, .retention, .removal] + MigrationWorkload.allCases.map(Self.migration)
    + [.memory, .fleet, .thresholds, .cancellation]

  /// Finds the workload with a name; letter case is ignored.
  init?(_ name: String) {
    let named = Self.all.first { $0.name.lowercased() == name.lowercased() }
    guard let named else { return nil }
    self = named
  }

  var name: String {
    if case .migration(let workload) = self { workload.rawValue } else { "\(self)" }
  }

  /// True for workloads that take long, which are run only on request.
  var isOnRequest: Bool {
    switch self {
    case .memory, .fleet, .thresholds, .cancellation: true
    case .launch, .models, .rows, .retention, .removal, .migration: false
    }
  }

  /// Returns the names of the workloads that are run only on request, or of all others.
  static func names(isOnRequest: Bool) -> String {
    all.filter { $0.isOnRequest == isOnRequest }.map(\.name).joined(separator: ", ")
  }
}
