import Foundation

/// The long numbers of what is otherwise a quick selection; see the README.
package enum LongTests {
  private static let setting = ProcessInfo.processInfo.environment["HEIRLOOM_LONG_TESTS"]
  /// Whether they run.
  package static let areOn = setting == "1" || areWhole
  /// Whether they run without regard to the time, as `.ci/run-long` does: every crash state, whole tables of processes, races of
  /// minutes.
  package static let areWhole = setting == "all"

  /// All of them, or in a quick run the first of each few.
  package static func selection<Element>(of all: [Element], every step: Int) -> [Element] {
    areOn ? all : stride(from: 0, to: all.count, by: step).map { all[$0] }
  }
}
