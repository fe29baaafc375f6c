import Foundation
import Heirloom

/// The time from `cancel()` to the end of a migration, when its locks are released.
///
/// An app needs that time when the system suspends it.
enum CancellationBenchmark {
  /// Only the schema, all rows by SQL, all rows by a policy.
  static let workloads: [MigrationWorkload] = [.additive, .reshaping, .splittingTyped]
  private static let moments = 24

  struct Ending: Codable {
    var runs = 0
    var longestSeconds = 0.0
    /// The last event before the longest wait.
    var longestAfter = ""
  }

  struct Report: Codable {
    var workload: MigrationWorkload
    var notes: Int
    var storeBytes: Int64
    /// Of a migration that isn't cancelled.
    var seconds: Double
    /// The migrations that left the store unchanged.
    var cancelled = Ending()
    /// The migrations that were cancelled too late.
    var completed = Ending()
  }

  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> [Report] {
    let files = POSIXFileOperations()
    let original = work.file("Cancelled.sqlite")
    defer { work.remove("Cancelled.sqlite", "run") }
    try StoreGenerator(notes: arguments.notes, seed: arguments.seed).makeStore(at: original)
    let size = try files.status(of: original)?.size ?? 0
    return try workloads.map { workload in
      func migrate(cancellingAfter seconds: Double?) throws -> Cancelling {
        let path = PathText.join(try work.emptyFolder("run"), "Notes.sqlite")
        try files.copyFile(original, to: path, attributes: FileAttributes(mode: 0o644))
        return try Cancelling(path, workload, after: seconds)
      }
      let whole = try migrate(cancellingAfter: nil)
      var report = Report(workload: workload, notes: arguments.notes, storeBytes: size, seconds: whole.seconds)
      for moment in 1...moments {
        let run = try migrate(cancellingAfter: whole.seconds * Double(moment) / Double(moments + 1))
        guard let wait = run.wait else { continue }
        let ending = run.isCompleted ? \Report.completed : \Report.cancelled
        report[keyPath: ending].runs += 1
        guard wait > report[keyPath: ending].longestSeconds else { continue }
        report[keyPath: ending].longestSeconds = wait
        report[keyPath: ending].longestAfter = run.lastEvent
      }
      return report
    }
  }

  /// Cancels from another thread.
  private struct Cancelling {
    var seconds: Double
    /// From the call to the end, in seconds; `nil` if the migration ended before the call.
    var wait: Double?
    var isCompleted: Bool
    var lastEvent: String

    init(_ path: String, _ workload: MigrationWorkload, after delay: Double?) throws {
      let history = ModelHistory(
        current: try workload.destination(), name: workload.rawValue, earlier: [("V1", try BenchmarkModels.notes())])
      var configuration = MigrationAssistant.Configuration()
      configuration.mappings = try workload.mappings()
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
