import Foundation
import Heirloom

/// The time from `cancel()` to the end of a migration, when its locks are released.
///
/// An app needs that time when the system suspends it.
enum CancellationBenchmark {
  /// Only the schema, all rows by SQL, all rows by a policy.
  static let workloads: [MigrationWorkload] = [.additive, .reshaping, .splittingTyped]
  private static let moments = 24

  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> ReportTable {
    let original = try work.notes(arguments.notes, seed: arguments.seed)
    var rows: [ReportRow] = []
    var remarks: [String] = []
    for workload in workloads {
      func migrate(cancellingAfter seconds: Double?) throws -> Cancelling {
        try Cancelling(try work.copy(of: original), workload, after: seconds)
      }
      let whole = try migrate(cancellingAfter: nil).seconds
      let runs = try (1...moments).map { moment in
        try migrate(cancellingAfter: whole * Double(moment) / Double(moments + 1))
      }
      var figures = [Figure("whole", whole, .seconds)]
      for (name, isCompleted) in [("cancelled", false), ("too late", true)] {
        let waits = runs.filter { $0.isCompleted == isCompleted }.compactMap { run in run.wait.map { (run, $0) } }
        let longest = waits.max { $0.1 < $1.1 }
        figures += [
          Figure(name, Double(waits.count), .count), Figure("longest wait if \(name)", longest?.1 ?? 0, .seconds),
        ]
        guard let longest else { continue }
        remarks.append("\(workload.rawValue), \(name): the longest wait began after \(longest.0.lastEvent)")
      }
      rows.append(ReportRow(name: workload.rawValue, figures: figures))
    }
    return ReportTable(
      workload: "cancellation", notes: arguments.notes,
      title: "from cancel() to the end of the migration, when its locks are gone; \(arguments.notes) notes",
      rows: rows, remarks: remarks)
  }

  private struct Cancelling {
    var seconds: Double
    /// From the call to the end, in seconds; `nil` if the migration ended before the call.
    var wait: Double?
    var isCompleted: Bool
    var lastEvent: String

    init(_ path: String, _ workload: MigrationWorkload, after delay: Double?) throws {
      let (history, configuration) = (try workload.history(), try workload.configuration())
      let url = URL(fileURLWithPath: path)
      let assistant = MigrationAssistant(
        storeURL: url, modelController: ModelController(storeURL: url), history: history, configuration: configuration)
      let listener = Listener()
      assistant.delegate = listener
      let progress = assistant.progress
      let start = ContinuousClock.now
      if let delay {
        Thread.detachNewThread {
          Thread.sleep(forTimeInterval: delay)
          listener.cancelled.withLock { $0 = (.now, listener.last.withLock { $0 }) }
          progress.cancel()
        }
      }
      do {
        _ = try assistant.migrateStore()
        isCompleted = true
      } catch let error as MigrationAssistantError where error.code == "cancelled" {
        isCompleted = false
      }
      let end = ContinuousClock.now
      seconds = (end - start) / .seconds(1)
      let moment = listener.cancelled.withLock { $0 }
      wait = moment.map { (end - $0.0) / .seconds(1) }
      lastEvent = moment?.1 ?? ""
    }
  }

  private final class Listener: MigrationAssistantDelegate, Sendable {
    let last = Locked("the call")
    let cancelled = Locked<(ContinuousClock.Instant, String)?>(nil)

    func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {
      last.withLock { $0 = event.name }
    }
  }
}
