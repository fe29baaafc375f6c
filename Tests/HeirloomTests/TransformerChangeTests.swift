import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// A value transformer that changes over rows, of which no version hash tells.
struct TransformerChangeTests {
  /// Names of transformers, and whether they write the same bytes.
  private static let changes: [(before: String?, after: String?, isTold: Bool)] = [
    (nil, nil, false), (nil, "NSSecureUnarchiveFromData", false), ("NSKeyedUnarchiveFromData", "", false),
    ("Colour", "Colour", false), (nil, "Colour", true), ("Colour", nil, true), ("Colour", "Colour2", true),
    ("NSUnarchiveFromData", "NSSecureUnarchiveFromData", true),
  ]

  private static func model(_ transformer: String?, more: Bool) throws -> ManagedObjectModel {
    var colour = Make.attribute("colour", .transformable)
    colour.valueTransformerName = transformer
    return try ManagedObjectModel(entities: [
      Make.entity("Item", [colour] + (more ? [Make.attribute("more")] : [])), Make.entity("Sub", [], parent: "Item"),
    ])
  }

  @Test(arguments: changes.indices) func `rows with a value are counted where another transformer reads them`(
    index: Int
  ) throws {
    let change = Self.changes[index]
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let source = try Self.model(change.before, more: false)
    try PersistentStore.make(at: url, model: source) { context in
      for number in 0..<7 {
        let item = try context.insert(number % 2 == 0 ? "Item" : "Sub")
        if number < 5 { item["colour"] = .binary([1, 2, UInt8(number)]) }
      }
    }
    let destination = try Self.model(change.after, more: true)
    let assistant = DataDecisionTests.assistant(url, source, destination, [])
    let plan = try #require(try assistant.plan())
    let told = plan.warnings.filter { $0.contains("transformer") }
    #expect(told.count == (change.isTold ? 1 : 0) && told.allSatisfy { $0.hasPrefix("5 rows: ") }, "\(plan.warnings)")
    #expect(plan.losses.isEmpty && plan.blockers.isEmpty)
    _ = try assistant.migrateStore()
    let bytes = try Connection(reading: url).rows("SELECT ZCOLOUR FROM ZITEM ORDER BY Z_PK").map { $0[0] }
    #expect(bytes == (0..<7).map { $0 < 5 ? .blob([1, 2, UInt8($0)]) : .null })
  }
}
