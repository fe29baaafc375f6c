import Foundation

package enum RandomSeeds {
  /// From 0, or those that `HEIRLOOM_SEED` names: one, or a first and a last with a dash.
  package static func parts(quick: Int, long: Int) -> [[UInt64]] {
    let count = LongTests.count(quick: quick, long: long)
    let seeds = named ?? Array(0..<UInt64(count))
    return stride(from: 0, to: seeds.count, by: 8).map { Array(seeds[$0..<min($0 + 8, seeds.count)]) }
  }

  private static var named: [UInt64]? {
    let text = ProcessInfo.processInfo.environment["HEIRLOOM_SEED"] ?? ""
    let ends = text.split(separator: "-").compactMap { UInt64($0) }
    guard let first = ends.first, let last = ends.last, first <= last else { return nil }
    return Array(first...last)
  }
}
