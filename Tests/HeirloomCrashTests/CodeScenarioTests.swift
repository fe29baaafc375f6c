import Foundation
import Heirloom
import TestSupport
import Testing

/// The basis of the scenarios with code: they run it, and in as many hops as they say.
struct CodeScenarioTests {
  @Test func `runs the code of both stages`() throws {
    var app = try CrashApp.shared.get()
    app.code = .stages
    let folder = try QuickFolder()
    let store = folder.url.appendingPathComponent(CrashApp.storeName)
    try Data(app.store).write(to: store)
    try app.launch(3, in: folder.path)
    let context = ManagedObjectContext(
      store: try PersistentStore.open(at: store, model: app.models[2], isReadOnly: true))
    let entity = try #require(app.models[2].entities.first { $0.attributes.contains { $0.name == "addedInThird" } })
    let objects = try context.fetch(ObjectFetchRequest(entity.name))
    #expect(!objects.isEmpty)
    #expect(objects.allSatisfy { $0["addedInSecond"] == .integer(2) && $0["addedInThird"] == .integer(1) })
  }

  @Test(arguments: [(CrashScenario.Code.none, 0, 1), (.policies, 1, 1), (.hops, 1, 2)])
  func `runs policies in as many hops as its name says`(code: CrashScenario.Code, runs: Int, hops: Int) throws {
    var app = try CrashApp.shared.get()
    app.code = code
    let folder = try QuickFolder()
    try Data(app.store).write(to: folder.url.appendingPathComponent(CrashApp.storeName))
    guard case .migrated(let report) = try app.launch(3, in: folder.path) else {
      Issue.record("expected a migration")
      return
    }
    #expect(report.plan.hops.count == hops)
    #expect(report.plan.hops.allSatisfy { $0.mappingResults.isEmpty == (runs == 0) })
  }
}
