import HeirloomFormats
import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// All that a planner knows of a store and its candidate when the losses are counted.
package final class AccountSources {
  /// The whole models of the hop.
  let models: [ManagedObjectModel]
  let crossing: Crossing
  let parts: CandidateParts
  /// The parts that are changed, decided or lost.
  let entries: [CountedEntry]
  let openLines: [OpenLine]
  let openLinks: [OpenLinks]
  let taken: TakenRows
  let connection: Connection

  init(
    of models: [ManagedObjectModel], _ crossing: Crossing, _ parts: CandidateParts, entries: [CountedEntry],
    openLines: [OpenLine], openLinks: [OpenLinks], taken: TakenRows, connection: Connection
  ) {
    self.models = models
    (self.crossing, self.parts, self.entries) = (crossing, parts, entries)
    (self.openLines, self.openLinks, self.taken, self.connection) = (openLines, openLinks, taken, connection)
  }
}

/// The accounts of a store, hop by hop, as the plans are made.
package final class StoreAccounts: Sendable {
  private let lines = Locked<[[ManagedObjectModel]: [Line]]>([:])

  package init() {}

  /// Makes the account of the store before a hop.
  ///
  /// - Throws: `SQLiteError`.
  package func add(_ sources: AccountSources) throws {
    let found = try StoreAccount.lines(of: sources)
    lines.withLock { $0[sources.models] = found }
  }

  /// The account of the store before the hop of a plan; empty if none was made.
  package subscript(plan: MigrationPlan) -> [Line] { lines.withLock { $0[[plan.source, plan.destination]] ?? [] } }
}

/// The account of a store: a line for each table, column, link, file and metadata key.
///
/// A plan asks only for what is changed or lost; the account counts the rest, too, and so reads every table once more. An
/// app doesn't link it.
struct StoreAccount {
  private let sources: AccountSources

  private var crossing: Crossing { sources.crossing }
  private var source: PhysicalSchema { crossing.source }
  private var connection: Connection { sources.connection }

  /// Returns the lines.
  ///
  /// - Throws: `SQLiteError`.
  static func lines(of sources: AccountSources) throws -> [Line] {
    let account = StoreAccount(sources: sources)
    let before = try account.temporaryTables()
    defer {
      // They go with the connection at the latest.
      for name in (try? account.temporaryTables().subtracting(before)) ?? [] {
        try? sources.connection.execute("DROP TABLE IF EXISTS temp.\(quote(name))")
      }
    }
    try account.findRemovedObjects()
    return try account.lines()
  }

  private func temporaryTables() throws(SQLiteError) -> Set<String> {
    Set(try connection.rows("SELECT name FROM temp.sqlite_schema WHERE type = 'table'").compactMap { $0[0].text })
  }

  /// Finds the objects that decisions remove, as the run will.
  private func findRemovedObjects() throws(SQLiteError) {
    let steps = sources.parts.rowDecisions.findSteps
    guard !steps.isEmpty else { return }
    for statement in (sources.parts.links.steps + steps).flatMap(\.statements) {
      try connection.execute(statement.sql)
    }
  }

  private func lines() throws -> [Line] {
    var lines: [Line] = []
    for (object, ownership) in crossing.actual.ownership(under: source) where object.kind == .table {
      guard let table = crossing.actual.table(named: object.name) else { continue }
      switch ownership {
      case .model:
        guard let known = source.table(named: table.name) else {
          lines.append(try rows(of: table, part(.remade)))
          continue
        }
        if case .objects = known.kind { lines += try objects(in: known) }
        if case .links = known.kind {
          lines.append(try rows(of: table, part(.remade, reason: "They are counted as links.")))
        }
        lines += try columns(of: table, known)
      case .bookkeeping:
        lines.append(try rows(of: table, part(.remade)))
        lines += try otherColumns(of: table)
      case .history, .cloudKit, .foreign: lines.append(try copied(table))
      case .shadow: lines.append(try rows(of: table, part(.carried, [table.name])))
      case .pending, .leftover: lines.append(try rows(of: table, part(.leftOut)))
      case .system: continue
      }
    }
    return lines + (try links()) + (try metadata())
  }

  // MARK: Parts

  /// The rest of a line, whose count is known when the line is closed.
  private struct Rest {
    let fate: Line.Fate
    var places: [String] = []
    var reason: String?
  }

  private func part(_ fate: Line.Fate, _ places: [String] = [], reason: String? = nil) -> Rest {
    Rest(fate: fate, places: places, reason: reason)
  }

  /// Closes a line with the entries of its subjects, with what goes with its objects, and with the rest.
  private func line(
    _ kind: Line.Kind, _ name: String, property: String? = nil, count: Int64, of subjects: [Subject],
    dropped: Line.Part? = nil, atRemoved: Int64 = 0, withObjects: Int64 = 0, rest: Rest
  ) -> Line {
    var parts: [Line.Part] = []
    var left = count
    func add(_ fate: Line.Fate, _ rows: Int64, _ places: [String] = [], _ reason: String? = nil) {
      guard rows > 0 else { return }
      parts.append(Line.Part(fate: fate, count: rows, places: places, reason: reason))
      left -= rows
    }
    var decided: Int64 = 0
    var changed: Int64 = 0
    var reasons: [String] = []
    if let dropped { add(dropped.fate, dropped.count, dropped.places, dropped.reason) }
    for counted in sources.entries
    where subjects.contains(where: { $0.key == counted.entry.subject.key }) && counted.entry.links.isEmpty {
      let rows = kind == .links ? counted.links ?? counted.rows : counted.rows
      let cause = counted.entry.cause
      // An order is about links that stay, and not counted in links.
      if kind == .links, cause.kind == .order { continue }
      if cause.isChange {
        changed = max(changed, rows)
        reasons.append(cause.reason)
      } else {
        let isDecided = cause.consent == .decision
        if isDecided { decided += rows }
        add(isDecided ? .decided : .lost, rows, [], cause.reason)
      }
    }
    // The entries of decisions count some of the objects that don't stay by themselves.
    add(.decided, atRemoved - decided, rest.places, "Decisions are about an object at one end.")
    add(.withObjects, kind == .links ? withObjects : withObjects - decided)
    add(.changed, changed, rest.places, reasons.first)
    // The rest is carried only if something takes it; fewer than none were left if parts overlap.
    if left < 0 || left > 0 && rest.fate == .carried && rest.places.isEmpty {
      parts.append(Line.Part(fate: .unaccounted, count: left, places: [], reason: nil))
    } else {
      add(rest.fate, left, rest.places, rest.reason)
    }
    return Line(kind: kind, name: name, property: property, count: count, parts: parts)
  }

  private func rows(of table: ActualTable, _ rest: Rest) throws -> Line {
    line(
      .rows, table.name, count: try connection.rowCount(of: SchemaName.rows(of: table.name)),
      of: [.rows(table: table.name)], rest: rest)
  }

  // MARK: Objects

  private func objects(in table: PhysicalTable) throws -> [Line] {
    source.entities.filter { $0.table == table.name }.map { entity in
      let takers = crossing.takers[entity.name]
      let code = takers.filter(\.flow.isOpaque).map(\.flow.mapping)
      return line(
        .objects, entity.name, count: crossing.counts.byEntity[entity.name, default: 0],
        of: [.objects(entity: entity.name)],
        rest: code.isEmpty ? part(.carried, takers.map(\.flow.destination.name)) : part(.code, code))
    }
  }

  /// Returns the condition that no mapping takes an object; `nil` if some takes each.
  private func isUntaken(_ entity: PhysicalEntity) -> String? {
    let takers = crossing.takers[entity.name]
    guard !takers.isEmpty else { return "1" }
    guard takers.allSatisfy({ taken[$0.flow.mapping] != nil }) else { return nil }
    return "NOT (\(takers.compactMap { taken[$0.flow.mapping] }.chained(by: "OR")))"
  }

  /// Returns the condition that a decision removes an object; `nil` if none does.
  private func isRemoved(_ entity: PhysicalEntity) -> String? {
    let parts = sources.parts.rowDecisions.removals.map { removed in
      "EXISTS (SELECT 1 FROM \(removed.table) AS x WHERE x.spk = s.\(quote(PhysicalName.primaryKey))"
        + " AND x.sent = \(entity.number))"
    }
    return parts.isEmpty ? nil : "(\(parts.chained(by: "OR")))"
  }

  private var taken: [String: String] { sources.taken.known }

  /// Returns the condition that a row of a table meets one of its entity's conditions.
  private func any(in table: String, _ conditions: (PhysicalEntity) -> [String?]) -> String {
    let parts = source.entities.filter { $0.table == table }.flatMap { entity in
      conditions(entity).compactMap(\.self).map { "(s.\(quote(PhysicalName.entity)) = \(entity.number) AND \($0))" }
    }
    return parts.isEmpty ? "0" : "(\(parts.chained(by: "OR")))"
  }

  /// Returns the condition that a cell goes with the object of its row.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - owner: The entity of an attribute; other cells of objects that no mapping takes have entries of their own.
  /// - Returns: The condition, over the row `s`.
  private func goes(in table: String, owner: String?) -> String {
    any(in: table) { entity in
      let isOwn = owner.map { source.model.isEntity(entity.name, kindOf: $0) } ?? false
      guard isOwn || !crossing.takers[entity.name].isEmpty else { return [] }
      return [isUntaken(entity), isRemoved(entity)]
    }
  }

  // MARK: Cells

  private func columns(of table: ActualTable, _ known: PhysicalTable) throws -> [Line] {
    let isOfObjects = if case .objects = known.kind { true } else { false }
    return try zip(table.columns, counts(of: table, known, isOfObjects)).flatMap { column, counts -> [Line] in
      let name = "\(table.name).\(column.name)"
      let role = column.isGenerated ? nil : known.column(named: column.name)?.role
      let count = counts.all
      guard let role else {
        return [line(.bookkeeping, name, count: count, of: [], rest: part(.remade, reason: "SQLite computes it."))]
      }
      let property = role.property.map { "\($0.entity).\($0.path.joined(separator: "."))" }
      guard role.isCells else {
        let isLink = role.property != nil
        return [
          line(
            .bookkeeping, name, property: property, count: count, of: [],
            rest: part(.remade, reason: isLink ? "The links have a line." : nil))
        ]
      }
      let cells = line(
        .cells, name, property: property, count: count, of: [.cells(column: column.name, table: table.name)],
        withObjects: counts.going, rest: rest(column.name, in: table.name, isOfObjects))
      guard counts.files > 0 else { return [cells] }
      // A migration removes no file: the previous version needs it.
      return [
        cells,
        line(
          .files, name, property: property, count: counts.files, of: [], rest: part(.carried, ["beside the store"])),
      ]
    }
  }

  /// Counts the cells of each column of a table, those that go with their objects, and those that name a file.
  private func counts(
    of table: ActualTable, _ known: PhysicalTable, _ isOfObjects: Bool
  ) throws -> [(all: Int64, going: Int64, files: Int64)] {
    var goingByOwner: [String?: String] = [:]
    let aggregates = table.columns.map { column -> String in
      let cell = "s.\(quote(column.name))"
      let role = column.isGenerated ? nil : known.column(named: column.name)?.role
      var owner: String?
      if case .attribute(let entity, _)? = role { owner = entity }
      let going = isOfObjects ? goingByOwner[owner] ?? goes(in: table.name, owner: owner) : "0"
      goingByOwner[owner] = going
      return "COUNT(\(cell)), COUNT(CASE WHEN \(going) THEN \(cell) END), "
        + (isExternal(role) ? Self.fileCount(cell) : "0")
    }
    // SQLite allows 2000 result columns.
    return try stride(from: 0, to: aggregates.count, by: 500).flatMap { start in
      let part = aggregates[start..<min(start + 500, aggregates.count)]
      let row = try connection.rows(
        "SELECT \(part.joined(separator: ", ")) FROM \(SchemaName.rows(of: table.name, as: "s"))"
      ).first
      let counts = (row ?? []).map { $0.integer ?? 0 }
      return part.indices.map { index in
        let place = (index - start) * 3
        return (counts[place], counts[place + 1], counts[place + 2])
      }
    }
  }

  private func isExternal(_ role: PhysicalColumn.Role?) -> Bool {
    guard case .attribute(let entity, let path)? = role else { return false }
    return source.column(atPath: path, in: entity)?.attribute.allowsExternalBinaryDataStorage ?? false
  }

  /// The number of cells that name a file: those begin with the byte 02.
  private static func fileCount(_ cell: String) -> String {
    "COUNT(CASE WHEN TYPEOF(\(cell)) = 'blob' AND SUBSTR(\(cell), 1, 1) = X'02' THEN 1 END)"
  }

  /// Returns where the cells of a column go of which nothing else is told.
  private func rest(_ column: String, in table: String, _ isOfObjects: Bool) -> Rest {
    guard isOfObjects else {
      let joins = sources.parts.joins.filter { join in
        join.pairs == table && join.unknown.contains { $0.column.name == column }
      }
      return part(.carried, joins.map { "\($0.table.name).\(column)" })
    }
    let code = sources.openLines.filter { $0.column == column && $0.entity.table == table }.flatMap(\.takers)
    guard code.isEmpty else { return part(.code, Set(code).ordered()) }
    var places: [String] = []
    for transfer in sources.parts.transfers where transfer.sourceTable == table {
      for (name, entry) in transfer.columns {
        let reads = transfer.sourceNumbers.contains { number in
          entry.columnsRead(ofRowsNumbered: number).contains(column)
            || entry.columnsPartlyRead(ofRowsNumbered: number)?.columns.contains(column) ?? false
        }
        if reads { places.append("\(transfer.table).\(name)") }
      }
    }
    // Objects that are made one by one get their values from the mapping.
    let byRow = source.entities.filter { $0.table == table }.flatMap { crossing.takers[$0.name] }
      .filter { taker in crossing.split.byRow.contains { $0.name == taker.flow.mapping } }.map(\.flow.mapping)
    return places.isEmpty && !byRow.isEmpty ? part(.code, byRow) : part(.carried, places)
  }

  /// The lines of columns that others added to a table of the framework's bookkeeping.
  private func otherColumns(of table: ActualTable) throws -> [Line] {
    let own = ActualSchema.bookkeeping.first { $0.table == table.name }?.columns ?? []
    return try crossing.actual.otherColumns(of: table.name, besides: own).map { column in
      let cells = "SELECT COUNT(\(quote(column.name))) FROM \(SchemaName.rows(of: table.name))"
      return line(
        .cells, "\(table.name).\(column.name)", count: try connection.firstInteger(cells) ?? 0,
        of: [.cells(column: column.name, table: table.name)], rest: part(.carried, ["\(table.name).\(column.name)"]))
    }
  }

  // MARK: Tables of others

  private func copied(_ table: ActualTable) throws -> Line {
    let count = try connection.rowCount(of: SchemaName.rows(of: table.name))
    let copied = sources.parts.foreignRows.first { $0.subject == table.name }?.rows ?? count
    var whole = line(.rows, table.name, count: copied, of: [], rest: part(.carried, [table.name]))
    if copied < count {
      let gone = Line.Part(fate: .leftOut, count: count - copied, places: [], reason: nil)
      whole = Line(kind: .rows, name: table.name, property: nil, count: count, parts: whole.parts + [gone])
    }
    return whole
  }

  // MARK: Links

  private func links() throws -> [Line] {
    var told: Set<[String]> = []
    var result: [Line] = []
    for entity in source.model.entities {
      for relationship in entity.relationships where !told.contains([entity.name, relationship.name]) {
        guard let counts = try count(relationship, of: entity.name) else { continue }
        var sides = [[entity.name, relationship.name]]
        if let inverse = source.model.inverse(of: relationship), !inverse.relationship.isTransient {
          let side = [inverse.entity.name, inverse.relationship.name]
          // A link is one thing, whichever side is asked.
          told.insert(side)
          if side != sides[0] { sides.append(side) }
        }
        let heirs = sides.map { self.heirs(of: $0[1], from: $0[0]) }
        let code = sources.openLinks.filter { open in
          sides.contains { open.relationship == $0[1] && source.model.isEntity(open.owner, kindOf: $0[0]) }
        }.flatMap(\.parts.takers)
        let places = heirs.first { !$0.isEmpty } ?? []
        result.append(
          line(
            .links, sides[0].joined(separator: "."), property: sides.dropFirst().first?.joined(separator: "."),
            count: counts.all,
            of: sides.map { .links(entity: $0[0], relationship: $0[1]) }
              + heirs.joined().map { .linksInto(entity: $0[0], relationship: $0[1]) },
            dropped: try dropped(sides), atRemoved: counts.atRemoved, withObjects: counts.withObjects,
            rest: code.isEmpty
              ? part(.carried, places.map { $0.joined(separator: ".") }) : part(.code, Set(code).ordered())))
      }
    }
    return result
  }

  /// Counts the links that either side of a relationship tells as dropped, each once.
  private func dropped(_ sides: [[String]]) throws -> Line.Part? {
    var queries: [String] = []
    var reason: String?
    for counted in sources.entries {
      let key = counted.entry.subject.key
      guard let place = sides.firstIndex(where: { Subject.links(entity: $0[0], relationship: $0[1]).key == key }) else {
        continue
      }
      let ends = place == 0 ? "owner, target" : "target, owner"
      queries += counted.entry.links.map { "SELECT \(ends) FROM (\($0))" }
      if !counted.entry.links.isEmpty { reason = reason ?? counted.entry.cause.reason }
    }
    guard !queries.isEmpty else { return nil }
    let count = try connection.firstInteger("SELECT COUNT(*) FROM (\(queries.joined(separator: " UNION ")))")
    return Line.Part(fate: .lost, count: count ?? 0, places: [], reason: reason)
  }

  /// Counts the links of a relationship by both sides' account, those that are told with their objects, and those of
  /// objects that decisions are about.
  ///
  /// Of a link of which one end goes, the relationship of the object that stays tells, if it has one.
  private func count(
    _ relationship: RelationshipDescription, of entity: String
  ) throws -> (all: Int64, withObjects: Int64, atRemoved: Int64)? {
    let lines = LinkLines(crossing, taken: sources.taken)
    guard let links = lines.links(of: relationship, declaredBy: entity),
      let owners = source.table(ofEntity: links.ownerRoot)?.name,
      let targets = source.table(ofEntity: links.targetRoot)?.name
    else { return nil }
    func isAmong(_ end: String, _ table: String, where condition: String = "1") -> String {
      "k.\(end) IN (SELECT s.\(quote(PhysicalName.primaryKey)) FROM \(SchemaName.rows(of: table, as: "s"))"
        + " WHERE \(condition))"
    }
    var going = isAmong("owner", owners, where: any(in: owners) { [isUntaken($0)] })
    if source.model.inverse(of: relationship)?.relationship.isTransient == false {
      going += " AND " + isAmong("target", targets, where: any(in: targets) { [isUntaken($0)] })
    }
    let removed = [("owner", owners), ("target", targets)].map { end, table in
      isAmong(end, table, where: any(in: table) { [isRemoved($0)] })
    }
    let counts = try connection.rows(
      "SELECT COUNT(*), COUNT(CASE WHEN \(going) THEN 1 END), COUNT(CASE WHEN \(removed.chained(by: "OR")) THEN 1 END)"
        + " FROM (\(links.sql)) AS k WHERE \(isAmong("owner", owners)) AND \(isAmong("target", targets))"
    ).first
    return (counts?[0].integer ?? 0, counts?[1].integer ?? 0, counts?[2].integer ?? 0)
  }

  /// Returns the relationships of the destination that continue one of the source.
  private func heirs(of relationship: String, from entity: String) -> [[String]] {
    var heirs: [[String]] = []
    for name in source.model.entityTree(from: entity).map(\.name) {
      for taker in crossing.takers[name] {
        for heir in taker.heirs[relationship] ?? [] where !heirs.contains(heir) { heirs.append(heir) }
      }
    }
    return heirs
  }

  // MARK: Metadata

  private func metadata() throws -> [Line] {
    let query =
      "SELECT \(quote(PhysicalName.propertyList)) FROM \(SchemaName.rows(of: PhysicalName.metadataTable)) LIMIT 1"
    guard let bytes = try connection.rows(query).first?.first?.blob else { return [] }
    let old = try BinaryPropertyListReader(bytes).value().dictionaryValue ?? [:]
    let new = try BinaryPropertyListReader(sources.parts.metadata.list).value().dictionaryValue ?? [:]
    return old.ordered(by: \.key).map { key, value in
      line(
        .metadata, key, count: 1, of: [],
        rest: new[key] == value ? part(.carried, [key]) : part(.remade))
    }
  }
}

extension Subject {
  /// The words that differ for each two subjects.
  fileprivate var key: [String] {
    switch self {
    case .objects(let entity): ["objects", entity]
    case .cells(let column, let table): ["cells", column, table]
    case .links(let entity, let relationship): ["links", entity, relationship]
    case .linksInto(let entity, let relationship): ["linksInto", entity, relationship]
    case .rows(let table): ["rows", table]
    }
  }
}

extension PhysicalColumn.Role {
  /// True if the values are content of their own, rather than keys, numbers or places of links.
  fileprivate var isCells: Bool {
    switch self {
    case .attribute, .unknown: true
    default: false
    }
  }
}

extension LossCause {
  /// True if what it is about goes on, changed.
  fileprivate var isChange: Bool {
    switch self {
    case .effect(.valuesChanged, _, _), .effect(.rounded, _, _), .replaced: true
    default: false
    }
  }
}
