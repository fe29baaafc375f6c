import Heirloom

/// Repeated runs of several ways, as many of each, in turns.
struct Series<Way: Hashable> {
  private var runs: [Way: [Measurement]] = [:]

  /// The most bytes of copies at once, because they must not evict the measured files from memory.
  private static var waitingBytes: Int64 { 1 << 30 }

  /// `measure` returns `nil` if the system doesn't support the way.
  init(_ ways: [Way], rounds: Int, measure: (Way) throws -> Measurement?) throws {
    for round in 0..<rounds {
      for way in Self.turns(ways, round) { try add(try measure(way), of: way) }
    }
  }

  /// Each run has a copy of `original`, which has an empty `-wal`.
  init(
    _ ways: [Way], rounds: Int, copiesOf original: String, in work: BenchmarkFolder,
    measure: (Way, String) throws -> Measurement
  ) throws {
    let size = try POSIXFileOperations().status(of: original)?.size ?? 0
    // A batch is as large as possible, because all its copies come to rest at once.
    let batch = min(ways.count, max(1, Int(Self.waitingBytes / max(1, size))))
    for round in 0..<rounds {
      let turns = Self.turns(ways, round)
      for start in stride(from: 0, to: turns.count, by: max(1, batch)) {
        let ways = turns[start..<min(start + batch, turns.count)]
        let folder = try work.emptyFolder("run")
        // The memory is for the copies, a clone and an index.
        TouchedMemory.prepare(byteCount: size * Int64(ways.count + 2))
        // The copies are synced before the clock starts: writing them isn't part of the migration.
        let stores = Array(repeating: original, count: ways.count)
        let copies = try RestingCopies(of: stores, in: folder)
        copies.wait()
        for (way, path) in zip(ways, copies.paths) {
          // A copy that shares blocks isn't in memory yet.
          try BenchmarkFolder.readThrough(path)
          try add(try measure(way, path), of: way)
        }
      }
    }
  }

  /// The order alternates, because the after-effects of a run must not always hit the same way.
  private static func turns(_ ways: [Way], _ round: Int) -> [Way] {
    round.isMultiple(of: 2) ? ways : ways.reversed()
  }

  private mutating func add(_ run: Measurement?, of way: Way) throws(BenchmarkError) {
    guard let run else { return }
    let sums = runs.values.first?.first?.sums ?? run.sums
    try BenchmarkError.require(run.sums == sums, "the result of \(way)", expected: "\(sums)", found: "\(run.sums)")
    runs[way, default: []].append(run)
  }

  subscript(way: Way) -> [Measurement] { runs[way] ?? [] }

  /// The median over the rounds, because all runs of a round share the same load.
  func ratio(_ way: Way, to limit: Way, _ value: (Measurement) -> Double) -> Double {
    zip(self[way], self[limit]).map { value($0) / max(value($1), 1e-9) }.median
  }

  func ratios(_ way: Way, to limits: [(way: Way, name: String)]) -> [Figure] {
    limits.flatMap { limit in
      [
        Figure("× \(limit.name)", ratio(way, to: limit.way, \.seconds), .times),
        Figure("CPU × \(limit.name)", ratio(way, to: limit.way, \.processorSeconds), .times),
      ]
    }
  }

  /// `own` are the workload's figures between the times and the counters.
  func row(
    _ way: Way, _ name: String, to limits: [(way: Way, name: String)] = [], own: [Figure] = []
  ) -> ReportRow {
    let runs = self[way]
    return ReportRow(
      name: name, builder: runs.first?.builder, figures: runs.times + ratios(way, to: limits) + own + runs.counters,
      parts: runs.medianParts)
  }
}
