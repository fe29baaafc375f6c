import HeirloomModel
import HeirloomStore

/// Temporary tables with the rows of one table of objects that decisions concern.
///
/// `heirloom_rows_N` has the keys (`pk`, and `spk` in the store), the entity numbers (`ent`, and `sent` in the store)
/// and some columns with the values that rows get. A column whose name begins with `was` has the value without
/// decisions; the other one has the final value. `heirloom_removed_N` has the removed rows.
struct DecisionTable {
  /// The `N` in the names of the temporary tables.
  let number: Int
  let table: String
  let root: PhysicalEntity
  let columns: [TrackedColumn]
  /// Otherwise the table is tracked only because its keys refer to rows that may be removed.
  let mayLoseRows: Bool

  var rows: String { "temp.\(quote(rowsName))" }
  var removed: String { "temp.\(quote(removedName))" }
  /// The merged objects as they were.
  var merged: String { "temp.\(quote(mergedName))" }
  var rowsName: String { "heirloom_rows_\(number)" }
  var removedName: String { "heirloom_removed_\(number)" }
  var mergedName: String { "heirloom_merged_\(number)" }

  var candidate: String { "\(quote(SchemaName.candidate)).\(quote(table))" }

  func links(to root: String) -> [TrackedColumn] { columns.filter { $0.link?.root == root } }

  /// The condition that decisions change a row `r`; `nil` if no column is tracked.
  var isChanged: String? {
    columns.isEmpty
      ? nil : columns.map { "r.\(quote($0.name)) IS NOT r.\(quote($0.former))" }.chained(by: "OR")
  }

  func statements(_ transfers: [TableTransfer]) -> (definitions: [String], rows: [String], indexes: [String]) {
    let list = columns.map { ", \(quote($0.name)) \($0.type.rawValue), \(quote($0.former)) \($0.type.rawValue)" }
    let definitions = [
      "CREATE TEMP TABLE \(quote(rowsName)) (pk INTEGER PRIMARY KEY, ent INTEGER, spk INTEGER, sent INTEGER"
        + "\(list.joined()))",
      // `seq` increases, so the removals of one round are those above a mark. No object is removed twice.
      "CREATE TEMP TABLE \(quote(removedName)) (seq INTEGER PRIMARY KEY, pk INTEGER UNIQUE, ent INTEGER, spk INTEGER,"
        + " sent INTEGER, survivor INTEGER, twin INTEGER, place INTEGER, decision INTEGER)",
      // When an object is removed, those that were merged into it are found by their survivor.
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
      return "INSERT INTO \(self.rows) (pk, ent, spk, sent\(names)) SELECT pk, ent, spk, sent\(values)"
        + " FROM (\(transfer.select(expressions)))"
    }
    // Each removal looks for the links that refer to the removed objects.
    let indexes = columns.filter { $0.link != nil }.map {
      "CREATE INDEX temp.\(quote("\(rowsName)_\($0.name)")) ON \(quote(rowsName)) (\(quote($0.name)))"
    }
    return (definitions, rows, indexes)
  }
}

struct TrackedColumn: Equatable {
  let name: String
  let type: SQLColumnType
  /// A name shared by columns that get their values together: those of one composite attribute.
  let group: String
  /// The numbers of the entities whose objects have the property.
  let holders: ClosedRange<Int>
  /// `nil` if the column holds no key.
  let link: Link?

  struct Link: Equatable {
    let root: String
    let targets: ClosedRange<Int>
    let table: String
    /// The column with the entity number of the related object.
    let entityColumn: String?
    /// The relationship, and the entity that declares it.
    let relationship: String
    let entity: String
    let isRequired: Bool
    /// The column of the related objects that refers back, in a one-to-one relationship.
    let inverseColumn: String?
    /// The column with the position among the related object's members.
    let orderColumn: String?
    /// True for the key of the owner of a to-many relationship that has no inverse.
    var isInverseless = false
  }

  var former: String { "was \(name)" }
}

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
      if let inverse = schema.model.storedInverse(of: relationship) {
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

  func column(named name: String, of table: String) -> TrackedColumn? {
    if let link = links[table]?.first(where: { $0.name == name }) { return link }
    guard let column = schema.table(named: table)?.column(named: name),
      case .attribute(let entity, let path) = column.role, let holder = schema.entity(named: entity)
    else { return nil }
    return TrackedColumn(
      name: name, type: column.type, group: "\(entity).\(path.first ?? "")", holders: holder.treeNumbers, link: nil)
  }
}
