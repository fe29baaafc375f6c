import Foundation

// Reports to an assistant's observers. Most assistants have none, and most launches have nothing to report.
extension MigrationAssistant {
  /// Reports an event to the observers; a failure comes with the error that it is about.
  func observe(_ event: MigrationEvent, error: MigrationAssistantError? = nil) {
    guard !configuration.observers.isEmpty else { return }
    observe(error?.logLine ?? event.logLine, event.metrics)
  }

  /// Reports the outcome of a call to the observers, and returns it.
  func observed(_ outcome: MigrationOutcome) -> MigrationOutcome {
    if !configuration.observers.isEmpty { observe(outcome.logLine, outcome.metrics) }
    return outcome
  }

  /// Counts the error that a call ends with, and returns it; its line was logged with the event.
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
