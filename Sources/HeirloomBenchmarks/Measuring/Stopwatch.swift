/// A stopwatch for a run and its parts.
struct Stopwatch {
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private var lap: ContinuousClock.Instant
  private let processorStart: Double
  /// The parts so far with their seconds, in order.
  private(set) var parts: [MeasuredPart] = []

  /// Starts the clock.
  init() {
    start = clock.now
    lap = start
    processorStart = ProcessCounters.processorSeconds()
  }

  /// Ends a part, and begins the next.
  mutating func finish(_ part: String) {
    let now = clock.now
    parts.append(MeasuredPart(name: part, seconds: lap.duration(to: now) / .seconds(1)))
    lap = now
  }

  /// The seconds since the start.
  var seconds: Double { start.duration(to: clock.now) / .seconds(1) }

  /// The processor time of this process since the start, in seconds.
  var processorSeconds: Double { ProcessCounters.processorSeconds() - processorStart }
}

/// A part of a run.
struct MeasuredPart: Hashable, Codable {
  /// The name of the part.
  let name: String
  /// The time that it took, in seconds.
  let seconds: Double
}

extension Sequence<Double> {
  /// The middle value, or the mean of the two in the middle; 0 of no values.
  var median: Double {
    let values = sorted()
    guard !values.isEmpty else { return 0 }
    let middle = values.count / 2
    return values.count.isMultiple(of: 2) ? (values[middle - 1] + values[middle]) / 2 : values[middle]
  }
}
