enum BenchmarkWorkload: Hashable {
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
  case memory
  case fleet
  /// The time from a cancellation to the end of the migration.
  case cancellation

  /// In the order of listings and of the report.
  static let all: [BenchmarkWorkload] =
    [.launch, .models, .rows, .retention, .removal] + MigrationWorkload.allCases.map(Self.migration)
    + [.memory, .fleet, .cancellation]

  /// Letter case is ignored.
  init?(_ name: String) {
    let named = Self.all.first { $0.name.lowercased() == name.lowercased() }
    guard let named else { return nil }
    self = named
  }

  var name: String {
    if case .migration(let workload) = self { workload.rawValue } else { "\(self)" }
  }

  /// Workloads that take long are run only on request.
  var isOnRequest: Bool {
    switch self {
    case .memory, .fleet, .cancellation: true
    case .launch, .models, .rows, .retention, .removal, .migration: false
    }
  }

  /// True for those that are measured with one store of each size.
  var isBySize: Bool {
    switch self {
    case .rows, .removal, .migration, .cancellation: true
    case .launch, .models, .retention, .memory, .fleet: false
    }
  }

  func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> ReportTable {
    switch self {
    case .launch: try LaunchBenchmark.run(in: work)
    case .models: try LargeModelBenchmark.run(in: work)
    case .rows: try RowBenchmark.run(arguments, in: work)
    case .retention: try RetentionBenchmark.run(arguments, in: work)
    case .removal: try RemovalBenchmark.run(arguments, in: work)
    case .migration(let workload): try MigrationBenchmark.run(workload, arguments, in: work)
    case .memory: try MemoryBenchmark.run(arguments, in: work)
    case .fleet: try FleetBenchmark.run(arguments, in: work)
    case .cancellation: try CancellationBenchmark.run(arguments, in: work)
    }
  }

  static func names(isOnRequest: Bool) -> String {
    all.filter { $0.isOnRequest == isOnRequest }.map(\.name).joined(separator: ", ")
  }
}
