import HeirloomMapping
import HeirloomModel
import HeirloomStore

extension Crossing {
  /// Queries the store only if objects leave a table that keys refer to.
  func findingMisleadingKeys(connection: Connection) throws(SQLiteError) -> Crossing {
    var found: Set<RelationshipStorage> = []
    // Entities that inherit a relationship share its query.
    var asked: Set<String> = []
    for route in routing.bySource.values {
      for (name, property) in route.properties {
        guard let sourceName = property.sourceRelationshipName,
          let old = source.model.relationship(named: sourceName, of: route.source),
          let new = destination.model.relationship(named: name, of: route.destination),
          let storage = source.storage(ofRelationship: sourceName, in: route.source), !found.contains(storage),
          case .key(let table, let column, let entityColumn) = storage
        else { continue }
        let targets = LinkTargets(from: old, of: route.source, to: new, in: self)
        let number = "t.\(quote(PhysicalName.entity))"
        var conditions: [String] = []
        if !targets.strangers.isEmpty {
          conditions.append("\(number) IN (\(targets.strangers.map(String.init).joined(separator: ", ")))")
        }
        if let entityColumn, targets.isNarrowed(from: old, in: source.model) {
          conditions.append("\(number) IS NOT s.\(quote(entityColumn))")
        }
        guard !conditions.isEmpty, !targets.isMerged else { continue }
        let sql =
          "SELECT EXISTS (SELECT 1 FROM \(SchemaName.rows(of: table, as: "s"))"
          + " JOIN \(SchemaName.rows(of: targets.sourceTable, as: "t"))"
          + " ON t.\(quote(PhysicalName.primaryKey)) = s.\(quote(column))"
          + " WHERE \(conditions.chained(by: "OR")))"
        guard asked.insert(sql).inserted else { continue }
        let misleads = try connection.firstInteger(sql)
        if misleads == 1 { found.insert(storage) }
      }
    }
    return Crossing(
      actual: actual, source: source, destination: destination, split: split, routing: routing, counts: counts,
      misleadingKeys: found)
  }
}
