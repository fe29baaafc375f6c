import HeirloomFormats
import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// A plan counts only changes and losses; this reads every table once more, and isn't linked by
/// apps.
struct StoreAccount {
  let sources: AccountSources
  let linkSides: [(RelationshipDescription, sides: [[String]])]
  /// The names of the lines of links, by the entity and name of each relationship.
  let linkNames: [[String]: String]

  init(of sources: AccountSources) {
    self.sources = sources
    linkSides = Self.linkSides(of: sources.account.crossing)
    linkNames = Dictionary(
      linkSides.flatMap { _, sides in sides.map { ($0, sides[0].joined(separator: ".")) } },
      uniquingKeysWith: { first, _ in first })
  }

  var crossing: Crossing { sources.account.crossing }
  var source: PhysicalSchema { crossing.source }
  var connection: Connection { sources.connection }

  static func lines(of sources: AccountSources) throws -> [Line] {
    let account = StoreAccount(of: sources)
    let before = try account.temporaryTables()
    defer {
      // Closing the connection drops them at the latest.
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

  private func findRemovedObjects() throws(SQLiteError) {
    let steps = sources.parts.rowDecisions.findSteps
    guard !steps.isEmpty else { return }
    for statement in (sources.parts.links.steps + steps).flatMap(\.statements) {
      try connection.execute(statement.sql)
    }
  }

  func lines() throws -> [Line] {
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

  /// The remaining part of a line, whose count follows from the others.
  struct Rest {
    let fate: Line.Fate
    var places: [String] = []
    var reason: String?
  }

  func part(_ fate: Line.Fate, _ places: [String] = [], reason: String? = nil) -> Rest {
    Rest(fate: fate, places: places, reason: reason)
  }

  func line(
    _ kind: Line.Kind, _ name: String, property: String? = nil, count: Int64, of subjects: [Subject],
    dropped: [Line.Part] = [], besides others: [Entry] = [], atRemoved: Int64 = 0, withObjects: Int64 = 0,
    filled: Int64 = 0, changedByRows: Int64? = nil, code: (count: Int64, places: [String]) = (0, []), rest: Rest
  ) -> Line {
    var parts: [Line.Part] = []
    var left = count
    func add(_ fate: Line.Fate, _ rows: Int64, _ places: [String] = [], _ reason: String? = nil) {
      guard rows > 0 else { return }
      parts.append(Line.Part(fate: fate, count: rows, places: places, reason: reason))
      left -= rows
    }
    // Parts added before may count the same rows.
    func addOfRest(_ fate: Line.Fate, _ rows: Int64, _ places: [String] = [], _ reason: String? = nil) {
      add(fate, min(rows, left), places, reason)
    }
    var decided: Int64 = 0
    var changed: Int64 = 0
    var reasons: [String] = []
    for part in dropped { add(part.fate, part.count, part.places, part.reason) }
    for counted in sources.entries
    where subjects.contains(where: { $0.key == counted.entry.subject.key }) && counted.entry.links.isEmpty
      && !others.contains(where: { $0 === counted.entry })
    {
      let rows = kind == .links ? counted.links ?? counted.rows : counted.rows
      let cause = counted.entry.cause
      // A lost order is no lost link: its links are kept.
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
    // Entries of decisions count some content of removed objects already.
    addOfRest(.decided, atRemoved - decided, rest.places, "Decisions are about an object at one end.")
    addOfRest(.withObjects, kind == .links ? withObjects : withObjects - decided)
    addOfRest(.leftOut, filled, [], "Core Data wrote the attribute's default into rows of entities without it.")
    // Several entries may count the same cell, or cells of objects that decisions remove.
    // The default of code converts values too.
    let places = rest.places.isEmpty ? code.places : rest.places
    if changed > 0 { addOfRest(.changed, changedByRows ?? changed, places, reasons.first) }
    addOfRest(.code, code.count, code.places)
    // The rest is carried only if it has a place; the number left is negative if parts overlap.
    if left < 0 || left > 0 && rest.fate == .carried && rest.places.isEmpty {
      parts.append(Line.Part(fate: .unaccounted, count: left, places: [], reason: nil))
    } else {
      add(rest.fate, left, rest.places, rest.reason)
    }
    return Line(kind: kind, name: name, property: property, count: count, parts: parts)
  }

  func rows(of table: ActualTable, _ rest: Rest) throws -> Line {
    line(
      .rows, table.name, count: try connection.rowCount(of: SchemaName.rows(of: table.name)),
      of: [.rows(table: table.name)], rest: rest)
  }

  // MARK: Objects

  func objects(in table: PhysicalTable) throws -> [Line] {
    source.entities.filter { $0.table == table.name }.map { entity in
      let takers = crossing.flows(of: entity.name)
      let code = takers.filter(\.isOpaque).map(\.mapping)
      return line(
        .objects, entity.name, count: crossing.counts.byEntity[entity.name, default: 0],
        of: [.objects(entity: entity.name)],
        rest: code.isEmpty ? part(.carried, takers.map(\.destination.name)) : part(.code, code))
    }
  }

  /// `nil` if a mapping takes all objects, or SQL can't decide.
  func isUntaken(_ entity: PhysicalEntity) -> String? {
    let takers = crossing.flows(of: entity.name)
    guard !takers.isEmpty else { return "1" }
    guard takers.allSatisfy({ taken[$0.mapping] != nil }) else { return nil }
    return "NOT (\(takers.compactMap { taken[$0.mapping] }.chained(by: "OR")))"
  }

  func isRemoved(_ entity: PhysicalEntity) -> String? {
    let parts = sources.parts.rowDecisions.removals.map { removed in
      "EXISTS (SELECT 1 FROM \(removed.table) AS x WHERE x.spk = s.\(quote(PhysicalName.primaryKey))"
        + " AND x.sent = \(entity.number))"
    }
    return parts.isEmpty ? nil : "(\(parts.chained(by: "OR")))"
  }

  var taken: [String: String] { sources.account.taken.known }

  /// A condition on the row `s`: it meets one of its entity's conditions.
  func any(in table: String, _ conditions: (PhysicalEntity) -> [String?]) -> String {
    let parts = source.entities.filter { $0.table == table }.flatMap { entity in
      conditions(entity).compactMap(\.self).map { "(s.\(quote(PhysicalName.entity)) = \(entity.number) AND \($0))" }
    }
    return parts.isEmpty ? "0" : "(\(parts.chained(by: "OR")))"
  }

  /// On the row `s`; cells outside the model or of another entity's attribute have their own
  /// entries if no mapping takes the objects.
  func goes(in table: String, as role: PhysicalColumn.Role?) -> String {
    any(in: table) { entity in
      let isOwn =
        switch role {
        case .attribute(let owner, _)?: source.model.isEntity(entity.name, kindOf: owner)
        case .unknown?, nil: false
        default: true
        }
      guard isOwn || !crossing.flows(of: entity.name).isEmpty else { return [] }
      return [isUntaken(entity), isRemoved(entity)]
    }
  }

  // MARK: Tables of others

  private func copied(_ table: ActualTable) throws -> Line {
    let count = try connection.rowCount(of: SchemaName.rows(of: table.name))
    let copied = sources.parts.foreignRows.first { $0.subject == table.name }?.rows ?? count
    var written: Int64 = 0
    if let rewrite = sources.parts.framework.rewrites[table.name], !rewrite.expressions.isEmpty {
      written =
        try connection.firstInteger(
          "SELECT COUNT(*) FROM \(SchemaName.rows(of: table.name, as: "s"))\(rewrite.clause)"
            + "\(rewrite.clause.isEmpty ? " WHERE" : " AND") (\(rewrite.isChanged))") ?? 0
    }
    return line(.rows, table.name, count: copied - written, of: [], rest: part(.carried, [table.name]))
      .adding(.changed, written, [table.name], reason: "They refer to entities or properties that are changed.")
      .adding(.leftOut, count - copied, reason: "What they refer to is gone.")
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
  var key: [String] {
    switch self {
    case .objects(let entity): ["objects", entity]
    case .cells(let column, let table): ["cells", column, table]
    case .links(let entity, let relationship): ["links", entity, relationship]
    case .linksInto(let entity, let relationship): ["linksInto", entity, relationship]
    case .rows(let table): ["rows", table]
    }
  }
}

extension LossCause {
  /// True if an order is lost and its links are kept.
  var isOrder: Bool { if case .strayOrder = self { true } else { kind == .order } }

  /// True if a relationship has no room for the links, whose ends are both kept.
  var isOfRoom: Bool {
    switch self {
    case .effect(.severalLinks, _, _), .effect(.sharedLinks, _, _), .severalRelationships, .unread(.noRoom, _, _, _, _):
      true
    default: false
    }
  }

  fileprivate var isChange: Bool {
    switch self {
    case .effect(.valuesChanged, _, _), .effect(.rounded, _, _), .replaced: true
    default: false
    }
  }
}
