import Foundation

// Reports to an assistant's observers. Most assistants have none.
extension MigrationAssistant {
  /// Reports an event to the observers, as a failure if there is an error.
  func observe(_ event: MigrationEvent, error: MigrationAssistantError? = nil) {
    guard !configuration.observers.isEmpty else { return }
    observe(error?.logLine ?? event.logLine, event.metrics)
  }

  /// Reports the outcome of a call to the observers, and returns it.
  func observed(_ outcome: MigrationOutcome) -> MigrationOutcome {
    if !configuration.observers.isEmpty { observe(outcome.logLine, outcome.metrics) }
    return outcome
  }

  /// Reports the metrics of a call's error, and returns the error; its line was logged with the event.
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
