import Foundation

// Most assistants have no observers: then no lines and metrics are made.
extension MigrationAssistant {
  func observe(_ event: MigrationEvent, error: MigrationAssistantError? = nil) {
    guard !configuration.observers.isEmpty else { return }
    observe(error?.logLine ?? event.logLine, event.metrics)
  }

  func observed(_ outcome: MigrationOutcome) -> MigrationOutcome {
    if !configuration.observers.isEmpty { observe(outcome.logLine, outcome.metrics) }
    return outcome
  }

  /// The error's line was logged with the event.
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
