import Foundation
import HeirloomFormats
import HeirloomMapping
package import HeirloomModel
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
  /// The account of the store before a hop.
  package struct Hop: Sendable {
    package let source: ManagedObjectModel
    package let destination: ManagedObjectModel
    package let lines: [Line]
  }

  private struct Found {
    /// The model of the store itself, about which the first plan is.
    var first: ManagedObjectModel?
    /// The last account that was made of a store of each model.
    var bySource: [ManagedObjectModel: Hop] = [:]
  }

  private let found = Locked(Found())

  package init() {}

  /// Makes the account of the store before a hop.
  ///
  /// - Throws: `SQLiteError`.
  package func add(_ sources: AccountSources) throws {
    let lines = try StoreAccount.lines(of: sources)
    let hop = Hop(source: sources.models[0], destination: sources.models[1], lines: lines)
    found.withLock { found in
      found.first = found.first ?? hop.source
      found.bySource[hop.source] = hop
    }
  }

  /// The hops from the store on, as far as they were planned.
  package var hops: [Hop] {
    found.withLock { found in
      var hops: [Hop] = []
      var next = found.first
      while let source = next, let hop = found.bySource[source], !hops.contains(where: { $0.source == source }) {
        hops.append(hop)
        next = hop.destination
      }
      return hops
    }
  }
}

/// The account of a store: a line for each table, column, link, file and metadata key.
///
/// A plan asks only for what is changed or lost; the account counts the rest, too, and so reads every table once more. An
/// app doesn't link it.
struct StoreAccount {
  private let sources: AccountSources
  private let linkSides: [(RelationshipDescription, sides: [[String]])]
  /// The names of the lines of links, by the entity and name of each relationship.
  private let linkNames: [[String]: String]

  private init(of sources: AccountSources) {
    self.sources = sources
    linkSides = Self.linkSides(of: sources.crossing.source.model)
    linkNames = Dictionary(
      linkSides.flatMap { _, sides in sides.map { ($0, sides[0].joined(separator: ".")) } },
      uniquingKeysWith: { first, _ in first })
  }

  private var crossing: Crossing { sources.crossing }
  private var source: PhysicalSchema { crossing.source }
  private var connection: Connection { sources.connection }

  /// Returns the lines.
  ///
  /// - Throws: `SQLiteError`.
  static func lines(of sources: AccountSources) throws -> [Line] {
    let account = StoreAccount(of: sources)
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
          let side = known.columns.lazy.compactMap(\.role.property).first.map { [$0.entity, $0.path[0]] } ?? []
          lines.append(try rows(of: table, part(.links, [linkNames[side] ?? table.name])))
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
    dropped: Line.Part? = nil, atRemoved: Int64 = 0, withObjects: Int64 = 0, filled: Int64 = 0,
    changedByRows: Int64? = nil, rest: Rest
  ) -> Line {
    var parts: [Line.Part] = []
    var left = count
    func add(_ fate: Line.Fate, _ rows: Int64, _ places: [String] = [], _ reason: String? = nil) {
      guard rows > 0 else { return }
      parts.append(Line.Part(fate: fate, count: rows, places: places, reason: reason))
      left -= rows
    }
    // What was told before may be about the same rows.
    func addOfRest(_ fate: Line.Fate, _ rows: Int64, _ places: [String] = [], _ reason: String? = nil) {
      add(fate, min(rows, left), places, reason)
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
      if kind == .links, cause.isOrder { continue }
      if cause.isChange {
        changed += rows
        reasons.append(cause.reason)
      } else {
        let isDecided = cause.consent == .decision
        if isDecided { decided += rows }
        add(isDecided ? .decided : .lost, rows, [], cause.reason)
      }
    }
    // The entries of decisions count some of the objects that don't stay by themselves.
    addOfRest(.decided, atRemoved - decided, rest.places, "Decisions are about an object at one end.")
    addOfRest(.withObjects, kind == .links ? withObjects : withObjects - decided)
    addOfRest(.leftOut, filled, [], "Core Data wrote the attribute's default into rows of entities without it.")
    // Several entries may count one cell, and cells of objects that decisions remove.
    if changed > 0 { addOfRest(.changed, changedByRows ?? changed, rest.places, reasons.first) }
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
  ///   - role: The role of the column. Cells that the model doesn't know, or of another entity's attribute, have entries
  ///     of their own where no mapping takes their objects.
  /// - Returns: The condition, over the row `s`.
  private func goes(in table: String, as role: PhysicalColumn.Role?) -> String {
    any(in: table) { entity in
      let isOwn =
        switch role {
        case .attribute(let owner, _)?: source.model.isEntity(entity.name, kindOf: owner)
        case .unknown?, nil: false
        default: true
        }
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
        let reason = column.isGenerated ? "SQLite computes it." : "A deferred migration left it, to be cleaned up."
        return [line(.bookkeeping, name, count: count, of: [], rest: part(.leftOut, reason: reason))]
      }
      let property = role.property.map { "\($0.entity).\($0.path.joined(separator: "."))" }
      guard role.isCells else { return [try bookkeeping(column.name, role, in: table.name, counts, isOfObjects)] }
      let cells = line(
        .cells, name, property: property, count: count, of: [.cells(column: column.name, table: table.name)],
        withObjects: counts.going, filled: counts.filled, changedByRows: counts.changed,
        rest: isDerived(role)
          ? part(.remade, reason: "It is derived.") : rest(column.name, in: table.name, isOfObjects))
      return try [cells] + files(of: role, name, property: property)
    }
  }

  private func isDerived(_ role: PhysicalColumn.Role) -> Bool {
    guard case .attribute(let entity, let path) = role, let name = path.first else { return false }
    return source.model.attribute(named: name, of: entity)?.hasOwnValues == false
  }

  /// Returns the line of the files that a column names; none where it names none.
  private func files(of role: PhysicalColumn.Role, _ name: String, property: String?) throws -> [Line] {
    guard case .attribute(let entity, let path) = role, let column = source.column(atPath: path, in: entity),
      column.attribute.allowsExternalBinaryDataStorage
    else { return [] }
    let names = Set(try ExternalStorage.fileNames(in: column, connection))
    guard !names.isEmpty else { return [] }
    let file = try connection.rows("PRAGMA database_list").first { $0[1].text == "main" }?[2].text ?? ""
    let folder = ExternalStorage.folder(forStoreAt: file)
    let missing = names.count { !ExternalStorage.isFilled("\(folder)/\($0)") }
    let count = Int64(names.count)
    // A migration removes no file: the previous version needs it.
    var whole = line(
      .files, name, property: property, count: count - Int64(missing), of: [],
      rest: part(.carried, [URL(fileURLWithPath: folder).deletingLastPathComponent().lastPathComponent]))
    if missing > 0 {
      let part = Line.Part(fate: .missing, count: Int64(missing), places: [], reason: nil)
      whole = Line(kind: .files, name: name, property: property, count: count, parts: whole.parts + [part])
    }
    return [whole]
  }

  /// What a column's cells are counted by.
  private struct CellCounts {
    let all: Int64
    /// Those that go with their objects.
    let going: Int64
    /// Those of objects that stay whose value changes; `nil` if no query tells.
    let changed: Int64?
    /// Those with which Core Data filled a new column in rows of entities without the attribute.
    let filled: Int64
  }

  /// Counts the cells of each column of a table.
  private func counts(
    of table: ActualTable, _ known: PhysicalTable, _ isOfObjects: Bool
  ) throws -> [CellCounts] {
    var goingByOwner: [String: String] = [:]
    let aggregates = table.columns.map { column -> String in
      let cell = "s.\(quote(column.name))"
      let role = column.isGenerated ? nil : known.column(named: column.name)?.role
      let owner = role?.isCells == true ? role?.property?.entity ?? "" : "*"
      let going = isOfObjects ? goingByOwner[owner] ?? goes(in: table.name, as: role) : "0"
      goingByOwner[owner] = going
      let change = changes(of: column.name, in: table.name).map { "(\($0)) AND NOT IFNULL(\(going), 0)" }
      let filled = isOfObjects ? filling(role, cell, in: table.name) : nil
      return "COUNT(\(cell)), COUNT(CASE WHEN \(going) THEN \(cell) END), "
        + (change.map { "COUNT(CASE WHEN \($0) THEN \(cell) END)" } ?? "NULL")
        + (filled.map { ", COUNT(CASE WHEN \($0) THEN 1 END)" } ?? ", 0")
    }
    // SQLite allows 2000 result columns.
    return try stride(from: 0, to: aggregates.count, by: 500).flatMap { start in
      let part = aggregates[start..<min(start + 500, aggregates.count)]
      let row = try connection.rows(
        "SELECT \(part.joined(separator: ", ")) FROM \(SchemaName.rows(of: table.name, as: "s"))"
      ).first
      let counts = (row ?? []).map(\.integer)
      return part.indices.map { index in
        let place = (index - start) * 4
        return CellCounts(
          all: counts[place] ?? 0, going: counts[place + 1] ?? 0, changed: counts[place + 2],
          filled: counts[place + 3] ?? 0)
      }
    }
  }

  /// Returns the condition that a cell holds the value with which Core Data filled a new column, in the row of an entity
  /// without the attribute; `nil` if there is none.
  private func filling(_ role: PhysicalColumn.Role?, _ cell: String, in table: String) -> String? {
    guard case .attribute(let owner, _)? = role, let value = source.filling(of: role) else { return nil }
    let others = any(in: table) { entity in
      source.model.isEntity(entity.name, kindOf: owner) ? [] : ["1"]
    }
    return "\(others) AND \(cell) IS \(value)"
  }

  /// Returns the condition, over the row `s`, that the candidate gets another value of a cell; `nil` if none is known.
  private func changes(of column: String, in table: String) -> String? {
    let conditions = transfers(of: table).flatMap { transfer in
      transfer.columns.flatMap { name, entry in
        transfer.sourceNumbers.compactMap { number -> String? in
          guard let own = entry.ofRows(numbered: number) else { return nil }
          let rounding = own.rounding.flatMap { $0.columns.contains(column) ? $0.condition : nil }
          let isOrigin = own.origin == column
          // Numbers that are too large stop a plan unless another is decided.
          let overflow = isOrigin ? overflow(of: column, in: table, as: name, of: transfer.table) : nil
          let parts = [isOrigin ? own.change : nil, overflow, rounding].compactMap(\.self)
          return parts.isEmpty
            ? nil : "s.\(quote(PhysicalName.entity)) = \(number) AND (\(parts.chained(by: "OR")))"
        }
      }
    }
    return conditions.isEmpty ? nil : conditions.map { "(\($0))" }.chained(by: "OR")
  }

  private func overflow(of column: String, in table: String, as name: String, of newTable: String) -> String? {
    func leaf(_ schema: PhysicalSchema, _ table: String, _ column: String) -> AttributeDescription? {
      guard case .attribute(let entity, let path)? = schema.table(named: table)?.column(named: column)?.role else {
        return nil
      }
      return schema.column(atPath: path, in: entity)?.attribute
    }
    guard let old = leaf(source, table, column), let new = leaf(crossing.destination, newTable, name)
    else { return nil }
    return ValueConversion.overflow("s.\(quote(column))", from: old.type, to: new.type)
  }

  private func transfers(of table: String) -> [TableTransfer] {
    sources.parts.transfers.filter { $0.sourceTable == table }
  }

  // MARK: Keys, numbers and places

  /// Returns the line of a column of keys, numbers or places.
  private func bookkeeping(
    _ column: String, _ role: PhysicalColumn.Role, in table: String, _ counts: CellCounts, _ isOfObjects: Bool
  ) throws -> Line {
    let name = "\(table).\(column)"
    guard let (entity, path) = role.property else {
      return line(
        .bookkeeping, name, count: counts.all, of: [], withObjects: counts.going, rest: moved(column, in: table))
    }
    let side = [entity, path[0]]
    let property = side.joined(separator: ".")
    let asLinks = part(.links, [linkNames[side] ?? property])
    if case .order = role {
      let lost = lostPlaces(of: side, counts.all)
      var parts = lost.map { [$0] } ?? []
      let left = counts.all - parts.reduce(0) { $0 + $1.count }
      let rest = isOfObjects ? moved(column, in: table) : asLinks
      if left > 0 { parts.append(Line.Part(fate: rest.fate, count: left, places: rest.places, reason: rest.reason)) }
      return Line(kind: .bookkeeping, name: name, property: property, count: counts.all, parts: parts)
    }
    let dangling = try danglingKeys(column, role, in: table)
    var whole = line(.bookkeeping, name, property: property, count: counts.all - dangling, of: [], rest: asLinks)
    if dangling > 0 {
      let part = Line.Part(fate: .leftOut, count: dangling, places: [], reason: "No object has this key.")
      whole = Line(kind: .bookkeeping, name: name, property: property, count: counts.all, parts: whole.parts + [part])
    }
    return whole
  }

  /// Returns where the keys or numbers in a column go: as they are, or made anew.
  private func moved(_ column: String, in table: String) -> Rest {
    let code = byRow(in: table)
    guard code.isEmpty else { return part(.code, code) }
    var places: [String] = []
    for transfer in transfers(of: table) {
      for (name, entry) in transfer.columns
      where transfer.sourceNumbers.contains(where: { number in
        entry.ofRows(numbered: number)?.origin == column
      }) {
        guard entry.isVerbatim else { return part(.remade) }
        places.append("\(transfer.table).\(name)")
      }
    }
    return places.isEmpty ? part(.remade) : part(.carried, places)
  }

  /// Returns the part of a column of places whose order no relationship of the destination keeps.
  private func lostPlaces(of side: [String], _ count: Int64) -> Line.Part? {
    let subjects =
      [Subject.links(entity: side[0], relationship: side[1])]
      + heirs(of: side[1], from: side[0]).map { Subject.linksInto(entity: $0[0], relationship: $0[1]) }
    let entries = sources.entries.filter { counted in
      counted.entry.cause.isOrder && subjects.contains { $0.key == counted.entry.subject.key }
    }
    guard let first = entries.first else { return nil }
    // What the models imply is about all places; the entry counts their owners.
    let isOfAll = entries.contains { if case .effect = $0.entry.cause { true } else { false } }
    let lost = isOfAll ? count : min(count, entries.reduce(0) { $0 + ($1.links ?? $1.rows) })
    return Line.Part(fate: .lost, count: lost, places: [], reason: first.entry.cause.reason)
  }

  /// Counts the keys in a column that no object has.
  private func danglingKeys(_ column: String, _ role: PhysicalColumn.Role, in table: String) throws(SQLiteError)
    -> Int64
  {
    guard case .key(let entity, let name) = role,
      let relationship = source.model.relationship(named: name, of: entity),
      let target = source.table(ofEntity: relationship.destinationEntity)?.name
    else { return 0 }
    let key = "s.\(quote(column))"
    return try connection.firstInteger(
      "SELECT COUNT(*) FROM \(SchemaName.rows(of: table, as: "s")) WHERE \(key) NOT NULL AND NOT EXISTS (SELECT 1 FROM"
        + " \(SchemaName.rows(of: target, as: "t")) WHERE t.\(quote(PhysicalName.primaryKey)) = \(key))") ?? 0
  }

  /// Returns the entity mappings that make objects of a table's entities one by one.
  private func byRow(in table: String) -> [String] {
    source.entities.filter { $0.table == table }.flatMap { crossing.takers[$0.name] }
      .filter { taker in crossing.split.byRow.contains { $0.name == taker.flow.mapping } }.map(\.flow.mapping)
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
    for transfer in transfers(of: table) {
      for (name, entry) in transfer.columns {
        let reads = transfer.sourceNumbers.contains { number in
          entry.columnsRead(ofRowsNumbered: number).contains(column)
            || entry.columnsPartlyRead(ofRowsNumbered: number)?.columns.contains(column) ?? false
        }
        if reads { places.append("\(transfer.table).\(name)") }
      }
    }
    // Objects that are made one by one get their values from the mapping.
    let byRow = byRow(in: table)
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
    var parts: [Line.Part] = []
    func add(_ fate: Line.Fate, _ rows: Int64, _ places: [String], _ reason: String? = nil) {
      if rows > 0 { parts.append(Line.Part(fate: fate, count: rows, places: places, reason: reason)) }
    }
    var written: Int64 = 0
    if let rewrite = sources.parts.framework.rewrites[table.name], !rewrite.expressions.isEmpty {
      written =
        try connection.firstInteger(
          "SELECT COUNT(*) FROM \(SchemaName.rows(of: table.name, as: "s"))\(rewrite.clause)"
            + "\(rewrite.clause.isEmpty ? " WHERE" : " AND") (\(rewrite.isChanged))") ?? 0
    }
    add(.changed, written, [table.name], "They follow the entities and properties that they are about.")
    add(.carried, copied - written, [table.name])
    add(.leftOut, count - copied, [], "What they are about is gone.")
    return Line(kind: .rows, name: table.name, property: nil, count: count, parts: parts)
  }

  // MARK: Links

  private func links() throws -> [Line] {
    try linkSides.compactMap { relationship, sides in
      let dropped = dropped(sides)
      guard let counts = try count(relationship, of: sides[0][0], besides: dropped?.query) else { return nil }
      let heirs = sides.map { self.heirs(of: $0[1], from: $0[0]) }
      var code = sources.openLinks.filter { open in
        sides.contains { open.relationship == $0[1] && source.model.isEntity(open.owner, kindOf: $0[0]) }
      }.flatMap(\.parts.takers)
      let places = heirs.first { !$0.isEmpty } ?? []
      // An expression may take what a link names along, and not the link.
      if code.isEmpty, places.isEmpty {
        code = sides.flatMap { side in
          source.model.entityTree(from: side[0]).flatMap { crossing.takers[$0.name] }.filter { $0.flow.reads(side[1]) }
        }.map(\.flow.mapping)
      }
      return line(
        .links, sides[0].joined(separator: "."), property: sides.dropFirst().first?.joined(separator: "."),
        count: counts.all,
        of: sides.map { .links(entity: $0[0], relationship: $0[1]) }
          + heirs.joined().map { .linksInto(entity: $0[0], relationship: $0[1]) },
        dropped: try dropped.map(lost), atRemoved: counts.atRemoved, withObjects: counts.withObjects,
        rest: code.isEmpty
          ? part(.carried, places.map { $0.joined(separator: ".") }) : part(.code, Set(code).ordered()))
    }
  }

  /// Returns the relationships whose links have a line, each with its own name and that of its inverse.
  private static func linkSides(of model: ManagedObjectModel) -> [(RelationshipDescription, sides: [[String]])] {
    var told: Set<[String]> = []
    var found: [(RelationshipDescription, sides: [[String]])] = []
    for entity in model.entities {
      for relationship in entity.relationships
      where !relationship.isTransient && !told.contains([entity.name, relationship.name]) {
        var sides = [[entity.name, relationship.name]]
        if let inverse = model.inverse(of: relationship), !inverse.relationship.isTransient {
          let side = [inverse.entity.name, inverse.relationship.name]
          // A link is one thing, whichever side is asked.
          told.insert(side)
          if side != sides[0] { sides.append(side) }
        }
        found.append((relationship, sides))
      }
    }
    return found
  }

  /// Returns the query of the links that either side of a relationship tells as dropped, and the reason.
  private func dropped(_ sides: [[String]]) -> (query: String, reason: String)? {
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
    return reason.map { (queries.joined(separator: " UNION "), $0) }
  }

  private func lost(_ dropped: (query: String, reason: String)) throws(SQLiteError) -> Line.Part {
    let count = try connection.firstInteger("SELECT COUNT(*) FROM (\(dropped.query))")
    return Line.Part(fate: .lost, count: count ?? 0, places: [], reason: dropped.reason)
  }

  /// Counts the links of a relationship by both sides' account, those that are told with their objects, and those of
  /// objects that decisions are about besides those that are dropped anyway.
  ///
  /// Of a link of which one end goes, the relationship of the object that stays tells, if it has one.
  private func count(
    _ relationship: RelationshipDescription, of entity: String, besides dropped: String?
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
    let isOther = dropped.map { " AND (k.owner, k.target) NOT IN (\($0))" } ?? ""
    let counts = try connection.rows(
      "SELECT COUNT(*), COUNT(CASE WHEN \(going) THEN 1 END), COUNT(CASE WHEN (\(removed.chained(by: "OR")))\(isOther) THEN 1 END)"
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
  /// True if it is about an order of links that stay.
  fileprivate var isOrder: Bool { if case .strayOrder = self { true } else { kind == .order } }

  /// True if what it is about goes on, changed.
  fileprivate var isChange: Bool {
    switch self {
    case .effect(.valuesChanged, _, _), .effect(.rounded, _, _), .replaced: true
    default: false
    }
  }
}
