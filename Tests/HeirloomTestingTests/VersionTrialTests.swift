import Foundation
import Heirloom
import HeirloomModel
import HeirloomTesting
import TestSupport
import Testing

/// The check of a history by an app's tests, with the app's own steps and decisions.
struct VersionTrialTests: ModelMaking {
  private static func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
    let item = Make.entity("Item", attributes)
    return try ManagedObjectModel(entities: [item])
  }

  /// Three versions: a list's name becomes a label, which is required then.
  private static func history() throws -> ModelHistory {
    ModelHistory(
      current: try model([attribute("label", optional: false)]), name: "3",
      earlier: [("1", try model([attribute("listName")])), ("2", try model([attribute("label")]))])
  }

  private static func addStep(to history: inout ModelHistory) throws {
    try history.step(from: "1", to: "2") {
      EntityMapping(from: "Item", to: "Item") { PropertyMapping("label", copying: "listName") }
    }
  }

  @Test func `an app's own steps and decisions are tried from every version`() throws {
    var history = try Self.history()
    try Self.addStep(to: &history)
    var configuration = MigrationAssistant.Configuration()
    configuration.decisions = [DataDecision(entity: "Item", property: "label", .fill(.string("none")))]
    let trials = try history.expectMigrations(configuration: configuration)
    #expect(trials.map(\.version) == ["1", "2"])
    #expect(trials.allSatisfy { $0.objects == 12 && $0.report != nil })
    #expect(trials.allSatisfy { $0.report?.plan.decisions.contains { $0.filled > 0 } == true })
  }

  @Test func `what is lost without consent, and rows that don't fit, are findings`() throws {
    let history = try Self.history()
    let error = try #require(throws: MigrationNotKept.self) { try history.expectMigrations() }
    #expect(error.findings.map(\.kind) == [.notMigrated, .notMigrated])
    #expect(error.findings[0].message.hasPrefix("\"1\" → \"3\": Rows of the store"))
    #expect(error.findings[0].message.contains("the choices are: Item.label (fill, quarantine)."))
    // The same history up to the version that drops the name alone.
    let losing = ModelHistory(
      current: try #require(try history.model(named: "2")), name: "2",
      earlier: [("1", try #require(try history.model(named: "1")))])
    let loss = try #require(throws: MigrationNotKept.self) { try losing.expectMigrations() }
    #expect(loss.findings.map(\.kind) == [.lossWithoutConsent], "\(loss.findings)")
    #expect(loss.findings.map(\.property) == ["listName"])
  }

  /// A merged object takes the values that it lacks from the others: nothing of that is a finding, whatever the sample.
  @Test(arguments: UInt64(1)...5) func `values that merged objects take from each other are no findings`(
    seed: UInt64
  ) throws {
    let attributes = [Self.attribute("name", optional: false)] + ["color", "note", "text"].map { Self.attribute($0) }
    var item = try #require(try Self.model(attributes).entity(named: "Item"))
    item.uniquenessConstraints = [["name"]]
    let history = ModelHistory(
      current: try ManagedObjectModel(entities: [item]), name: "2", earlier: [("1", try Self.model(attributes))])
    var configuration = MigrationAssistant.Configuration()
    configuration.decisions = [DataDecision(entity: "Item", constraint: ["name"], .merge())]
    let trials = try history.expectMigrations(configuration: configuration, seed: seed)
    #expect(trials.first?.report?.plan.decisions.contains { $0.removed > 0 } == true)
  }

  @Test func `a store that is only moved aside was not migrated`() throws {
    var configuration = MigrationAssistant.Configuration()
    configuration.incompatibleStore = .setAside
    let history = ModelHistory(
      current: try Self.model([AttributeDescription(name: "label", type: .date)]), name: "2",
      earlier: [("1", try Self.model([Self.attribute("label")]))])
    let error = try #require(throws: MigrationNotKept.self) {
      try history.expectMigrations(configuration: configuration)
    }
    #expect(error.findings.map(\.kind) == [.notMigrated])
  }
}
