import HeirloomModel
package import HeirloomStore

package struct StoreCounts {
  /// Without the objects of subentities.
  private(set) var byEntity: [String: Int64] = [:]
  private(set) var byNumber: [Int: Int64] = [:]

  /// True if indexes were used for counting; the counts are right only if those are; see ``IndexCheck``.
  private(set) var usesIndexes = true

  init() {}

  /// Throws ``MigrationError/storeContradictsModel(reason:)`` for an unknown entity number.
  ///
  /// Without indexes the tables themselves are read, which takes ten times as long.
  package init(
    connection: Connection, schema: PhysicalSchema, usesIndexes: Bool = true
  ) throws {
    self.usesIndexes = usesIndexes
    for table in schema.tables {
      guard case .objects(let root) = table.kind else { continue }
      guard usesIndexes else {
        try count(table.name, of: root, in: SchemaName.rows(of: table.name), connection, schema)
        continue
      }
      let before = self
      do {
        try count(table.name, of: root, in: SchemaName.rows(of: table.name, usesIndexes: true), connection, schema)
      } catch {
        if let failure = error as? SQLiteError, !failure.isCorrupt { throw failure }
        // The index may be damaged, so the table is read instead.
        self = before
        try count(table.name, of: root, in: SchemaName.rows(of: table.name), connection, schema)
      }
    }
  }

  private mutating func count(
    _ table: String, of root: String, in rows: String, _ connection: Connection, _ schema: PhysicalSchema
  ) throws {
    // A table without subentities has no index on the entity number, and counting rows is much cheaper. Rows of another
    // entity number are detected later, when fewer rows are copied than were counted.
    if schema.model.entityTree(from: root).count == 1, let entity = schema.entity(named: root) {
      return add(try connection.rowCount(of: rows), to: entity)
    }
    let number = quote(PhysicalName.entity)
    // A table with subentities has such an index, which answers this without reading the rows.
    for row in try connection.rows("SELECT \(number), COUNT(*) FROM \(rows) GROUP BY \(number)") {
      guard case .integer(let found) = row[0], let count = row[1].integer,
        let entity = Int(exactly: found).flatMap({ schema.entity(numbered: $0) }), entity.rootName == root
      else {
        throw MigrationError.foreignNumber(row[0], in: table, root: root)
      }
      add(count, to: entity)
    }
  }

  private mutating func add(_ count: Int64, to entity: PhysicalEntity) {
    byEntity[entity.name, default: 0] += count
    byNumber[entity.number, default: 0] += count
  }

  func rows(of numbers: [Int]) -> Int64 { numbers.reduce(0) { $0 + byNumber[$1, default: 0] } }

  func total(ofTable table: String, in schema: PhysicalSchema) -> Int64 {
    schema.entities.reduce(0) { $0 + ($1.table == table ? byNumber[$1.number, default: 0] : 0) }
  }
}
