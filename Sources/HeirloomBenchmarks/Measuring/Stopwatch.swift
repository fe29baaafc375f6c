/// Takes the time of a run and of its parts.
struct Stopwatch {
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private var lap: ContinuousClock.Instant
  private let processorStart: Double
  /// The parts so far with their seconds, in order.
  private(set) var parts: [MeasuredPart] = []

  /// Starts.
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

  /// The seconds since the start that the processors worked for this process.
  var processorSeconds: Double { ProcessCounters.processorSeconds() - processorStart }
}

/// A part of a run.
struct MeasuredPart: Hashable, Codable {
  /// What was done.
  let name: String
  /// How long it took.
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
