import Foundation
import Heirloom
import HeirloomTesting
import TestSupport
import Testing

/// Values that a decision fills in objects that code makes, whichever way it makes them.
struct DecidedFillTests: ModelMaking {
  enum Way: CaseIterable {
    case standard, inserted, insertedInOtherEntity
  }

  final class Standard: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let item = try manager.createDestinationInstance(forSource: source, in: mapping)
      if case .string(let text)? = source["price"], Double(text) != nil { item["price"] = .decimal(text) }
    }
  }

  final class Inserting: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let item = try manager.destinationContext.insert("Item")
      item["name"] = source["name"]
      if case .string(let text)? = source["price"], Double(text) != nil { item["price"] = .decimal(text) }
      try manager.associate(source: source, destination: item, for: mapping)
    }
  }

  final class InsertingOthers: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let item = try manager.createDestinationInstance(forSource: source, in: mapping)
      let label = try manager.destinationContext.insert("Label")
      label["text"] = source["price"]
      item[toOne: "label"] = label
    }
  }

  private static func history(_ way: Way) throws -> ModelHistory {
    let first = entity("Item", [attribute("name"), attribute("price")])
    let isOther = way == .insertedInOtherEntity
    let mark = attribute("mark", optional: false)
    let item = entity(
      "Item", [attribute("name"), attribute("price", .decimal)] + (isOther ? [] : [mark]),
      isOther ? [toOne("label", "Label", "items")] : [])
    let label = entity("Label", [attribute("text"), mark], [toMany("items", "Item", "label")])
    var history = ModelHistory(
      current: try ManagedObjectModel(entities: isOther ? [item, label] : [item]), name: "2",
      earlier: [("1", try ManagedObjectModel(entities: [first]))])
    let policy: EntityMigrationPolicy.Type =
      switch way {
      case .standard: Standard.self
      case .inserted: Inserting.self
      case .insertedInOtherEntity: InsertingOthers.self
      }
    try history.step(from: "1", to: "2") {
      EntityMapping(from: "Item", to: "Item", policy: policy) { PropertyMapping("price") }
    }
    return history
  }

  @Test(arguments: Way.allCases) func `a decision fills what code leaves empty, and the app's own test is green`(
    way: Way
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let history = try Self.history(way)
    try PersistentStore.make(at: url, model: try #require(try history.model(named: "1"))) { context in
      for index in 0..<3 {
        let item = try context.insert("Item")
        (item["name"], item["price"]) = (.string("n\(index)"), .string("\(index)"))
      }
    }
    let entity = way == .insertedInOtherEntity ? "Label" : "Item"
    var configuration = MigrationAssistant.Configuration()
    configuration.decisions = [DataDecision(entity: entity, property: "mark", .fill(.string("x")))]
    let assistant = MigrationAssistant(url, history, configuration)
    let report = try assistant.migrate()
    let rows = try Connection(reading: url).rows(
      "SELECT ZMARK, COUNT(*) FROM Z\(entity.uppercased()) GROUP BY 1")
    #expect(rows == [[.text("x"), .integer(3)]])
    #expect(report.plan.decisions.map(\.filled) == [3], "\(report.plan.decisions)")
    try history.expectMigrations(configuration: configuration)
  }
}
