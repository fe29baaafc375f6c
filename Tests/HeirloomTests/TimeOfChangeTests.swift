import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// The time of an object's last change is a derived attribute, and yet no other value tells it.
struct TimeOfChangeTests {
  class Standard: EntityMigrationPolicy {}

  class Naming: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let object = try manager.destinationContext.insert("Item")
      object["name"] = source["name"]
      try manager.associate(source: source, destination: object, for: mapping)
    }
  }

  /// A next version of a model of items with a name, its upper case and the time of the last change.
  enum Release: CaseIterable, Sendable {
    case more, plain, otherType, dropped, withoutUpper

    var isLoss: Bool { self == .otherType || self == .dropped }

    private static func derived(_ name: String, _ type: AttributeType, _ expression: String) -> AttributeDescription {
      var attribute = Make.attribute(name, type)
      attribute.derivation = DerivedAttributeDescription(derivationExpression: ValueExpression(keeping: expression))
      return attribute
    }

    var attributes: [AttributeDescription] {
      let changed = Self.derived("changed", .date, "now()")
      let upper = Self.derived("upper", .string, "uppercase:(name)")
      return switch self {
      case .more: [changed, upper, Make.attribute("more")]
      case .plain: [Make.attribute("changed", .date), upper]
      case .otherType: [Self.derived("changed", .string, "lowercase:(name)"), upper]
      case .dropped: [upper]
      case .withoutUpper: [changed]
      }
    }
  }

  private static func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name")] + attributes)])
  }

  private static func migrate(
    to release: Release, policy: EntityMigrationPolicy.Type?, _ builder: BuilderChoice = .automatic
  ) throws -> (losses: [String], times: [SQLiteValue]) {
    let directory = try TemporaryDirectory()
    let url = directory.file("Items.sqlite")
    let before = try model(Array(Release.more.attributes.prefix(2)))
    try PersistentStore.make(at: url, model: before) { context in
      for number in 0..<3 { try context.insert("Item").set("item \(number)", for: "name") }
    }
    let plain = try Connection(path: url.path, mode: .readWrite)
    try plain.registerCoreDataFunctions()
    try plain.execute("UPDATE ZITEM SET ZCHANGED = 100.5 + Z_PK WHERE Z_PK < 3")
    try plain.execute("UPDATE ZITEM SET ZCHANGED = NULL WHERE Z_PK = 3")
    try plain.close()
    let after = try model(release.attributes)
    var configuration = MigrationAssistant.Configuration.withBothProofs
    if let policy {
      configuration.mappings = [
        try MappingModel.inferred(from: before, to: after) {
          EntityMapping(from: "Item", to: "Item", policy: policy) {}
        }
      ]
    }
    let assistant = MigrationAssistant(
      url, ModelHistory(current: after, earlier: [("before", before)]), configuration, builder: builder)
    guard case .migrated(let report) = try assistant.migrateStore() else {
      Issue.record("not migrated")
      return ([], [])
    }
    let losses = report.plan.losses.map { "\($0.kind) \($0.name) \($0.rows)" }
    guard release != .dropped else { return (losses, []) }
    let rows = try Connection(reading: url).rows("SELECT ZCHANGED FROM ZITEM ORDER BY Z_PK")
    return (losses, rows.map { $0[0] })
  }

  @Test(arguments: Release.allCases, [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `a time of the last change stays or is told`(release: Release, builder: BuilderChoice) throws {
    let (losses, times) = try Self.migrate(to: release, policy: nil, builder)
    #expect(losses == (release.isLoss ? ["values Item.changed 2"] : []))
    if !release.isLoss { #expect(times == [.real(101.5), .real(102.5), .null]) }
  }

  @Test(arguments: Release.allCases) func `the default of code takes times along as SQL does`(release: Release) throws {
    let (losses, times) = try Self.migrate(to: release, policy: Standard.self)
    #expect(losses == (release.isLoss ? ["values Item.changed 2"] : []))
    if !release.isLoss { #expect(times.prefix(2) == [.real(101.5), .real(102.5)]) }
  }

  @Test func `times of objects that code makes itself are told`() throws {
    let (losses, times) = try Self.migrate(to: .more, policy: Naming.self)
    #expect(losses == ["values Item.changed 2"])
    #expect(!times.contains(.real(101.5)))
  }
}
