import HeirloomModel

/// The rows of a store, counted by the store's own list of entities, without a model.
package struct ObjectCounts: Equatable, Sendable {
  /// An entity of the store.
  package struct Entity: Equatable, Sendable {
    /// The entity's name.
    package let name: String
    /// The entity's number in the store.
    package let number: Int64
    /// The parent's number; 0 for none.
    package let superentity: Int64
    /// The highest primary key that was assigned, as recorded in the store; `nil` if none is recorded.
    package let highestKey: Int64?
    /// The number of objects of exactly this entity; `nil` if they can't be counted.
    package var rows: Int64?
  }

  /// The entities, in the order of their numbers.
  package private(set) var entities: [Entity] = []

  /// The number of objects of all entities.
  package var objectCount: Int64 {
    entities.reduce(0) { $0.addingReportingOverflow($1.rows ?? 0).partialValue }
  }

  /// Counts the objects of each entity; a table that can't be read leaves its entities uncounted.
  ///
  /// Throws only if the list of entities can't be read.
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

  /// Returns the number of an entity's oldest ancestor; the number of steps is limited, because the list may be cyclic.
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
