import Foundation
package import Testing

/// The setting that makes quick selections of tests long; see the README.
package enum LongTests {
  private static let setting = ProcessInfo.processInfo.environment["HEIRLOOM_LONG_TESTS"]
  /// True when the long tests run.
  package static let areOn = setting == "1" || areWhole
  /// True when they run regardless of time, as `.ci/run-long` does: all crash states, process tables, races of minutes.
  package static let areWhole = setting == "all"

  /// Returns all elements, or in a quick run the first of every few; of very many, in a run with the long numbers, eight
  /// times as many as in a quick one.
  package static func selection<Element>(of all: [Element], every step: Int) -> [Element] {
    let step = areWhole ? 1 : areOn ? max(1, step / 8) : step
    return stride(from: 0, to: all.count, by: step).map { all[$0] }
  }

  /// Returns how often to do something: in a quick run, in one with the long numbers, and in one without regard to the time.
  package static func count(quick: Int, long: Int, whole: Int) -> Int {
    areWhole ? whole : areOn ? long : quick
  }
}

/// The sanitizer that the tests are built with, as `.ci/run-long` says.
package enum Sanitizer {
  /// True when there is one: it takes time, memory and addresses of its own, so that limits of these say nothing.
  package static let isOn = ProcessInfo.processInfo.environment["HEIRLOOM_SANITIZER"] != nil
  /// The reason why tests of such limits are left out.
  package static let reason: Comment = "a sanitizer takes time and memory of its own"
}
