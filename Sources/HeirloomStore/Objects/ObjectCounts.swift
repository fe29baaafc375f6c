import HeirloomModel

/// Counted by the store's own list of entities, without a model.
package struct ObjectCounts: Equatable, Sendable {
  package struct Entity: Equatable, Sendable {
    package let name: String
    package let number: Int64
    /// The parent's number; 0 for none.
    package let superentity: Int64
    /// As recorded in the store; `nil` if none is recorded.
    package let highestKey: Int64?
    /// `nil` if they can't be counted; without objects of subentities.
    package var rows: Int64?
  }

  /// In the order of their numbers.
  package private(set) var entities: [Entity] = []

  package var objectCount: Int64 {
    entities.reduce(0) { $0.addingReportingOverflow($1.rows ?? 0).partialValue }
  }

  /// A table that can't be read leaves its entities uncounted.
  package init(connection: Connection, actual: ActualSchema) throws(SQLiteError) {
    guard let list = actual.table(named: PhysicalName.primaryKeyTable),
      [PhysicalName.entity, PhysicalName.name, PhysicalName.superentity, PhysicalName.maximum].allSatisfy({
        list.column(named: $0) != nil
      })
    else { return }
    let columns = [PhysicalName.entity, PhysicalName.name, PhysicalName.superentity, PhysicalName.maximum].map(quote)
    entities = try connection.rows(
      "SELECT \(columns.joined(separator: ", ")) FROM \(quote(PhysicalName.primaryKeyTable)) ORDER BY 1 LIMIT 10000"
    ).compactMap { row in
      guard row.count == 4, let number = row[0].integer, let name = row[1].text else { return nil }
      return Entity(name: name, number: number, superentity: row[2].integer ?? 0, highestKey: row[3].integer)
    }
    for root in entities where root.superentity == 0 {
      // Core Data's rule: Z and the root entity's name in capitals.
      let table = "Z" + root.name.uppercased()
      guard actual.table(named: table)?.column(named: PhysicalName.entity) != nil else { continue }
      let sql =
        "SELECT \(quote(PhysicalName.entity)), COUNT(*) FROM \(quote(table)) GROUP BY \(quote(PhysicalName.entity))"
      guard let groups = try? connection.rows(sql) else { continue }
      let counts = Dictionary(
        groups.compactMap { row in row[0].integer.map { ($0, row[1].integer ?? 0) } }, uniquingKeysWith: { $0 &+ $1 })
      for index in entities.indices where rootNumber(of: entities[index]) == root.number {
        entities[index].rows = counts[entities[index].number] ?? 0
      }
    }
  }

  /// The number of steps is limited, because the list may be cyclic.
  private func rootNumber(of entity: Entity) -> Int64 {
    var entity = entity
    for _ in 0..<64 {
      guard entity.superentity != 0, let parent = entities.first(where: { $0.number == entity.superentity }) else {
        break
      }
      entity = parent
    }
    return entity.number
  }
}
