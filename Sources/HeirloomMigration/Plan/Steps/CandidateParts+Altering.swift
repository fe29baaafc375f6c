import HeirloomStore
import HeirloomModel

extension CandidateParts {
  /// Produces the same tables, indexes and rows as ``rebuildSteps``, with the same statements.
  ///
  /// The order: removals, changed values under the old names, new names and columns, new tables and
  /// rows, metadata, indexes and triggers.
  var alteringSteps: [MigrationStep] {
    let indexes = CarriedIndexes(on: carried, in: crossing)
    let staying = foreign.staying(with: carried)
    let carriedNames = Set(carried.map(\.table.name))
    let laterIndexes = Set(indexes.kept.map(\.index.name) + deferral.missingIndexes)

    var steps = removalSteps(indexes: indexes, staying: staying)
    steps += links.steps
    steps += rowDecisions.findSteps
    steps += changeSteps
    steps += namingSteps(indexes: indexes)
    steps += tables.filter { !carriedNames.contains($0.name) }.map(Self.creation)
    steps += transfers.filter { !carriedNames.contains($0.table) }.map(copy)
    steps += joins.filter { !carriedNames.contains($0.table.name) }.map(\.step)
    steps += orders
    steps += rowDecisions.decisionSteps + ForeignObjects.rewritingSteps(foreignRows, framework)
    steps += metadata.steps + rowRun
    steps += destination.indexes.filter { !laterIndexes.contains($0.name) }.flatMap(indexSteps)
    steps += backfill.steps + destination.triggers.map(Self.creation)
    return steps + foreign.laterSteps(keeping: staying) + deferralSteps
  }

  /// Steps without statements, which list the clean-up left until after the launch.
  private var deferralSteps: [MigrationStep] {
    let columns = deferral.columns.ordered { $0.key < $1.key }.flatMap { table, names in
      names.map { (subject: "\(table).\($0)", summary: "Keep the column \(table).\($0), to be dropped later") }
    }
    let others =
      deferral.tables.map { (subject: $0, summary: "Keep the table \($0), to be dropped later") } + columns
      + deferral.unusedIndexes.map { (subject: $0, summary: "Keep the index \($0), to be dropped later") }
      + deferral.missingIndexes.map { (subject: $0, summary: "Defer creating the index \($0)") }
    return others.map { MigrationStep(kind: .leaveForLater, subject: $0.subject, summary: $0.summary, statements: []) }
  }

  private func removalSteps(indexes: CarriedIndexes, staying: Set<String>) -> [MigrationStep] {
    let kept = Set(carried.map(\.sourceTable))
    let trees = Set(source.indexes.filter { $0.ordering == nil }.map(\.name))
    let later = Set(deferral.tables + deferral.unusedIndexes)
    var steps: [MigrationStep] = []
    // Triggers and views may refer to anything that changes: they are created again at the end.
    for (object, _) in actual.ownership(under: source) where object.kind == .trigger {
      steps.append(Self.removal(of: object.name, "TRIGGER"))
    }
    for object in actual.objects where object.kind == .view { steps.append(Self.removal(of: object.name, "VIEW")) }
    for name in indexes.dropped + foreign.indexesToDrop(on: carried, keeping: staying) where !later.contains(name) {
      steps.append(Self.removal(of: name, "INDEX"))
    }
    for (object, ownership) in actual.ownership(under: source) where object.kind == .table {
      switch ownership {
      case .model where later.contains(object.name): continue
      case .model where !kept.contains(object.name), .bookkeeping, .pending:
        steps.append(Self.removal(of: object.name, "TABLE"))
      // Statistics of other rows mislead the query planner; a rebuilt store has none either.
      case .system where object.name.hasPrefix("sqlite_stat"):
        steps.append(Self.removal(of: object.name, "TABLE"))
      case .shadow(let owner) where trees.contains(owner): continue
      default: continue
      }
    }
    return steps
  }

  private static func removal(of name: String, _ kind: String) -> MigrationStep {
    MigrationStep(
      kind: .dropObject, subject: name, summary: "Drop the \(kind.lowercased()) \(name)",
      statements: [PlannedStatement("DROP \(kind) IF EXISTS \(quote(SchemaName.candidate)).\(quote(name))")])
  }

  private var changeSteps: [MigrationStep] {
    var steps: [MigrationStep] = []
    let extended = carried.filter(\.isExtendedFirst)
    if !extended.isEmpty {
      let statements = extended.map { table in
        Self.renaming(.table, table.sourceTable, to: table.sourceTable, of: table.sourceTable, sql: table.extendedSQL)
      }
      steps.append(
        Self.schemaStep("Add columns to \(extended.map(\.sourceTable).joined(separator: ", "))", statements))
    }
    for table in carried {
      var statements = table.updateStatement.map { [$0] } ?? []
      if let column = table.dropped {
        statements.append(
          // After the update, which may read the dropped column.
          PlannedStatement(
            "ALTER TABLE \(quote(SchemaName.candidate)).\(quote(table.sourceTable)) DROP COLUMN \(quote(column))"))
      }
      guard !statements.isEmpty else {
        steps.append(
          MigrationStep(
            kind: .keepRows, subject: table.table.name, summary: "Keep the rows of \(table.table.name)",
            statements: []))
        continue
      }
      steps.append(
        MigrationStep(
          kind: .changeRows, subject: table.table.name, summary: "Change the rows of \(table.table.name) in place",
          rows: table.rows, statements: statements))
    }
    return steps
  }

  /// Writes into `sqlite_schema`, as SQLite's own `ALTER TABLE` does: the rows don't depend on it.
  ///
  /// Each statement keeps the existing columns in their positions and adds new ones at the end.
  private func namingSteps(indexes: CarriedIndexes) -> [MigrationStep] {
    var statements: [PlannedStatement] = []
    for table in carried {
      if table.isExtendedFirst || actual.object(.table, named: table.sourceTable)?.sql != table.table.sql
        || table.dropped != nil
      {
        statements.append(
          Self.renaming(
            .table, table.sourceTable, to: table.table.name, of: table.table.name, sql: table.table.sql))
      }
      guard table.sourceTable != table.table.name else { continue }
      let prefix = "sqlite_autoindex_"
      for object in actual.objects where object.kind == .index && object.table == table.sourceTable {
        guard object.sql == nil, object.name.hasPrefix(prefix + table.sourceTable) else { continue }
        let name = prefix + table.table.name + object.name.dropFirst((prefix + table.sourceTable).count)
        statements.append(Self.renaming(.index, object.name, to: name, of: table.table.name, sql: nil))
      }
    }
    for (name, index) in indexes.kept {
      let object = actual.object(.index, named: name)
      guard object?.sql != index.sql || name != index.name || object?.table != index.table else { continue }
      statements.append(Self.renaming(.index, name, to: index.name, of: index.table, sql: index.sql))
    }
    guard !statements.isEmpty else { return [] }
    return [Self.schemaStep("Rename tables, columns and indexes", statements)]
  }

  private static func schemaStep(_ summary: String, _ statements: [PlannedStatement]) -> MigrationStep {
    MigrationStep(
      kind: .alterSchema, subject: "sqlite_schema", summary: summary,
      statements: [PlannedStatement("PRAGMA writable_schema = ON")] + statements
        // SQLite reads the schema again.
        + [PlannedStatement("PRAGMA writable_schema = RESET")])
  }

  /// Finds the entry by its row number, as in the store: names may be exchanged in a cycle.
  private static func renaming(
    _ kind: SchemaObject.Kind, _ name: String, to newName: String, of table: String, sql: String?
  ) -> PlannedStatement {
    PlannedStatement(
      "UPDATE \(quote(SchemaName.candidate)).sqlite_schema SET name = ?1, tbl_name = ?2, sql = ?3 WHERE rowid ="
        + " (SELECT rowid FROM \(quote(SchemaName.store)).sqlite_schema WHERE type = ?4 AND name = ?5)",
      values: [
        .text(newName), .text(table), sql.map { .text($0) } ?? .null, .text(kind.rawValue), .text(name),
      ], expectedRows: 1)
  }
}
