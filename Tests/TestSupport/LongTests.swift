import Foundation
package import Heirloom
package import Testing

/// The setting that makes quick selections of tests long; see `.github/CONTRIBUTING.md`.
package enum LongTests {
  /// True when the long tests run, regardless of time, as `.ci/run-long` does: all crash states, races of minutes.
  package static let areOn = factor > 0

  /// The number that random cases, kills and durations of a long run are multiplied by; 0 in a quick one.
  private static let factor = ProcessInfo.processInfo.environment["HEIRLOOM_LONG_TESTS"].flatMap { Int($0) } ?? 0

  /// Returns how often something random or timed is tried.
  ///
  /// - Parameters:
  ///   - quick: The number in an ordinary run.
  ///   - long: The number in a long run, which the factor multiplies.
  /// - Returns: The number.
  package static func count(quick: Int, long: Int) -> Int { areOn ? long * factor : quick }

  /// Returns all elements, or in a quick run the first of every few.
  package static func selection<Element>(of all: [Element], every step: Int) -> [Element] {
    stride(from: 0, to: all.count, by: areOn ? 1 : step).map { all[$0] }
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
  /// True when there is one: it takes time, memory and addresses of its own, so that limits of these say nothing.
  package static let isOn = name != nil
  /// The compiler's arguments to build a program with the objects of the tests.
  static let flags = name.map { ["-sanitize=\($0)"] } ?? []
  /// The reason why tests of such limits are left out.
  package static let reason: Comment = "a sanitizer takes time and memory of its own"
}
