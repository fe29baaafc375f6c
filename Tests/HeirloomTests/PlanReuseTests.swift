import Foundation
import Heirloom
import HeirloomSupport
import TestSupport
import Testing

/// A plan made before the hold is carried out if the store is still the same, and is made again if not.
struct PlanReuseTests {
  private static func consented(_ plan: MigrationPlan) -> MigrationPlan {
    var plan = plan
    plan.consent { _ in .delegate }
    return plan
  }

  private static let before = [
    Make.entity("A", [Make.attribute("gone"), Make.attribute("name")], [Make.toOne("b", "B", "as")]),
    Make.entity("B", [Make.attribute("name")], [Make.toMany("as", "A", "b")]),
  ]
  private static let after = [
    Make.entity("A", [Make.attribute("name")], [Make.toOne("b", "B", "as")]),
    Make.entity("B", [Make.attribute("name")], [Make.toMany("as", "A", "b")]),
  ]

  private func migrate(
    _ url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel, defers: Bool, rest: Double,
    mappings: [MappingModel] = [], meanwhile: @escaping () throws -> Void = {}
  ) throws -> (shown: MigrationPlan, carriedOut: MigrationPlan) {
    // This is longer than the resolution of the file system's times here.
    Thread.sleep(forTimeInterval: 0.03)
    var settings = VaultConfiguration()
    settings.restTime = rest
    let assistant = MigrationAssistant(
      url, from: source, to: destination, .init(mappings: mappings, defersLightweightMigration: defers),
      vaultConfiguration: settings)
    var shown: MigrationPlan?
    assistant.delegate = ClosureDelegate(decision: { plan in
      if shown == nil { try meanwhile() }
      shown = plan
      return .proceed(consentingToLosses: true)
    })
    guard case .migrated(let report) = try assistant.migrateStore() else {
      throw MigrationError.unsupportedMapping(reason: "nothing was migrated")
    }
    return (try #require(shown), report.plan)
  }

  @Test(arguments: [false, true], [false, true])
  func `a plan is carried out as it was shown, and makes the store that a new one makes`(
    defers: Bool, leavesLog: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let source = try ManagedObjectModel(entities: Self.before)
    let destination = try ManagedObjectModel(entities: Self.after)
    let urls = ["Shown.sqlite", "Again.sqlite"].map { directory.file($0) }
    try StoreGenerator.makeStore(at: urls[0], model: source, objects: 30, seed: 3)
    if leavesLog { try Self.leaveLog(urls[0]) }
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: urls[0].path + suffix) {
      try FileManager.default.copyItem(atPath: urls[0].path + suffix, toPath: urls[1].path + suffix)
    }
    let first = try migrate(urls[0], from: source, to: destination, defers: defers, rest: 0.02)
    // Each plan has a generation of its own. The delegate that was shown it has consented since.
    #expect(Self.consented(first.shown) == first.carriedOut)
    let second = try migrate(urls[1], from: source, to: destination, defers: defers, rest: 3600)
    #expect(Self.consented(second.shown) != second.carriedOut)
    #expect(first.carriedOut.rows == second.carriedOut.rows && first.carriedOut.losses == second.carriedOut.losses)
    #expect(first.carriedOut.steps.count == second.carriedOut.steps.count)
    #expect(
      try StoreContents(of: urls[0], model: destination) == StoreContents(of: urls[1], model: destination))
    #expect(try StoreVerification.report(onStoreAt: urls[0].path).findings.filter { $0.severity < .note } == [])
  }

  @Test(arguments: [false, true])
  func `a plan is made again for a store that changed after the look`(defers: Bool) throws {
    let directory = try TemporaryDirectory()
    let source = try ManagedObjectModel(entities: Self.before)
    let destination = try ManagedObjectModel(entities: Self.after)
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: source, objects: 30, seed: 3)
    let plans = try migrate(url, from: source, to: destination, defers: defers, rest: 0.02) {
      let store = try PersistentStore.open(at: url, model: source)
      let context = ManagedObjectContext(store: store)
      try context.insert("A").set("meanwhile", for: "gone")
      try context.save()
      try store.close()
    }
    #expect(plans.carriedOut.rows.first { $0.entity == "A" }?.after == 31)
    let lost = plans.carriedOut.losses.first { $0.property == "gone" }?.rows ?? 0
    // The delegate is shown the new losses too.
    #expect(Self.consented(plans.shown) == plans.carriedOut && lost > 0)
    let store = try PersistentStore.open(at: url, model: destination)
    #expect(try ManagedObjectContext(store: store).count("A") == 31)
    try store.close()
  }

  @Test func `a plan that needs more than the rows is made again`() throws {
    let directory = try TemporaryDirectory()
    let source = try ManagedObjectModel(entities: Self.before)
    let destination = try ManagedObjectModel(entities: Self.after)
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: source, objects: 30, seed: 3)
    var mapping = try MappingModel.inferred(from: source, to: destination)
    let expression = try ValueExpression(parsing: "FUNCTION($source.name, 'uppercaseString')")
    for index in mapping.entityMappings.indices where mapping.entityMappings[index].sourceEntityName == "B" {
      mapping.entityMappings[index].attributeMappings = [PropertyMapping(name: "name", valueExpression: expression)]
      mapping.entityMappings[index].mappingType = .transform
    }
    let plans = try migrate(
      url, from: source, to: destination, defers: false, rest: 0.02, mappings: [mapping])
    #expect(!plans.shown.isSelfContained && plans.shown != plans.carriedOut)
  }

  /// Leaves rows in the `-wal`, as an app that was killed does.
  private static func leaveLog(_ url: URL) throws {
    try Connection.execute(
      "PRAGMA journal_mode=WAL", "UPDATE ZA SET ZNAME = 'in the log' WHERE Z_PK % 2 = 0", on: url.path,
      options: .inspecting)
    #expect((try FileManager.default.attributesOfItem(atPath: url.path + "-wal")[.size] as? Int ?? 0) > 0)
  }
}
