/// The counted results of the runs of a scenario.
struct RunTally: CustomStringConvertible {
  private var counts: [String: Int] = [:]
  /// The number of runs that succeeded.
  private(set) var succeeded = 0
  /// The number of runs that failed.
  private(set) var failed = 0

  /// Counts a run.
  mutating func add(_ failure: String?) {
    if failure == nil { succeeded += 1 } else { failed += 1 }
    counts[failure ?? "done", default: 0] += 1
  }

  /// The numbers of runs by result.
  var description: String {
    counts.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
  }
}
