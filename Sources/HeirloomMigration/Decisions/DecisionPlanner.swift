import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Plans the outcome of decisions by carrying them out on temporary tables.
///
/// The tables hold keys and the columns of constraints. The statements that find the rows read only the store. The
/// builder runs the same statements again, so the result is the planned one; then it is written to the candidate.
final class DecisionPlanner {
  let matching: DecisionMatching
  let parts: CandidateParts
  let questions: EffectQuestions
  let effects: [DataEffect]
  let decidedBlockers: [(effect: DataEffect, decision: Int)]
  let found: [MigrationBlocker]
  let computed: [(effect: DataEffect, rows: Int64)]
  let connection: Connection
  let columns: TrackedColumns

  var script: CountedStatements
  /// By the root entity of their objects.
  private(set) var tables: [String: DecisionTable] = [:]
  private(set) var constraints: [(entity: String, properties: [String], index: PhysicalIndex)] = []

  var destination: PhysicalSchema { parts.destination }

  init(
    matching: DecisionMatching, parts: CandidateParts, questions: EffectQuestions,
    effects: [DataEffect], decidedBlockers: [(effect: DataEffect, decision: Int)], found: [MigrationBlocker],
    computed: [(effect: DataEffect, rows: Int64)], connection: Connection
  ) {
    self.matching = matching
    self.parts = parts
    self.questions = questions
    self.effects = effects
    self.decidedBlockers = decidedBlockers
    self.found = found
    self.computed = computed
    self.connection = connection
    columns = TrackedColumns(parts.destination)
    script = CountedStatements(connection: connection)
  }

  /// Only a longer chain of required links exceeds it.
  static let roundLimit = 10_000

  /// The parts already include `values`.
  func rowDecisions(values: DecidedValues) throws -> RowDecisions {
    chooseTables(values: values)
    guard tables.values.contains(where: \.mayLoseRows) else {
      var rowDecisions = RowDecisions()
      rowDecisions.blockers = openBlockers
      rowDecisions.outcomes = try outcomes()
      rowDecisions.entries = try entries()
      return rowDecisions
    }
    defer { dropTables() }
    try makeTables()
    try removeByCondition()
    try removeUntilNothingChanges()
    return try allRowDecisions()
  }

  var orderedTables: [DecisionTable] { tables.values.ordered { $0.number < $1.number } }

  // MARK: The tables

  private func chooseTables(values: DecidedValues) {
    var roots: Set<String> = []
    func root(of entity: String) -> String? { destination.entity(named: entity)?.rootName }
    for (effect, decision) in decidedBlockers where matching.decisions[decision].choice.removesRows {
      let entities = effect.kind.code == "duplicate" ? [effect.entity] : effect.rows.compactMap(\.destinationEntity)
      roots.formUnion(entities.compactMap(root))
    }
    for index in destination.indexes {
      guard case .constraint(let entity, let properties) = index.kind, let root = root(of: entity) else { continue }
      let owners = properties.map { destination.model.declaringEntity(ofProperty: $0, in: entity)?.name ?? entity }
      // A value that many rows get makes them equal.
      if zip(properties, owners).contains(where: { values.concern($0, declaredBy: $1) }) { roots.insert(root) }
    }
    // If keys refer to objects that may be removed, rows may become equal or lack a required link.
    while true {
      let before = roots.count
      for entity in destination.entities where entity.superentityNumber == 0 && !roots.contains(entity.name) {
        let links = (columns.links[entity.table] ?? []).filter { $0.link.map { roots.contains($0.root) } ?? false }
        let constrained = destination.indexes.filter { $0.table == entity.table && $0.isConstraint }.flatMap(\.columns)
        if links.contains(where: { $0.link?.isRequired ?? false || constrained.contains($0.name) }) {
          roots.insert(entity.name)
        }
      }
      if roots.count == before { break }
    }
    for index in destination.indexes {
      guard case .constraint(let entity, let properties) = index.kind,
        let root = root(of: entity), roots.contains(root)
      else { continue }
      constraints.append((entity, properties, index))
    }
    for entity in destination.entities where entity.superentityNumber == 0 {
      let links = columns.links[entity.table] ?? []
      guard parts.transfers.contains(where: { $0.table == entity.table }) else { continue }
      if roots.contains(entity.name) {
        var names = constraints.filter { $0.index.table == entity.table }.flatMap(\.index.columns)
        names += matching.decisions.compactMap { ageColumn(of: $0, in: entity) }
        let others = names.filter { name in !links.contains { $0.name == name } }
        let tracked = Set(others).ordered().compactMap { columns.column(named: $0, of: entity.table) }
        add(entity, links + tracked, mayLoseRows: true)
      } else {
        let concerned = links.filter { $0.link.map { roots.contains($0.root) } ?? false }
        if !concerned.isEmpty { add(entity, concerned, mayLoseRows: false) }
      }
    }
  }

  private func ageColumn(of decision: DataDecision, in root: PhysicalEntity) -> String? {
    guard let age = decision.choice.age, destination.entity(named: decision.entity)?.rootName == root.name else {
      return nil
    }
    return destination.column(
      atPath: age.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init), in: decision.entity)?.name
  }

  private func add(_ root: PhysicalEntity, _ columns: [TrackedColumn], mayLoseRows: Bool) {
    tables[root.name] = DecisionTable(
      number: tables.count + 1, table: root.table, root: root, columns: columns, mayLoseRows: mayLoseRows)
  }

  private func makeTables() throws {
    let made = orderedTables.map { table in
      table.statements(parts.transfers.filter { $0.table == table.table })
    }
    // Links are collected while the candidate is built, but the counts need them now.
    if made.contains(where: { $0.rows.contains { $0.contains(LinkTables.namePrefix) } }) {
      for step in parts.links.steps { for statement in step.statements { try connection.execute(statement.sql) } }
    }
    for (definitions, rows, indexes) in made {
      for sql in definitions { try script.define(sql) }
      for sql in rows { try script.change(sql) }
      for sql in indexes { try script.define(sql) }
    }
  }

  private func dropTables() {
    for table in tables.values {
      for name in [table.rowsName, table.removedName] {
        // Otherwise they are dropped with the connection.
        try? connection.execute("DROP TABLE IF EXISTS temp.\(quote(name))")
      }
    }
    for table in parts.links.tables { try? connection.execute("DROP TABLE IF EXISTS temp.\(quote(table.name))") }
  }

  // MARK: Removals

  private func mark(_ table: DecisionTable) throws(SQLiteError) -> Int64 {
    try connection.firstInteger("SELECT MAX(seq) FROM \(table.removed)") ?? 0
  }

  private func removeByCondition() throws {
    for (effect, decision) in decidedBlockers where matching.decisions[decision].choice == .quarantine {
      for (row, condition) in questions.conditions(of: effect) {
        guard let route = parts.crossing.routing.bySource[row.entity], route.destination == row.destinationEntity,
          let root = destination.entity(named: route.destination)?.rootName,
          let table = tables[root], let sourceTable = parts.source.table(ofEntity: row.entity)?.name
        else { continue }
        let before = try mark(table)
        let number = route.sourceNumber
        // The condition is about rows of the store, whose keys are unique in a tree only, so entities are compared too.
        try script.change(
          "INSERT INTO \(table.removed) (pk, ent, spk, sent, place, decision) SELECT r.pk, r.ent, r.spk, r.sent, r.pk,"
            + " \(decision) FROM \(table.rows) AS r WHERE r.sent = \(number) AND r.spk IN"
            + " (SELECT s.\(quote(PhysicalName.primaryKey)) FROM \(SchemaName.rows(of: sourceTable, as: "s"))"
            + " WHERE s.\(quote(PhysicalName.entity)) = \(number) AND (\(condition))) ORDER BY r.pk")
        try follow(table, after: before)
      }
    }
  }

  private func removeUntilNothingChanges() throws {
    var rounds = 0
    var isChanged = true
    while isChanged {
      isChanged = false
      for (entity, properties, index) in constraints {
        let kind = DataEffect.Kind.duplicate
        guard let decision = matching.decision(about: kind, of: entity, properties) else { continue }
        if try removeDuplicates(index, decision: decision) { isChanged = true }
      }
      while try removeRowsWithoutLinks() {
        isChanged = true
        rounds += 1
        guard rounds < Self.roundLimit else {
          throw MigrationError.unsupportedMapping(
            reason:
              "a decision removes more than \(rounds) objects in turn, because each requires a link to one that is"
              + " removed; choose merge, or make the relationship optional")
        }
      }
      rounds += 1
    }
  }

  private func removeDuplicates(_ index: PhysicalIndex, decision number: Int) throws -> Bool {
    let decision = matching.decisions[number]
    guard let table = tables.values.first(where: { $0.table == index.table }) else { return false }
    let names = index.columns.map { "r.\(quote($0))" }
    let age = ageColumn(of: decision, in: table.root).map { "r.\(quote($0)) DESC, " } ?? ""
    let before = try mark(table)
    let isMerge = decision.choice.option == .merge
    // A constraint allows any number of NULLs. The newest object stays, or the one with the highest key if no age is
    // given. Newer objects are numbered first, since in a merge their values and links take precedence over older ones.
    let removed = try script.change(
      "INSERT INTO \(table.removed) (pk, ent, spk, sent, survivor, twin, place, decision)"
        + " SELECT pk, ent, spk, sent, \(isMerge ? "twin" : "NULL"), twin, \(before) + n, \(number) FROM"
        + " (SELECT r.pk, r.ent, r.spk, r.sent, FIRST_VALUE(r.pk) OVER w AS twin, ROW_NUMBER() OVER w AS n"
        + " FROM \(table.rows) AS r WHERE \(names.map { "\($0) IS NOT NULL" }.chained(by: "AND"))"
        + " WINDOW w AS (PARTITION BY \(names.joined(separator: ", ")) ORDER BY \(age)r.pk DESC)) WHERE n > 1"
        + " ORDER BY n, pk")
    guard removed > 0 else { return false }
    if isMerge { try fillSurvivors(table, after: before) }
    try follow(table, after: before)
    return true
  }

  private func removeRowsWithoutLinks() throws -> Bool {
    var isChanged = false
    for table in orderedTables where table.mayLoseRows {
      for column in table.columns {
        guard let link = column.link, link.isRequired,
          let number = matching.decision(about: .missingLink(otherSide: nil), of: link.entity, [link.relationship]),
          matching.decisions[number].choice.removesRows
        else { continue }
        let before = try mark(table)
        // Links that are missing in the store itself are found by their condition; here only those that a removal set
        // to NULL count.
        let removed = try script.change(
          "INSERT INTO \(table.removed) (pk, ent, spk, sent, place, decision) SELECT r.pk, r.ent, r.spk, r.sent, r.pk,"
            + " \(number) FROM \(table.rows) AS r WHERE \(Self.lostLink(column)) ORDER BY r.pk")
        guard removed > 0 else { continue }
        isChanged = true
        try follow(table, after: before)
      }
    }
    return isChanged
  }

  /// Of a row `r` whose link decisions set to NULL.
  static func lostLink(_ column: TrackedColumn) -> String {
    let (name, former) = (quote(column.name), quote(column.former))
    return "r.\(name) IS NULL AND r.\(former) IS NOT NULL AND \(isIn("r.ent", column.holders))"
  }

  static func isIn(_ column: String, _ numbers: ClosedRange<Int>) -> String {
    "\(column) BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)"
  }

  // MARK: Consequences

  private func fillSurvivors(_ table: DecisionTable, after mark: Int64) throws(SQLiteError) {
    for group in Dictionary(grouping: table.columns, by: \.group).values.ordered(by: { $0[0].name < $1[0].name }) {
      var isEmpty = group.map { "\(quote($0.name)) IS NULL" }.chained(by: "AND")
      var values = group.map { "o.\(quote($0.name))" }
      var isGiven = "(" + group.map { "o.\(quote($0.name)) IS NOT NULL" }.chained(by: "OR") + ")"
      if group[0].holders != table.root.treeNumbers { isGiven += " AND \(Self.isIn("m.ent", group[0].holders))" }
      if let link = group[0].link, link.root == table.root.name {
        let name = quote(group[0].name)
        // Merging an object with its parent would make it its own parent, unless it was that before.
        try script.change(
          "UPDATE \(table.rows) AS r SET \(name) = NULL WHERE \(name) IN"
            + " (SELECT m.pk FROM \(table.removed) AS m WHERE m.survivor = r.pk AND m.seq > \(mark))")
        let key = "o.\(name)"
        isGiven +=
          " AND (\(key) = m.pk OR"
          + " COALESCE((SELECT x.survivor FROM \(table.removed) AS x WHERE x.pk = \(key)), \(key)) <> m.survivor)"
        values = ["CASE WHEN \(key) = m.pk THEN m.survivor ELSE \(key) END"]
      }
      if let link = group[0].link, let inverse = link.inverseColumn, let others = tables[link.root]?.rows {
        // A link that only the other object stores is also the survivor's.
        isEmpty += " AND NOT EXISTS (SELECT 1 FROM \(others) AS x WHERE x.\(quote(inverse)) = r.pk)"
      }
      let assignments = zip(group, values).map { column, value in
        "\(quote(column.name)) = (SELECT \(value) FROM \(table.removed) AS m JOIN \(table.rows) AS o"
          + " ON o.pk = m.pk WHERE m.survivor = r.pk AND m.seq > \(mark) AND \(isGiven) ORDER BY m.place, m.seq LIMIT 1)"
      }
      // All columns of a composite attribute come from one object, and only if the survivor has none of them.
      try script.change(
        "UPDATE \(table.rows) AS r SET \(assignments.joined(separator: ", ")) WHERE \(isEmpty) AND r.pk IN"
          + " (SELECT survivor FROM \(table.removed) WHERE seq > \(mark)) AND \(Self.isIn("r.ent", group[0].holders))")
    }
  }

  /// Deletes removed rows, and redirects the links to them or sets them to NULL.
  private func follow(_ table: DecisionTable, after mark: Int64) throws(SQLiteError) {
    let gone = "(SELECT pk FROM \(table.removed) WHERE seq > \(mark))"
    guard try script.change("DELETE FROM \(table.rows) WHERE pk IN \(gone)") > 0 else { return }
    // Objects that had been merged into one of them follow it.
    let removed = table.removed
    try script.change(
      "UPDATE \(removed) AS r SET survivor = n.survivor, twin = COALESCE(n.survivor, r.twin), place = r.place + n.place,"
        + " decision = CASE WHEN n.survivor IS NULL THEN n.decision ELSE r.decision END"
        + " FROM (SELECT pk, survivor, place, decision FROM \(removed) WHERE seq > \(mark)) AS n"
        + " WHERE r.survivor = n.pk")
    for other in orderedTables {
      for column in other.links(to: table.root.name) {
        guard let link = column.link else { continue }
        let name = quote(column.name)
        let isOther = other.number == table.number ? " AND m.survivor <> r.pk" : ""
        // The link is redirected to the survivor if the relationship allows its entity and the link isn't the
        // survivor's own.
        try script.change(
          "UPDATE \(other.rows) AS r SET \(name) = (SELECT m.survivor FROM \(removed) AS m JOIN \(table.rows) AS t"
            + " ON t.pk = m.survivor AND \(Self.isIn("t.ent", link.targets)) WHERE m.pk = r.\(name)\(isOther))"
            + " WHERE \(name) IN \(gone)")
        guard let inverse = link.inverseColumn else { continue }
        // Of several links to one object, the one that the object refers back to is kept, or else its own, or that of
        // the first object that was merged into it.
        try script.change(
          "UPDATE \(other.rows) AS r SET \(name) = NULL WHERE \(name) IN"
            + " (SELECT survivor FROM \(removed) WHERE seq > \(mark)) AND r.pk IS NOT (SELECT x.pk FROM \(other.rows) AS x"
            + " JOIN \(table.rows) AS t ON t.pk = x.\(name) LEFT JOIN \(removed) AS m ON m.pk = x.\(quote(column.former))"
            + " WHERE x.\(name) = r.\(name) AND (IFNULL(t.\(quote(inverse)), x.pk) = x.pk"
            + " OR x.\(name) = x.\(quote(column.former))) ORDER BY x.pk IS NOT t.\(quote(inverse)),"
            + " x.\(name) IS NOT x.\(quote(column.former)), m.place, m.seq, x.pk LIMIT 1)")
      }
    }
  }
}

extension MigrationBlocker {
  func isAbout(_ effect: DataEffect) -> Bool {
    kind == effect.kind.code && entity == effect.entity
      && (property ?? "") == effect.properties.joined(separator: ", ")
  }
}

extension PhysicalIndex {
  var isConstraint: Bool {
    if case .constraint = kind { true } else { false }
  }
}
