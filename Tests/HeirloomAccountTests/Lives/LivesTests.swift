import Foundation
import TestSupport
import Testing

/// Random lives of stores: migrations, writes, restorations, launches, damage.
///
/// After each act, a value that was ever in the store is in the store, in a pinned, set-aside or quarantined file, or
/// its loss was told and agreed to. `HEIRLOOM_SEED=…` runs the life that a failure named, or with `…-…` a range, and
/// `HEIRLOOM_ACTS=…` some of its acts only.
struct LivesTests {
  private static let parts = RandomSeeds.parts(quick: 8, long: 20_000)

  @Test(.slow("eight stores, each migrated and restored several times"), arguments: parts)
  func `whatever was in a store is there, kept, set aside, quarantined or given up`(seeds: [UInt64]) {
    for seed in seeds {
      let life = Life(seed: seed, acts: Self.acts)
      guard let story = Self.failure(life) else { continue }
      let reduced = Self.reduced(life)
      Issue.record(
        """
        HEIRLOOM_SEED=\(seed) HEIRLOOM_ACTS=\(reduced.numbers.map(String.init).joined(separator: ",")) \
        [\(life.models.edits.map { $0.map(\.rawValue).joined(separator: ", ") }.joined(separator: " | "))]:
            \(Self.failure(reduced) ?? story)
        """)
    }
  }

  /// Returns `nil` if nothing was lost.
  private static func failure(_ life: Life) -> String? {
    do {
      let story = try life.lived()
      return story.lost.isEmpty ? nil : "\(story)"
    } catch {
      return "\(error)"
    }
  }

  /// Leaves out acts without which something is lost all the same.
  private static func reduced(_ life: Life) -> Life {
    var left = life
    for number in life.numbers {
      let shorter = Life(seed: life.seed, acts: Set(left.numbers).subtracting([number]))
      if failure(shorter) != nil { left = shorter }
    }
    return left
  }

  private static let acts: Set<Int>? = ProcessInfo.processInfo.environment["HEIRLOOM_ACTS"].map { text in
    Set(text.split(separator: ",").compactMap { Int($0) })
  }

  @Test func `a thousand lives meet each act and each change often`() {
    var acts: [LifeAct.Kind: Int] = [:]
    var edits: [SeededEdit: Int] = [:]
    for seed in UInt64(0)..<1000 {
      let life = Life(seed: seed)
      for kind in Set(life.acts.map(\.kind)) { acts[kind, default: 0] += 1 }
      for edit in Set(life.models.edits.joined()) { edits[edit, default: 0] += 1 }
    }
    for kind in LifeAct.Kind.allCases { #expect(acts[kind, default: 0] >= 100, "\(kind)") }
    for edit in SeededEdit.allCases where edit != .moveEntityIn { #expect(edits[edit, default: 0] >= 5, "\(edit)") }
  }
}
