import Heirloom
import HeirloomOutput

struct RowCounts {
  /// Objects of exactly the entity, without subentities, by its name.
  private(set) var rows: [String: Int64] = [:]
  /// By the entity's name; filled only if the counts come from the store alone.
  private(set) var superentities: [String: String] = [:]
  private(set) var notes: [String] = []
  /// Would stop a migration: a row whose entity number doesn't belong to its table.
  private(set) var contradiction: MigrationError?
  /// Some rows lack an entity number of their table, but can be of one entity only.
  private(set) var hasRowsWithoutNumber = false

  init(connection: Connection, schema: PhysicalSchema, actual: ActualSchema) throws(SQLiteError) {
    for entity in schema.entities { rows[entity.name] = 0 }
    for table in schema.tables {
      guard case .objects(let root) = table.kind else { continue }
      guard actual.table(named: table.name)?.column(named: PhysicalName.entity) != nil else {
        notes.append("the table \(table.name), which the model asks for, is missing")
        for entity in schema.entities where entity.table == table.name { rows[entity.name] = nil }
        continue
      }
      for (number, count) in try Self.counts(in: table.name, connection) {
        let entity = number.integer.flatMap { Int(exactly: $0) }.flatMap { schema.entity(numbered: $0) }
        guard let entity, entity.table == table.name else {
          if let sole = schema.soleEntity(inTreeOf: root) {
            hasRowsWithoutNumber = true
            rows[sole.name, default: 0] += count
            notes.append(
              "\(counted(count, "row")) of \(table.name) \(verb("have", count)) no entity number of the table's and"
                + " \(verb("count", count)) as \(sole.name)")
            continue
          }
          if contradiction == nil { contradiction = .foreignNumber(number, in: table.name, root: root) }
          notes.append("\(counted(count, "row")) of \(table.name) \(verb("belong", count)) to no entity of the model")
          continue
        }
        rows[entity.name, default: 0] += count
      }
    }
  }

  /// By the store's own table of entities, if the model isn't known.
  init(connection: Connection) throws(SQLiteError) {
    let actual = try ActualSchema(of: connection)
    guard let table = actual.table(named: PhysicalName.primaryKeyTable), table.column(named: PhysicalName.name) != nil
    else { return }
    var names: [Int64: (name: String, parent: Int64)] = [:]
    let sql =
      "SELECT \(quote(PhysicalName.entity)), \(quote(PhysicalName.name)), \(quote(PhysicalName.superentity))"
      + " FROM \(quote(PhysicalName.primaryKeyTable))"
    for row in try connection.rows(sql) {
      guard let number = row[0].integer, let name = row[1].text else { continue }
      names[number] = (name, row[2].integer ?? 0)
    }
    for (_, entity) in names {
      if entity.parent != 0 { superentities[entity.name] = names[entity.parent]?.name }
      guard entity.parent == 0 else { continue }
      let objects = "Z" + entity.name.uppercased()
      guard actual.table(named: objects)?.column(named: PhysicalName.entity) != nil else { continue }
      for (number, count) in try Self.counts(in: objects, connection) {
        if let name = number.integer.flatMap({ names[$0]?.name }) { rows[name, default: 0] += count }
      }
    }
    // An entity without rows has a known count of 0 only if its table exists.
    for (_, entity) in names where rows[entity.name] == nil {
      var root = entity
      var steps = 0
      while root.parent != 0, let parent = names[root.parent], steps < names.count {
        root = parent
        steps += 1
      }
      if actual.table(named: "Z" + root.name.uppercased()) != nil { rows[entity.name] = 0 }
    }
  }

  private static func counts(
    in table: String, _ connection: Connection
  ) throws(SQLiteError) -> [(number: SQLiteValue, count: Int64)] {
    let entity = quote(PhysicalName.entity)
    return try connection.rows("SELECT \(entity), COUNT(*) FROM \(quote(table)) GROUP BY \(entity)").map { row in
      (row[0], row[1].integer ?? 0)
    }
  }
}
