import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Questions about rows that may cause blockers and warnings, or whose links don't fit.
struct EffectQuestions {
  private let crossing: Crossing
  private let computed: ComputedValues
  let conditions: MappingConditions
  private(set) var questions = StoreQuestions()
  private(set) var entries: [AskedEntry] = []
  /// Those that a relationship refers to and no condition takes, by its entity and name.
  private var leftOutTargets: [[String]: [DataEffect.Rows]] = [:]

  init(_ effects: [DataEffect], in crossing: Crossing, conditions: MappingConditions, computed: ComputedValues) {
    self.crossing = crossing
    self.computed = computed
    self.conditions = conditions
    for effect in effects {
      if case .leftOutLinks(let rows) = effect.kind {
        leftOutTargets[[effect.entity] + effect.properties, default: []] += rows
      }
    }
    for effect in effects { ask(about: effect) }
    questions.countStrangers(in: source)
  }

  var source: PhysicalSchema { crossing.source }
  var destination: ManagedObjectModel { crossing.destination.model }
  private var counts: [String: Int64] { crossing.counts.byEntity }

  private mutating func ask(about effect: DataEffect) {
    let rows = countable(effect)
    guard !rows.isEmpty else { return }
    switch effect.kind {
    // ``CellLines`` and ``LinkLines`` count these.
    case .objectsDropped, .objectsLeftOut, .valuesDropped, .valuesNotTaken, .valuesChanged, .rounded, .linksDropped,
      .foreignLinks:
      break
    case .uninstantiable:
      // Objects are counted already; SQLite is queried only for those that a condition takes.
      questions.count(sql: "SELECT " + rows.map(number).chained(by: "+")) { Self.finding(effect, $0) }
    case .missingValue:
      askForMissing(effect, rows, conditions: rows.map(missingValue))
    case .uncomputed:
      askForMissing(effect, rows, conditions: rows.map { uncomputed($0, effect, isGiven: false) })
      askForMissing(effect, rows, conditions: rows.map { uncomputed($0, effect, isGiven: true) }) {
        .computed(effect, rows: $0)
      }
    case .missingLink(let otherSide):
      askForMissing(effect, rows, conditions: rows.map { missingLink($0, effect: effect, otherSide: otherSide) })
    case .overflow(_, let type):
      askForValues(effect, rows) { ValueConversion.overflow($0, of: type) }
    case .recoded:
      askForValues(effect, rows) { "\($0) IS NOT NULL" }
    case .duplicate:
      askForDuplicates(effect, rows)
    case .severalLinks(let otherSide):
      // One of the links is kept.
      askForOwners(effect, rows, otherSide: otherSide, "HAVING COUNT(*) > 1", links: "COUNT(*) - 1")
    // This can only be counted on the links in their final form; see ``SurplusLinks``.
    case .sharedLinks: break
    case .orderDropped:
      askForOwners(effect, rows, otherSide: nil, "HAVING COUNT(*) > 1")
    case .tooManyLinks(let maximum):
      askForOwners(effect, rows, otherSide: nil, "HAVING COUNT(*) > \(maximum)")
    case .tooFewLinks(let minimum):
      askForFewLinks(effect, rows, minimum: minimum)
    case .leftOutLinks(let targets):
      askForLeftOutLinks(effect, rows, targets: targets)
    }
  }

  /// If SQL can't evaluate a mapping's condition, blockers are found only when objects are made.
  private func countable(_ effect: DataEffect) -> [DataEffect.Rows] {
    effect.rows.filter {
      counts[$0.entity, default: 0] > 0 && (effect.kind.severity == .loss || conditions.areKnown(of: $0))
    }
  }

  private static func finding(_ effect: DataEffect, _ rows: Int64) -> StoreQuestions.Finding {
    effect.kind.severity == .blocker
      ? .blocker(MigrationBlocker(effect, rows: rows)) : .warning("\(rows) rows: \(effect.description)")
  }
}

// MARK: - Rows

extension EffectQuestions {
  /// Duplicates have no condition of their own, and neither do rows that only lose something.
  func conditions(of effect: DataEffect) -> [(row: DataEffect.Rows, condition: String)] {
    countable(effect).compactMap { row in
      let condition: String
      switch effect.kind {
      case .uninstantiable: condition = "1"
      case .missingValue: condition = missingValue(row) ?? "1"
      case .uncomputed: condition = uncomputed(row, effect, isGiven: false)
      case .missingLink(let otherSide): condition = missingLink(row, effect: effect, otherSide: otherSide) ?? "1"
      case .overflow(_, let type):
        let parts = columns(of: row).compactMap { ValueConversion.overflow($0, of: type) }
        guard !parts.isEmpty else { return nil }
        condition = parts.chained(by: "OR")
      default: return nil
      }
      return (row, conditions.condition(of: row).map { "\($0) AND (\(condition))" } ?? condition)
    }
  }
}

// MARK: - Values

extension EffectQuestions {
  private func columns(of row: DataEffect.Rows) -> [String] {
    guard let property = row.properties.first ?? nil else { return [] }
    return columns(ofProperty: property, in: row.entity)
  }

  /// The condition that a row lacks a required value; `nil` if all rows do.
  private func missingValue(_ row: DataEffect.Rows) -> String? {
    let others = row.companions.flatMap { columns(ofProperty: $0, in: row.entity) }.map { "\($0) IS NOT NULL" }
    let parts =
      columns(of: row).prefix(1).map { "\($0) IS NULL" } + (others.isEmpty ? [] : ["(\(others.chained(by: "OR")))"])
    return parts.isEmpty ? nil : parts.joined(separator: " AND ")
  }

  private func uncomputed(_ row: DataEffect.Rows, _ effect: DataEffect, isGiven: Bool) -> String {
    [missingValue(row), computed.condition(of: effect, row, isGiven: isGiven)].compactMap { $0 }.chained(by: "AND")
  }

  private func columns(ofProperty property: String, in entity: String) -> [String] {
    let path = property.names(separatedBy: ".", omittingEmptySubsequences: true).map(String.init)
    if let leaf = source.column(atPath: path, in: entity) { return ["s.\(quote(leaf.name))"] }
    let leaves = source.columns(ofAttribute: path[0], in: entity).filter { $0.path.starts(with: path) }
    if !leaves.isEmpty { return leaves.map { "s.\(quote($0.name))" } }
    guard case .key(_, let column, _)? = source.storage(ofRelationship: property, in: entity) else { return [] }
    return ["s.\(quote(column))"]
  }

  private func isOf(_ entity: String) -> String {
    "s.\(quote(PhysicalName.entity)) = \(source.entity(named: entity)?.number ?? 0)"
  }

  /// A table of one entity has no other rows.
  private func of(_ row: DataEffect.Rows, _ table: String, _ condition: String) -> String {
    let entity = source.onlyNumber(inTable: table) == nil ? isOf(row.entity) : nil
    let parts = [entity, conditions.condition(of: row)].compactMap { $0 }
    return parts.isEmpty ? condition : (parts + ["(\(condition))"]).chained(by: "AND")
  }

  private func keys(of row: DataEffect.Rows) -> String? {
    guard let table = source.table(ofEntity: row.entity)?.name else { return nil }
    return "SELECT s.\(quote(PhysicalName.primaryKey)) FROM \(SchemaName.rows(of: table, as: "s")) WHERE "
      + ([isOf(row.entity), conditions.condition(of: row)].compactMap { $0 }).chained(by: "AND")
  }

  private func number(of row: DataEffect.Rows) -> String {
    guard conditions.condition(of: row) != nil, let keys = keys(of: row) else {
      return String(counts[row.entity, default: 0])
    }
    return "(SELECT COUNT(*) FROM (\(keys)))"
  }

  /// An element of `missing` is `nil` if the property is new, so that all rows lack it.
  private mutating func askForMissing(
    _ effect: DataEffect, _ rows: [DataEffect.Rows], conditions missing: [String?],
    finding: ((Int64) -> StoreQuestions.Finding)? = nil
  ) {
    var known: Int64 = 0
    var conditions: [(table: String, condition: String)] = []
    for (row, condition) in zip(rows, missing) {
      guard let table = source.table(ofEntity: row.entity)?.name else { continue }
      if let condition = condition ?? self.conditions.condition(of: row).map({ _ in "1" }) {
        conditions.append((table, of(row, table, condition)))
      } else {
        known += counts[row.entity, default: 0]
      }
    }
    add(conditions, known: known, finding ?? { Self.finding(effect, $0) })
  }

  private mutating func askForValues(
    _ effect: DataEffect, _ rows: [DataEffect.Rows], _ condition: (String) -> String?
  ) {
    var conditions: [(table: String, condition: String)] = []
    for row in rows {
      guard let table = source.table(ofEntity: row.entity)?.name else { continue }
      let parts = columns(of: row).compactMap(condition)
      guard !parts.isEmpty else { continue }
      conditions.append((table, of(row, table, parts.chained(by: "OR"))))
    }
    add(conditions, known: 0) { Self.finding(effect, $0) }
  }

  private mutating func add(
    _ conditions: [(table: String, condition: String)], known: Int64,
    _ finding: @escaping (Int64) -> StoreQuestions.Finding
  ) {
    let tables = Set(conditions.map(\.table))
    if tables.count == 1, known == 0, let table = tables.first {
      let any = conditions.map { "(\($0.condition))" }.chained(by: "OR")
      questions.count(where: any, in: table, finding: finding)
      return
    }
    // One scan is for one table only; these rows are in several, or partly counted already.
    let counts = conditions.map { table, condition in
      "(SELECT COUNT(*) FROM \(SchemaName.rows(of: table, as: "s")) WHERE \(condition))"
    }
    questions.count(sql: "SELECT " + (counts + [String(known)]).chained(by: "+"), finding: finding)
  }

  private mutating func askForDuplicates(_ effect: DataEffect, _ rows: [DataEffect.Rows]) {
    let names = effect.properties.indices.map { "k\($0)" }
    let parts = rows.compactMap { row -> String? in
      guard let table = source.table(ofEntity: row.entity)?.name else { return nil }
      let values = zip(effect.properties, row.properties).map { (property: String, path: String?) -> String in
        // Attributes may be declared by a subentity of the constraint's entity.
        let attribute = destination.attribute(named: property, of: row.destinationEntity ?? effect.entity)
        if let path {
          guard let column = columns(ofProperty: path, in: row.entity).first else { return "NULL" }
          guard let attribute, let before = source.model.attribute(named: path, of: row.entity),
            let leaves = LeafPair(from: before, to: AttributeTarget(attribute), path: [])
          else { return column }
          // Rounding and filling can make different values equal.
          return ValueConversion.entry(
            column: column, from: leaves.source, to: leaves.destination, mustFill: leaves.mustFill
          ).sql
        }
        // A new attribute has its default in every row.
        guard let attribute, let value = attribute.defaultValue else { return "NULL" }
        return ValueConversion.literal(value, for: attribute)
      }
      // Objects of one constraint may come from several tables, with other column names.
      let list = zip(values, names).map { "\($0) AS \($1)" }.joined(separator: ", ")
      return "SELECT \(list) FROM \(SchemaName.rows(of: table, as: "s")) WHERE \(isOf(row.entity))"
        + (conditions.condition(of: row).map { " AND \($0)" } ?? "")
    }
    guard !parts.isEmpty else { return }
    let isThere = names.map { "\($0) IS NOT NULL" }.chained(by: "AND")
    // One of the equal objects may stay. An object without one of the values is equal to none.
    let sql =
      "SELECT COALESCE(SUM(n - 1), 0) FROM (SELECT COUNT(*) AS n FROM (\(parts.united()))"
      + " WHERE \(isThere) GROUP BY \(names.joined(separator: ", ")) HAVING COUNT(*) > 1)"
    questions.count(sql: sql) { Self.finding(effect, $0) }
  }
}

// MARK: - Links

extension EffectQuestions {
  /// For a new property, `otherSide` is a relationship whose links refer to the owners.
  private func links(of row: DataEffect.Rows, otherSide: DataEffect.SourceRelationship?) -> String? {
    let query: LinkQuery?
    if let property = row.properties.first ?? nil {
      query = source.links(of: property, in: row.entity, isReversed: false)
    } else if let otherSide {
      query = source.links(
        of: otherSide.relationship, in: otherSide.entity, isReversed: true)
    } else {
      query = nil
    }
    // Links of objects in another tree are excluded, since their keys may be equal.
    guard let query, let entity = source.entity(named: row.entity), query.ownerRoot == entity.rootName else {
      return nil
    }
    if conditions.condition(of: row) != nil, let keys = keys(of: row) {
      // A mapping's condition is about an object's row, so links are selected by key.
      return "SELECT k.owner AS owner, k.target AS target FROM (\(query.sql)) AS k WHERE k.owner IN (\(keys))"
    }
    let tree = source.model.entityTree(from: entity.rootName)
    guard tree.count > 1 else { return query.sql }
    // Entities that share a relationship store links together, but each is counted alone.
    return "SELECT k.owner AS owner, k.target AS target FROM (\(query.sql)) AS k"
      + " JOIN \(SchemaName.rows(of: entity.table, as: "o"))"
      + " ON o.\(quote(PhysicalName.primaryKey)) = k.owner AND o.\(quote(PhysicalName.entity)) = \(entity.number)"
  }

  /// `nil` if all rows lack a link.
  private func missingLink(
    _ row: DataEffect.Rows, effect: DataEffect, otherSide: DataEffect.SourceRelationship?
  ) -> String? {
    let lost = row.lostTargets.compactMap { source.entity(named: $0) }
    let numbers = lost.map { String($0.number) }.joined(separator: ", ")
    /// The condition that the relationship can no longer refer to a key's object.
    func isLost(_ key: String) -> String? {
      var parts = (leftOutTargets[[effect.entity] + effect.properties] ?? []).compactMap { keys(of: $0) }
      if let first = lost.first {
        // A key doesn't identify the entity of its object, so the objects' own table is queried.
        parts.append(
          "SELECT \(quote(PhysicalName.primaryKey)) FROM \(SchemaName.rows(of: first.table))"
            + " WHERE \(quote(PhysicalName.entity)) IN (\(numbers))")
      }
      return parts.isEmpty ? nil : parts.map { "\(key) IN (\($0))" }.chained(by: "OR")
    }
    if let column = columns(of: row).first {
      return isLost(column).map { "\(column) IS NULL OR \($0)" } ?? "\(column) IS NULL"
    }
    guard let links = links(of: row, otherSide: otherSide) else { return nil }
    let kept = isLost("target").map { " WHERE NOT (\($0))" } ?? ""
    return "s.\(quote(PhysicalName.primaryKey)) NOT IN (SELECT owner FROM (\(links))\(kept))"
  }

  private mutating func askForOwners(
    _ effect: DataEffect, _ rows: [DataEffect.Rows], otherSide: DataEffect.SourceRelationship?, _ having: String,
    links count: String = "COUNT(*)"
  ) {
    // An object with several links is one row.
    let counts = rows.compactMap { links(of: $0, otherSide: otherSide) }.map {
      "SELECT COUNT(*) AS owners, SUM(n) AS links FROM (SELECT \(count) AS n FROM (\($0)) GROUP BY owner \(having))"
    }
    add(effect, counts)
  }

  private mutating func add(_ effect: DataEffect, _ counts: [String]) {
    guard effect.kind.severity == .loss else {
      return questions.countLinks(counts) { rows, _ in Self.finding(effect, rows) }
    }
    let cause = LossCause.effect(effect.kind, entity: effect.entity, properties: effect.properties)
    entries.append(AskedEntry(.room(cause, effect.entity, effect.properties.joined(separator: ", ")), .links(counts)))
  }

  private mutating func askForFewLinks(_ effect: DataEffect, _ rows: [DataEffect.Rows], minimum: Int) {
    let total = "(" + rows.map(number).chained(by: "+") + ")"
    // Objects without links have no row here, so those with enough links are subtracted.
    let enough = rows.compactMap { links(of: $0, otherSide: nil) }.map {
      "(SELECT COUNT(*) FROM (SELECT owner FROM (\($0)) GROUP BY owner HAVING COUNT(*) >= \(minimum)))"
    }
    questions.count(sql: "SELECT " + total + (enough.isEmpty ? "" : " - (\(enough.chained(by: "+")))")) {
      Self.finding(effect, $0)
    }
  }

  private mutating func askForLeftOutLinks(
    _ effect: DataEffect, _ rows: [DataEffect.Rows], targets: [DataEffect.Rows]
  ) {
    let lost = targets.compactMap(keys).map { "target IN (\($0))" }.chained(by: "OR")
    let counts = rows.compactMap { links(of: $0, otherSide: nil) }.map {
      "SELECT COUNT(DISTINCT owner) AS owners, COUNT(*) AS links FROM (\($0)) WHERE \(lost)"
    }
    if !lost.isEmpty { add(effect, counts) }
  }
}
