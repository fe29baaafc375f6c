/// A measurement of a migration for an app's metrics, in the shape of swift-metrics'.
///
/// | name | kind | dimensions | |
/// | --- | --- | --- | --- |
/// | `heirloom.launches` | counter | `outcome`; if `failed`, `code` | calls of ``MigrationAssistant/migrateStore()`` |
/// | `heirloom.events` | counter | `event` | each ``MigrationEvent`` |
/// | `heirloom.migration.duration` | timer | | seconds of a migration |
/// | `heirloom.migration.rows` | counter | | objects of a migrated store |
/// | `heirloom.migration.quarantined` | counter | | rows that were put into quarantine |
/// | `heirloom.retained.bytes` | gauge | | size of the version that was kept last |
///
/// Dimensions have few different values: they contain no paths and no names of a model.
public struct MigrationMetric: Hashable, Sendable {
  /// The kind of a metric.
  public enum Kind: String, Hashable, Sendable {
    /// A whole number to add.
    case counter
    /// A duration, in seconds.
    case timer
    /// A value that replaces the previous one.
    case gauge
  }

  /// The metric's kind.
  public let kind: Kind
  /// The metric's name.
  public let name: String
  /// The value: seconds for a timer, bytes or a whole number otherwise.
  public let value: Double
  /// The dimensions that distinguish values of the same metric.
  public let dimensions: [String: String]

  init(_ kind: Kind, _ name: String, _ value: Double = 1, _ dimensions: [String: String] = [:]) {
    self.kind = kind
    self.name = name
    self.value = value
    self.dimensions = dimensions
  }
}

extension MigrationEvent {
  /// The metrics of the event.
  public var metrics: [MigrationMetric] {
    let counted = MigrationMetric(.counter, "heirloom.events", 1, ["event": name])
    return switch self {
    case .finished(let duration):
      [counted, MigrationMetric(.timer, "heirloom.migration.duration", duration / .seconds(1))]
    case .quarantined(let rows, _):
      [counted, MigrationMetric(.counter, "heirloom.migration.quarantined", Double(rows))]
    default: [counted]
    }
  }
}

extension MigrationOutcome {
  /// The metrics of the outcome.
  public var metrics: [MigrationMetric] {
    let counted = MigrationMetric(.counter, "heirloom.launches", 1, ["outcome": name])
    guard case .migrated(let report) = self else { return [counted] }
    return [
      counted, MigrationMetric(.counter, "heirloom.migration.rows", Double(report.rowCount)),
      MigrationMetric(.gauge, "heirloom.retained.bytes", Double(report.previousVersion.byteCount)),
    ]
  }
}

extension MigrationAssistantError {
  /// The metrics of a call that ends with the error.
  public var metrics: [MigrationMetric] {
    [MigrationMetric(.counter, "heirloom.launches", 1, ["outcome": "failed", "code": code])]
  }
}
