import Foundation
import TestSupport
import Testing

/// Each scenario, crashed at every change and failed at every call.
///
/// With `HEIRLOOM_LONG_TESTS=1` all are tried, otherwise a few; `HEIRLOOM_SCENARIO` chooses those
/// whose description contains it.
struct CrashScenarioTests {
  private static let stateLimit: Int? = LongTests.areOn ? nil : 4

  private static func chosen(_ scenarios: [CrashScenario]) -> [CrashScenario] {
    guard let text = ProcessInfo.processInfo.environment["HEIRLOOM_SCENARIO"] else { return scenarios }
    return scenarios.filter { $0.description.contains(text) }
  }

  private func tell(_ scenario: CrashScenario, _ text: String) {
    print("crash scenario “\(scenario)”: \(text)")
  }

  @Test(.slow("31 scenarios, each with a world of its own and eight launches"), arguments: chosen(CrashScenario.all))
  func `whatever instant the power fails and whatever call fails, nothing is lost and the next launch completes`(
    _ scenario: CrashScenario
  ) throws {
    var run = try CrashRun(scenario)
    try run.crash(limit: Self.stateLimit)
    try run.fail(every: LongTests.areOn ? 1 : nil)
    let tally = run.tally
    #expect(tally.faults == [])
    #expect(tally.cuts == 0, "not all states of names were tried")
    #expect(tally.statesTried > 3)
    #expect(tally.errorRuns > 0)
    tell(
      scenario,
      "\(tally.changes) changes, \(tally.statesTried) of \(tally.states) crash states, "
        + "\(tally.errorRuns) runs with failing calls, \(tally.faults.count) lost or stuck")
  }

  @Test func `a clean-up's journal is gone for good before the end of the store is cut off`() throws {
    let run = try CrashRun(CrashScenario(initial: .rollbackAtRest, operation: .cleanUp, deferral: .leaves))
    var paths: [UInt64: String] = [:]
    var isJournalGone = true
    var cuts = 0
    for change in try run.record().changes {
      switch change {
      case .open(let handle, let path, _): paths[handle] = path
      case .unlink(let path) where path.hasSuffix("-journal"): isJournalGone = false
      case .synchronizeDirectory: isJournalGone = true
      case .truncate(.handle(let handle), _) where paths[handle] == CrashApp.storeName:
        cuts += 1
        #expect(isJournalGone)
      default: continue
      }
    }
    #expect(cuts > 0)
  }

  @Test func `a disk that can't read once makes no version unsound for good`() throws {
    var run = try CrashRun(CrashScenario(initial: .rollbackAtRest, operation: .prune))
    try run.fail(every: 1, only: "EIO once")
    #expect(run.tally.faults == [] && run.tally.errorRuns > 15)
  }

  @Test(.slow("15 scenarios, in each of which two launches crash"), arguments: chosen(CrashScenario.base))
  func `the power may fail again while the next launch recovers and goes on`(_ scenario: CrashScenario) throws {
    var run = try CrashRun(scenario)
    try run.crash(limit: LongTests.areOn ? nil : 2, launches: LongTests.areOn ? 2 : 1)
    let tally = run.tally
    #expect(tally.faults == [])
    #expect(tally.cuts == 0, "not all states of names were tried")
    // A launch that goes on removing after a crash reaches states that were tried.
    #expect(tally.nestedTried > 0 || scenario.operation == .prune)
    tell(scenario, "\(tally.nestedTried) states of a second crash, \(tally.faults.count) lost or stuck")
  }
}
