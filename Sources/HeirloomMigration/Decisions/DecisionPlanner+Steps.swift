import HeirloomModel
import HeirloomStore

extension DecisionPlanner {
  private static let key = quote(PhysicalName.primaryKey)
  private static let entity = quote(PhysicalName.entity)

  // MARK: Objects

  func addSteps(to rowDecisions: inout RowDecisions) throws(SQLiteError) {
    // Rows are removed first, because others may get their values.
    for table in orderedTables {
      let rows = rowDecisions.removedRows[table.table] ?? 0
      guard rows > 0 else { continue }
      let merged =
        try connection.firstInteger("SELECT COUNT(*) FROM \(table.removed) WHERE survivor IS NOT NULL") ?? 0
      rowDecisions.decisionSteps.append(removal(from: table, rows: rows, keepsMerged: merged > 0))
    }
    for table in orderedTables {
      if let step = try update(of: table) { rowDecisions.decisionSteps.append(step) }
      let merged =
        try connection.firstInteger("SELECT COUNT(*) FROM \(table.removed) WHERE survivor IS NOT NULL") ?? 0
      if merged > 0, let step = completion(of: table) { rowDecisions.decisionSteps.append(step) }
    }
    for table in orderedTables {
      rowDecisions.decisionSteps += try orders(of: table)
      addChecks(of: table, to: &rowDecisions)
    }
  }

  private func removal(from table: DecisionTable, rows: Int64, keepsMerged: Bool) -> MigrationStep {
    var statements: [PlannedStatement] = []
    if keepsMerged {
      statements.append(
        // These rows are deleted before the survivors get their values, so no two have the same; the values are kept
        // here.
        PlannedStatement(
          "CREATE TEMP TABLE \(quote(table.mergedName)) AS SELECT m.pk AS pk, m.survivor AS survivor, m.place AS place,"
            + " m.seq AS seq"
            + mergedColumns(of: table).map { ", \(given($0.column, table)) AS \($0.name)" }.joined()
            + " FROM \(table.candidate) AS c JOIN \(table.removed) AS m ON m.pk = c.\(Self.key)"
            + " WHERE m.survivor IS NOT NULL"))
      statements.append(
        // Each column of a survivor looks up its value by the survivor's key.
        PlannedStatement(
          "CREATE INDEX temp.\(quote(table.mergedName + "_survivor")) ON \(quote(table.mergedName)) (survivor)"))
    }
    statements.append(
      PlannedStatement(
        "DELETE FROM \(table.candidate) WHERE \(Self.key) IN (SELECT pk FROM \(table.removed))", expectedRows: rows))
    return MigrationStep(
      kind: .decideRows, subject: table.table, summary: "Remove rows of \(table.table) by decision", rows: rows,
      statements: statements)
  }

  /// The columns of merged objects that are kept while the candidate is built.
  private func mergedColumns(of table: DecisionTable) -> [(column: PhysicalColumn, name: String)] {
    (destination.table(named: table.table)?.columns ?? []).enumerated().compactMap { index, column in
      column.role.isContent ? (column, "v\(index)") : nil
    }
  }

  /// The value that a removed object `m` with the row `c` offers to the object it is merged into.
  private func given(_ column: PhysicalColumn, _ table: DecisionTable) -> String {
    let value = "c.\(quote(column.name))"
    // A value of another entity in the row does not belong to the object.
    guard let holders = columns.column(named: column.name, of: table.table)?.holders,
      holders != table.root.treeNumbers
    else { return value }
    return "CASE WHEN \(Self.isIn("m.ent", holders)) THEN \(value) END"
  }

  private func update(of table: DecisionTable) throws(SQLiteError) -> MigrationStep? {
    guard let condition = table.isChanged,
      let rows = try connection.firstInteger("SELECT COUNT(*) FROM \(table.rows) AS r WHERE \(condition)"), rows > 0
    else { return nil }
    var values: [String] = []
    for column in table.columns {
      let name = quote(column.name)
      values.append("\(name) = r.\(name)")
      guard let link = column.link, let number = link.entityColumn.map(quote) else { continue }
      values.append(
        "\(number) = CASE WHEN r.\(name) IS r.\(quote(column.former)) THEN t.\(number) ELSE (SELECT x.\(Self.entity)"
          + " FROM \(quote(SchemaName.candidate)).\(quote(link.table)) AS x WHERE x.\(Self.key) = r.\(name)) END")
    }
    return MigrationStep(
      kind: .decideRows, subject: table.table, summary: "Redirect links of \(table.table) by decision",
      rows: rows,
      statements: [
        // Rows without a change are not written: they have these values already.
        PlannedStatement(
          "UPDATE \(table.candidate) AS t SET \(values.joined(separator: ", ")) FROM \(table.rows) AS r"
            + " WHERE r.pk = t.\(Self.key) AND (\(condition))", expectedRows: rows)
      ])
  }

  private func completion(of table: DecisionTable) -> MigrationStep? {
    let tracked = Set(table.columns.map(\.name))
    let merged = Dictionary(uniqueKeysWithValues: mergedColumns(of: table).map { ($0.column.name, $0.name) })
    var groups: [String: [TrackedColumn]] = [:]
    for column in destination.table(named: table.table)?.columns ?? [] where !tracked.contains(column.name) {
      guard case .attribute(let entity, let path) = column.role, let name = path.first,
        destination.model.attribute(named: name, of: entity)?.derivation == nil,
        let found = columns.column(named: column.name, of: table.table)
      else { continue }
      groups[found.group, default: []].append(found)
    }
    let values =
      groups.values.ordered { $0[0].name < $1[0].name }.flatMap { group in
        let isEmpty = group.map { "t.\(quote($0.name)) IS NULL" }.chained(by: "AND")
        let isGiven = group.map { "o.\(merged[$0.name] ?? "") IS NOT NULL" }.chained(by: "OR")
        if group.count == 1, let madeUp = madeUpValues(of: group[0], in: table) {
          return [completion(of: group[0], by: merged[group[0].name] ?? "", in: table, madeUp: madeUp)]
        }
        return group.map { column in
          let name = quote(column.name)
          return "\(name) = CASE WHEN \(isEmpty) AND \(Self.isIn("t.\(Self.entity)", column.holders)) THEN"
            + " (SELECT o.\(merged[column.name] ?? "") FROM \(table.merged) AS o WHERE o.survivor = t.\(Self.key) AND"
            + " (\(isGiven)) ORDER BY o.place, o.seq LIMIT 1) ELSE t.\(name) END"
        }
      }
      + mergedColumns(of: table).filter { $0.column.role == .unknown }.map { column, name in
        "\(quote(column.name)) = COALESCE(t.\(quote(column.name)), (SELECT o.\(name) FROM \(table.merged) AS o WHERE"
          + " o.survivor = t.\(Self.key) AND o.\(name) IS NOT NULL ORDER BY o.place, o.seq LIMIT 1))"
      }
    guard !values.isEmpty else { return nil }
    return MigrationStep(
      kind: .decideRows, subject: table.table, summary: "Fill in missing values of \(table.table) from merged rows",
      statements: [
        // The temporary table of rows lacks these columns, so their values come from the copies of the merged rows.
        PlannedStatement(
          "UPDATE \(table.candidate) AS t SET \(values.joined(separator: ", ")) WHERE t.\(Self.key) IN"
            + " (SELECT survivor FROM \(table.merged))")
      ])
  }

  /// A value that a merged object has in the store is preferred to a default or a decided one.
  private func completion(
    of column: TrackedColumn, by given: String, in table: DecisionTable, madeUp: String
  ) -> String {
    let name = quote(column.name)
    func taken(where condition: String) -> String {
      "(SELECT o.\(given) FROM \(table.merged) AS o WHERE o.survivor = t.\(Self.key) AND o.\(given) IS NOT NULL"
        + "\(condition) ORDER BY o.place, o.seq LIMIT 1)"
    }
    return "\(name) = CASE WHEN (t.\(name) IS NULL OR t.\(Self.key) IN (\(madeUp)))"
      + " AND \(Self.isIn("t.\(Self.entity)", column.holders)) THEN"
      + " COALESCE(\(taken(where: " AND o.pk NOT IN (\(madeUp))")), t.\(name), \(taken(where: ""))) ELSE t.\(name) END"
  }

  /// The keys of objects whose value comes from a default or a decision instead of the store.
  private func madeUpValues(of column: TrackedColumn, in table: DecisionTable) -> String? {
    let keys = parts.transfers.filter { $0.table == table.table }.compactMap { transfer -> String? in
      guard let entry = transfer.columns.first(where: { $0.name == column.name })?.entry, !entry.isVerbatim
      else { return nil }
      let conditions = transfer.sourceNumbers.compactMap { number in
        entry.ofRows(numbered: number)?.origin.map {
          "s.\(Self.entity) = \(number) AND s.\(quote($0)) IS NULL"
        }
      }
      return conditions.isEmpty
        ? nil : transfer.select(["\(transfer.key) AS pk"]) + " AND (\(conditions.chained(by: "OR")))"
    }
    return keys.isEmpty ? nil : keys.united()
  }

  private func orders(of table: DecisionTable) throws(SQLiteError) -> [MigrationStep] {
    let merges = try connection.firstInteger("SELECT COUNT(*) FROM \(table.removed) WHERE survivor IS NOT NULL") ?? 0
    let merged = Dictionary(uniqueKeysWithValues: mergedColumns(of: table).map { (quote($0.column.name), $0.name) })
    var steps: [MigrationStep] = []
    for column in table.columns {
      guard let link = column.link, let order = link.orderColumn.map(quote) else { continue }
      let (name, former) = (quote(column.name), quote(column.former))
      // If no link changed, the positions are right already.
      let changed = try connection.firstInteger(
        "SELECT COUNT(*) FROM \(table.rows) AS r WHERE r.\(name) IS NOT r.\(former)")
      guard changed ?? 0 > 0 else { continue }
      let other = tables[link.root].flatMap { $0.mayLoseRows ? $0 : nil }
      var (owner, stored, origin) = ("r.\(former)", "c.\(order)", "")
      if merges > 0, let mergedKey = merged[name], let mergedOrder = merged[order] {
        // An object that takes the owner of an object merged into it takes that one's position as well.
        let isWithin =
          link.root == table.root.name
          ? " OR r.\(former) IN (SELECT z.pk FROM \(table.removed) AS z WHERE z.survivor = r.pk)" : ""
        let given =
          other.map {
            "COALESCE((SELECT x.survivor FROM \($0.removed) AS x WHERE x.pk = y.\(mergedKey)), y.\(mergedKey))"
          } ?? "y.\(mergedKey)"
        // A link between objects that are merged into one is removed, unless it was one of an object to itself.
        let isLeft = link.root == table.root.name ? " AND (y.\(mergedKey) = y.pk OR \(given) <> y.survivor)" : ""
        origin =
          " LEFT JOIN \(table.merged) AS o ON (r.\(former) IS NULL\(isWithin)) AND o.rowid ="
          + " (SELECT y.rowid FROM \(table.merged) AS y WHERE y.survivor = r.pk AND \(given) = r.\(name)\(isLeft)"
          + " ORDER BY y.place, y.seq LIMIT 1)"
        (owner, stored) = ("COALESCE(o.\(mergedKey), r.\(former))", "COALESCE(o.\(mergedOrder), c.\(order))")
      }
      origin += other.map { " LEFT JOIN \($0.removed) AS m ON m.pk = \(owner)" } ?? ""
      let place = other == nil ? "" : "m.place, m.seq, "
      steps.append(
        MigrationStep(
          kind: .decideRows, subject: table.table,
          summary: "Number the members of \(link.entity).\(link.relationship)",
          statements: [
            // A member that lost its owner has no position.
            PlannedStatement(
              "UPDATE \(table.candidate) AS t SET \(order) = NULL FROM \(table.rows) AS r WHERE r.pk = t.\(Self.key)"
                + " AND r.\(name) IS NULL AND r.\(former) IS NOT NULL"),
            // An owner that gained members has all of them numbered: its own first, then those of each merged object,
            // in their order there. Members of other owners keep their positions.
            PlannedStatement(
              "UPDATE \(table.candidate) AS t SET \(order) = v.place FROM (SELECT r.pk AS pk, 1024 + 1024 * ROW_NUMBER()"
                + " OVER (PARTITION BY r.\(name) ORDER BY r.\(name) IS NOT \(owner), \(place)\(stored), r.pk) AS place"
                + " FROM \(table.rows) AS r JOIN \(table.candidate) AS c ON c.\(Self.key) = r.pk\(origin)"
                + " WHERE r.\(name) IN (SELECT x.\(name) FROM \(table.rows) AS x WHERE x.\(name) IS NOT NULL"
                + " AND x.\(name) IS NOT x.\(former))) AS v WHERE v.pk = t.\(Self.key)"),
          ]))
    }
    return steps
  }

  private func addChecks(of table: DecisionTable, to rowDecisions: inout RowDecisions) {
    var conditions = [
      "pk NOT IN (SELECT pk FROM \(table.removed))",
      "pk NOT IN (SELECT survivor FROM \(table.removed) WHERE survivor IS NOT NULL)",
    ]
    if let isChanged = table.isChanged {
      conditions.append("pk NOT IN (SELECT r.pk FROM \(table.rows) AS r WHERE \(isChanged))")
    }
    rowDecisions.untouched[table.table] = conditions.chained(by: "AND")
    let differs = ["t.\(Self.key) IS NULL"] + table.columns.map { "t.\(quote($0.name)) IS NOT r.\(quote($0.name))" }
    rowDecisions.checks.append(
      .unchanged(
        subject: "rows of \(table.table) that differ from the decisions", table: table.table,
        // The left join also finds a row that should have stayed but is missing.
        found: "SELECT COUNT(*) FROM \(table.rows) AS r LEFT JOIN \(table.candidate) AS t ON t.\(Self.key) = r.pk"
          + " WHERE \(differs.chained(by: "OR"))"))
    for column in table.columns {
      guard let link = column.link, let other = tables[link.root], other.mayLoseRows else { continue }
      rowDecisions.checks.append(
        .noMore(
          // The check of all keys allows as many dangling keys as the store has; here none is allowed.
          subject: "keys in \(table.table) of an object that was removed by decision", expected: "SELECT 0",
          found: "SELECT COUNT(*) FROM \(table.candidate) AS t WHERE t.\(quote(column.name)) IN"
            + " (SELECT pk FROM \(other.removed))"))
    }
  }

  // MARK: Links

  func add(_ join: JoinTransfer, to rowDecisions: inout RowDecisions) throws(SQLiteError) {
    guard let redirection = LinkRedirection(join, number: rowDecisions.linkRows.count, self) else { return }
    let (owner, target, isKept) = (redirection.owner, redirection.target, redirection.isKept)
    let lostRows = [owner, target].compactMap(\.table).reduce(Int64(0)) {
      $0 + (rowDecisions.removedRows[$1.table] ?? 0)
    }
    guard lostRows > 0 else { return }
    // The candidate doesn't exist yet, so the query that will fill the table is counted.
    let selection = redirection.selection(of: join)
    let touched = try connection.firstInteger(
      "SELECT COUNT(*) FROM (\(selection)) WHERE o IS NOT owner OR t IS NOT target")
    guard touched ?? 0 > 0 else { return }
    // Links of objects that are merged into one may become equal.
    let rows = try connection.firstInteger(
      "SELECT COUNT(*) FROM (SELECT DISTINCT o, t FROM (\(selection)) WHERE \(isKept))")
    rowDecisions.linkRows[join.table.name] = rows ?? 0
    // A link between two removed objects is no loss of its own.
    let lost = try connection.firstInteger("SELECT COUNT(*) FROM (\(selection)) WHERE (o IS NULL) <> (t IS NULL)")
    if let lost, lost > 0 {
      rowDecisions.entries.append(
        links(entity: redirection.entity, relationship: redirection.relationship, rows: lost))
    }
    let within = try connection.firstInteger(
      "SELECT COUNT(*) FROM (\(selection)) WHERE o IS NOT NULL AND t IS NOT NULL AND (\(isKept)) IS NOT TRUE")
    if let within, within > 0 {
      rowDecisions.entries.append(
        links(
          entity: redirection.entity, relationship: redirection.relationship, rows: within, areWithin: true))
    }
    let quarantines = quarantineList
    for (column, name) in join.unknown {
      let lost = try connection.firstInteger(redirection.lostValues(of: name, in: join, unless: quarantines)) ?? 0
      guard lost > 0, let pairs = join.pairs else { continue }
      rowDecisions.entries.append(
        unknownCells(column.name, of: pairs, entity: redirection.entity, rows: lost))
    }
    rowDecisions.decisionSteps.append(redirection.step)
    rowDecisions.checks += redirection.checks
  }
}
