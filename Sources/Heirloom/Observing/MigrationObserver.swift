/// An observer that sends events of migrations to an app's log and metrics.
///
/// The closures have the shape of swift-log and swift-metrics, without depending on them:
///
/// ```swift
/// let logger = Logger(label: "store")
/// configuration.observers = [
///   MigrationObserver(
///     log: { line in
///       logger.log(
///         level: Logger.Level(rawValue: line.level.rawValue) ?? .info, "\(line.message)",
///         metadata: line.metadata.mapValues { .string($0) })
///     },
///     metrics: { metric in
///       let dimensions = metric.dimensions.sorted { $0.key < $1.key }
///       switch metric.kind {
///       case .counter: Counter(label: metric.name, dimensions: dimensions).increment(by: Int64(metric.value))
///       case .timer: Timer(label: metric.name, dimensions: dimensions).recordSeconds(metric.value)
///       case .gauge: Gauge(label: metric.name, dimensions: dimensions).record(metric.value)
///       }
///     })
/// ]
/// ```
///
/// They are called on the thread that migrates, one at a time for each assistant, and should return soon: the store
/// may be held. They receive no row values, and only the type of an error of the app's own code, since its description
/// may quote a value. They do receive names of entities and properties, counts and paths.
public struct MigrationObserver: Sendable {
  let log: (@Sendable (MigrationLogLine) -> Void)?
  let metrics: (@Sendable (MigrationMetric) -> Void)?

  /// Creates an observer.
  ///
  /// - Parameters:
  ///   - log: Receives each log line.
  ///   - metrics: Receives each metric.
  public init(
    log: (@Sendable (MigrationLogLine) -> Void)? = nil, metrics: (@Sendable (MigrationMetric) -> Void)? = nil
  ) {
    self.log = log
    self.metrics = metrics
  }
}

#if canImport(os)
  import os

  extension MigrationObserver {
    /// Writes to the unified log of Apple's platforms; metadata are private there, as dynamic text is.
    ///
    /// - Parameters:
    ///   - subsystem: The app's identifier.
    ///   - category: The part of the app.
    /// - Returns: An observer.
    public static func unifiedLog(subsystem: String, category: String = "migration") -> MigrationObserver {
      MigrationObserver(log: { line in
        let logger = Logger(subsystem: subsystem, category: category)
        let details = line.metadata.ordered { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        switch line.level {
        case .debug: logger.debug("\(line.message, privacy: .public) \(details)")
        case .info: logger.info("\(line.message, privacy: .public) \(details)")
        case .notice: logger.notice("\(line.message, privacy: .public) \(details)")
        case .warning: logger.warning("\(line.message, privacy: .public) \(details)")
        case .error: logger.error("\(line.message, privacy: .public) \(details)")
        }
      })
    }
  }
#endif
