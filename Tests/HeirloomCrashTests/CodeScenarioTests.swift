import Foundation
import Heirloom
import TestSupport
import Testing

/// What the scenarios with policies rest on: that they run policies, and as many hops as they say.
struct CodeScenarioTests {
  @Test(arguments: [(CrashScenario.Code.none, 0, 0), (.policies, 1, 0), (.hops, 1, 1)])
  func `runs policies in as many hops as its name says`(code: CrashScenario.Code, runs: Int, following: Int) throws {
    var app = try CrashApp.shared.get()
    app.code = code
    let folder = try QuickFolder()
    try Data(app.store).write(to: folder.url.appendingPathComponent(CrashApp.storeName))
    guard case .migrated(let report) = try app.launch(3, in: folder.path) else {
      Issue.record("expected a migration")
      return
    }
    #expect(report.plan.following.count == following)
    #expect(([report.plan] + report.plan.following).allSatisfy { $0.mappingResults.isEmpty == (runs == 0) })
  }
}
