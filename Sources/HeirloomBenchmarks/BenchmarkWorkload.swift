/// The workloads that can be measured.
enum BenchmarkWorkload: Hashable {
  /// A launch with nothing to do.
  case launch
  /// A very large model without rows: reading, comparing, planning and archiving it.
  case models
  /// The loop over rows alone.
  case rows
  /// The keeping of a previous version alone.
  case retention
  /// A migration that removes much, with its clean-up at once or later.
  case removal
  /// A migration.
  case migration(MigrationWorkload)
  /// The memory of migrations with policies, by the number of notes.
  case memory
  /// The migration of many small stores, by the number of those that are migrated at a time.
  case fleet
  /// The two ways to make a candidate, by the fate of the rows.
  case thresholds
  /// The wait from a cancellation to the end of the migration.
  case cancellation

  /// All workloads, in the order in which they are listed.
  static let all: [BenchmarkWorkload] =
    [.launch, .models, .rows, .retention, .removal] + MigrationWorkload.allCases.map(Self.migration)
    + [.memory, .fleet, .thresholds, .cancellation]

  /// Finds the workload of a name, in upper or lower case.
  init?(_ name: String) {
    let named = Self.all.first { $0.name.lowercased() == name.lowercased() }
    guard let named else { return nil }
    self = named
  }

  /// The workload's name.
  var name: String {
    if case .migration(let workload) = self { workload.rawValue } else { "\(self)" }
  }

  /// True when the workload takes long, so that it is run only on request.
  var isOnRequest: Bool {
    switch self {
    case .memory, .fleet, .thresholds, .cancellation: true
    case .launch, .models, .rows, .retention, .removal, .migration: false
    }
  }

  /// Returns the names of the workloads that are run only on request, or of the others.
  static func names(isOnRequest: Bool) -> String {
    all.filter { $0.isOnRequest == isOnRequest }.map(\.name).joined(separator: ", ")
  }
}
