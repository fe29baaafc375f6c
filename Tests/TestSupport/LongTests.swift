import Foundation
package import Heirloom
package import Testing

/// The setting that makes quick selections of tests long; see `.github/CONTRIBUTING.md`.
package enum LongTests {
  /// True in `.ci/run-long`, regardless of time: all crash states, races of minutes.
  package static let areOn = factor > 0

  /// Random cases, kills and durations of a long run are multiplied by it; 0 in a quick run.
  private static let factor = ProcessInfo.processInfo.environment["HEIRLOOM_LONG_TESTS"].flatMap { Int($0) } ?? 0

  /// The tries of something random or timed; the factor multiplies `long`.
  package static func count(quick: Int, long: Int) -> Int { areOn ? long * factor : quick }

  /// All elements, or in a quick run the first of every few.
  package static func selection<Element>(of all: [Element], every step: Int) -> [Element] {
    stride(from: 0, to: all.count, by: areOn ? 1 : step).map { all[$0] }
  }

  /// All pairs, or in a quick run every few of them, with each element of either list in one pair at least.
  package static func pairs<First, Second>(
    of first: [First], _ second: [Second], every step: Int
  ) -> Zip2Sequence<[First], [Second]> {
    let all = first.indices.flatMap { row in second.indices.map { (row, $0) } }
    var (rows, columns): (Set<Int>, Set<Int>) = ([], [])
    // Along the diagonals: a step that divides the number of columns would always meet the same ones.
    let chosen = all.filter { row, column in
      let isNew = rows.insert(row).inserted
      return columns.insert(column).inserted || isNew || areOn || (row + column).isMultiple(of: step)
    }
    return zip(chosen.map { first[$0.0] }, chosen.map { second[$0.1] })
  }
}

extension MigrationAssistant.Configuration {
  /// The default configuration, with both proofs of a candidate in a long run: what SQLite finds, the standard one must.
  ///
  /// A migration that only the second one stops is an error of the test either way.
  package static var withBothProofs: Self {
    var configuration = Self()
    if LongTests.areOn { configuration.proof = .full }
    return configuration
  }
}

/// The sanitizer that the tests are built with, as `.ci/run-long` says.
package enum Sanitizer {
  private static let name = ProcessInfo.processInfo.environment["HEIRLOOM_SANITIZER"]
  /// It takes time, memory and addresses of its own, so that limits of these say nothing.
  package static let isOn = name != nil
  /// For programs that link objects of the tests.
  static let flags = name.map { ["-sanitize=\($0)"] } ?? []
  package static let reason: Comment = "a sanitizer takes time and memory of its own"
}
