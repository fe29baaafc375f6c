import Foundation
import Heirloom
import HeirloomMigration
import HeirloomStore
import TestSupport

/// A store's life: a history of models, and acts of an app, its users and other programs; equal seeds give equal lives.
struct Life {
  let seed: UInt64
  let models: LifeModels
  let acts: [LifeAct]
  /// The acts' numbers among all that the seed gives, from 0.
  let numbers: [Int]
  private let start: SplitMix64

  /// `left` are the numbers, from 0, of the acts that stay; `nil` for all.
  init(seed: UInt64, acts left: Set<Int>? = nil) {
    var random = SplitMix64(seed: seed &* 0x6a09_e667 &+ 11)
    self.seed = seed
    models = LifeModels(using: &random)
    start = SplitMix64(seed: random.next())
    let all = LifeAct.all(using: &random)
    numbers = all.indices.filter { left?.contains($0) ?? true }
    acts = numbers.map { all[$0] }
  }

  /// Returns the acts with their outcomes, up to the first loss.
  ///
  /// `afterAct` is called after each act, before the judge looks.
  func lived(afterAct: ((LifeAct.Kind, URL) throws -> Void)? = nil) throws -> LifeStory {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    var run = try LifeRun(models, in: directory, random: start)
    for act in acts {
      let lost = try run.perform(act, afterAct: afterAct)
      if !lost.isEmpty { return LifeStory(lost: lost, told: run.told, outcomes: run.outcomes) }
    }
    return LifeStory(lost: [], told: run.told, outcomes: run.outcomes)
  }
}

struct LifeStory: CustomStringConvertible {
  /// What was lost first; empty if everything is there.
  let lost: [String]
  /// The acts, each with its outcome.
  let told: [String]
  let outcomes: [String: Int]

  var description: String {
    let more = lost.count > 6 ? ["and \(lost.count - 6) more"] : []
    return (told + lost.prefix(6) + more).joined(separator: "\n    ")
  }
}
