import Foundation
import Heirloom

extension MigrationWorkload {
  var furtherWays: [MigrationBenchmark.Way] {
    switch self {
    case .additive: [.inPlace, .inPlaceProven]
    case .fiftyVersions: [.inPlace, .inPlaceProven, .inPlaceSteps]
    default: []
    }
  }
}

extension MigrationBenchmark {
  /// `workload` is proven afterwards; `nil` for no proof.
  static func migrateInPlace(
    _ path: String, _ steps: [MigrationWorkload.Step], proving workload: MigrationWorkload? = nil
  ) throws -> Measured {
    var metadata = try StoreMetadata(contentsOf: URL(fileURLWithPath: path))
    let migration = InPlaceMigration(
      path: path,
      steps: try steps.map { step in
        metadata.adopt(step.model)
        return InPlaceMigration.Step(statements: step.statements, propertyList: try metadata.propertyList())
      })
    let counter = SyncCounter()
    var watch = Stopwatch()
    try migration.run()
    watch.finish("alter")
    if let workload {
      try HandWrittenProof(path: path, oldPath: nil, workload: workload).run()
      watch.finish("prove")
    }
    let (seconds, work) = (watch.seconds, watch.processorSeconds)
    return Measured(seconds: seconds, processorSeconds: work, parts: watch.parts, keptPath: nil, syncs: counter.count)
  }
}
