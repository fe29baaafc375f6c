import HeirloomModel
import HeirloomStore

/// Temporary tables with the rows of one table of objects, as far as decisions touch them.
///
/// `heirloom_rows_N` has the keys (`pk`, and `spk` in the store), the entities (`ent`, and `sent` in the store) and
/// some columns with the values that rows get. A column whose name begins with `was` has the value without a decision;
/// the other has the final value. `heirloom_removed_N` has the rows that don't stay.
struct DecisionTable {
  /// The number that tells the tables from others of their kind.
  let number: Int
  /// The table in the candidate.
  let table: String
  /// The root entity of the objects.
  let root: PhysicalEntity
  /// The tracked columns.
  let columns: [TrackedColumn]
  /// True when rows may be removed; otherwise the table only has keys of rows that may be.
  let mayLoseRows: Bool

  /// The table of rows, quoted.
  var rows: String { "temp.\(quote(rowsName))" }
  /// The table of rows that don't stay, quoted.
  var removed: String { "temp.\(quote(removedName))" }
  /// The table of merged objects as they were, quoted.
  var merged: String { "temp.\(quote(mergedName))" }
  var rowsName: String { "heirloom_rows_\(number)" }
  var removedName: String { "heirloom_removed_\(number)" }
  var mergedName: String { "heirloom_merged_\(number)" }

  /// The table in the candidate, quoted.
  var candidate: String { "\(quote(SchemaName.candidate)).\(quote(table))" }

  /// Returns the columns that hold keys of objects of a tree.
  func links(to root: String) -> [TrackedColumn] { columns.filter { $0.link?.root == root } }

  /// The condition that decisions change a row `r`; `nil` if no column is tracked.
  var isChanged: String? {
    columns.isEmpty
      ? nil : columns.map { "r.\(quote($0.name)) IS NOT r.\(quote($0.former))" }.chained(by: "OR")
  }

  /// Returns the statements that make the tables, and fill that of the rows from the store.
  func statements(_ transfers: [TableTransfer]) -> (definitions: [String], rows: [String], indexes: [String]) {
    let list = columns.map { ", \(quote($0.name)) \($0.type.rawValue), \(quote($0.former)) \($0.type.rawValue)" }
    let definitions = [
      "CREATE TEMP TABLE \(quote(rowsName)) (pk INTEGER PRIMARY KEY, ent INTEGER, spk INTEGER, sent INTEGER"
        + "\(list.joined()))",
      // `seq` counts up, so the removals of one round are those above a mark. No object is removed twice.
      "CREATE TEMP TABLE \(quote(removedName)) (seq INTEGER PRIMARY KEY, pk INTEGER UNIQUE, ent INTEGER, spk INTEGER,"
        + " sent INTEGER, survivor INTEGER, twin INTEGER, place INTEGER, decision INTEGER)",
      // An object that goes takes along those that were merged into it: they are found by their survivor.
      "CREATE INDEX temp.\(quote(removedName + "_survivor")) ON \(quote(removedName)) (survivor)",
    ]
    let names = columns.map { ", \(quote($0.name)), \(quote($0.former))" }.joined()
    let values = columns.map { ", \(quote($0.name)), \(quote($0.name))" }.joined()
    let rows = transfers.map { transfer in
      let found = Dictionary(
        transfer.columns.map { ($0.name, $0.entry.sql) }, uniquingKeysWith: { first, _ in first })
      let expressions =
        [
          "\(transfer.key) AS pk", "\(found[PhysicalName.entity] ?? "NULL") AS ent",
          "s.\(quote(PhysicalName.primaryKey)) AS spk", "s.\(quote(PhysicalName.entity)) AS sent",
        ] + columns.map { "\(found[$0.name] ?? "NULL") AS \(quote($0.name))" }
      // A column and its former value begin equal; only decisions make them differ.
      return "INSERT INTO \(self.rows) (pk, ent, spk, sent\(names)) SELECT pk, ent, spk, sent\(values)"
        + " FROM (\(transfer.select(expressions)))"
    }
    // Each removal looks for the links that lead to the removed objects.
    let indexes = columns.filter { $0.link != nil }.map {
      "CREATE INDEX temp.\(quote("\(rowsName)_\($0.name)")) ON \(quote(rowsName)) (\(quote($0.name)))"
    }
    return (definitions, rows, indexes)
  }
}

/// A column of a table of objects that decisions may change.
struct TrackedColumn: Equatable {
  /// The column's name.
  let name: String
  /// The column's type.
  let type: SQLColumnType
  /// The name shared by columns that get a value together: those of one composite attribute.
  let group: String
  /// The numbers of the entities whose objects have the property.
  let holders: ClosedRange<Int>
  /// The target of the column, if it holds a key.
  let link: Link?

  /// The target of a key.
  struct Link: Equatable {
    /// The root entity of the related objects.
    let root: String
    /// The numbers of the entities that may be related.
    let targets: ClosedRange<Int>
    /// The table of the related objects.
    let table: String
    /// The column with the number of the related object's entity.
    let entityColumn: String?
    /// The relationship, and the entity that declares it.
    let relationship: String
    let entity: String
    /// True when every object must have a related one.
    let isRequired: Bool
    /// The column of the related objects that leads back, in a one-to-one relationship.
    let inverseColumn: String?
    /// The column with the place among the related object's members.
    let orderColumn: String?
    /// True for the key of the owner of a to-many relationship that has no inverse.
    var isInverseless = false
  }

  /// The name of the column with the value without decisions.
  var former: String { "was \(name)" }
}

/// The columns of a schema that decisions may change.
struct TrackedColumns {
  let schema: PhysicalSchema
  /// The columns that hold keys, by table.
  let links: [String: [TrackedColumn]]

  init(_ schema: PhysicalSchema) {
    self.schema = schema
    var links: [String: [TrackedColumn]] = [:]
    for table in schema.tables where !table.isJoin {
      links[table.name] = table.columns.compactMap { Self.link($0, schema) }
    }
    self.links = links
  }

  private static func link(_ column: PhysicalColumn, _ schema: PhysicalSchema) -> TrackedColumn? {
    switch column.role {
    case .key(let entity, let name):
      guard let relationship = schema.model.relationship(named: name, of: entity),
        let holder = schema.entity(named: entity), let target = schema.entity(named: relationship.destinationEntity),
        case .key(_, _, let entityColumn)? = schema.storage(ofRelationship: name, in: entity)
      else { return nil }
      var (inverseColumn, orderColumn): (String?, String?)
      if let inverse = schema.model.inverse(of: relationship) {
        switch schema.storage(ofRelationship: inverse.relationship.name, in: inverse.entity.name) {
        case .key(_, let column, _): inverseColumn = column
        case .inverseKey(_, _, _, let column): orderColumn = column
        default: break
        }
      }
      return TrackedColumn(
        name: column.name, type: column.type, group: column.name, holders: holder.treeNumbers,
        link: TrackedColumn.Link(
          root: target.rootName, targets: target.treeNumbers, table: target.table, entityColumn: entityColumn,
          relationship: name, entity: entity, isRequired: relationship.isRequiredKey, inverseColumn: inverseColumn,
          orderColumn: orderColumn))
    case .inverselessKey(let entity, let name):
      guard let relationship = schema.model.relationship(named: name, of: entity),
        let owner = schema.entity(named: entity), let member = schema.entity(named: relationship.destinationEntity),
        let storage = schema.storage(ofRelationship: name, in: entity)
      else { return nil }
      return TrackedColumn(
        name: column.name, type: column.type, group: column.name, holders: member.treeNumbers,
        link: TrackedColumn.Link(
          root: owner.rootName, targets: owner.treeNumbers, table: owner.table, entityColumn: nil, relationship: name,
          entity: entity, isRequired: false, inverseColumn: nil, orderColumn: storage.orderColumn, isInverseless: true))
    default: return nil
    }
  }

  /// Returns a column of a table as a tracked column.
  func column(named name: String, of table: String) -> TrackedColumn? {
    if let link = links[table]?.first(where: { $0.name == name }) { return link }
    guard let column = schema.table(named: table)?.column(named: name),
      case .attribute(let entity, let path) = column.role, let holder = schema.entity(named: entity)
    else { return nil }
    return TrackedColumn(
      name: name, type: column.type, group: "\(entity).\(path.first ?? "")", holders: holder.treeNumbers, link: nil)
  }
}
