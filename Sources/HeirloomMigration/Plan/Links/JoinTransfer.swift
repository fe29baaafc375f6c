import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The transfer that fills the table of a many-to-many relationship.
struct JoinTransfer {
  let table: PhysicalTable
  let step: MigrationStep
  /// The candidate's key columns: the owner's and the target's.
  let keyColumns: [String]
  let rows: Int64
  /// Has `owner` and `target`, with the destination's keys.
  let selection: String
  /// The `FROM` clause for the copied rows `k`; their columns outside the model are renamed.
  let survivors: String
  var unknown: [(column: PhysicalColumn, name: String)] {
    table.columns.filter { $0.role == .unknown }.enumerated().map { ($1, LinkQuery.other($0)) }
  }
  /// The store's join table, if it alone holds all the links.
  let pairs: String?
  /// The store's table, if all of its links are copied unchanged; its columns by the candidate's.
  let source: (table: String, origins: [String: String])?
}

extension Crossing {
  func joinTransfers(counting connection: Connection) throws(SQLiteError) -> [JoinTransfer] {
    var transfers: [JoinTransfer] = []
    let misnamed = source.misnamedJoins
    for table in destination.tables {
      guard case .links(let entity, let name) = table.kind,
        let relationship = destination.model.relationship(named: name, of: entity),
        case .join(_, let ownerColumn, let targetColumn, let order)? = destination.storage(
          ofRelationship: name, in: entity)
      else { continue }
      guard let links = links(of: relationship, declaredBy: entity) else { continue }

      var columns = [ownerColumn, targetColumn]
      var expressions = ["k.owner", "k.target"]
      var origins: [String: String?] = [ownerColumn: links.pairs?.owner, targetColumn: links.pairs?.target]
      if let order {
        columns.append(order)
        origins[order] = links.pairs?.position
        expressions.append(Self.place(links.places, "k.position", of: "k.target", among: "k.owner"))
      }
      if let inverseOrder = inverseOrder(of: relationship), inverseOrder != order {
        columns.append(inverseOrder)
        origins[inverseOrder] = links.pairs?.inversePosition
        expressions.append(Self.place(links.inversePlaces, "k.inverse_position", of: "k.owner", among: "k.target"))
      }
      let areKeysKept = keepsKeys(links, relationship: relationship, declaredBy: entity)
      let conditions =
        areKeysKept
        ? condition(on: "owner", entity: entity) + condition(on: "target", entity: relationship.destinationEntity) : ""
      let unknown = table.columns.filter { $0.role == .unknown }
      for (index, column) in unknown.enumerated() {
        columns.append(column.name)
        origins[column.name] = column.name
        expressions.append("k.\(LinkQuery.other(index))")
      }
      let survivors =
        areKeysKept
        ? "FROM (\(links.sql(with: unknown))) AS k" + conditions
        : "FROM (\(filtered(links, relationship: relationship, declaredBy: entity))) AS k"
      var total: (all: Int64, linked: Int64)?
      if areKeysKept, conditions.isEmpty, let pairs = links.pairs { total = try count(pairs, connection) }
      // If all rows are copied, counting them is quick.
      var rows = total?.linked ?? 0
      if total == nil { rows = try connection.firstInteger("SELECT COUNT(*) \(survivors)") ?? 0 }
      let isWhole = areKeysKept && total?.all == rows
      let names = columns.map(quote).joined(separator: ", ")
      // In the order of the table's key, or SQLite reads the other index and scatters the rows.
      let keys = table.columns.prefix(2).map { $0.name == ownerColumn ? "k.owner" : "k.target" }
      let renamed = links.parts.compactMap(\.pairs?.table).first { misnamed[$0] != nil && $0 != table.name }
      let origin = renamed.map { " from \($0) to \(table.name), as Core Data names the table" } ?? ""
      let insertion = PlannedStatement(
        "INSERT INTO \(quote(SchemaName.candidate)).\(quote(table.name)) (\(names)) "
          + "SELECT \(expressions.joined(separator: ", ")) \(survivors) ORDER BY \(keys.joined(separator: ", "))",
        expectedRows: rows)
      let step = MigrationStep(
        kind: .copyLinks, subject: table.name, summary: "Copy the links of \(entity).\(name)\(origin)", rows: rows,
        statements: [insertion])
      transfers.append(
        JoinTransfer(
          table: table, step: step, keyColumns: [ownerColumn, targetColumn], rows: rows,
          selection: "SELECT k.owner AS owner, k.target AS target \(survivors)", survivors: survivors,
          pairs: links.pairs?.table,
          source: isWhole ? links.pairs.map { ($0.table, origins.compactMapValues { $0 }) } : nil))
    }
    return transfers
  }

  /// `linked` counts the rows with both keys.
  private func count(_ pairs: LinkQuery.Pairs, _ connection: Connection) throws(SQLiteError) -> (
    all: Int64, linked: Int64
  ) {
    let table = SchemaName.rows(of: pairs.table, usesIndexes: counts.usesIndexes)
    let (owner, target) = (quote(pairs.owner), quote(pairs.target))
    let all = try connection.rowCount(of: table)
    // Each key has an index.
    let loose =
      try connection.firstInteger("SELECT COUNT(*) FROM \(table) WHERE \(owner) IS NULL OR \(target) IS NULL") ?? 0
    return (all, all - loose)
  }

  private static func place(
    _ places: LinkUnion.Places, _ stored: String, of member: String, among owner: String
  ) -> String {
    let order =
      switch places {
      case .stored: ""
      case .ranked: "\(stored) IS NULL, \(stored), \(member)"
      case .none: member
      }
    return order.isEmpty ? stored : "1024 + 1024 * ROW_NUMBER() OVER (PARTITION BY \(owner) ORDER BY \(order))"
  }

  private func inverseOrder(of relationship: RelationshipDescription) -> String? {
    guard let inverse = destination.model.storedInverse(of: relationship) else { return nil }
    return destination.storage(ofRelationship: inverse.relationship.name, in: inverse.entity.name)?.orderColumn
  }

  /// Omits links to objects that don't become the entity; empty if all objects do.
  private func condition(on end: String, entity: String) -> String {
    let routes = destination.model.entityTree(from: entity).compactMap { routing.byDestination[$0.name] }
    // A new entity has no objects that a link could refer to.
    guard let first = routes.first else { return " JOIN (SELECT 0) AS \(quote("\(end)_row")) ON 0" }
    guard let root = source.model.rootEntity(of: first.source)?.name, let table = source.table(ofEntity: root)?.name
    else { return "" }
    let names = Set(routes.map(\.source))
    let others = source.model.entityTree(from: root).filter { !names.contains($0.name) }
    guard others.contains(where: { counts.byEntity[$0.name, default: 0] > 0 }) else { return "" }
    let numbers = routes.map { String($0.sourceNumber) }.joined(separator: ", ")
    let alias = quote("\(end)_row")
    return " JOIN \(SchemaName.rows(of: table, as: alias)) ON \(alias).\(quote(PhysicalName.primaryKey))"
      + " = k.\(end) AND \(alias).\(quote(PhysicalName.entity)) IN (\(numbers))"
  }
}
