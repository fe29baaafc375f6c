import Foundation

/// The full numbers of what is otherwise a quick selection; see the README.
package enum LongTests {
  /// Whether they run.
  package static let areOn = ProcessInfo.processInfo.environment["HEIRLOOM_LONG_TESTS"] == "1"
}
