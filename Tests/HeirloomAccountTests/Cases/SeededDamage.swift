import TestSupport

/// Damage that other programs and accidents do to a store, by plain SQL.
struct SeededDamage {
  enum Kind: String, CaseIterable {
    case unknownColumns, unknownColumnsOfLinks, oneSidedLinks, strangeTypes
    case staleIndex, staleStatistics, otherTable
  }

  let path: String
  let model: XMLModel
  let kinds: Set<Kind>

  /// Types that SQLite takes for a column; the fourth makes whole numbers, since it contains `INT`.
  private static let declaredTypes = [
    "VARCHAR", "", "JSON", "FLOATING POINT", "numeric(10, 2)", "BLOB", "TEXT", "INT8",
  ]

  /// Names that other programs may give: odd ones, and those that statements of the product have for something else.
  private static let columns = [
    "ZLEFTOVER", "odd name", "owner", "target", "position", "inverse_position", "s", "k", "t", "r", "m", "c",
    "v",
    "x", "n", "pk", "ent", "spk", "sent", "survivor", "decision", "place", "seq", "owners", "links", "kept", "removed",
    "u0", "column1",
  ]

  func make(_ store: SeededStore, using random: inout SplitMix64) throws {
    let contents = try Contents(of: path)
    let layout = Layout(model, stored: contents.numbers)
    let database = try Database(path, isWritable: true)
    try database.execute(store.statements)
    if kinds.contains(.unknownColumns) {
      for table in Set(layout.tables.values).sorted() where random.below(2) == 0 {
        try addColumn(
          Self.columns[random.below(Self.columns.count)], to: table, by: "Z_PK", database, using: &random)
      }
    }
    if kinds.contains(.unknownColumnsOfLinks) {
      for table in joins(layout, contents) where random.below(2) == 0 {
        try addColumn(
          Self.columns[random.below(Self.columns.count)], to: table, by: "rowid", database, using: &random)
      }
    }
    if kinds.contains(.strangeTypes) { try writeStrangeTypes(layout, store, database, using: &random) }
    if kinds.contains(.oneSidedLinks) {
      try database.execute(store.halves.filter { _ in random.below(2) == 0 })
    }
    if kinds.contains(.staleStatistics) {
      try database.execute("ANALYZE")
      try database.execute("UPDATE sqlite_stat1 SET stat = '1 1' WHERE stat IS NOT NULL")
    }
    if kinds.contains(.otherTable) {
      try database.execute([
        "CREATE TABLE app_notes (id INTEGER PRIMARY KEY, text)", "INSERT INTO app_notes VALUES (1, 2)",
      ])
    }
    if kinds.contains(.staleIndex) { try spoilIndexes(store, database) }
  }

  private func joins(_ layout: Layout, _ contents: Contents) -> [String] {
    let names = model.entities.flatMap { entity in
      entity.relationships.map { Layout.Name(entity: entity.name, property: $0.name) }
    }
    return Set(names.compactMap { layout.join(of: $0, in: contents)?.table }).sorted()
  }

  private func addColumn(
    _ column: String, to table: String, by key: String, _ database: Database, using random: inout SplitMix64
  ) throws {
    let type = Self.declaredTypes[random.below(Self.declaredTypes.count)]
    try database.execute("ALTER TABLE \(quoted(table)) ADD COLUMN \(quoted(column)) \(type)")
    let keys = try database.query("SELECT \(key) FROM \(quoted(table))").rows.compactMap { $0[0].integer }
    var statements: [String] = []
    for row in keys where random.below(3) != 0 {
      let value = SeededValues.unknown(using: &random).literal
      statements.append("UPDATE \(quoted(table)) SET \(quoted(column)) = \(value) WHERE \(key) = \(row)")
    }
    try database.execute(statements)
  }

  private func writeStrangeTypes(
    _ layout: Layout, _ store: SeededStore, _ database: Database, using random: inout SplitMix64
  ) throws {
    var statements: [String] = []
    for (entity, objects) in store.objects.sorted(by: { $0.key < $1.key }) {
      for attribute in layout.attributes[entity] ?? []
      where random.below(3) == 0 && !attribute.property.isExternal
        && attribute.property.name != SeededCase.mark
      {
        guard let column = layout.columns[Layout.Name(entity: attribute.entity, property: attribute.property.name)],
          let object = objects.randomElement(using: &random)
        else { continue }
        let value = SeededValues.strange(using: &random)
        statements.append(
          "UPDATE \(quoted(object.table)) SET \(quoted(column)) = \(value.literal) WHERE Z_PK = \(object.key)")
      }
    }
    try database.execute(statements)
  }

  /// Changes rows while SQLite doesn't know of the indexes, so that entries are missing or lead to other rows.
  private func spoilIndexes(_ store: SeededStore, _ database: Database) throws {
    if store.changes.isEmpty { return }
    // (An index of a constraint has no text and stays.)
    let indexes = try database.query(
      "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL")
    try database.execute("PRAGMA writable_schema = ON")
    try database.execute("DELETE FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL")
    try database.execute("PRAGMA writable_schema = RESET")
    try database.execute(store.changes)
    try database.execute("PRAGMA writable_schema = ON")
    try database.execute(
      indexes.rows.map { "INSERT INTO sqlite_schema VALUES (\($0.map(\.literal).joined(separator: ", ")))" })
    try database.execute("PRAGMA writable_schema = RESET")
  }
}
