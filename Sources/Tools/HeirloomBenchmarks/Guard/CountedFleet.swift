import Foundation
import Heirloom

/// The instructions for a store among many small ones, by those of a hand-written loop.
///
/// Processor time isn't guarded: a file system's share varies by half with what was deleted before.
enum CountedFleet: CaseIterable {
  case command
  case loop
  case checkedLoop

  /// The difference of both counts gives the cost of a store.
  private static let stores = (few: 8, many: 40)

  static func count(with counter: InstructionCounter, seed: UInt64, in work: BenchmarkFolder) throws -> [Self: Double] {
    var counts: [Self: Double] = [:]
    for way in allCases {
      var instructions: [Double] = []
      for count in [stores.few, stores.many] {
        let stores = try FleetStores(count: count, seed: seed, in: work)
        let run = way.run(try stores.make(), of: stores)
        instructions.append(try counter.count([run])[run] ?? .nan)
        var sums: [Int: StoreSums] = [:]
        _ = try stores.check(&sums, isByHand: way != .command)
        try stores.remove()
      }
      counts[way] = (instructions[1] - instructions[0]) / Double(stores.many - stores.few)
    }
    return counts
  }

  private func run(_ list: String, of stores: FleetStores) -> InstructionCounter.Run {
    switch self {
    case .command: InstructionCounter.Run(name: FleetRun.childName, words: [list, stores.modelPath, "1"])
    case .loop: InstructionCounter.Run(name: HandWrittenFleet.childName, words: [list, "1", "unchecked"])
    case .checkedLoop: InstructionCounter.Run(name: HandWrittenFleet.childName, words: [list, "1", "checked"])
    }
  }
}
