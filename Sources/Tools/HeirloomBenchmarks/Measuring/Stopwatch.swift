struct Stopwatch {
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private var lap: ContinuousClock.Instant
  private let processorStart: Double
  private(set) var parts: [MeasuredPart] = []

  init() {
    start = clock.now
    lap = start
    processorStart = ProcessCounters.processorSeconds()
  }

  mutating func finish(_ part: String) {
    let now = clock.now
    parts.append(MeasuredPart(name: part, seconds: lap.duration(to: now) / .seconds(1)))
    lap = now
  }

  var seconds: Double { start.duration(to: clock.now) / .seconds(1) }

  var processorSeconds: Double { ProcessCounters.processorSeconds() - processorStart }
}

struct MeasuredPart: Hashable, Codable {
  let name: String
  let seconds: Double
}

extension Sequence<Double> {
  /// The mean of the two middle values for an even count; 0 without values.
  var median: Double {
    let values = sorted()
    guard !values.isEmpty else { return 0 }
    let middle = values.count / 2
    return values.count.isMultiple(of: 2) ? (values[middle - 1] + values[middle]) / 2 : values[middle]
  }
}
