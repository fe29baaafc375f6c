package import Foundation
package import Heirloom
import HeirloomStore

/// Changes of an entity `Flight` that concern its pilot, with a store of five flights, the last of which has no pilot.
package enum FlightChange: String, CaseIterable, ModelMaking, Sendable {
  /// Both attributes go to an entity of their own.
  case moved
  /// One of the two attributes goes to an entity of its own; the other stays.
  case split
  case dropped
  /// Both attributes have new names, by renaming identifiers.
  case renamed

  /// Those that are lost without a mapping, sorted.
  package var losses: [String] {
    switch self {
    case .moved, .dropped: ["Flight.pilotAge", "Flight.pilotName"]
    case .split: ["Flight.pilotName"]
    case .renamed: []
    }
  }

  package static let names: Set<String> = Set((1...4).map { "Pilot \($0)" })
  package static let ages: Set<String> = Set((1...4).map { "\(30 + $0)" })

  private static let number = attribute("number", .integer64)

  package static func before() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      entity("Flight", [number, attribute("pilotAge", .integer64), attribute("pilotName")])
    ])
  }

  package func after(more: [AttributeDescription] = []) throws -> ManagedObjectModel {
    let name = Self.attribute("name")
    let age = Self.attribute("age", .integer64)
    let entities: [EntityDescription] =
      switch self {
      case .moved: [Self.entity("Flight", [Self.number] + more), Self.entity("Pilot", [age, name])]
      case .split:
        [
          Self.entity("Flight", [Self.number, Self.attribute("pilotAge", .integer64)] + more),
          Self.entity("Pilot", [name]),
        ]
      case .dropped: [Self.entity("Flight", [Self.number] + more)]
      case .renamed:
        [
          Self.entity(
            "Flight",
            [Self.number, Self.attribute("age", .integer64, id: "pilotAge"), Self.attribute("name", id: "pilotName")]
              + more)
        ]
      }
    return try ManagedObjectModel(entities: entities)
  }

  /// The mapping that loses nothing; `nil` if inference loses nothing, or the values have no place.
  package var keeping: [EntityMapping]? {
    let name = PropertyMapping("name", copying: "pilotName")
    let flight = EntityMapping(from: "Flight", to: "Flight")
    switch self {
    case .moved:
      return [
        flight,
        EntityMapping(from: "Flight", to: "Pilot") {
          name
          PropertyMapping("age", copying: "pilotAge")
        },
      ]
    case .split: return [flight, EntityMapping(from: "Flight", to: "Pilot") { name }]
    case .dropped, .renamed: return nil
    }
  }

  /// The model is in the store and beside it.
  package static func makeStore(at url: URL) throws {
    let model = try before()
    let store = try PersistentStore.create(at: url, model: model)
    let context = ManagedObjectContext(store: store)
    for number in 1...5 {
      let flight = try context.insert("Flight")
      flight["number"] = .integer(Int64(number))
      guard number < 5 else { continue }
      flight["pilotName"] = .string("Pilot \(number)")
      flight["pilotAge"] = .integer(Int64(30 + number))
    }
    try context.save()
    try store.close()
  }

  /// By plain SQL over both tables, wherever a migration put the values.
  package static func pilots(in url: URL) throws -> Set<String> {
    let connection = try Connection(path: url.path, mode: .readOnly)
    defer { try? connection.close() }
    var found: Set<String> = []
    let tables = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('ZFLIGHT', 'ZPILOT')")
    for name in tables.compactMap({ $0[0].text }) {
      let columns = try connection.rows("SELECT name FROM pragma_table_info('\(name)')").compactMap { $0[0].text }
      for column in columns where ["ZPILOTNAME", "ZNAME", "ZPILOTAGE", "ZAGE"].contains(column) {
        for row in try connection.rows("SELECT \(column) FROM \(name) WHERE \(column) IS NOT NULL") {
          found.insert(row[0].text ?? row[0].integer.map(String.init) ?? "?")
        }
      }
    }
    return found
  }
}
