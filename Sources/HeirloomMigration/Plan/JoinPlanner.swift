import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The transfer that fills the table of a many-to-many relationship.
struct JoinTransfer {
  /// The table in the candidate.
  let table: PhysicalTable
  /// The step that fills an empty table.
  let step: MigrationStep
  /// The number of links that the table gets.
  let rows: Int64
  /// The query of these links: `owner` and `target`, with the destination's keys.
  let selection: String
  /// The store's table, with its columns by the candidate's, if all of its links are taken unchanged.
  let source: (table: String, origins: [String: String])?
}

/// A planner of the transfers that fill the tables of many-to-many relationships.
struct JoinPlanner {
  let routing: EntityRouting
  let source: PhysicalSchema
  let destination: PhysicalSchema
  /// The objects of the store, to leave out conditions on entities that have none.
  let counts: StoreCounts
  let connection: Connection

  /// Plans one transfer for each join table that has a source.
  func transfers() throws(SQLiteError) -> [JoinTransfer] {
    var transfers: [JoinTransfer] = []
    let misnamed = source.misnamedJoins
    for table in destination.tables {
      guard case .links(let entity, let name) = table.kind,
        let relationship = destination.model.relationship(named: name, of: entity),
        case .join(_, let ownerColumn, let targetColumn, let order)? = destination.storage(
          ofRelationship: name, in: entity)
      else { continue }
      let queries = LinkQueries(routing: routing, source: source, destination: destination)
      guard let links = queries.links(of: relationship, declaredBy: entity) else { continue }

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
      let keepsKeys = queries.keepsKeys(links, relationship: relationship, declaredBy: entity)
      let conditions =
        keepsKeys
        ? condition(on: "owner", entity: entity) + condition(on: "target", entity: relationship.destinationEntity) : ""
      let unknown = table.columns.filter { $0.role == .unknown }
      for column in unknown {
        columns.append(column.name)
        origins[column.name] = column.name
        expressions.append("k.\(quote(column.name))")
      }
      let survivors =
        keepsKeys
        ? "FROM (\(links.sql(with: unknown))) AS k" + conditions
        : "FROM (\(queries.filtered(links, relationship: relationship, declaredBy: entity))) AS k"
      var total: (all: Int64, linked: Int64)?
      if keepsKeys, conditions.isEmpty, let pairs = links.pairs { total = try count(pairs) }
      // Counting all rows is quick, where all are taken.
      var rows = total?.linked ?? 0
      if total == nil { rows = try connection.firstInteger("SELECT COUNT(*) \(survivors)") ?? 0 }
      let isWhole = keepsKeys && total?.all == rows
      let names = columns.map(quote).joined(separator: ", ")
      // In the order of the table's key: otherwise an index on the other side is read, and rows go to scattered pages.
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
          table: table, step: step, rows: rows, selection: "SELECT k.owner AS owner, k.target AS target \(survivors)",
          source: isWhole ? links.pairs.map { ($0.table, origins.compactMapValues { $0 }) } : nil))
    }
    return transfers
  }

  /// Counts the rows of a table of pairs, and those with both keys.
  private func count(_ pairs: LinkQuery.Pairs) throws(SQLiteError) -> (all: Int64, linked: Int64) {
    let table = SchemaName.rows(of: pairs.table, usesIndexes: counts.usesIndexes)
    let (owner, target) = (quote(pairs.owner), quote(pairs.target))
    let all = try connection.rowCount(of: table)
    // Each key has an index.
    let loose =
      try connection.firstInteger("SELECT COUNT(*) FROM \(table) WHERE \(owner) IS NULL OR \(target) IS NULL") ?? 0
    return (all, all - loose)
  }

  /// Returns the place of a member: the stored one, or a new one in the order of primary keys.
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
    guard let inverse = destination.model.inverse(of: relationship) else { return nil }
    return destination.storage(ofRelationship: inverse.relationship.name, in: inverse.entity.name)?.orderColumn
  }

  /// Returns a join that leaves out links to objects that don't become the entity; empty if all do.
  private func condition(on end: String, entity: String) -> String {
    let routes = destination.model.entityTree(from: entity).compactMap { routing.byDestination[$0.name] }
    guard let first = routes.first, let root = source.model.rootEntity(of: first.source)?.name,
      let table = source.table(ofEntity: root)?.name
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

/// A planner of the numbering of members whose relationship becomes ordered, or whose order was kept elsewhere.
struct OrderPlanner {
  let routing: EntityRouting
  let source: PhysicalSchema
  let destination: PhysicalSchema
  let transfers: [TableTransfer]

  /// The steps that number members, one for each order column that was not copied.
  ///
  /// Without an order in the source, members are numbered by primary key: 2048, then steps of 1024, as Core Data does.
  var steps: [MigrationStep] {
    destination.tables.flatMap { table in
      let transfers = transfers.filter { $0.table == table.name }
      return transfers.isEmpty ? [] : table.columns.compactMap { step(for: $0, of: table.name, transfers: transfers) }
    }
  }

  private func step(for column: PhysicalColumn, of tableName: String, transfers: [TableTransfer]) -> MigrationStep? {
    // Where several transfers fill a table and one copies the places, only its rows are members.
    guard case .order(let entity, let name) = column.role,
      transfers.allSatisfy({ $0.columns.first { $0.name == column.name }?.expression == .null }),
      let relationship = destination.model.relationship(named: name, of: entity)
    else { return nil }
    let key: String
    switch destination.storage(ofRelationship: name, in: entity) {
    case .inverseKey(_, let keyColumn, _, _), .inverselessKey(_, let keyColumn, _): key = quote(keyColumn)
    default: return nil
    }
    let queries = LinkQueries(routing: routing, source: source, destination: destination)
    let links = queries.links(of: relationship, declaredBy: entity)
    let primaryKey = quote(PhysicalName.primaryKey)
    let table = "\(quote(SchemaName.candidate)).\(quote(tableName))"
    let isOrdered = links.map { $0.places != .none } ?? false
    let linksSQL =
      links.map { links in
        queries.keepsKeys(links, relationship: relationship, declaredBy: entity)
          ? links.sql : queries.filtered(links, relationship: relationship, declaredBy: entity)
      } ?? ""
    let places = isOrdered ? "l.position IS NULL, l.position, m.\(primaryKey)" : "m.\(primaryKey)"
    let positions =
      isOrdered
      ? " LEFT JOIN (\(linksSQL)) AS l ON l.owner = m.\(key) AND l.target = m.\(primaryKey)" : ""
    // In the candidate, since members may come from several tables of the store. Those without a place come last.
    let sql =
      "UPDATE \(table) AS t SET \(quote(column.name)) = v.place FROM (SELECT m.\(primaryKey) AS pk,"
      + " 1024 + 1024 * ROW_NUMBER() OVER (PARTITION BY m.\(key) ORDER BY \(places)) AS place"
      // Not by the key's index, which is the store's own in a copy.
      + " FROM \(table) AS m NOT INDEXED\(positions) WHERE m.\(key) IS NOT NULL) AS v WHERE v.pk = t.\(primaryKey)"
    return MigrationStep(
      kind: .orderMembers, subject: tableName, summary: "Number the members of \(entity).\(name)",
      statements: [PlannedStatement(sql)])
  }
}
