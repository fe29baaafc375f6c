import Foundation
import Heirloom
import TestSupport
import Testing

/// Heavy mappings from a model that only the archived snapshot beside the store knows.
struct ArchivedModelTests: ModelMaking {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("Store.sqlite") }
  private let current: ManagedObjectModel

  init() throws {
    directory = try TemporaryDirectory()
    current = try ManagedObjectModel(entities: [Self.entity("Item", [Self.attribute("price", .decimal)])])
  }

  final class PriceFromText: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let item = try manager.createDestinationInstance(forSource: source, in: mapping)
      if case .string(let text)? = source["price"] { item["price"] = .decimal(text) }
    }
  }

  private func makeStore(identifier: String?) throws -> ManagedObjectModel {
    let model = try ManagedObjectModel(
      entities: [Self.entity("Item", [Self.attribute("price")])], versionIdentifiers: identifier.map { [$0] } ?? [])
    try PersistentStore.make(at: url, model: model) { context in
      try context.insert("Item")["price"] = .string("12.5")
    }
    try ModelController(storeURL: url).archive(model)
    return model
  }

  private func prices() throws -> [[SQLiteValue]] {
    try Connection(reading: url).rows("SELECT ZPRICE FROM ZITEM")
  }

  @Test(arguments: [nil, "Shop 1"]) func `the delegate and the skeleton name it by its identifier or its checksum`(
    identifier: String?
  ) throws {
    let model = try makeStore(identifier: identifier)
    let name = identifier ?? model.versionChecksum()
    let assistant = MigrationAssistant(url, ModelHistory(current: current, name: "2"))
    let delegate = ClosureDelegate(mapping: { source, destination, _ in
      try MappingModel.inferred(from: source, to: destination) {
        EntityMapping(from: "Item", to: "Item", policy: PriceFromText.self) { PropertyMapping("price") }
      }
    })
    assistant.delegate = delegate
    try assistant.migrate()
    #expect(delegate.needs.map(\.sourceName) == [name])
    #expect(delegate.needs.first?.skeleton?.contains("try step(from: \"\(name)\", to: \"2\")") == true)
    #expect(try prices() == [[.real(12.5)]])
  }

  @Test(arguments: [nil, "Shop 1"], [true, false])
  func `a step begins at it, in a history of one version or of several`(
    identifier: String?, isAlone: Bool
  ) throws {
    let model = try makeStore(identifier: identifier)
    let between = try ManagedObjectModel(entities: [Self.entity("Item", [Self.attribute("price", .double)])])
    var history = ModelHistory(current: current, name: "2", earlier: isAlone ? [] : [("1b", between)])
    let name = isAlone ? identifier ?? model.versionChecksum() : model.versionChecksum()
    #expect(throws: MigrationAssistantError.self) { try MigrationAssistant(url, history).migrateStore() }
    if !isAlone {
      var other = history
      #expect(throws: MigrationStepError.self) { try other.step(from: "Shop 0", to: "2", didMigrate: nil) }
    }
    try history.step(from: name, to: "2") {
      EntityMapping(from: "Item", to: "Item", policy: PriceFromText.self) { PropertyMapping("price") }
    }
    // One that starts at another model that only a store knows has no part in it.
    try history.step(from: String(repeating: "A", count: 43) + "=", to: "2", didMigrate: nil)
    try MigrationAssistant(url, history).migrate()
    #expect(try prices() == [[.real(12.5)]])
  }
}
