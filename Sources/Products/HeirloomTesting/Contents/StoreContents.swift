public import Foundation
public import HeirloomModel
package import HeirloomStore

/// The contents of a store according to its model, independent of column order and entity numbers.
///
/// Values in external files are included.
public struct StoreContents: Equatable, Sendable {
  /// By entity, then by primary key.
  package var objects: [String: [Int64: StoredObject]] = [:]

  package struct StoredObject: Equatable, Sendable {
    /// By path, such as `address.city`.
    package var values: [String: SQLiteValue] = [:]
    /// Primary keys by relationship; in their order if it is ordered, else ascending.
    package var links: [String: [Int64]] = [:]
    package var saves: Int64 = 0

    package init() {}
  }

  package init() {}

  /// Reads a store.
  ///
  /// - Parameters:
  ///   - url: The store, which is not changed.
  ///   - model: The store's model.
  /// - Throws: An error if the store can't be read or doesn't fit the model.
  public init(of url: URL, model: ManagedObjectModel) throws {
    let connection = try Connection(path: url.path, mode: .readOnly, options: .inspecting)
    let schema = PhysicalSchema(model: model, actual: try ActualSchema(of: connection))
    for entity in schema.entities {
      let number = entity.number
      var columns = ["\"Z_PK\"", "\"Z_OPT\""]
      var paths: [String] = []
      var external: Set<Int> = []
      for attribute in model.attributes(of: entity.name) {
        for column in schema.columns(ofAttribute: attribute.name, in: entity.name) {
          columns.append(quote(column.name))
          if column.attribute.allowsExternalBinaryDataStorage { external.insert(paths.count) }
          paths.append(column.path.joined(separator: "."))
        }
      }
      var found: [Int64: StoredObject] = [:]
      let sql =
        "SELECT \(columns.joined(separator: ", ")) FROM \(quote(entity.table)) WHERE \(entity.numberSQL()) = \(number)"
      for row in try connection.rows(sql) {
        var object = StoredObject()
        object.saves = row[1].integer ?? -1
        for (index, value) in row.dropFirst(2).enumerated() {
          object.values[paths[index]] = external.contains(index) ? Self.resolved(value, besideStoreAt: url.path) : value
        }
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

  /// The reference itself stays if the file is missing.
  private static func resolved(_ value: SQLiteValue, besideStoreAt path: String) -> SQLiteValue {
    guard case .blob(let bytes) = value, case .file(let name)? = ExternalStorage(bytes),
      let data = ExternalStorage.contents(ofFile: ExternalStorage.folder(forStoreAt: path) + "/" + name)
    else { return value }
    return .blob(ExternalStorage.inline(data).bytes)
  }

  /// Returns the number of objects of exactly one entity, without subentities.
  ///
  /// - Parameter entity: The entity's name.
  /// - Returns: The number; 0 for an unknown entity.
  public func count(ofEntity entity: String) -> Int { objects[entity]?.count ?? 0 }

  /// The number of objects.
  public var count: Int { objects.values.reduce(0) { $0 + $1.count } }
}
