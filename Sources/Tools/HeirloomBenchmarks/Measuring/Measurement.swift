/// What one run took, as its process tells it; unknown values are `nil`.
struct Measurement: Hashable, Codable {
  var seconds: Double
  /// Unlike elapsed time, it hardly depends on other load.
  var processorSeconds: Double
  var parts: [MeasuredPart]
  /// The seconds of each store of a fleet, or of each piece of a clean-up.
  var pieces: [Double] = []
  var writtenBytes: Int64?
  var peakBytes: Int64?
  /// Before the measured work: that of the program itself.
  var initialPeakBytes: Int64?
  /// Including SQLite's.
  var syncs: Int?
  /// The store that holds the previous version.
  var keptPath: String?
  /// Only of runs by Heirloom.
  var builder: String?
  /// Must be equal in all runs of a series.
  var sums: [String] = []
  /// Figures that only one workload has; tables show the most of each.
  var further: [Figure] = []

  init(_ watch: Stopwatch) {
    (seconds, processorSeconds, parts) = (watch.seconds, watch.processorSeconds, watch.parts)
  }

  func seconds(of names: Set<String>) -> Double {
    parts.filter { names.contains($0.name) }.map(\.seconds).reduce(0, +)
  }
}

extension [Measurement] {
  var times: [Figure] {
    [
      Figure("median", map(\.seconds).median, .seconds), Figure("least", map(\.seconds).min(), .seconds),
      Figure("CPU", map(\.processorSeconds).median, .seconds),
    ]
  }

  var medianParts: [MeasuredPart] {
    (first?.parts ?? []).enumerated().map { index, part in
      let seconds = compactMap { $0.parts.indices.contains(index) ? $0.parts[index].seconds : nil }
      return MeasuredPart(name: part.name, seconds: seconds.median)
    }
  }

  func most(_ value: (Measurement) -> (some BinaryInteger)?) -> Double? { compactMap(value).max().map { Double($0) } }

  /// Those that the workload or its system doesn't report are left out.
  var counters: [Figure] {
    let written = compactMap { $0.writtenBytes.map(Double.init) }
    let own = [
      Figure("written", written.isEmpty ? nil : written.median, .diskBytes), Figure("syncs", most(\.syncs), .count),
      Figure("peak", most(\.peakBytes), .bytes), Figure("at start", most(\.initialPeakBytes), .bytes),
    ]
    return own.filter { $0.value != nil } + further
  }

  private var further: [Figure] {
    (first?.further ?? []).map { figure in
      let values = compactMap { $0.further.first { $0.name == figure.name }?.value }
      return Figure(figure.name, values.max(), figure.unit)
    }
  }
}
