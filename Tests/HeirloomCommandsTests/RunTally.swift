struct RunTally: CustomStringConvertible {
  private var counts: [String: Int] = [:]
  private(set) var succeeded = 0
  private(set) var failed = 0

  /// `nil` counts a success.
  mutating func add(_ failure: String?) {
    if failure == nil { succeeded += 1 } else { failed += 1 }
    counts[failure ?? "done", default: 0] += 1
  }

  var description: String {
    counts.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
  }
}
