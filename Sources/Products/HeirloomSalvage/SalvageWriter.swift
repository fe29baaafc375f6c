import HeirloomModel
import HeirloomStore

final class SalvageWriter {
  let schema: PhysicalSchema
  let source: SalvageSource
  let connection: Connection
  var cuts = CutList()
  var report: SalvageReport
  /// The model's entity numbers, by the damaged store's; `nil` if they are equal.
  let entityNumbers: [Int64: Int64]?
  /// Rows without an entity number of their table, by the only entity that the table can hold.
  private var rowsWithoutNumber: [String: Int64] = [:]

  private let path: String

  init(
    path: String, schema: PhysicalSchema, source: SalvageSource, report: SalvageReport, entityNumbers: [Int64: Int64]?
  ) throws(SQLiteError) {
    self.path = path
    self.schema = schema
    self.source = source
    self.report = report
    self.entityNumbers = entityNumbers
    connection = try Connection(path: path, mode: .readWrite, options: .building)
    try connection.forbidAttaching()
    try connection.execute("PRAGMA page_size = \(PersistentStore.pageSize)")
    try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    // The file is private until it is complete: a failed statement is rolled back, and after other
    // failures the file is deleted.
    try connection.execute("PRAGMA journal_mode = MEMORY")
    try connection.execute("PRAGMA synchronous = OFF")
    try PersistentStore.prepare(connection, for: schema)
    try connection.execute("BEGIN")
    for statement in schema.tableStatements + PhysicalSchema.bookkeepingStatements { try connection.execute(statement) }
    // Triggers fill an R-tree.
    let trees = schema.indexes.filter(\.isRTree)
    if !trees.isEmpty { try connection.setRunsTriggers(true) }
    for tree in trees { try connection.execute(tree.sql) }
    for trigger in schema.triggers where isOfRTree(trigger) { try connection.execute(trigger.sql) }
  }

  func isOfRTree(_ trigger: PhysicalTrigger) -> Bool {
    schema.indexes.contains { index in
      guard case .rTree(trigger.entity, trigger.property) = index.kind else { return false }
      return true
    }
  }

  // MARK: Rows

  private struct ColumnPlan {
    let name: String
    let role: PhysicalColumn.Role
    /// The index in the damaged store's rows; `nil` if the column is missing there.
    let place: Int?
    /// The attribute, or the leaf of a composite one.
    let attribute: AttributeDescription?
    let subject: String
  }

  private func plan(_ table: PhysicalTable, _ found: SourceTable) -> [ColumnPlan] {
    table.columns.map { column in
      var attribute: AttributeDescription?
      let subject: String
      switch column.role {
      case .attribute(let entity, let path):
        attribute = schema.column(atPath: path, in: entity)?.attribute
        subject = "\(entity).\(path.joined(separator: "."))"
      case .key(let entity, let name), .keyEntity(let entity, let name), .inverselessKey(let entity, let name),
        .order(let entity, let name), .joinKey(let entity, let name), .reflexiveKey(let entity, let name):
        subject = "\(entity).\(name)"
      case .primaryKey, .entity, .optimisticLock, .unknown:
        subject = "\(table.name).\(column.name)"
      }
      return ColumnPlan(
        name: column.name, role: column.role, place: found.place(of: column.name), attribute: attribute,
        subject: subject)
    }
  }

  func copyRows(of table: PhysicalTable) throws {
    let name: String
    switch table.kind {
    case .objects(let root): name = root
    case .links(let entity, let relationship): name = "\(entity).\(relationship)"
    }
    var result = SalvageReport.Table(name: name, table: table.name, isLinks: table.isJoin)
    defer { report.tables.append(result) }
    guard let found = source.tables[table.name] else {
      result.isPresent = false
      return
    }
    result.isPresent = source.holds(table.name) || source.inspection?.leaves[table.name] != nil
    let plan = plan(table, found)
    let columns = plan.map { quote($0.name) }.joined(separator: ", ")
    let places = plan.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    let insertion = try connection.prepare(
      "INSERT OR IGNORE INTO \(quote(table.name)) (\(columns)) VALUES (\(places))", isPersistent: true)
    let numbers = schema.entity(named: name)?.treeNumbers
    let sole = schema.soleEntity(inTreeOf: name)
    var tooLongCount = 0
    result.unreadableRows = try source.forEachRow(of: table.name) { key, values, place in
      guard place != .misplaced else {
        cuts.add(.wrongKey, name, table: table.name, key: key, Array(zip(found.columns, values)))
        return report.count(.wrongKey, name)
      }
      // For a page outside of all trees, the number identifies the row's entity.
      let possible = place == .apart ? nil : sole
      guard let row = converted(values, key: key, plan, table, numbers, possible, found) else { return }
      noteLeftOut(values, key: key, of: found, table)
      do throws(SQLiteError) {
        try insertion.bind(row)
        try insertion.run()
      } catch {
        guard error.isTooBig else { throw error }
        tooLongCount += 1
        return
      }
      if connection.changes > 0 {
        result.rows += 1
        if place == .apart { result.rowsFoundApart += 1 }
      } else {
        try settleDuplicate(row, plan, table, name, key: key)
      }
    }
    if let sole, let count = rowsWithoutNumber.removeValue(forKey: sole.name) {
      noteCorrection(of: PhysicalName.entity, in: table.name, count)
    }
    result.unreadableRows += tooLongCount
    result.unreadablePages = source.inspection?.unreadableCounts[table.name] ?? 0
    guard !source.isSound else { return }
    if !table.isJoin {
      try countLostRows(of: table, in: &result)
    } else if result.unreadablePages > 0 || result.unreadableRows > 0 {
      try copyIndexedLinks(of: table, in: &result)
    }
  }

  /// Returns `nil` for an object of an unknown entity, or a link that lacks an end.
  private func converted(
    _ values: [FoundValue], key: Int64, _ plan: [ColumnPlan], _ table: PhysicalTable, _ numbers: ClosedRange<Int>?,
    _ sole: PhysicalEntity?, _ found: SourceTable
  ) -> [SQLiteValue]? {
    var row: [SQLiteValue] = []
    row.reserveCapacity(plan.count)
    for column in plan {
      let value = column.place.map { values[$0] } ?? .stored(.null)
      switch column.role {
      case .primaryKey:
        // This is the row's own key, even if the column's name or type is damaged.
        row.append(value.stored?.integer.map { SQLiteValue.integer($0) } ?? .integer(key))
      case .joinKey, .reflexiveKey, .unknown:
        row.append(value.stored ?? .null)
      case .entity:
        var number = value.stored?.integer.flatMap { mapped($0) }
        let isOwn = number.map { numbers?.contains(Int(clamping: $0)) ?? false } ?? false
        if !isOwn {
          number = sole.map { Int64($0.number) }
        }
        guard let number, key >= 1 || source.isSound else {
          cuts.add(.unknownEntity, table.name, table: table.name, key: key, Array(zip(found.columns, values)))
          report.count(.unknownEntity, table.name)
          return nil
        }
        if !isOwn, let sole { rowsWithoutNumber[sole.name, default: 0] += 1 }
        row.append(.integer(number))
      case .optimisticLock:
        row.append(source.isSound ? value.stored ?? .null : .integer(max(1, value.stored?.integer ?? 1)))
      case .keyEntity:
        row.append(value.stored?.integer.flatMap { mapped($0) }.map { .integer($0) } ?? .null)
      case .key, .inverselessKey, .order:
        if let stored = value.stored, stored == .null || stored.integer != nil {
          row.append(stored)
        } else {
          note(.danglingKey, column, value, table, key)
          row.append(.null)
        }
      case .attribute:
        row.append(attributeValue(value, column, table, key))
      }
    }
    if table.isJoin, row.prefix(2).contains(where: { $0.integer == nil }) {
      cuts.add(.danglingLink, plan[0].subject, table: table.name, key: key, Array(zip(found.columns, values)))
      report.count(.danglingLink, plan[0].subject)
      return nil
    }
    return row
  }

  private func noteLeftOut(_ values: [FoundValue], key: Int64, of found: SourceTable, _ table: PhysicalTable) {
    guard !found.leftOutColumns.isEmpty else { return }
    let left = found.leftOutColumns.compactMap { column in
      found.columns.firstIndex(of: column).map { (column, values[$0]) }
    }.filter { $0.1 != .stored(.null) }
    guard !left.isEmpty else { return }
    cuts.add(.leftOutColumn, table.name, table: table.name, key: key, left)
    for (column, _) in left { report.count(.leftOutColumn, "\(table.name).\(column)") }
  }

  private func attributeValue(
    _ value: FoundValue, _ column: ColumnPlan, _ table: PhysicalTable, _ key: Int64
  ) -> SQLiteValue {
    if case .garbled(let bytes) = value, column.attribute?.type == .string {
      note(.garbledText, column, value, table, key)
      return .text(String(decoding: bytes, as: UTF8.self))
    }
    guard let stored = value.stored else {
      note(.unreadableValue, column, value, table, key)
      return .null
    }
    // In a structurally sound store, values are as the app wrote them.
    guard !source.isSound, let attribute = column.attribute, ValueCoding.decode(stored, for: attribute) == .undecodable
    else { return stored }
    note(.wrongType, column, value, table, key)
    return .null
  }

  private func note(
    _ kind: SalvageReport.Cut.Kind, _ column: ColumnPlan, _ value: FoundValue, _ table: PhysicalTable, _ key: Int64
  ) {
    cuts.add(kind, column.subject, table: table.name, key: key, [(column.name, value)])
    report.count(kind, column.subject)
  }

  private func mapped(_ number: Int64) -> Int64? {
    guard let entityNumbers else { return number }
    return entityNumbers[number]
  }

  /// Cuts a row whose key is in use, unless it equals the existing row.
  private func settleDuplicate(
    _ row: [SQLiteValue], _ plan: [ColumnPlan], _ table: PhysicalTable, _ name: String, key: Int64
  ) throws(SQLiteError) {
    let keys = table.isJoin ? Array(plan.prefix(2)) : plan.filter { $0.role == .primaryKey }
    let condition = keys.indices.map { "\(quote(keys[$0].name)) = ?\($0 + 1)" }.joined(separator: " AND ")
    let bound = keys.map { key in plan.firstIndex { $0.name == key.name }.map { row[$0] } ?? .null }
    let columns = plan.map { quote($0.name) }.joined(separator: ", ")
    let present = try connection.rows(
      "SELECT \(columns) FROM \(quote(table.name)) WHERE \(condition)", bound
    ).first
    let isSame = present.map { zip($0, row).allSatisfy { $0 == $1 || Self.areEqualNumbers($0, $1) } } ?? false
    guard !isSame else { return }
    cuts.add(.duplicateKey, name, table: table.name, key: key, zip(plan, row).map { ($0.name, .stored($1)) })
    report.count(.duplicateKey, name)
  }

  private static func areEqualNumbers(_ left: SQLiteValue, _ right: SQLiteValue) -> Bool {
    switch (left, right) {
    case (.integer(let integer), .real(let real)), (.real(let real), .integer(let integer)): Double(integer) == real
    default: false
    }
  }

  /// A join table's indexes contain both ends, so links of lost rows can be read there.
  private func copyIndexedLinks(of table: PhysicalTable, in result: inout SalvageReport.Table) throws {
    let names = table.columns.prefix(2).map(\.name)
    guard names.count == 2 else { return }
    let insertion = try connection.prepare(
      "INSERT OR IGNORE INTO \(quote(table.name)) (\(names.map(quote).joined(separator: ", "))) VALUES (?1, ?2)",
      isPersistent: true)
    var count: Int64 = 0
    try source.forEachIndexedLink(of: table.name, names[0], names[1]) { first, second in
      try insertion.bind(first, at: 1)
      try insertion.bind(second, at: 2)
      try insertion.run()
      count += connection.changes > 0 ? 1 : 0
    }
    result.rows += count
    result.rowsFoundApart += count
    if count > 0, table.columns.count > 2 {
      report.notes.append(
        "\(CountText.counted(count, "link")) of \(result.name) \(CountText.verb("were", count)) found in an index, without their places in lists."
      )
    }
  }

  /// Counts the keys that are in an index but in no row.
  private func countLostRows(of table: PhysicalTable, in result: inout SalvageReport.Table) throws {
    try connection.execute("CREATE TEMP TABLE salvaged_keys (key INTEGER PRIMARY KEY)")
    let insertion = try connection.prepare("INSERT OR IGNORE INTO temp.salvaged_keys VALUES (?1)", isPersistent: true)
    try source.forEachIndexedKey(of: table.name) { key in
      try insertion.bind(key, at: 1)
      try insertion.run()
    }
    let missing =
      "FROM temp.salvaged_keys WHERE key >= 1 AND key NOT IN (SELECT \(quote(PhysicalName.primaryKey)) FROM"
      + " \(quote(table.name)))"
    result.rowsLost = try connection.firstInteger("SELECT COUNT(*) \(missing)") ?? 0
    result.lostKeys = try connection.rows("SELECT key \(missing) ORDER BY key LIMIT 20").compactMap {
      $0.first?.integer
    }
    try connection.execute("DELETE FROM temp.salvaged_keys")
    try connection.execute("DROP TABLE temp.salvaged_keys")
  }

  // MARK: Ending

  func finish(_ metadata: StoreMetadata) throws(SQLiteError) {
    for index in schema.indexes where !index.isRTree && !index.isUnique { try connection.execute(index.sql) }
    for trigger in schema.triggers where !isOfRTree(trigger) { try connection.execute(trigger.sql) }
    var maxima: [String: Int64] = [:]
    let known = source.entityRows()
    for entity in schema.entities where entity.superentityNumber == 0 {
      let highest = try connection.firstInteger(
        "SELECT MAX(\(quote(PhysicalName.primaryKey))) FROM \(quote(entity.table))")
      // Keys are never reused, not even those of lost rows.
      let row = known.first { row in
        entityNumbers == nil ? row.number == entity.number : row.name == entity.name && row.number < 16_000
      }
      let before = row?.maximum ?? 0
      maxima[entity.name] = max(highest ?? 0, source.isSound || before < 1 << 40 ? before : 0)
      noteHighestKey(of: entity.name, in: entity.table, stored: row?.maximum, highest ?? 0)
    }
    try schema.writeEntities(to: connection, maxima: maxima)
    try metadata.write(to: connection)
    try StoreModelCache.write(schema.model, to: connection)
    for (entity, count) in try objectCounts() { report.objects[entity] = count }
    try connection.execute("COMMIT")
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.close()
  }

  func noteCorrection(of column: String, in table: String, _ count: Int64) {
    let correction = schema.numberCorrections.first { $0.table == table && $0.column == column }
    guard count > 0, let correction else { return }
    report.note(correction.words(count))
  }

  /// Notes a highest key that the bookkeeping of an otherwise sound store recorded too low.
  func noteHighestKey(of entity: String, in table: String, stored: Int64?, _ highest: Int64) {
    guard source.isSound, stored ?? -1 < highest else { return }
    report.note(PhysicalEntity.words(ofRecord: stored, of: entity, highest: highest, in: table))
  }

  private func objectCounts() throws(SQLiteError) -> [(String, Int64)] {
    var counts: [(String, Int64)] = []
    for table in schema.tables where !table.isJoin {
      let rows = try connection.rows(
        "SELECT \(quote(PhysicalName.entity)), COUNT(*) FROM \(quote(table.name)) GROUP BY 1")
      for row in rows {
        guard let number = row[0].integer.flatMap({ Int(exactly: $0) }), let entity = schema.entity(numbered: number)
        else { continue }
        counts.append((entity.name, row[1].integer ?? 0))
      }
    }
    return counts
  }
}

extension PhysicalIndex {
  var isRTree: Bool {
    if case .rTree = kind { true } else { false }
  }

  var isUnique: Bool {
    if case .constraint = kind { true } else { false }
  }
}
