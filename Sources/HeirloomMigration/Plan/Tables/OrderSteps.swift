import HeirloomModel
import HeirloomStore

// Numbers the members of relationships that become ordered, or whose order was stored elsewhere.
extension Crossing {
  /// Without an order in the source, members are numbered by primary key: 2048, then in steps of
  /// 1024, as Core Data does.
  func orderSteps(after transfers: [TableTransfer]) -> [MigrationStep] {
    destination.tables.flatMap { table in
      let transfers = transfers.filter { $0.table == table.name }
      return transfers.isEmpty ? [] : table.columns.compactMap { step(for: $0, of: table.name, transfers: transfers) }
    }
  }

  private func step(for column: PhysicalColumn, of tableName: String, transfers: [TableTransfer]) -> MigrationStep? {
    // If several transfers fill a table and one copies the positions, only its rows are members.
    guard case .order(let entity, let name) = column.role,
      transfers.allSatisfy({ $0.columns.first { $0.name == column.name }?.entry == .null }),
      let relationship = destination.model.relationship(named: name, of: entity)
    else { return nil }
    let key: String
    switch destination.storage(ofRelationship: name, in: entity) {
    case .inverseKey(_, let keyColumn, _, _), .inverselessKey(_, let keyColumn, _): key = quote(keyColumn)
    default: return nil
    }
    let links = links(of: relationship, declaredBy: entity)
    let primaryKey = quote(PhysicalName.primaryKey)
    let table = "\(quote(SchemaName.candidate)).\(quote(tableName))"
    let isOrdered = links.map { $0.places != .none } ?? false
    let linksSQL =
      links.map { links in
        keepsKeys(links, relationship: relationship, declaredBy: entity)
          ? links.sql : filtered(links, relationship: relationship, declaredBy: entity)
      } ?? ""
    let places = isOrdered ? "l.position IS NULL, l.position, m.\(primaryKey)" : "m.\(primaryKey)"
    let positions =
      isOrdered
      ? " LEFT JOIN (\(linksSQL)) AS l ON l.owner = m.\(key) AND l.target = m.\(primaryKey)" : ""
    // Members may come from several tables, so this reads the candidate; unplaced ones are last.
    let sql =
      "UPDATE \(table) AS t SET \(quote(column.name)) = v.place FROM (SELECT m.\(primaryKey) AS pk,"
      + " 1024 + 1024 * ROW_NUMBER() OVER (PARTITION BY m.\(key) ORDER BY \(places)) AS place"
      // `NOT INDEXED`, because in a copy the index on the key is still the store's.
      + " FROM \(table) AS m NOT INDEXED\(positions) WHERE m.\(key) IS NOT NULL) AS v WHERE v.pk = t.\(primaryKey)"
    return MigrationStep(
      kind: .orderMembers, subject: tableName, summary: "Number the members of \(entity).\(name)",
      statements: [PlannedStatement(sql)])
  }
}
