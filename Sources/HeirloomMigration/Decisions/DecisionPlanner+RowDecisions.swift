import HeirloomMapping
import HeirloomModel
import HeirloomStore

extension DecisionPlanner {
  func allRowDecisions() throws -> RowDecisions {
    var rowDecisions = RowDecisions()
    rowDecisions.findSteps = [
      MigrationStep(
        kind: .findRows, subject: orderedTables.map(\.table).joined(separator: ", "),
        summary: "Find the rows that decisions are about", statements: script.statements)
    ]
    rowDecisions.outcomes = try outcomes()
    rowDecisions.blockers = openBlockers
    rowDecisions.blockers += try openDuplicates()
    for blocker in try lostLinks() {
      let decision = matching.decision(
        about: .missingLink(otherSide: nil), of: blocker.entity, [blocker.property ?? ""])
      if let decision {
        rowDecisions.outcomes[decision].filled += blocker.rows
      } else {
        rowDecisions.blockers.append(blocker)
      }
    }
    for table in orderedTables where table.mayLoseRows {
      for row in try connection.rows("SELECT ent, COUNT(*) FROM \(table.removed) GROUP BY ent") {
        guard let number = row[0].integer.flatMap({ Int(exactly: $0) }), let count = row[1].integer,
          let entity = destination.entity(numbered: number)
        else { continue }
        rowDecisions.removedRows[table.table, default: 0] += count
        rowDecisions.removedObjects[entity.name, default: 0] += count
      }
    }
    rowDecisions.removals = orderedTables.filter { rowDecisions.removedRows[$0.table] ?? 0 > 0 }.map { table in
      RemovedObjects(entities: table.root.treeNumbers, table: table.removed, rows: table.rows)
    }
    rowDecisions.entries = try entries()
    try addSteps(to: &rowDecisions)
    for join in parts.joins { try add(join, to: &rowDecisions) }
    rowDecisions.quarantine = try quarantine()
    return rowDecisions
  }

  // MARK: Open blockers

  /// Without duplicates in tables that may lose rows, which have to be counted again.
  var openBlockers: [MigrationBlocker] {
    let decided = decidedBlockers.map(\.effect)
    return found.filter { blocker in
      if blocker.kind == DataEffect.Kind.duplicate.code,
        let root = destination.entity(named: blocker.entity)?.rootName, tables[root]?.mayLoseRows ?? false
      {
        return false
      }
      return !decided.contains { blocker.isAbout($0) }
    }
  }

  private func openDuplicates() throws(SQLiteError) -> [MigrationBlocker] {
    var blockers: [MigrationBlocker] = []
    for (entity, properties, index) in constraints {
      guard let table = tables.values.first(where: { $0.table == index.table }) else { continue }
      let names = index.columns.map { "r.\(quote($0))" }
      // Decisions may have made other objects equal than in the store, so the final values are compared. One of the
      // equal objects may stay.
      let rows =
        try connection.firstInteger(
          "SELECT COALESCE(SUM(n - 1), 0) FROM (SELECT COUNT(*) AS n FROM \(table.rows) AS r WHERE"
            + " \(names.map { "\($0) IS NOT NULL" }.chained(by: "AND"))"
            + " GROUP BY \(names.joined(separator: ", ")) HAVING COUNT(*) > 1)") ?? 0
      guard rows > 0 else { continue }
      let known = effects.first { $0.kind == .duplicate && $0.entity == entity && $0.properties == properties }
      blockers.append(
        MigrationBlocker(
          known ?? DataEffect(kind: .duplicate, entity: entity, properties: properties, rows: []), rows: rows))
    }
    return blockers
  }

  private func lostLinks() throws(SQLiteError) -> [MigrationBlocker] {
    var blockers: [MigrationBlocker] = []
    for table in orderedTables {
      for column in table.columns {
        // Links that are missing in the store itself were counted with the other blockers.
        guard let link = column.link, link.isRequired,
          let rows = try connection.firstInteger(
            "SELECT COUNT(*) FROM \(table.rows) AS r WHERE \(Self.lostLink(column))"), rows > 0
        else { continue }
        blockers.append(
          MigrationBlocker(
            DataEffect(
              kind: .missingLink(otherSide: nil), entity: link.entity, properties: [link.relationship], rows: []),
            rows: rows))
      }
    }
    return blockers
  }

  // MARK: Counts

  func outcomes() throws(SQLiteError) -> [DecisionOutcome] {
    var outcomes = matching.decisions.map { DecisionOutcome($0) }
    for (effect, index) in decidedBlockers where !outcomes[index].decision.choice.removesRows {
      outcomes[index].filled += found.filter { $0.isAbout(effect) && $0.reason == effect.description }.map(\.rows)
        .reduce(0, +)
      // No object is made for a removed row.
      if outcomes[index].decision.choice.option == .new { outcomes[index].filled -= try removedRows(of: effect) }
    }
    for (effect, rows) in computed {
      for index in outcomes.indices where effect.isComputed(by: outcomes[index].decision) {
        outcomes[index].filled += rows
      }
    }
    for table in orderedTables where table.mayLoseRows {
      let rows = try connection.rows("SELECT decision, COUNT(*) FROM \(table.removed) GROUP BY decision")
      for row in rows {
        guard let index = row[0].integer.flatMap({ Int(exactly: $0) }), outcomes.indices.contains(index) else {
          continue
        }
        outcomes[index].remove(row[1].integer ?? 0)
      }
    }
    return outcomes
  }

  /// Counts rows that the decision is about but that other decisions remove.
  private func removedRows(of effect: DataEffect) throws(SQLiteError) -> Int64 {
    var count: Int64 = 0
    for (row, condition) in questions.conditions(of: effect) {
      guard let route = parts.crossing.routing.bySource[row.entity], route.destination == row.destinationEntity,
        let root = destination.entity(named: route.destination)?.rootName, let table = tables[root], table.mayLoseRows,
        let name = parts.source.table(ofEntity: row.entity)?.name
      else { continue }
      count +=
        try connection.firstInteger(
          "SELECT COUNT(*) FROM \(table.removed) AS x JOIN \(quote(SchemaName.store)).\(quote(name)) AS s"
            + " ON s.\(quote(PhysicalName.primaryKey)) = x.spk WHERE x.sent = \(route.sourceNumber) AND (\(condition))")
        ?? 0
    }
    return count
  }

  func entries() throws(SQLiteError) -> [CountedEntry] {
    var entries: [CountedEntry] = []
    for (effect, index) in decidedBlockers where matching.decisions[index].choice.option == .fill {
      guard case .overflow = effect.kind else { continue }
      let rows = found.filter { $0.isAbout(effect) && $0.reason == effect.description }.map(\.rows).reduce(0, +)
      let source = parts.crossing.routing.byDestination[effect.entity]?.source ?? effect.entity
      let column = parts.source.table(ofEntity: source).map { table in
        let origins = parts.transfers.filter { $0.sourceTable == table.name }.flatMap(\.columns).filter { column in
          destination.column(atPath: effect.properties, in: effect.entity)?.name == column.name
        }
        return Subject.cells(column: origins.lazy.compactMap(\.entry.origin).first ?? "", table: table.name)
      }
      entries.append(
        CountedEntry(
          entry: Entry(
            .replaced(name: "\(effect.entity).\(effect.properties.joined())"), of: column ?? .objects(entity: source),
            entity: source, property: effect.properties.first), rows: rows))
    }
    for table in orderedTables where table.mayLoseRows {
      // Sorted, so the plan lists its losses in the same order each time.
      let rows = try connection.rows(
        "SELECT ent, decision, COUNT(*) FROM \(table.removed) GROUP BY ent, decision ORDER BY ent, decision")
      for row in rows {
        guard let entity = row[0].integer.flatMap({ Int(exactly: $0) }).flatMap({ destination.entity(numbered: $0) }),
          let index = row[1].integer.flatMap({ Int(exactly: $0) }), matching.decisions.indices.contains(index),
          let count = row[2].integer
        else { continue }
        let source = parts.crossing.routing.byDestination[entity.name]?.source ?? entity.name
        let entry = Entry(
          .removed(by: matching.decisions[index], of: entity.name), of: .objects(entity: source), entity: source)
        entries.append(CountedEntry(entry: entry, rows: count))
      }
    }
    for table in orderedTables where table.mayLoseRows { entries += try cells(of: table) }
    for table in orderedTables {
      for column in table.columns {
        guard let link = column.link else { continue }
        let isOfTree = link.root == table.root.name && table.mayLoseRows
        let within = "SELECT m.pk FROM \(table.removed) AS m WHERE m.survivor = r.pk"
        // The links of removed rows are removed with them and are no loss of their own.
        let rows = try connection.firstInteger(
          "SELECT COUNT(*) FROM \(table.rows) AS r WHERE r.\(quote(column.name)) IS NULL"
            + " AND r.\(quote(column.former)) IS NOT NULL"
            + (isOfTree ? " AND r.\(quote(column.former)) NOT IN (\(within))" : ""))
        if let rows, rows > 0 {
          entries.append(links(entity: link.entity, relationship: link.relationship, rows: rows))
        }
        if isOfTree, let entry = try linksWithin(table, column, link) { entries.append(entry) }
      }
    }
    return entries
  }

  /// The column's links between objects that are merged into one.
  private func linksWithin(
    _ table: DecisionTable, _ column: TrackedColumn, _ link: TrackedColumn.Link
  ) throws(SQLiteError) -> CountedEntry? {
    let cells = parts.transfers.filter { $0.table == table.table }.compactMap { transfer in
      transfer.columns.first { $0.name == column.name }.map {
        transfer.select(["\(transfer.key) AS pk", "\($0.entry.sql) AS v"])
      }
    }
    guard !cells.isEmpty else { return nil }
    // If the relationship has no inverse, the cells of removed rows are counted elsewhere.
    let isElsewhere = link.isInverseless ? " AND m.pk IS NULL" : ""
    let rows = try connection.firstInteger(
      "SELECT COUNT(*) FROM (\(cells.united())) AS c LEFT JOIN \(table.removed) AS m ON m.pk = c.pk"
        + " LEFT JOIN \(table.removed) AS o ON o.pk = c.v JOIN \(table.rows) AS r ON r.pk = IFNULL(m.survivor, c.pk)"
        + " WHERE c.v <> c.pk AND r.pk = IFNULL(o.survivor, c.v) AND \(Self.isIn("r.ent", column.holders))"
        + " AND \(Self.isIn("IFNULL(m.ent, r.ent)", column.holders))\(isElsewhere)")
    guard let rows, rows > 0 else { return nil }
    return links(entity: link.entity, relationship: link.relationship, rows: rows, areWithin: true)
  }

  /// The indexes of these decisions, as an SQL list.
  var quarantineList: String {
    matching.decisions.indices.filter { matching.decisions[$0].choice == .quarantine }.map(String.init)
      .joined(separator: ", ")
  }

  /// The loss of removed objects covers their own properties; for merged objects, only those that
  /// the remaining object can have.
  private func cells(of table: DecisionTable) throws(SQLiteError) -> [CountedEntry] {
    var entries: [CountedEntry] = []
    let transfers = parts.transfers.filter { $0.table == table.table }
    for column in destination.table(named: table.table)?.columns ?? [] where column.role.isContent {
      let tracked = columns.column(named: column.name, of: table.table)
      let given = transfers.compactMap { transfer in
        transfer.columns.first { $0.name == column.name && $0.entry != .null }.map { (transfer, $0.entry) }
      }.filter { transfer, entry in
        // A value that comes from the destination's model is not content. Keys may come from collected links.
        tracked?.link != nil
          || transfer.sourceNumbers.contains { !entry.columnsRead(ofRowsNumbered: $0).isEmpty }
      }
      let cells = given.map { $0.select(["\($0.key) AS pk", "\($1.sql) AS v"]) }.united()
      guard let (transfer, entry) = given.first else { continue }
      if column.role == .unknown {
        // The remaining object keeps its own value, or takes the first one of those merged into it.
        let lost = try connection.firstInteger(
          "SELECT COUNT(*) FROM (SELECT m.pk AS removed, m.survivor AS survivor, m.decision AS decision, c.v AS v,"
            + " FIRST_VALUE(c.v) OVER (PARTITION BY IFNULL(m.survivor, c.pk) ORDER BY m.pk IS NOT NULL, m.place, m.seq)"
            + " AS kept FROM (\(cells)) AS c LEFT JOIN \(table.removed) AS m ON m.pk = c.pk WHERE c.v IS NOT NULL)"
            + " WHERE removed IS NOT NULL AND decision NOT IN (\(quarantineList))"
            + " AND (survivor IS NULL OR \(isDifferent("v", "kept")))")
        guard let lost, lost > 0 else { continue }
        entries.append(unknownCells(column.name, of: transfer.sourceTable, entity: table.root.name, rows: lost))
        continue
      }
      guard let tracked else { continue }
      var (isLost, join) = ("", "")
      if case .inverselessKey = column.role, let link = tracked.link {
        let owners = tables[link.root].flatMap { $0.mayLoseRows ? $0.removed : nil }
        // The remaining object may have the link, or take it. A link between two removed objects is covered by their
        // loss.
        isLost =
          "(m.survivor IS NULL OR r.\(quote(column.name)) IS NOT \(owners == nil ? "c.v" : "IFNULL(o.survivor, c.v)"))"
        if let owners {
          join = " LEFT JOIN \(owners) AS o ON o.pk = c.v"
          isLost += " AND (o.pk IS NULL OR o.survivor IS NOT NULL)"
        }
      } else {
        // If all objects of the table have the property, nothing is lost.
        guard tracked.holders != table.root.treeNumbers else { continue }
        isLost = "(NOT \(Self.isIn("m.ent", tracked.holders)) OR NOT \(Self.isIn("r.ent", tracked.holders)))"
      }
      let stored = entry.origin.flatMap { parts.source.table(named: transfer.sourceTable)?.column(named: $0) }
      let isOwn = Self.isIn("m.ent", tracked.holders)
      let counts = try connection.rows(
        "SELECT COUNT(CASE WHEN \(isOwn) THEN 1 END), COUNT(CASE WHEN NOT \(isOwn) THEN"
          + " \(parts.source.filling(of: stored?.role).map { "NULLIF(c.v, \($0))" } ?? "1") END)"
          + " FROM (\(cells)) AS c JOIN \(table.removed) AS m ON m.pk = c.pk"
          + " LEFT JOIN \(table.rows) AS r ON r.pk = m.survivor\(join)"
          + " WHERE c.v IS NOT NULL AND m.decision NOT IN (\(quarantineList)) AND \(isLost)")
      guard let (own, stray) = counts.first.map({ ($0[0].integer ?? 0, $0[1].integer ?? 0) }),
        let (entity, path) = (stored?.role ?? column.role).property
      else { continue }
      if stray > 0 {
        entries.append(
          unknownCells(
            stored?.name ?? column.name, of: transfer.sourceTable, entity: table.root.name, rows: stray,
            without: "\(entity).\(path.joined(separator: "."))"))
      }
      guard own > 0 else { continue }
      if case .inverselessKey(let entity, let name) = column.role {
        entries.append(links(entity: entity, relationship: name, rows: own))
      } else {
        let entry = Entry(
          .merged(name: "\(entity).\(path.joined(separator: "."))", areLinks: tracked.link != nil),
          of: .cells(column: stored?.name ?? column.name, table: transfer.sourceTable), entity: entity,
          property: path.joined(separator: "."))
        entries.append(CountedEntry(entry: entry, rows: own))
      }
    }
    return entries
  }

  func unknownCells(
    _ column: String, of table: String, entity: String, rows: Int64, without property: String? = nil
  ) -> CountedEntry {
    let entry = Entry(
      property.map { .foreignCells(column, table: table, attribute: $0, byDecision: true) }
        ?? .unknownColumn(column, table: table, .removed),
      of: .cells(column: column, table: table),
      entity: parts.crossing.routing.byDestination[entity]?.source ?? entity, property: column)
    return CountedEntry(entry: entry, rows: rows)
  }

  func links(entity: String, relationship: String, rows: Int64, areWithin: Bool = false) -> CountedEntry {
    let route = parts.crossing.routing.byDestination[entity]
    let entry = Entry.links(
      .decidedLinks(name: "\(entity).\(relationship)", areWithin: areWithin), route?.source ?? entity,
      route?.properties[relationship]?.sourceRelationshipName ?? relationship)
    return CountedEntry(entry: entry, rows: rows)
  }

  private func quarantine() throws(SQLiteError) -> QuarantineQuery? {
    let list = quarantineList
    guard !list.isEmpty else { return nil }
    var (queries, rows): ([String], Int64) = ([], 0)
    for table in orderedTables where table.mayLoseRows {
      let condition = "FROM \(table.removed) AS m WHERE m.decision IN (\(list))"
      // The writer of the file must find the same number.
      let count = try connection.firstInteger("SELECT COUNT(*) \(condition)") ?? 0
      guard count > 0 else { continue }
      rows += count
      // The key of the twin in the store, since it has another one in a merged tree.
      let twin =
        "COALESCE((SELECT r.spk FROM \(table.rows) AS r WHERE r.pk = m.twin),"
        + " (SELECT x.spk FROM \(table.removed) AS x WHERE x.pk = m.twin))"
      let number =
        "COALESCE((SELECT r.sent FROM \(table.rows) AS r WHERE r.pk = m.twin),"
        + " (SELECT x.sent FROM \(table.removed) AS x WHERE x.pk = m.twin))"
      // The file is written from the store, so rows are identified by their keys and entity numbers there.
      queries.append("SELECT m.spk, m.sent, m.decision, \(twin), \(number) \(condition) ORDER BY m.pk")
    }
    return queries.isEmpty ? nil : QuarantineQuery(queries: queries, decisions: matching.decisions, rows: rows)
  }
}

/// By a byte or by storage class, whatever collation the columns have.
func isDifferent(_ first: String, _ second: String) -> String {
  "(\(first) IS NOT \(second) COLLATE BINARY OR TYPEOF(\(first)) <> TYPEOF(\(second)))"
}
