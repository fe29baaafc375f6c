import Foundation

// What an assistant tells its observers. Most have none, and most launches have nothing to tell.
extension MigrationAssistant {
  /// Tells of an event; a failure is told with the error that it is about.
  func observe(_ event: MigrationEvent, error: MigrationAssistantError? = nil) {
    guard !configuration.observers.isEmpty else { return }
    observe(error?.logLine ?? event.logLine, event.metrics)
  }

  /// Tells what a call came to, and hands it on.
  func observed(_ outcome: MigrationOutcome) -> MigrationOutcome {
    if !configuration.observers.isEmpty { observe(outcome.logLine, outcome.metrics) }
    return outcome
  }

  /// Counts the error that a call ends with, and hands it on; its line was told with the event.
  func observed(_ error: MigrationAssistantError) -> MigrationAssistantError {
    if !configuration.observers.isEmpty { observe(nil, error.metrics) }
    return error
  }

  private func observe(_ line: MigrationLogLine?, _ metrics: [MigrationMetric]) {
    for observer in configuration.observers {
      if let line { observer.log?(line.adding(storeURL.path, for: "store")) }
      for metric in metrics { observer.metrics?(metric) }
    }
  }
}
