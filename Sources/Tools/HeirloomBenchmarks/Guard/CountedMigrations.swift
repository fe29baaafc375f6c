import Heirloom

/// The instructions that a migration takes per note, by Heirloom and by hand.
///
/// Fixed costs are in the counts of both stores, so the difference of the counts excludes them.
struct CountedMigrations {
  struct Counted {
    /// Heirloom's instructions per note, divided by the limit's.
    var ratio: Double
    /// The same, divided by the proven limit's.
    var provenRatio: Double
    /// Heirloom's instructions that don't depend on size, including process start.
    var fixed: Double
  }

  private struct Key: Hashable {
    let workload: MigrationWorkload
    let way: MigrationBenchmark.Way
    let notes: Int

    init(_ workload: MigrationWorkload, _ way: MigrationBenchmark.Way, _ notes: Int) {
      // All policies have the same hand-written counterpart.
      self.workload = way != .heirloom && workload.policy != nil ? .splitting : workload
      (self.way, self.notes) = (way, notes)
    }
  }

  private static let notes = (few: 500, many: 2500)

  private let work: BenchmarkFolder
  private let counter: InstructionCounter
  private let stores: [(notes: Int, path: String)]

  init(in work: BenchmarkFolder, seed: UInt64, counter: InstructionCounter) throws {
    (self.work, self.counter) = (work, counter)
    stores = try [Self.notes.few, Self.notes.many].map { notes in
      let path = work.file("Counted\(notes).sqlite")
      try StoreGenerator(notes: notes, seed: seed).makeStore(at: path)
      return (notes, path)
    }
  }

  func count(_ workloads: [MigrationWorkload]) throws -> [MigrationWorkload: Counted] {
    let runs = try makeRuns(of: workloads)
    let counts = try counter.count(Array(runs.values))
    func count(_ workload: MigrationWorkload, _ way: MigrationBenchmark.Way, _ notes: Int) -> Double {
      runs[Key(workload, way, notes)].flatMap { counts[$0] } ?? .nan
    }
    let (few, many) = Self.notes
    var counted: [MigrationWorkload: Counted] = [:]
    for workload in workloads {
      func difference(_ way: MigrationBenchmark.Way) -> Double {
        count(workload, way, many) - count(workload, way, few)
      }
      let own = difference(.heirloom)
      counted[workload] = Counted(
        ratio: own / difference(.limit), provenRatio: own / difference(.limitProven),
        fixed: count(workload, .heirloom, few) - own * Double(few) / Double(many - few))
    }
    return counted
  }

  /// Each process gets a copy of its own.
  private func makeRuns(of workloads: [MigrationWorkload]) throws -> [Key: InstructionCounter.Run] {
    var sources: [Key: String] = [:]
    for workload in workloads {
      for way in [MigrationBenchmark.Way.limit, .limitProven, .heirloom] {
        for (notes, store) in stores { sources[Key(workload, way, notes)] = store }
      }
    }
    let keys = Array(sources.keys)
    let copies = try RestingCopies(of: keys.compactMap { sources[$0] }, in: try work.emptyFolder("counted-runs"))
    copies.wait()
    var runs: [Key: InstructionCounter.Run] = [:]
    for (key, path) in zip(keys, copies.paths) {
      runs[key] = InstructionCounter.Run(
        name: MigrationBenchmark.childName, words: [key.workload.rawValue, key.way.rawValue, path])
    }
    return runs
  }
}
