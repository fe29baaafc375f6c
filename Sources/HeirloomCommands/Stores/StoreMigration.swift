import Foundation
import Heirloom

/// Runs the assistant on one store for the tool.
struct StoreMigration {
  let request: MigrationRequest
  let console: Console

  /// Migrates a store; an interruption by the user cancels it.
  ///
  /// - Parameter path: The store's file.
  /// - Returns: What it came to.
  /// - Throws: `MigrationAssistantError`.
  func run(on path: String) throws -> MigrationOutcome {
    let assistant = request.assistant(for: path)
    let log = EventLog(console: console, acceptsLosses: request.acceptsLosses)
    assistant.delegate = log
    let bar = ProgressBar(assistant.progress, console: console)
    defer { bar?.finish() }
    return try withExtendedLifetime(log) {
      try console.interruption.cancelling(assistant.progress) { try assistant.migrateStore() }
    }
  }
}

/// Decides for the assistant by what the command line says, and tells what is worth telling.
final class EventLog: MigrationAssistantDelegate {
  private let console: Console
  private let acceptsLosses: Bool

  init(console: Console, acceptsLosses: Bool) {
    self.console = console
    self.acceptsLosses = acceptsLosses
  }

  func migrationAssistant(
    _ assistant: MigrationAssistant, shouldMigrate plan: MigrationPlan
  ) throws -> MigrationDecision {
    if console.interruption.isInterrupted { throw MigrationError.cancelled }
    return acceptsLosses ? .proceed : .automatic
  }

  func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {
    if let words = Self.words(event) { console.log("note: \(words)") }
  }

  /// What is worth a line although the migration goes on; the rest is in the result.
  private static func words(_ event: MigrationEvent) -> String? {
    switch event {
    case .foundStaleCandidate(let path): "an earlier run left a candidate behind: \(path)"
    case .removedStaleCandidate(let path): "the candidate of an earlier run was removed: \(path)"
    case .recovered(let operation): "an operation that an earlier run did not finish was settled: \(operation)"
    case .snapshotDisagrees: "the snapshot is of another version than the store; the store counts"
    case .snapshotUnreadable(let reason): "the snapshot can't be read, the store counts: \(reason)"
    case .cleanUpPostponed(let reason): "something is left for the next run to remove: \(reason)"
    case .pruned(let id): "the previous version \(id) was removed, since newer ones are kept"
    default: nil
    }
  }
}
