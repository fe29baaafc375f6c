import Foundation

/// The full numbers of what is otherwise a quick selection; see the README.
package enum LongTests {
  /// Whether they run.
  package static let areOn = ProcessInfo.processInfo.environment["HEIRLOOM_LONG_TESTS"] == "1"

  /// All of them, or in a quick run the first of each few.
  package static func selection<Element>(of all: [Element], every step: Int) -> [Element] {
    areOn ? all : stride(from: 0, to: all.count, by: step).map { all[$0] }
  }
}
