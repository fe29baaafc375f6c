import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The parts of a candidate that both builders use.
final class CandidateParts {
  let crossing: Crossing
  /// Carried tables have their columns in the store's order.
  private(set) var tables: [PhysicalTable] = []
  private(set) var transfers: [TableTransfer] = []
  private(set) var links = LinkTables()
  let joins: [JoinTransfer]
  let orders: [MigrationStep]
  private(set) var carried: [CarriedTable] = []
  let backfill: DerivedBackfill
  let foreign: ForeignObjects
  let foreignRows: [MigrationStep]
  let framework: FrameworkRows
  var metadata: MetadataSteps
  /// Only in a copy of the store.
  private(set) var deferral = DeferredMigration()
  let rowRun: [MigrationStep]
  var rowDecisions = RowDecisions()

  init(
    _ crossing: Crossing, framework: FrameworkRows, metadata: MetadataSteps, decided: DecidedValues = DecidedValues(),
    recomputes: Bool = false, defers: Bool = false, connection: Connection
  ) throws {
    self.crossing = crossing
    self.metadata = metadata
    let (destination, counts) = (crossing.destination, crossing.counts)
    rowRun = Self.rowRun(of: crossing.split.byRow, counts: counts)
    backfill = DerivedBackfill(
      crossing: crossing, followsCode: !crossing.split.byRow.isEmpty, isAnew: recomputes)
    foreign = try ForeignObjects(crossing, connection: connection)
    foreignRows = try foreign.rowSteps(framework, usesIndexes: counts.usesIndexes, counting: connection)
    self.framework = framework
    joins = try crossing.joinTransfers(counting: connection)

    var carrier = TableCarrier(crossing, defers: defers)
    var layouts: [String: PhysicalTable] = [:]
    for tree in crossing.routing.trees {
      guard let table = destination.table(ofEntity: tree.destinationRoot) else { continue }
      var planner = TreePlanner(
        tree: tree, crossing: crossing, links: links, decided: decided, recomputes: recomputes)
      let transfer = planner.transfer(table: table)
      links = planner.links
      guard let transfer else { continue }
      // Rows of another tree are added to those that could stay.
      let isMerged = transfer.destinationNumbers != nil
      guard !isMerged, let kept = carrier.carry(transfer, to: table) else {
        transfers.append(transfer)
        continue
      }
      transfers.append(transfer.into(kept.table))
      carried.append(kept)
      layouts[table.name] = kept.table
    }
    for join in joins {
      guard let whole = join.source,
        let kept = carrier.carryLinks(from: whole.table, to: join.table, origins: whole.origins, rows: join.rows)
      else { continue }
      carried.append(kept)
    }
    tables = destination.tables.map { layouts[$0.name] ?? $0 }
    orders = crossing.orderSteps(after: transfers)
    guard defers else { return }
    let autoVacuum = try connection.firstInteger("PRAGMA \(quote(SchemaName.store)).auto_vacuum")
    deferral =
      DeferralPlanner(
        crossing: crossing, carried: carried, rowCounts: rowCounts, canReleasePages: autoVacuum == 2
      ).deferral
  }

  func rows(of transfer: TableTransfer) -> Int64 { crossing.counts.rows(of: transfer.sourceNumbers) }

  var actual: ActualSchema { crossing.actual }
  var source: PhysicalSchema { crossing.source }
  var destination: PhysicalSchema { crossing.destination }

  /// The final number of rows of each table.
  var rowCounts: [(table: String, rows: Int64)] {
    var objects: [String: Int64] = [:]
    for transfer in transfers { objects[transfer.table, default: 0] += rows(of: transfer) }
    for (table, rows) in rowDecisions.removedRows { objects[table, default: 0] -= rows }
    var known =
      tables.compactMap { table in objects[table.name].map { (table.name, $0) } }
      + joins.map { ($0.table.name, rowDecisions.linkRows[$0.table.name] ?? $0.rows) }
    let filled = Set(known.map(\.0))
    known += tables.filter { !filled.contains($0.name) }.map { ($0.name, 0) }
    return known + foreignRows.compactMap { step in step.rows.map { (step.subject, $0) } }
  }
}

extension CandidateParts {
  var rebuildSteps: [MigrationStep] {
    var steps = tables.map(Self.creation)
    steps += foreign.tableSteps
    steps += links.steps
    steps += rowDecisions.findSteps
    steps += transfers.map(copy) + joins.map(\.step) + orders
    steps += rowDecisions.decisionSteps
    steps += foreignRows
    steps += metadata.steps + rowRun
    steps += destination.indexes.flatMap(indexSteps) + backfill.steps + destination.triggers.map(Self.creation)
    return steps + foreign.laterSteps()
  }

  /// Runs after all other rows exist and before indexes and triggers.
  private static func rowRun(of mappings: [EntityMapping], counts: StoreCounts) -> [MigrationStep] {
    guard !mappings.isEmpty else { return [] }
    let rows = mappings.compactMap(\.sourceEntityName).reduce(Int64(0)) { $0 + counts.byEntity[$1, default: 0] }
    let names = mappings.map { mapping in
      "\(mapping.name)\(mapping.entityMigrationPolicyClassName.map { " by \($0)" } ?? "")"
    }
    return [
      MigrationStep(
        kind: .runMappings, subject: mappings.map(\.name).joined(separator: ", "),
        summary: "Run object by object: \(names.joined(separator: ", "))", rows: rows, statements: [])
    ]
  }

  static func creation(of table: PhysicalTable) -> MigrationStep {
    MigrationStep(
      kind: .createTable, subject: table.name, summary: "Make the table \(table.name)",
      statements: [PlannedStatement(statementInCandidate(table.sql))])
  }

  func copy(_ transfer: TableTransfer) -> MigrationStep {
    let rows = rows(of: transfer)
    return MigrationStep(
      kind: .copyRows, subject: transfer.table, summary: "Copy \(transfer.sourceTable) to \(transfer.table)",
      rows: rows, statements: [PlannedStatement(transfer.sql, expectedRows: rows)])
  }

  func indexSteps(for index: PhysicalIndex) -> [MigrationStep] {
    var statements = [PlannedStatement(statementInCandidate(index.sql))]
    if index.ordering == nil {
      let columns = index.columns.flatMap { ["s.\(quote($0))", "s.\(quote($0))"] }.joined(separator: ", ")
      let isPlaced = index.columns.map { "s.\(quote($0)) NOT NULL" }.chained(by: "AND")
      let candidate = quote(SchemaName.candidate)
      statements.append(
        // An R-tree holds ranges, and a value is both ends of its own. It would treat NULL as 0.
        PlannedStatement(
          "INSERT INTO \(candidate).\(quote(index.name)) SELECT s.\(quote(PhysicalName.primaryKey)), \(columns)"
            + " FROM \(candidate).\(quote(index.table)) AS s WHERE \(isPlaced)"))
    }
    return [
      MigrationStep(
        kind: .createIndex, subject: index.name, summary: "Make the index \(index.name)", indexedTable: index.table,
        statements: statements)
    ]
  }

  static func creation(of trigger: PhysicalTrigger) -> MigrationStep {
    MigrationStep(
      kind: .createTrigger, subject: trigger.name, summary: "Make the trigger \(trigger.name)",
      statements: [PlannedStatement(statementInCandidate(trigger.sql))])
  }
}
