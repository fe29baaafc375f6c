/// What came of the runs of a scenario, counted.
struct RunTally: CustomStringConvertible {
  private var counts: [String: Int] = [:]
  /// Runs that did what they were asked to.
  private(set) var succeeded = 0
  /// Runs that did not.
  private(set) var failed = 0

  /// Counts a run.
  mutating func add(_ failure: String?) {
    if failure == nil { succeeded += 1 } else { failed += 1 }
    counts[failure ?? "done", default: 0] += 1
  }

  /// The numbers by what came of the runs.
  var description: String {
    counts.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
  }
}
