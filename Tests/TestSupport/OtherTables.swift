package import Foundation
package import HeirloomModel
import HeirloomStore

/// The rows of the tables that a store's model doesn't know: history, CloudKit, the app's own.
package struct OtherTables: Equatable {
  private var rows: [String: [[SQLiteValue]]] = [:]

  /// The tables' names, sorted.
  package var names: [String] { rows.keys.sorted() }

  /// Reads a store; the file is not changed.
  ///
  /// - Parameters:
  ///   - url: The store.
  ///   - model: The store's model.
  ///   - step: The number that is added to the entity numbers in history and in CloudKit mirroring.
  /// - Throws: SQLite's error.
  package init(of url: URL, model: ManagedObjectModel, movingEntitiesBy step: Int64 = 0) throws {
    let connection = try Connection(path: url.path, mode: .readOnly, options: .inspecting)
    let actual = try ActualSchema(of: connection)
    for (object, ownership) in actual.ownership(under: PhysicalSchema(model: model, actual: actual)) {
      guard object.kind == .table, ownership != .model, ownership != .bookkeeping, ownership != .system else {
        continue
      }
      var found = try connection.rows("SELECT * FROM \(quote(object.name))")
      let names = actual.table(named: object.name)?.columns.map(\.name) ?? []
      if step != 0, let place = names.firstIndex(where: { $0 == "ZENTITY" || $0 == "ZENTITYID" }) {
        for index in found.indices {
          if case .integer(let number) = found[index][place] { found[index][place] = .integer(number + step) }
        }
      }
      rows[object.name] = found
    }
  }
}
