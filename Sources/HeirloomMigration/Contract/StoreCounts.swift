import HeirloomModel
package import HeirloomStore

/// Objects of a store by entity and by table.
package struct StoreCounts {
  /// Objects of each entity, subentities left out.
  private(set) var byEntity: [String: Int64] = [:]
  /// The same by the entity's number.
  private(set) var byNumber: [Int: Int64] = [:]

  /// Creates counts of nothing.
  init() {}

  /// Counts the objects of a store.
  package init(connection: Connection, schema: PhysicalSchema) throws {
    for table in schema.tables {
      guard case .objects(let root) = table.kind else { continue }
      let name = "\(quote(SchemaName.store)).\(quote(table.name))"
      let entities = schema.model.entityTree(from: root)
      // A table without subentities has no index on the entity number, and counting rows is much cheaper. A row of
      // another number is noticed when fewer rows are copied than were counted.
      if entities.count == 1, let entity = schema.entity(named: root) {
        add(try connection.rowCount(of: name), to: entity)
        continue
      }
      let entityColumn = quote(PhysicalName.entity)
      // A table with subentities has an index on the number, which answers this without reading the rows.
      for row in try connection.rows("SELECT \(entityColumn), COUNT(*) FROM \(name) GROUP BY \(entityColumn)") {
        guard case .integer(let number) = row[0], let count = row[1].integer,
          let entity = Int(exactly: number).flatMap({ schema.entity(numbered: $0) }), entity.rootName == root
        else {
          throw MigrationError.foreignNumber(row[0], in: table.name, root: root)
        }
        add(count, to: entity)
      }
    }
  }

  private mutating func add(_ count: Int64, to entity: PhysicalEntity) {
    byEntity[entity.name, default: 0] += count
    byNumber[entity.number, default: 0] += count
  }

  /// The objects of all entities of a table.
  func total(ofTable table: String, in schema: PhysicalSchema) -> Int64 {
    schema.entities.reduce(0) { $0 + ($1.table == table ? byNumber[$1.number, default: 0] : 0) }
  }
}
