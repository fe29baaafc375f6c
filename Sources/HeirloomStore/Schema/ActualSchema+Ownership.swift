import HeirloomModel

package enum SchemaOwnership: Hashable, Sendable {
  case model
  /// One of the three tables that every store has.
  case bookkeeping
  /// Left by Core Data: an index under an old name, a derived attribute's trigger.
  case leftover
  /// Left by a deferred migration to be removed later.
  case pending
  case history
  case cloudKit
  /// SQLite's own: an index of a constraint, statistics, sequences.
  case system
  case shadow(of: String)
  /// Of the app or another program: migrations keep it unchanged.
  case foreign
}

extension ActualSchema {
  /// `schema` is that of the store's own model.
  package func ownership(under schema: PhysicalSchema) -> [(object: SchemaObject, ownership: SchemaOwnership)] {
    let tableNames = Set(schema.tables.map(\.name))
    let indexNames = Set(schema.indexes.map(\.name))
    let triggerNames = Set(schema.triggers.map(\.name))
    let virtualNames = tables.filter(\.isVirtual).map(\.name)
    let pending = pending(under: schema)
    let pendingTables = Set(pending.tables)
    let pendingIndexes = Set(pending.unusedIndexes)

    func ownership(of object: SchemaObject) -> SchemaOwnership {
      if object.name.hasPrefix("sqlite_") { return .system }
      switch object.kind {
      case .table:
        if tableNames.contains(object.name) { return .model }
        // An R-tree index is a virtual table.
        if indexNames.contains(object.name), virtualNames.contains(object.name) { return .model }
        if pendingTables.contains(object.name) { return .pending }
        if Self.bookkeepingTables.contains(object.name) { return .bookkeeping }
        if Self.historyTables.contains(object.name) { return .history }
        if isCloudKit(object.name) { return .cloudKit }
        if table(named: object.name)?.isShadow == true,
          let owner = virtualNames.filter({ object.name.hasPrefix($0 + "_") }).max(by: { $0.count < $1.count })
        {
          return .shadow(of: owner)
        }
        return .foreign
      case .index:
        if indexNames.contains(object.name), tableNames.contains(object.table) { return .model }
        if pendingTables.contains(object.table) || pendingIndexes.contains(object.name) { return .pending }
        if Self.historyTables.contains(object.table) { return .history }
        if isCloudKit(object.table) { return .cloudKit }
        if tableNames.contains(object.table), isCoreDataIndexName(object.name) { return .leftover }
        return .foreign
      case .trigger:
        if triggerNames.contains(object.name) { return .model }
        return object.name.hasPrefix(PhysicalName.derivedTriggerPrefix) ? .leftover : .foreign
      case .view:
        return .foreign
      }
    }
    return objects.map { ($0, ownership(of: $0)) }
  }

  package static let bookkeeping: [(table: String, key: String?, columns: [String])] = [
    (
      PhysicalName.primaryKeyTable, PhysicalName.name,
      [PhysicalName.entity, PhysicalName.name, PhysicalName.superentity, PhysicalName.maximum]
    ),
    (
      PhysicalName.metadataTable, PhysicalName.version,
      [PhysicalName.version, PhysicalName.uuid, PhysicalName.propertyList]
    ),
    (PhysicalName.modelCacheTable, nil, [PhysicalName.content]),
  ]
  package static let bookkeepingTables = Set(bookkeeping.map(\.table))

  /// The condition of rows `r` that aren't Core Data's; `nil` if all rows are.
  ///
  /// Those of the framework itself are numbered from `frameworkNumber` on.
  package func strangers(
    in table: String, entities: Int, frameworkNumber: Int64, database: String = "main"
  ) -> String? {
    switch table {
    case PhysicalName.primaryKeyTable:
      let number = "r.\(quote(PhysicalName.entity))"
      return "\(number) NOT BETWEEN 1 AND \(entities) AND \(number) < \(frameworkNumber)"
    case PhysicalName.modelCacheTable where self.table(named: table)?.column(named: PhysicalName.content) != nil:
      // Only the first row is read. A second one with the same content holds nothing else.
      return "r.\(quote(PhysicalName.content)) IS NOT (SELECT c.\(quote(PhysicalName.content))"
        + " FROM \(quote(database)).\(quote(table)) AS c LIMIT 1)"
    default: return nil
    }
  }

  package func otherColumns(of table: String, besides known: [String]) -> [PhysicalColumn] {
    (self.table(named: table)?.columns ?? []).filter { !$0.isGenerated && !known.contains($0.name) }.map {
      PhysicalColumn(name: $0.name, type: SQLColumnType(declaredType: $0.declaredType), role: .unknown)
    }
  }
  package static let historyTables: Set<String> = [
    PhysicalName.changeTable, PhysicalName.transactionTable, PhysicalName.transactionStringTable,
  ]

  package static func historyTable(ofEntity name: String) -> String? {
    historyTables.contains("A" + name) ? "A" + name : nil
  }

  private func isCloudKit(_ table: String) -> Bool {
    table.hasPrefix(PhysicalName.cloudKitPrefix)
  }

  /// Core Data's names: `ZTABLE_…`, `Z_Entity_…`, `Z_12LINKS_…`.
  private func isCoreDataIndexName(_ name: String) -> Bool {
    name.hasPrefix("Z") && name.contains("_")
  }
}

package enum SchemaDrift: Hashable, Sendable {
  case missingTable(String)
  case missingColumn(table: String, column: String)
  case differentType(table: String, column: String, found: String, expected: String)
  case unknownColumn(table: String, column: String)
  case missingIndex(String)
  case differentIndex(String, found: String, expected: String)
  case missingTrigger(String)
  case differentTrigger(String, found: String, expected: String)

  package var isFatal: Bool {
    switch self {
    case .missingTable, .missingColumn: true
    default: false
    }
  }
}

extension SchemaDrift: CustomStringConvertible {
  package var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .missingTable(let table): "the table \(table) is missing"
    case .missingColumn(let table, let column): "the column \(table).\(column) is missing"
    case .differentType(let table, let column, let found, let expected):
      "the column \(table).\(column) is declared as \(found.isEmpty ? "no type" : found) instead of \(expected)"
    case .unknownColumn(let table, let column): "the column \(table).\(column) is unknown"
    case .missingIndex(let name): "the index \(name) is missing"
    case .differentIndex(let name, _, _): "the index \(name) covers something else"
    case .missingTrigger(let name): "the trigger \(name) is missing"
    case .differentTrigger(let name, _, _): "the trigger \(name) does something else"
    }
  }
}

extension ActualSchema {
  /// Not a difference: the order of columns, unknown objects, or a deferred migration's clean-up.
  package func drift(from schema: PhysicalSchema) -> [SchemaDrift] {
    tableDrift(from: schema) + indexAndTriggerDrift(from: schema)
  }

  package func tableDrift(from schema: PhysicalSchema) -> [SchemaDrift] {
    var drift: [SchemaDrift] = []
    let pending = pending(under: schema)
    for expected in schema.tables {
      guard let found = table(named: expected.name) else {
        drift.append(.missingTable(expected.name))
        continue
      }
      let foundTypes = Dictionary(
        found.columns.filter { !$0.isGenerated }.map { ($0.name, $0.declaredType) },
        uniquingKeysWith: { first, _ in first })
      for column in expected.columns {
        guard let type = foundTypes[column.name] else {
          drift.append(.missingColumn(table: expected.name, column: column.name))
          continue
        }
        if type.uppercased() != column.type.rawValue {
          drift.append(
            .differentType(
              table: expected.name, column: column.name, found: type, expected: column.type.rawValue))
        }
      }
      let known = Set(expected.columns.map(\.name)).union(pending.columns[expected.name] ?? [])
      for column in found.columns where !known.contains(column.name) {
        drift.append(.unknownColumn(table: expected.name, column: column.name))
      }
    }
    return drift
  }

  /// Without computed columns.
  package func unknownColumns(under schema: PhysicalSchema) -> [String: [PhysicalColumn]] {
    var unknown: [String: [PhysicalColumn]] = [:]
    for case .unknownColumn(let table, let name) in tableDrift(from: schema) {
      guard let column = self.table(named: table)?.column(named: name) else { continue }
      unknown[table, default: []].append(
        PhysicalColumn(name: name, type: SQLColumnType(declaredType: column.declaredType), role: .unknown))
    }
    return unknown
  }

  private func indexAndTriggerDrift(from schema: PhysicalSchema) -> [SchemaDrift] {
    var drift: [SchemaDrift] = []
    var statements: [String: String] = [:]
    for object in objects where object.kind != .view {
      // A constraint of the table itself, as old frameworks declare it, has an index without a statement.
      statements[object.name] = object.normalizedSQL ?? ""
    }
    let pending = Set(pending(under: schema).missingIndexes)
    for expected in schema.indexes where !pending.contains(expected.name) {
      guard let found = statements[expected.name] else {
        drift.append(.missingIndex(expected.name))
        continue
      }
      let wanted = normalizedStatement(expected.sql)
      if found != wanted { drift.append(.differentIndex(expected.name, found: found, expected: wanted)) }
    }
    for expected in schema.triggers {
      guard let found = statements[expected.name] else {
        drift.append(.missingTrigger(expected.name))
        continue
      }
      let wanted = normalizedStatement(expected.sql)
      // Framework version 1044 also checks the entity number in the table of a single entity.
      let ranges = #/ (AND|WHEN) \d+ <= (NEW\.)?Z_ENT AND (NEW\.)?Z_ENT <= \d+/#
      if found.replacing(ranges, with: "") != wanted.replacing(ranges, with: "") {
        drift.append(.differentTrigger(expected.name, found: found, expected: wanted))
      }
    }
    return drift
  }
}
