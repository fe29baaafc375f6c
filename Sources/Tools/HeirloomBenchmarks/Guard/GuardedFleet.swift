/// A store among many small ones, by Heirloom and by hand-written loops.
///
/// Only instructions have ceilings: a file system's share of the processor time varies by half with
/// what was deleted before.
enum GuardedFleet {
  /// The difference of both counts gives the cost of a store.
  private static let stores = (few: 8, many: 40)

  static func instructions(
    with counter: InstructionCounter, seed: UInt64, in work: BenchmarkFolder
  ) throws -> [GuardedFigure] {
    func count(_ number: Int, _ way: MigrationBenchmark.Way) throws -> Double {
      let stores = try FleetStores(count: number, seed: seed, in: work)
      let list = try stores.make()
      let isChecked = way == .limitProven ? "checked" : "unchecked"
      let run =
        way == .heirloom
        ? InstructionCounter.Run(name: FleetRun.childName, words: [list, stores.modelPath, "1"])
        : InstructionCounter.Run(name: HandWrittenFleet.childName, words: [list, "1", isChecked])
      let instructions = try counter.count([run])[run] ?? .nan
      try stores.check(isByHand: way != .heirloom)
      try stores.remove()
      return instructions
    }
    func difference(_ way: MigrationBenchmark.Way) throws -> Double {
      let few = try count(stores.few, way)
      return try count(stores.many, way) - few
    }
    let own = try difference(.heirloom)
    return [
      GuardedFigure(
        "fleet: instructions a store by the loop's", own / (try difference(.limit)),
        atMost: GuardCeilings.fleetInstructions, .times),
      GuardedFigure(
        "fleet: by the loop's that checks", own / (try difference(.limitProven)),
        atMost: GuardCeilings.fleetProvenInstructions, .times),
    ]
  }

  /// These figures depend on the machine.
  static func times(rounds: Int, seed: UInt64, in work: BenchmarkFolder) throws -> [GuardedFigure] {
    let stores = try FleetStores(count: GuardCeilings.fleetStores, seed: seed, in: work)
    let series = try FleetBenchmark.measure(stores, jobCounts: [1], rounds: rounds).series
    let (limit, proven) = (FleetBenchmark.Turn(way: .limit), FleetBenchmark.Turn(way: .limitProven))
    let own = FleetBenchmark.Turn(way: .heirloom)
    return [
      GuardedFigure(
        "fleet: processor time by the loop's", series.ratio(own, to: limit, \.processorSeconds), atMost: .infinity,
        .times),
      GuardedFigure(
        "fleet: processor time of a store", series[own].map(\.processorSeconds).median / Double(stores.count),
        atMost: .infinity, .seconds, goal: PerformanceGoals.fleetProcessorSeconds),
      GuardedFigure(
        "fleet: time by the loop's that checks", series.ratio(own, to: proven, \.seconds), atMost: .infinity, .times,
        goal: 1 / PerformanceGoals.fleetSpeed),
    ]
  }
}
