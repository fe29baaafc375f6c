import Foundation
import Heirloom
import TestSupport

/// The content of a store's file, fact by fact, so that a difference between two files names its place.
struct StorePicture {
  enum Place: Hashable {
    case columnOrder(table: String)
    /// A column: its type and its position in the primary key.
    case column(table: String, name: String)
    /// The demands of a table on its rows, besides the types of columns.
    case constraints(table: String)
    /// An index, including one that a constraint of its table implies.
    case index(name: String, table: String)
    /// A trigger, a view or a virtual table: its statement.
    case object(kind: String, name: String)
    /// A row of `Z_PRIMARYKEY`, by the number of the entity.
    case entity(number: Int64, column: String)
    /// A key of the metadata; for a dictionary, with the key inside.
    case metadata(key: String)
    /// A part of the copy of the model, by its path in the canonical content.
    case model(path: String)
    case row(table: String, key: String)
    case cell(table: String, key: String, column: String)
    case header(String)
  }

  private(set) var facts: [Place: String] = [:]
  /// The rows of tables of objects by primary key, then by column.
  private(set) var objects: [String: [Int64: [String: SQLiteValue]]] = [:]
  private(set) var indexes: [String: Index] = [:]
  /// The model's tables, under the names that the file gave them.
  let schema: PhysicalSchema
  let actual: ActualSchema

  /// The entries of an index, whatever its name.
  struct Index: Hashable {
    let table: String
    /// The columns' names with their directions and collations.
    let columns: [String]
    let isUnique: Bool
  }

  /// `renumbered` has keys, by table, that are used instead of the objects' own.
  init(of url: URL, model: ManagedObjectModel, renumbered: [String: [Int64: Int64]] = [:]) throws {
    let connection = try Connection(reading: url, options: .inspecting)
    actual = try ActualSchema(of: connection)
    schema = PhysicalSchema(model: model, actual: actual)
    for object in actual.objects where object.kind != .table {
      guard object.kind == .index else {
        facts[.object(kind: object.kind.rawValue, name: object.name)] = object.normalizedSQL ?? ""
        continue
      }
      facts[.index(name: object.name, table: object.table)] = object.normalizedSQL ?? ""
      indexes[object.name] = try Index(object, connection)
    }
    for table in actual.tables {
      let sql = actual.object(.table, named: table.name)?.normalizedSQL ?? ""
      if table.isVirtual { facts[.object(kind: "table", name: table.name)] = sql }
      facts[.columnOrder(table: table.name)] = table.columns.map(\.name).joined(separator: ", ")
      facts[.constraints(table: table.name)] = Self.constraints(sql)
      for column in table.columns {
        facts[.column(table: table.name, name: column.name)] =
          "\(column.declaredType) \(column.isNotNull) \(column.primaryKeyPosition)"
      }
    }
    for pragma in ["user_version", "application_id", "page_size", "auto_vacuum", "encoding", "journal_mode"] {
      facts[.header(pragma)] = Self.text(try connection.firstValue("PRAGMA \(pragma)") ?? .null)
    }
    facts[.header("integrity_check")] = Self.text(try connection.firstValue("PRAGMA integrity_check") ?? .null)
    try readRows(connection, renumbered)
    try readMetadata(connection)
    if let model = try StoreModelCache.model(inStoreAt: url) {
      let content = Data(ModelSnapshot.canonicalModelBytes(of: model))
      readModel(try JSONSerialization.jsonObject(with: content), path: "")
    }
  }

  private static func constraints(_ sql: String) -> String {
    let starts = ["CONSTRAINT ", "PRIMARY KEY ("].compactMap { sql.range(of: $0)?.lowerBound }
    guard let start = starts.min() else { return "" }
    return sql[start...].replacingOccurrences(of: " ", with: "")
  }

  private mutating func readRows(_ connection: Connection, _ renumbered: [String: [Int64: Int64]]) throws {
    for table in actual.tables where !table.isVirtual && !Self.bookkeeping.contains(table.name) {
      let names = table.columns.map(\.name)
      let planned = schema.table(named: table.name)
      for row in try connection.rows("SELECT * FROM \(quote(table.name))") {
        var values = Dictionary(uniqueKeysWithValues: zip(names, row))
        for column in planned?.columns ?? [] {
          guard let tree = target(of: column, in: table.name), let key = values[column.name]?.integer,
            let other = renumbered[tree]?[key]
          else { continue }
          values[column.name] = .integer(other)
        }
        let key = Self.key(of: values, in: table, isOfModel: planned != nil)
        facts[.row(table: table.name, key: key)] = "there"
        for (name, value) in values { facts[.cell(table: table.name, key: key, column: name)] = Self.text(value) }
        if let number = values["Z_PK"]?.integer { objects[table.name, default: [:]][number] = values }
      }
    }
  }

  private static func key(of values: [String: SQLiteValue], in table: ActualTable, isOfModel: Bool) -> String {
    var names = table.columns.filter { $0.primaryKeyPosition > 0 }.map(\.name)
    if names.isEmpty || !isOfModel && table.columns.first?.name != "Z_PK" { names = table.columns.map(\.name) }
    return names.sorted().map { "\($0) \(text(values[$0] ?? .null))" }.joined(separator: ", ")
  }

  /// Returns the table of the objects whose keys a column holds.
  func target(of column: PhysicalColumn, in table: String) -> String? {
    switch column.role {
    case .primaryKey: return table
    case .key(let entity, let name), .joinKey(let entity, let name):
      let found = schema.model.relationship(named: name, of: entity)?.destinationEntity
      return found.flatMap { schema.table(ofEntity: $0)?.name }
    case .inverselessKey(let entity, _), .reflexiveKey(let entity, _): return schema.table(ofEntity: entity)?.name
    case .entity, .optimisticLock, .attribute, .keyEntity, .order, .unknown: return nil
    }
  }

  private mutating func readModel(_ value: Any, path: String) {
    if let object = value as? [String: Any] {
      for (key, value) in object { readModel(value, path: "\(path)/\(key)") }
    } else if let list = value as? [Any] {
      for (place, value) in list.enumerated() {
        let name = (value as? [String: Any])?["name"] as? String
        readModel(value, path: "\(path)/\(name ?? String(place))")
      }
    } else {
      facts[.model(path: path)] = "\(value)"
    }
  }

  private static let bookkeeping = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]

  private mutating func readMetadata(_ connection: Connection) throws {
    for row in try connection.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY") {
      let number = row[0].integer ?? -1
      for (name, value) in zip(["Z_NAME", "Z_SUPER", "Z_MAX"], row.dropFirst()) {
        facts[.entity(number: number, column: name)] = Self.text(value)
      }
    }
    for row in try connection.rows("SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA") {
      facts[.metadata(key: "Z_VERSION")] = Self.text(row[0])
      facts[.metadata(key: "Z_UUID")] = Self.text(row[1])
      let list = try PropertyListSerialization.propertyList(from: Data(row[2].blob ?? []), format: nil)
      for (key, value) in list as? [String: Any] ?? [:] {
        guard let dictionary = value as? [String: Any] else {
          facts[.metadata(key: key)] = Self.text(ofProperty: value)
          continue
        }
        for (inner, value) in dictionary { facts[.metadata(key: "\(key)/\(inner)")] = Self.text(ofProperty: value) }
      }
    }
  }

  private static func text(ofProperty value: Any) -> String {
    (value as? Data)?.base64EncodedString() ?? "\(type(of: value)) \(value)"
  }

  /// Numbers of different kinds are not equal.
  static func text(_ value: SQLiteValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): String(number)
    case .real(let number): "real \(number)"
    case .text(let text): "'\(text)'"
    case .blob(let bytes): "bytes \(Data(bytes).base64EncodedString())"
    }
  }
}

extension StorePicture.Index {
  fileprivate init(_ object: SchemaObject, _ connection: Connection) throws {
    table = object.table
    let name: [SQLiteValue] = [.text(object.name)]
    columns = try connection.rows("SELECT name, \"desc\", coll FROM pragma_index_xinfo(?1) WHERE key = 1", name)
      .map { $0.map(StorePicture.text).joined(separator: " ") }
    let unique = "SELECT \"unique\" FROM pragma_index_list(?2) WHERE name = ?1"
    isUnique = try connection.firstInteger(unique, name + [.text(object.table)]) == 1
  }
}

extension StorePicture {
  /// A place at which two files differ; `nil` if one has nothing there.
  struct Difference {
    let place: Place
    let heirloom: String?
    let coreData: String?
  }

  static func differences(heirloom: StorePicture, coreData: StorePicture) -> [Difference] {
    Set(heirloom.facts.keys).union(coreData.facts.keys)
      .filter { heirloom.facts[$0] != coreData.facts[$0] }
      .map { Difference(place: $0, heirloom: heirloom.facts[$0], coreData: coreData.facts[$0]) }
      .sorted { "\($0.place)" < "\($1.place)" }
  }
}
