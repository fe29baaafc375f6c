package import Foundation
package import HeirloomMapping
package import HeirloomModel
import HeirloomStore

/// The rows of the tables that a store's model doesn't know: history, CloudKit, the app's own.
package struct OtherTables: Equatable {
  private var rows: [String: [[SQLiteValue]]] = [:]
  /// The column of the entity number in the rows of history and CloudKit mirroring, by table.
  private var entityPlaces: [String: Int] = [:]

  package var names: [String] { rows.keys.sorted() }

  package init(of url: URL, model: ManagedObjectModel) throws {
    let connection = try Connection(path: url.path, mode: .readOnly, options: .inspecting)
    let actual = try ActualSchema(of: connection)
    for (object, ownership) in actual.ownership(under: PhysicalSchema(model: model, actual: actual)) {
      guard object.kind == .table, ownership != .model, ownership != .bookkeeping, ownership != .system else {
        continue
      }
      rows[object.name] = try connection.rows("SELECT * FROM \(quote(object.name))")
      entityPlaces[object.name] = actual.table(named: object.name)?.columns
        .firstIndex { $0.name == "ZENTITY" || $0.name == "ZENTITYID" }
    }
  }

  /// Changes entity numbers and leaves out rows of removed entities, as a migration must.
  ///
  /// `before` and `after` come from ``entityNumbers(in:)``.
  package func migrated(by mapping: MappingModel, from before: [String: Int64], to after: [String: Int64]) -> Self {
    var numbers: [Int64: Int64?] = [:]
    for (name, number) in before {
      let mappings = mapping.entityMappings(fromEntity: name)
      // Entities of the framework's own keep their numbers.
      if mappings.isEmpty { continue }
      numbers[number] = .some(mappings.lazy.compactMap(\.destinationEntityName).first.flatMap { after[$0] })
    }
    var migrated = self
    for (table, place) in entityPlaces {
      migrated.rows[table] = rows[table]?.compactMap { row in
        guard case .integer(let old) = row[place], let number = numbers[old] else { return row }
        guard let number else { return nil }
        var row = row
        row[place] = .integer(number)
        return row
      }
    }
    return migrated
  }

  package static func entityNumbers(in url: URL) throws -> [String: Int64] {
    let connection = try Connection(path: url.path, mode: .readOnly, options: .inspecting)
    let rows = try connection.rows("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY")
    return Dictionary(uniqueKeysWithValues: rows.map { ($0[0].text ?? "", $0[1].integer ?? 0) })
  }

  /// A line for each table.
  package func differences(from other: OtherTables) -> [String] {
    Set(rows.keys).union(other.rows.keys).sorted().filter { rows[$0] != other.rows[$0] }.map { name in
      "\(name): \(rows[name]?.count ?? -1) | \(other.rows[name]?.count ?? -1) rows"
    }
  }
}
