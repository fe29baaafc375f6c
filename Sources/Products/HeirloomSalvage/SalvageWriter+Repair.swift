import HeirloomModel
import HeirloomStore

extension SalvageWriter {
  /// Removes what would prevent an app from opening the store or following its relationships.
  func repair() throws {
    for index in schema.indexes where index.isUnique { try separateDuplicates(index) }
    for entity in schema.entities {
      guard let description = schema.model.entity(named: entity.name) else { continue }
      for relationship in description.relationships {
        try repair(relationship, of: entity)
      }
    }
    for table in schema.tables where table.isJoin { try repairLinks(table) }
    for index in report.tables.indices {
      let count = try connection.firstInteger("SELECT COUNT(*) FROM \(quote(report.tables[index].table))")
      report.tables[index].rows = count ?? 0
      report.tables[index].rowsFoundApart = min(report.tables[index].rowsFoundApart, count ?? 0)
    }
  }

  // MARK: Constraints

  /// Of objects with equal values, only the first one stays.
  private func separateDuplicates(_ index: PhysicalIndex) throws(SQLiteError) {
    do throws(SQLiteError) {
      return try connection.execute(index.sql)
    } catch {
      guard error.isConstraint else { throw error }
    }
    guard case .constraint(let entity, _) = index.kind else { return }
    let table = quote(index.table)
    let key = quote(PhysicalName.primaryKey)
    let columns = index.columns.map(quote)
    let isFull = columns.map { "\($0) NOT NULL" }.joined(separator: " AND ")
    let surplus =
      "\(isFull) AND \(key) NOT IN (SELECT MIN(\(key)) FROM \(table) WHERE \(isFull) GROUP BY"
      + " \(columns.joined(separator: ", ")))"
    try cutRows(.duplicateValues, entity, table: index.table, where: surplus)
    try connection.execute(index.sql)
  }

  private func cutRows(
    _ kind: SalvageReport.Cut.Kind, _ subject: String, table: String, where condition: String
  ) throws(SQLiteError) {
    let statement = try connection.prepare("SELECT rowid, * FROM \(quote(table)) WHERE \(condition)")
    var count: Int64 = 0
    while try statement.step() {
      var values: [(String, FoundValue)] = []
      for column in 1..<statement.columnCount {
        values.append((statement.columnName(at: column), .stored(statement.value(at: column))))
      }
      cuts.add(kind, subject, table: table, key: statement.integer(at: 0), values)
      count += 1
    }
    guard count > 0 else { return }
    try connection.execute("DELETE FROM \(quote(table)) WHERE \(condition)")
    report.count(kind, subject, by: count)
  }

  // MARK: Relationships

  private func repair(_ relationship: RelationshipDescription, of entity: PhysicalEntity) throws(SQLiteError) {
    guard let destination = schema.entity(named: relationship.destinationEntity) else { return }
    let subject = "\(entity.name).\(relationship.name)"
    switch schema.storage(ofRelationship: relationship.name, in: entity.name) {
    case .key(let table, let column, let entityColumn):
      let isOwn =
        "\(quote(PhysicalName.entity)) BETWEEN \(entity.treeNumbers.lowerBound) AND"
        + " \(entity.treeNumbers.upperBound)"
      // A position in the inverse's order is meaningless without the key.
      var others = entityColumn.map { [$0] } ?? []
      if let inverse = schema.model.inverse(of: relationship),
        case .inverseKey(table, column, _, let order?)? = schema.storage(
          ofRelationship: inverse.relationship.name, in: inverse.entity.name)
      {
        others.append(order)
      }
      try emptyKeys(subject, table: table, column: column, others: others, to: destination, where: isOwn)
      if let entityColumn {
        try nameDestinations(table: table, column: column, entityColumn, destination)
        noteCorrection(of: entityColumn, in: table, connection.changes)
      }
    case .inverselessKey(let table, let column, let order):
      // The key refers to the owner.
      try emptyKeys(subject, table: table, column: column, others: order.map { [$0] } ?? [], to: entity, where: "1")
    case .inverseKey, .join, nil: return
    }
  }

  private func exists(_ column: String, in destination: PhysicalEntity) -> String {
    "EXISTS (SELECT 1 FROM \(quote(destination.table)) AS d WHERE d.\(quote(PhysicalName.primaryKey)) = \(column)"
      + " AND d.\(quote(PhysicalName.entity)) BETWEEN \(destination.treeNumbers.lowerBound) AND"
      + " \(destination.treeNumbers.upperBound))"
  }

  private func emptyKeys(
    _ subject: String, table: String, column: String, others: [String], to destination: PhysicalEntity,
    where isOwn: String
  ) throws(SQLiteError) {
    let key = "t.\(quote(column))"
    let condition = "\(isOwn) AND \(key) NOT NULL AND NOT \(exists(key, in: destination))"
    let rows = try connection.prepare(
      "SELECT t.\(quote(PhysicalName.primaryKey)), \(key) FROM \(quote(table)) AS t WHERE \(condition)")
    var count: Int64 = 0
    while try rows.step() {
      cuts.add(.danglingKey, subject, table: table, key: rows.integer(at: 0), [(column, .stored(rows.value(at: 1)))])
      count += 1
    }
    guard count > 0 else { return }
    let changes = ([column] + others).map { "\(quote($0)) = NULL" }.joined(separator: ", ")
    try connection.execute("UPDATE \(quote(table)) AS t SET \(changes) WHERE \(condition)")
    report.count(.danglingKey, subject, by: count)
  }

  /// Sets the entity column beside a key to the entity of the object that the key refers to.
  private func nameDestinations(
    table: String, column: String, _ entityColumn: String, _ destination: PhysicalEntity
  ) throws(SQLiteError) {
    let number =
      "(SELECT d.\(quote(PhysicalName.entity)) FROM \(quote(destination.table)) AS d WHERE"
      + " d.\(quote(PhysicalName.primaryKey)) = t.\(quote(column)))"
    try connection.execute(
      "UPDATE \(quote(table)) AS t SET \(quote(entityColumn)) = \(number) WHERE t.\(quote(column)) NOT NULL AND"
        + " t.\(quote(entityColumn)) IS NOT \(number)")
  }

  private func repairLinks(_ table: PhysicalTable) throws(SQLiteError) {
    guard case .links(let owner, let name) = table.kind,
      case .join(_, let ownerColumn, let destinationColumn, _)? = schema.storage(ofRelationship: name, in: owner),
      let source = schema.entity(named: owner),
      let destination = schema.model.relationship(named: name, of: owner).flatMap({
        schema.entity(named: $0.destinationEntity)
      })
    else { return }
    // Qualified names, because the same condition is used to delete the rows.
    let ends = [(ownerColumn, source), (destinationColumn, destination)].map { column, entity in
      "\(quote(table.name)).\(quote(column)) IS NULL OR NOT "
        + exists("\(quote(table.name)).\(quote(column))", in: entity)
    }
    try cutRows(.danglingLink, "\(owner).\(name)", table: table.name, where: ends.joined(separator: " OR "))
  }

  // MARK: Tables of others

  /// Copies each complete table that no entity has, such as an app's own.
  func copyOthers() throws {
    // The damaged file's statements make these tables, and its triggers must not run.
    try connection.setRunsTriggers(false)
    var copied: Set<String> = []
    // Tables, indexes and triggers share one namespace.
    let taken = Set((schema.indexes.map(\.name) + schema.triggers.map(\.name)).map { $0.lowercased() })
    let trees = Set(schema.indexes.filter(\.isRTree).map(\.name))
    let objects = source.actual.ownership(under: schema).filter { object, ownership in
      // A table with the name of an index belongs to the model only if it is an R-tree.
      let isOther =
        [.history, .cloudKit, .foreign].contains(ownership)
        || ownership == .model && object.kind == .table && schema.table(named: object.name) == nil
          && !trees.contains(object.name)
      guard isOther, !source.renamedTables.contains(object.table), taken.contains(object.name.lowercased()) else {
        return true
      }
      report.leftOut.append("the \(object.kind.rawValue) \(object.name), whose name is that of an object of the model")
      return false
    }
    for (object, ownership) in objects where object.kind == .table {
      guard [.history, .cloudKit, .foreign].contains(ownership), !source.renamedTables.contains(object.name) else {
        continue
      }
      guard try copyTable(object) else {
        report.leftOut.append("the table \(object.name), which is not wholly readable")
        continue
      }
      copied.insert(object.name)
    }
    for (object, ownership) in objects
    where object.kind != .table && [.history, .cloudKit, .foreign].contains(ownership) {
      guard object.sql != nil else { continue }
      let isCopied = copied.contains(object.table)
      let isWhole = object.kind == .index ? isCopied : source.isSound
      let made: Void? = isWhole ? try? connection.make(object) : nil
      if made == nil, object.kind != .index || isCopied || schema.table(named: object.table) != nil {
        report.leftOut.append("the \(object.kind.rawValue) \(object.name)")
      }
    }
    for row in source.entityRows() where row.number > 16_000 && !copied.isEmpty {
      var maximum = row.maximum
      if let table = ActualSchema.historyTable(ofEntity: row.name), copied.contains(table) {
        let highest =
          try connection.firstInteger("SELECT MAX(\(quote(PhysicalName.primaryKey))) FROM \(quote(table))") ?? 0
        noteHighestKey(of: row.name, in: table, stored: maximum, highest)
        maximum = max(maximum ?? 0, highest)
      }
      try connection.execute(
        "INSERT OR IGNORE INTO \(quote(PhysicalName.primaryKeyTable)) VALUES (?1, ?2, ?3, ?4)",
        [
          .integer(row.number), .text(row.name), row.parent.map { .integer($0) } ?? .null,
          maximum.map { .integer($0) } ?? .null,
        ])
    }
  }

  /// Returns false, and leaves no table behind, if it couldn't be read completely.
  private func copyTable(_ object: SchemaObject) throws -> Bool {
    guard let table = source.tables[object.name], source.inspection?.unreadableCounts[object.name] == nil,
      (try? connection.make(object)) != nil
    else { return false }
    let columns = table.columns.map(quote).joined(separator: ", ")
    let places = table.columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    var isWhole = true
    do {
      let insertion = try connection.prepare("INSERT INTO \(quote(object.name)) (\(columns)) VALUES (\(places))")
      let damagedCount = try source.forEachRow(of: object.name) { _, values, place in
        let stored = values.compactMap(\.stored)
        guard isWhole, place != .misplaced, stored.count == values.count else {
          isWhole = false
          return
        }
        try insertion.bind(stored)
        try insertion.run()
      }
      if damagedCount > 0 { isWhole = false }
    } catch let error as SQLiteError where error.isConstraint {
      isWhole = false
    }
    if !isWhole { try connection.execute("DROP TABLE \(quote(object.name))") }
    return isWhole
  }
}
