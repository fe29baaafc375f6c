package import Foundation
package import HeirloomModel
package import HeirloomStore

/// Everything that a store holds of its model, in a form that doesn't depend on column order or entity numbers.
package struct StoreContents: Equatable {
  /// Objects by entity, then by primary key.
  package var objects: [String: [Int64: StoredObject]] = [:]

  /// One object as a store keeps it.
  package struct StoredObject: Equatable {
    /// Stored values of attributes by path, such as `address.city`.
    package var values: [String: SQLiteValue] = [:]
    /// Primary keys of related objects by relationship; in order for an ordered one, else ascending.
    package var links: [String: [Int64]] = [:]
    /// How often the object was saved.
    package var saves: Int64 = 0
  }

  /// Creates the contents of an empty store.
  package init() {}

  /// Reads a store.
  ///
  /// - Parameters:
  ///   - url: The store; the file is not changed.
  ///   - model: The store's model.
  /// - Throws: SQLite's error for a store that is not of the model.
  package init(of url: URL, model: ManagedObjectModel) throws {
    let connection = try Connection(path: url.path, mode: .readOnly, options: .looking)
    let schema = PhysicalSchema(model: model, actual: try ActualSchema(of: connection))
    for entity in schema.entities {
      let number = entity.number
      var columns = ["\"Z_PK\"", "\"Z_OPT\""]
      var paths: [String] = []
      for attribute in model.attributes(of: entity.name) {
        for column in schema.columns(ofAttribute: attribute.name, in: entity.name) {
          columns.append(quote(column.name))
          paths.append(column.path.joined(separator: "."))
        }
      }
      var found: [Int64: StoredObject] = [:]
      let sql = "SELECT \(columns.joined(separator: ", ")) FROM \(quote(entity.table)) WHERE \"Z_ENT\" = \(number)"
      for row in try connection.rows(sql) {
        var object = StoredObject()
        object.saves = row[1].integer ?? -1
        for (path, value) in zip(paths, row.dropFirst(2)) { object.values[path] = value }
        found[row[0].integer ?? -1] = object
      }
      for relationship in model.relationships(of: entity.name) {
        guard let storage = schema.storage(ofRelationship: relationship.name, in: entity.name) else { continue }
        let links: String
        switch storage {
        case .key(let table, let column, _):
          links = "SELECT \"Z_PK\", \(quote(column)) FROM \(quote(table)) WHERE \(quote(column)) NOT NULL"
        case .inverseKey(let table, let column, _, let order), .inverselessKey(let table, let column, let order):
          links =
            "SELECT \(quote(column)), \"Z_PK\" FROM \(quote(table)) WHERE \(quote(column)) NOT NULL"
            + " ORDER BY \(order.map { quote($0) + ", " } ?? "") \"Z_PK\""
        case .join(let table, let owner, let destination, let order):
          links =
            "SELECT \(quote(owner)), \(quote(destination)) FROM \(quote(table))"
            + " ORDER BY \(order.map { quote($0) + ", " } ?? "") \(quote(destination))"
        }
        for row in try connection.rows(links) {
          guard let owner = row[0].integer, let target = row[1].integer, found[owner] != nil else { continue }
          found[owner]?.links[relationship.name, default: []].append(target)
        }
      }
      objects[entity.name] = found
    }
  }

  /// The number of objects.
  package var count: Int { objects.values.reduce(0) { $0 + $1.count } }
}
