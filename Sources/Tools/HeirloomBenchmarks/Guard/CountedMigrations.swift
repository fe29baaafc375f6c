import Heirloom

/// The instructions that a migration takes per note, by Heirloom and by hand.
///
/// Fixed costs are in the counts of both stores, so the difference of the counts excludes them.
enum CountedMigrations {
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

  private static let (few, many) = (500, 2500)

  static func figures(
    of workloads: [MigrationWorkload], with counter: InstructionCounter, seed: UInt64, in work: BenchmarkFolder
  ) throws -> [GuardedFigure] {
    var keys: Set<Key> = []
    for workload in workloads {
      for way in MigrationBenchmark.Way.compared {
        keys.formUnion([Key(workload, way, few), Key(workload, way, many)])
      }
    }
    // Each process gets a copy of its own.
    let stores = try keys.map { try work.notes($0.notes, seed: seed) }
    let copies = try RestingCopies(of: stores, in: try work.emptyFolder("counted-runs"))
    copies.wait()
    var runs: [Key: InstructionCounter.Run] = [:]
    for (key, path) in zip(keys, copies.paths) {
      runs[key] = InstructionCounter.Run(
        name: MigrationBenchmark.childName, words: [key.workload.rawValue, key.way.rawValue, path])
    }
    let counts = try counter.count(Array(runs.values))
    return workloads.flatMap { workload in
      func count(_ way: MigrationBenchmark.Way, _ notes: Int) -> Double {
        runs[Key(workload, way, notes)].flatMap { counts[$0] } ?? .nan
      }
      func difference(_ way: MigrationBenchmark.Way) -> Double { count(way, many) - count(way, few) }
      let (name, ceilings) = (workload.rawValue, GuardCeilings.migration(workload))
      let own = difference(.heirloom)
      // Those that don't depend on size, including process start.
      let fixed = count(.heirloom, few) - own * Double(few) / Double(many - few)
      let unproven = ceilings.instructions.map { ceiling in
        GuardedFigure(
          "\(name): instructions a note by the limit's", own / difference(.limit), atMost: ceiling, .times,
          goal: PerformanceGoals.ratio(workload, notes: PerformanceGoals.leastNotes))
      }
      return [unproven].compactMap { $0 } + [
        GuardedFigure(
          "\(name): instructions by the proven limit's", own / difference(.limitProven),
          atMost: ceilings.provenInstructions, .times),
        GuardedFigure("\(name): at any size", fixed, atMost: ceilings.fixed * 1e6, .instructions),
      ]
    }
  }
}
