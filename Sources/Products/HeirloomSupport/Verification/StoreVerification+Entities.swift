import HeirloomFormats
import HeirloomModel
import HeirloomStore

extension StoreVerification {
  private struct EntityRow {
    let number: Int64
    let name: String?
    let parent: Int64?
    let maximum: SQLiteValue
  }

  func checkEntityRows(_ schema: PhysicalSchema) {
    guard let rows = entityRows() else { return }
    var byNumber: [Int64: EntityRow] = [:]
    var counts: [String: Int] = [:]
    for row in rows {
      if let name = row.name { counts[name, default: 0] += 1 }
      if byNumber.updateValue(row, forKey: row.number) != nil {
        add(
          .error, .duplicateEntityRow,
          "\(PhysicalName.primaryKeyTable) has two rows for the number \(row.number). " + Self.entityAdvice)
      }
    }
    for name in counts.keys.ordered() where counts[name] != 1 {
      add(
        .error, .duplicateEntityRow, entity: name,
        "\(PhysicalName.primaryKeyTable) names \(name) in \(counts[name] ?? 0) rows: the number of the entity's objects"
          + " is not certain. " + Self.entityAdvice)
    }
    let corrections = corrections(schema)
    for entity in schema.entities {
      guard let row = byNumber.removeValue(forKey: Int64(entity.number)) else {
        add(
          .error, .missingEntityRow, entity: entity.name,
          "\(PhysicalName.primaryKeyTable) has no row for \(entity.name) (number \(entity.number)): no new object of it gets a"
            + " key. Don't open the store with an app before there is one: a migration or a repair writes it.",
          remedies: repair)
        continue
      }
      check(row, of: entity, corrections[entity.number], schema)
    }
    for row in byNumber.values.ordered(by: { $0.number < $1.number }) {
      let name = row.name ?? "an entity without a name"
      guard row.number < PhysicalName.firstFrameworkNumber else {
        checkFrameworkRow(row)
        continue
      }
      add(
        .warning, .unknownEntityRow, entity: row.name,
        "\(PhysicalName.primaryKeyTable) has a row for \(name) (number \(row.number)), which the model doesn't know. A"
          + " migration leaves it out.")
    }
  }

  private static let entityAdvice =
    "An app would write wrong keys: don't open the store with it. Restore a previous version or a backup."

  private static let repairAdvice =
    "An app would write wrong keys: don't open the store with it before a repair corrects that by the model and the rows."

  private func entityRows() -> [EntityRow]? {
    guard let table = actual.table(named: PhysicalName.primaryKeyTable) else {
      add(
        .error, .missingTable,
        "The table \(PhysicalName.primaryKeyTable) is missing: no new object gets a key. " + Self.entityAdvice)
      return nil
    }
    let columns = [PhysicalName.entity, PhysicalName.name, PhysicalName.superentity, PhysicalName.maximum]
    let missing = columns.filter { table.column(named: $0) == nil }
    for column in missing {
      add(.error, .missingColumn, "The column \(table.name).\(column) is missing. " + Self.entityAdvice)
    }
    guard missing.isEmpty else { return nil }
    let rows = reading("the table of entities") { connection throws(SQLiteError) in
      let number = connection.rowNumber(of: table.name, table.columns) ?? "1"
      return try connection.rows(
        "SELECT \(columns.map(quote).joined(separator: ", ")) FROM \(quote(table.name)) ORDER BY \(number)"
      )
    }
    return rows?.map { row in
      EntityRow(number: row[0].integer ?? 0, name: row[1].text, parent: row[2].integer, maximum: row[3])
    }
  }

  /// By entity number.
  private func corrections(_ schema: PhysicalSchema) -> [Int: EntityListCorrection] {
    guard report.isModelFit else { return [:] }
    let actual = actual
    let found = reading("the table of entities") { connection throws(SQLiteError) in
      try EntityListCorrection.all(in: connection, schema, actual)
    }
    return Dictionary(uniqueKeysWithValues: (found ?? []).map { ($0.number, $0) })
  }

  private func check(
    _ row: EntityRow, of entity: PhysicalEntity, _ correction: EntityListCorrection?, _ schema: PhysicalSchema
  ) {
    if row.name != entity.name {
      if let name = row.name, schema.entity(named: name) == nil {
        add(
          .note, .staleEntityName, entity: entity.name,
          "\(PhysicalName.primaryKeyTable) has the name \(name) for the number \(entity.number), the model has"
            + " \(entity.name): Core Data leaves the old name of a renamed entity.")
      } else {
        add(
          .error, .wrongEntityRow, entity: entity.name,
          "\(PhysicalName.primaryKeyTable) has \(row.name.map { "the name \($0)" } ?? "no name") for the number"
            + " \(entity.number), the model has \(entity.name): objects would be read as those of another entity. "
            + (correction?.wrongName == nil
              ? "The rows don't show which of the two is right. " + Self.entityAdvice : Self.repairAdvice),
          remedies: correction?.wrongName == nil ? [] : [.repair])
      }
    }
    if row.parent != Int64(entity.superentityNumber) {
      add(
        .error, .wrongEntityRow, entity: entity.name,
        "\(PhysicalName.primaryKeyTable) says that the parent of \(entity.name) has the number"
          + " \(row.parent.map(String.init) ?? "NULL"); the model says \(entity.superentityNumber) (0 for none). "
          + (correction?.parent == nil ? Self.entityAdvice : Self.repairAdvice),
        remedies: correction?.parent == nil ? [] : [.repair])
    }
    if entity.superentityNumber == 0 {
      checkMaximum(row, table: entity.table, entity: entity.name)
    }
  }

  private func checkMaximum(
    _ row: EntityRow, table: String, entity: String, correctedBy operation: String = "a migration or a repair"
  ) {
    guard actual.table(named: table)?.column(named: PhysicalName.primaryKey) != nil else { return }
    let highest = reading("the table \(table)", entity: entity) { connection throws(SQLiteError) in
      try connection.firstInteger("SELECT MAX(\(quote(PhysicalName.primaryKey))) FROM \(quote(table))")
    }
    let maximum = row.maximum.integer
    let needed = highest.flatMap { $0 }
    guard PhysicalEntity.isWrong(record: maximum, highest: needed ?? 0) else {
      if let maximum, maximum > PhysicalEntity.highestKeyWithRoom {
        add(
          .warning, .keysExhausted, entity: entity,
          "The highest key in \(table) is \(needed ?? 0): the app can make few new objects of \(entity) or none, since keys end at"
            + " \(Int64.max). All objects are there; a salvage or a migration keeps their keys.")
      }
      return
    }
    let record =
      "The highest key that \(PhysicalName.primaryKeyTable) has for \(entity) is \(maximum.map(String.init) ?? "no number")"
    if let maximum, maximum > PhysicalEntity.highestKeyWithRoom {
      add(
        .warning, .keysExhausted, entity: entity,
        "\(record), and keys end at \(Int64.max): the app can make few new objects or none. The highest key in \(table) is"
          + " \(needed ?? 0), which a repair writes.", remedies: repair)
      return
    }
    let found =
      needed.map { "but \(table) holds the key \($0): the next new objects would get keys that are taken" }
      ?? "and \(table) has no rows, where 0 is expected: the next new objects would get keys below 1"
    add(
      .error, .keysBehind, entity: entity,
      "\(record), \(found). Add no objects before it is corrected, by \(operation).", remedies: repair)
  }

  private func checkFrameworkRow(_ row: EntityRow) {
    guard let name = row.name, let table = ActualSchema.historyTable(ofEntity: name) else { return }
    checkMaximum(row, table: table, entity: name, correctedBy: "a repair")
  }

  /// A repair needs a model that fits.
  private var repair: [Remedy] { report.isModelFit ? [.repair] : [] }

  // MARK: The schema

  func checkSchema(_ schema: PhysicalSchema) {
    let entities = entitiesByTable(schema)
    for drift in actual.drift(from: schema) { report(drift, schema, entities) }
    for (name, expected) in schema.misnamedJoins.ordered(by: { $0.key }) {
      add(
        .note, .otherTableName, entity: entities[name],
        "The table \(name) holds links that Core Data looks for in \(expected): an earlier version of Heirloom named it after"
          + " the entity with the lower number. All links are there, and Heirloom reads them; before Core Data opens the store,"
          + " migrate it: the next migration gives the table its name.")
    }
    reportExtras(schema, entities)
    reportPending(schema)
  }

  /// Without a model, the clean-up is taken from the metadata.
  func reportPending(_ schema: PhysicalSchema?) {
    let items = schema.map { actual.pending(under: $0).items } ?? report.metadata?.deferredMigration?.items ?? []
    if !items.isEmpty {
      add(
        .note, .pendingCleanUp,
        "A deferred migration left clean-up for later: \(listed(items)). The store is complete without it; the app or the next"
          + " migration finishes it.", remedies: [.migration])
    }
    guard items.isEmpty, report.metadata?.hasDeferredMigration == true else { return }
    add(
      .note, .pendingCleanUp,
      "The metadata record clean-up of a deferred migration without listing it: if Core Data deferred it, Core Data"
        + " finishes it. The store is complete without it.")
  }

  /// The root entity of each table, or the entity that a table of links is named after.
  private func entitiesByTable(_ schema: PhysicalSchema) -> [String: String] {
    var entities: [String: String] = [:]
    for table in schema.tables {
      switch table.kind {
      case .objects(let root): entities[table.name] = root
      case .links(let entity, _): entities[table.name] = entity
      }
    }
    return entities
  }

  private func report(_ drift: SchemaDrift, _ schema: PhysicalSchema, _ entities: [String: String]) {
    switch drift {
    case .missingTable(let name):
      let isJoin = schema.table(named: name)?.isJoin ?? false
      addDamage(
        .missingTable, entity: entities[name],
        "The table \(name) is missing: no app can read its \(isJoin ? "links" : "objects").")
    case .missingColumn(let table, let column):
      addDamage(
        .missingColumn, entity: entities[table],
        "The column \(table).\(column) is missing: no app can read its values.")
    case .differentType(let table, let column, "", let expected) where schema.table(named: table)?.isJoin == true:
      add(
        .note, .differentColumnType, entity: entities[table],
        "The column \(table).\(column) is declared without a type, as the oldest versions of Core Data declared the keys of"
          + " links; SQLite keeps what is written. A migration declares it as \(expected).")
    case .differentType(let table, let column, let found, let expected):
      // SQLite converts values on writing by the affinity that follows from the declared type.
      let isAlike = SQLAffinity(declaredType: found) == SQLAffinity(declaredType: expected)
      let type = found.isEmpty ? "no type" : found
      add(
        isAlike ? .warning : .error, .differentColumnType, entity: entities[table],
        "The column \(table).\(column) is declared as \(type) where the model requires \(expected)"
          + (isAlike
            ? "; SQLite treats both alike. A migration corrects it."
            : ": SQLite converts written values accordingly, so some may differ from what the app saved. A migration rebuilds"
              + " the column; compare its values with a backup first."))
    case .unknownColumn(let table, let column):
      add(
        .warning, .extraColumn, entity: entities[table],
        "The column \(table).\(column) is unknown to the model: the app doesn't see its values. A migration copies it"
          + " with the rows, unless a later model needs its name.")
    case .missingIndex(let name):
      reportMissingIndex(name, schema, entities)
    case .differentIndex(let name, let found, let expected):
      let index = schema.indexes.first { $0.name == name }
      // Constraints of the table itself have an index without a statement.
      if found.isEmpty, index.map(connection.hasEquivalent) ?? false { return }
      add(
        .warning, .differentIndex, entity: index.flatMap { entities[$0.table] },
        "The index \(name) is \"\(found)\" where the model requires \"\(expected)\". A migration rebuilds it.")
    case .missingTrigger(let name):
      add(
        .warning, .missingTrigger, entity: schema.triggers.first { $0.name == name }?.entity,
        "The trigger \(name) is missing: the values that it updates become outdated. A migration makes it."
      )
    case .differentTrigger(let name, let found, let expected):
      add(
        .warning, .differentTrigger, entity: schema.triggers.first { $0.name == name }?.entity,
        "The trigger \(name) is \"\(found)\" where the model requires \"\(expected)\". A migration rebuilds it.")
    }
  }

  private func reportMissingIndex(
    _ name: String, _ schema: PhysicalSchema, _ entities: [String: String]
  ) {
    guard let index = schema.indexes.first(where: { $0.name == name }) else { return }
    if connection.hasEquivalent(of: index) { return }
    // Without its table or columns there can be no index, which is already reported.
    guard let table = actual.table(named: index.table), index.columns.allSatisfy({ table.column(named: $0) != nil })
    else { return }
    var consequence = "fetches are slower, nothing is lost"
    if case .constraint = index.kind { consequence = "the app's uniqueness constraint is not enforced" }
    if case .rTree = index.kind { consequence = "fetches by place can't use it" }
    let actual = actual
    let isMade = reading("the table \(index.table)") { connection throws(SQLiteError) in
      try connection.indexesToMake(of: schema, actual).contains(index)
    }
    let canRepair = isMade == true && report.isModelFit
    let maker = canRepair ? "A migration or a repair makes it." : "A migration makes it."
    add(
      .warning, .missingIndex, entity: entities[index.table],
      "The index \(name) on \(index.table) (\(listed(index.columns))) is missing: \(consequence). \(maker)",
      remedies: canRepair ? [.repair] : [])
  }

  private func reportExtras(_ schema: PhysicalSchema, _ entities: [String: String]) {
    var indexes: [String: [String]] = [:]
    for (object, ownership) in actual.ownership(under: schema) {
      switch (object.kind, ownership) {
      case (.table, .foreign): reportExtraTable(object.name)
      case (.index, .foreign), (.index, .leftover):
        if entities[object.table] != nil { indexes[object.table, default: []].append(object.name) }
      case (.trigger, .leftover):
        add(
          .warning, .extraTrigger, entity: entities[object.table],
          "The trigger \(object.name) is left from an earlier model and changes rows of \(object.table). A migration leaves"
            + " it out.")
      case (.trigger, .foreign):
        add(
          .note, .extraTrigger, entity: entities[object.table],
          "The trigger \(object.name) on \(object.table) is outside the model; a migration copies it, unless a later model needs its name."
        )
      case (.view, _):
        add(
          .note, .extraTable,
          "The view \(object.name) is outside the model; a migration copies it, unless a later model needs its name.")
      default: continue
      }
    }
    for table in indexes.keys.ordered() {
      let names = indexes[table] ?? []
      add(
        .note, .extraIndex, entity: entities[table],
        "\(table) has \(counted(Int64(names.count), "index")) that the model doesn't"
          + " ask for by name (\(listed(names))): left from an earlier model, or the app's own. They cost a little time on writing."
      )
    }
  }

  private func reportExtraTable(_ name: String) {
    let columns = Set(actual.table(named: name)?.columns.map(\.name) ?? [])
    let isObjects = columns.isSuperset(of: [PhysicalName.primaryKey, PhysicalName.entity])
    let isLinks = name.firstMatch(of: #/^Z_\d+[A-Z]/#) != nil
    guard isObjects || isLinks else {
      add(
        .note, .extraTable,
        "The table \(name) is outside the model: the app's own, or another program's. A migration copies it, unless a later"
          + " model needs its name.")
      return
    }
    let count = reading("the table \(name)") { connection throws(SQLiteError) in
      try connection.rowCount(of: quote(name))
    }
    add(
      .warning, .extraTable,
      "The table \(name) has the form of Core Data's and \(counted(count ?? 0, "row")), but the model has no"
        + " entity or relationship for it: no app sees the rows. Was the store opened with another model?")
  }
}
