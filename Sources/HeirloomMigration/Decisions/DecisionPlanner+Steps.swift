import HeirloomModel
import HeirloomStore

extension DecisionPlanner {
  private static let key = quote(PhysicalName.primaryKey)
  private static let entity = quote(PhysicalName.entity)

  // MARK: Objects

  /// Adds the steps that write the results to the candidate, with the checks of their outcome.
  func addSteps(to rowDecisions: inout RowDecisions) throws(SQLiteError) {
    // Removed rows make room for values that others get.
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
        // These rows go before the survivors get their values, so that no two have the same; the values are kept here.
        PlannedStatement(
          "CREATE TEMP TABLE \(quote(table.mergedName)) AS SELECT m.survivor AS survivor, m.place AS place, m.seq AS seq,"
            + " c.* FROM \(table.candidate) AS c JOIN \(table.removed) AS m ON m.pk = c.\(Self.key)"
            + " WHERE m.survivor IS NOT NULL"))
      statements.append(
        // Each column of a survivor looks for its value by the survivor's key.
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

  /// Returns the step that writes the tracked columns.
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
      kind: .decideRows, subject: table.table, summary: "Lead links of \(table.table) elsewhere by decision",
      rows: rows,
      statements: [
        // Rows without a change are not written: they hold these values already.
        PlannedStatement(
          "UPDATE \(table.candidate) AS t SET \(values.joined(separator: ", ")) FROM \(table.rows) AS r"
            + " WHERE r.pk = t.\(Self.key) AND (\(condition))", expectedRows: rows)
      ])
  }

  /// Returns the step that gives objects the values they lack from those that were merged into them.
  private func completion(of table: DecisionTable) -> MigrationStep? {
    let tracked = Set(table.columns.map(\.name))
    var groups: [String: [TrackedColumn]] = [:]
    for column in destination.table(named: table.table)?.columns ?? [] where !tracked.contains(column.name) {
      guard case .attribute(let entity, let path) = column.role, let name = path.first,
        destination.model.attribute(named: name, of: entity)?.derivation == nil,
        let found = columns.column(named: column.name, of: table.table)
      else { continue }
      groups[found.group, default: []].append(found)
    }
    let values = groups.values.ordered { $0[0].name < $1[0].name }.flatMap { group in
      let isEmpty = group.map { "t.\(quote($0.name)) IS NULL" }.joined(separator: " AND ")
      let isGiven = group.map { "o.\(quote($0.name)) IS NOT NULL" }.joined(separator: " OR ")
      return group.map { column in
        let name = quote(column.name)
        return "\(name) = CASE WHEN \(isEmpty) AND \(Self.isIn("t.\(Self.entity)", column.holders)) THEN"
          + " (SELECT o.\(name) FROM \(table.merged) AS o WHERE o.survivor = t.\(Self.key) AND (\(isGiven))"
          + " ORDER BY o.place, o.seq LIMIT 1) ELSE t.\(name) END"
      }
    }
    guard !values.isEmpty else { return nil }
    return MigrationStep(
      kind: .decideRows, subject: table.table, summary: "Complete rows of \(table.table) by those merged into them",
      statements: [
        // The temporary table of rows has no such columns, so their values come from the copies of the merged rows.
        PlannedStatement(
          "UPDATE \(table.candidate) AS t SET \(values.joined(separator: ", ")) WHERE t.\(Self.key) IN"
            + " (SELECT survivor FROM \(table.merged))")
      ])
  }

  /// Returns the steps that put an object's new members after those that it has.
  private func orders(of table: DecisionTable) throws(SQLiteError) -> [MigrationStep] {
    var steps: [MigrationStep] = []
    for column in table.columns {
      guard let link = column.link, let order = link.orderColumn.map(quote) else { continue }
      let (name, former) = (quote(column.name), quote(column.former))
      // Where no link changed, the places are right already.
      let changed = try connection.firstInteger(
        "SELECT COUNT(*) FROM \(table.rows) AS r WHERE r.\(name) IS NOT r.\(former)")
      guard changed ?? 0 > 0 else { continue }
      let other = tables[link.root].flatMap { $0.mayLoseRows ? $0 : nil }
      let origin = other.map { " LEFT JOIN \($0.removed) AS m ON m.pk = r.\(former)" } ?? ""
      let place = other == nil ? "" : "m.place, m.seq, "
      steps.append(
        MigrationStep(
          kind: .decideRows, subject: table.table,
          summary: "Number the members of \(link.entity).\(link.relationship)",
          statements: [
            // A member that lost its owner has no place.
            PlannedStatement(
              "UPDATE \(table.candidate) AS t SET \(order) = NULL FROM \(table.rows) AS r WHERE r.pk = t.\(Self.key)"
                + " AND r.\(name) IS NULL AND r.\(former) IS NOT NULL"),
            // An owner that gained members has all of them numbered: its own first, then those of each merged object,
            // in their order there. Members of other owners keep their places.
            PlannedStatement(
              "UPDATE \(table.candidate) AS t SET \(order) = v.place FROM (SELECT r.pk AS pk, 1024 + 1024 * ROW_NUMBER()"
                + " OVER (PARTITION BY r.\(name) ORDER BY r.\(name) IS NOT r.\(former), \(place)c.\(order), r.pk) AS place"
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
    rowDecisions.untouched[table.table] = conditions.joined(separator: " AND ")
    let differs = table.columns.map { " OR t.\(quote($0.name)) IS NOT r.\(quote($0.name))" }.joined()
    rowDecisions.checks.append(
      .unchanged(
        subject: "rows of \(table.table) that are not as was decided", table: table.table,
        // The left join also finds a row that should have stayed and is gone.
        found: "SELECT COUNT(*) FROM \(table.rows) AS r LEFT JOIN \(table.candidate) AS t ON t.\(Self.key) = r.pk"
          + " WHERE t.\(Self.key) IS NULL\(differs)"))
    for column in table.columns {
      guard let link = column.link, let other = tables[link.root], other.mayLoseRows else { continue }
      rowDecisions.checks.append(
        .noMore(
          // The check of all keys allows as many that lead nowhere as the store has; here none is allowed.
          subject: "keys in \(table.table) that lead to an object that was removed by decision", expected: "SELECT 0",
          found: "SELECT COUNT(*) FROM \(table.candidate) AS t WHERE t.\(quote(column.name)) IN"
            + " (SELECT pk FROM \(other.removed))"))
    }
  }

  // MARK: Links

  /// Adds the steps that redirect the links of a table of links.
  func add(_ join: JoinTransfer, to rowDecisions: inout RowDecisions) throws(SQLiteError) {
    guard let redirection = LinkRedirection(join, number: rowDecisions.linkRows.count, self) else { return }
    let (owner, target, isKept) = (redirection.owner, redirection.target, redirection.isKept)
    let lostRows = [owner, target].compactMap(\.table).reduce(Int64(0)) {
      $0 + (rowDecisions.removedRows[$1.table] ?? 0)
    }
    guard lostRows > 0 else { return }
    // The plan has no candidate to ask yet: it counts by the query that will fill the table.
    let selection =
      "SELECT l.owner, l.target, \(owner.key) AS o, \(target.key) AS t FROM (\(join.selection)) AS l"
      + owner.join + target.join
    let touched = try connection.firstInteger(
      "SELECT COUNT(*) FROM (\(selection)) WHERE o IS NOT owner OR t IS NOT target")
    guard touched ?? 0 > 0 else { return }
    // Links of objects that become one may be equal afterwards.
    let rows = try connection.firstInteger(
      "SELECT COUNT(*) FROM (SELECT DISTINCT o, t FROM (\(selection)) WHERE \(isKept))")
    rowDecisions.linkRows[join.table.name] = rows ?? 0
    // A link between two objects that go is no loss of its own.
    let lost = try connection.firstInteger("SELECT COUNT(*) FROM (\(selection)) WHERE (o IS NULL) <> (t IS NULL)")
    if let lost, lost > 0 {
      rowDecisions.losses.append(
        linkLoss(entity: redirection.entity, relationship: redirection.relationship, rows: lost))
    }
    rowDecisions.decisionSteps.append(redirection.step)
    rowDecisions.checks += redirection.checks
  }
}

/// The redirection of a table's links from objects that were removed by decision to those that stand for them.
private struct LinkRedirection {
  let entity: String
  let relationship: String
  let owner: JoinEnd
  let target: JoinEnd
  private let table: String
  private let candidate: String
  private let pairsName: String
  private let ownerColumn: String
  private let targetColumn: String
  private let order: String?
  private let inverseOrder: String?

  private var pairs: String { "temp.\(quote(pairsName))" }

  /// The condition of links that stay; one between objects that become one would lead from it to itself.
  var isKept: String {
    "o IS NOT NULL AND t IS NOT NULL" + (owner.root == target.root ? " AND (o <> t OR owner = target)" : "")
  }

  /// Creates the redirection; `nil` for a table of which no end can lose an object.
  init?(_ join: JoinTransfer, number: Int, _ planner: DecisionPlanner) {
    let destination = planner.destination
    guard case .links(let entity, let name) = join.table.kind,
      let relationship = destination.model.relationship(named: name, of: entity),
      case .join(_, let ownerColumn, let targetColumn, let order)? = destination.storage(
        ofRelationship: name, in: entity),
      let owner = JoinEnd("owner", entity: entity, planner),
      let target = JoinEnd("target", entity: relationship.destinationEntity, planner)
    else { return nil }
    let inverseOrder = destination.model.inverse(of: relationship).flatMap {
      destination.storage(ofRelationship: $0.relationship.name, in: $0.entity.name)?.orderColumn
    }
    (self.entity, self.relationship, self.owner, self.target) = (entity, name, owner, target)
    table = join.table.name
    candidate = "\(quote(SchemaName.candidate)).\(quote(join.table.name))"
    pairsName = "heirloom_pairs_\(number + 1)"
    (self.ownerColumn, self.targetColumn) = (quote(ownerColumn), quote(targetColumn))
    self.order = order.map { quote($0) }
    self.inverseOrder = inverseOrder == order ? nil : inverseOrder.map { quote($0) }
  }

  var step: MigrationStep {
    MigrationStep(
      kind: .decideRows, subject: table, summary: "Lead the links of \(entity).\(relationship) elsewhere by decision",
      statements: (collecting + inserting + ordering).map { PlannedStatement($0) })
  }

  /// Takes the links of removed objects out of the table, and drops those that can't stay.
  private var collecting: [String] {
    let stored =
      "SELECT rowid AS id, \(ownerColumn) AS owner, \(targetColumn) AS target, \(order ?? "NULL") AS position,"
      + " \(inverseOrder ?? "NULL") AS inverse_position FROM \(candidate)"
    return [
      // The order is that in which the links will be inserted: of equal ones, the first counts.
      "CREATE TEMP TABLE \(quote(pairsName)) AS SELECT l.*, \(owner.key) AS o, \(target.key) AS t,"
        + " \(owner.place) AS owner_place, \(target.place) AS target_place FROM (\(stored)) AS l"
        + owner.join + target.join + " WHERE \(owner.isGone) OR \(target.isGone)"
        + " ORDER BY owner_place, target_place, position, l.owner, l.target",
      // A link that was changed in place could equal another for a while, which the key of the table forbids.
      "DELETE FROM \(candidate) WHERE rowid IN (SELECT id FROM \(pairs))",
      "DELETE FROM \(pairs) WHERE NOT (\(isKept))",
      // The object that stands for the removed one may have the link already.
      "DELETE FROM \(pairs) WHERE EXISTS (SELECT 1 FROM \(candidate) AS j WHERE j.\(ownerColumn) = o"
        + " AND j.\(targetColumn) = t)",
      "DELETE FROM \(pairs) WHERE rowid NOT IN (SELECT MIN(rowid) FROM \(pairs) GROUP BY o, t)",
    ]
  }

  private var inserting: [String] {
    let columns = [ownerColumn, targetColumn] + [order, inverseOrder].compactMap { $0 }
    let values = ["o", "t"] + (order == nil ? [] : ["position"]) + (inverseOrder == nil ? [] : ["inverse_position"])
    return [
      // A place may still be that among another object's members; the numbering that follows sets it right.
      "INSERT INTO \(candidate) (\(columns.joined(separator: ", "))) SELECT \(values.joined(separator: ", "))"
        + " FROM \(pairs) ORDER BY o, t"
    ]
  }

  /// Numbers the members of ordered ends anew: what came from another object follows in that object's place.
  private var ordering: [String] {
    [
      (order, "o", ownerColumn, targetColumn, "owner_place"),
      (inverseOrder, "t", targetColumn, ownerColumn, "target_place"),
    ].compactMap { order, list, key, member, place in
      order.map { order in
        // A member that the object had itself has no place in `p`, and NULL sorts first.
        "UPDATE \(candidate) AS j SET \(order) = v.place FROM (SELECT i.rowid AS id, 1024 + 1024 * ROW_NUMBER() OVER"
          + " (PARTITION BY i.\(key) ORDER BY p.\(place), i.\(order), i.\(member)) AS place FROM \(candidate) AS i"
          + " LEFT JOIN \(pairs) AS p ON p.o = i.\(ownerColumn) AND p.t = i.\(targetColumn)"
          + " WHERE i.\(key) IN (SELECT \(list) FROM \(pairs) WHERE \(place) IS NOT NULL)) AS v WHERE v.id = j.rowid"
      }
    }
  }

  /// No link leads to an object that was removed.
  var checks: [ProofCheck] {
    [(ownerColumn, owner), (targetColumn, target)].compactMap { column, end in
      end.table.map { table in
        .noMore(
          subject: "links of \(entity).\(relationship) to an object that was removed by decision",
          expected: "SELECT 0",
          found: "SELECT COUNT(*) FROM \(candidate) AS j WHERE j.\(column) IN (SELECT pk FROM \(table.removed))")
      }
    }
  }
}

/// One end of the links of a many-to-many relationship, whose objects may be removed.
private struct JoinEnd {
  /// The root entity of the objects.
  let root: String
  /// The table of the objects, if some may be removed.
  let table: DecisionTable?
  /// The SQL of the key that replaces the end's; NULL if none does.
  let key: String
  /// The SQL of the joins to the links `l` that the key needs.
  let join: String
  /// The SQL of the condition that the object is removed.
  let isGone: String
  /// The SQL of the place of a merged object among those that were merged into one.
  let place: String

  init?(_ name: String, entity: String, _ planner: DecisionPlanner) {
    guard let physical = planner.destination.entity(named: entity) else { return nil }
    root = physical.rootName
    guard let table = planner.tables[root], table.mayLoseRows else {
      (table, key, join, isGone, place) = (nil, "l.\(name)", "", "0", "NULL")
      return
    }
    self.table = table
    let (gone, stays) = ("\(name)_gone", "\(name)_stays")
    key = "CASE WHEN \(gone).pk IS NULL THEN l.\(name) ELSE \(stays).pk END"
    join =
      " LEFT JOIN \(table.removed) AS \(gone) ON \(gone).pk = l.\(name) LEFT JOIN \(table.rows) AS \(stays)"
      + " ON \(stays).pk = \(gone).survivor AND \(DecisionPlanner.isIn("\(stays).ent", physical.treeNumbers))"
    isGone = "\(gone).pk IS NOT NULL"
    place = "\(gone).place"
  }
}
