import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The links of the candidate as pairs of source objects whose destination objects are linked.
///
/// They are read from the candidate when everything is written: a link is kept if its row exists.
final class CandidateLinks {
  /// A relationship of the destination that continues one of the source.
  struct Heir: Equatable {
    let entity: String
    let relationship: String
    /// True if the relationship is the inverse: it is of the targets.
    let isReversed: Bool
  }

  struct Search {
    let owner: String
    let targets: [String]
    let heirs: [Heir]
  }

  /// The columns that hold a line's links in the candidate, if the objects' keys all moved by the same offset.
  private struct Place {
    let columns: LinkQuery.Pairs
    /// The offsets from the source's keys.
    let owner: Int64
    let target: Int64
  }

  private static let heirs = quote("heirloom_heirs")
  private static let found = quote("heirloom_links")

  private let setting: RowRunSetting
  private let associations: Associations
  private let statements: StatementCache
  /// The numbers of the source entities whose destination objects are in the table of heirs.
  private var known: Set<Int> = []
  private var lineCount = 0
  /// The places of those lines that need no rows in the table of links.
  private var places: [Int: [Place]] = [:]
  private var hasTables = false

  init(setting: RowRunSetting, associations: Associations) {
    (self.setting, self.associations) = (setting, associations)
    statements = StatementCache(connection: setting.connection)
  }

  private func makeTables() throws {
    guard !hasTables else { return }
    try remove()
    hasTables = true
    try setting.connection.execute(
      "CREATE TEMP TABLE \(Self.heirs) (heir INTEGER, heir_entity INTEGER, entity INTEGER, source INTEGER,"
        + " PRIMARY KEY (heir, heir_entity, entity, source)) WITHOUT ROWID")
    try setting.connection.execute(
      "CREATE INDEX temp.\(quote("heirloom_heirs_by_source")) ON \(Self.heirs) (entity, source)")
    try setting.connection.execute(
      "CREATE TEMP TABLE \(Self.found) (line INTEGER, own INTEGER, other INTEGER, heir INTEGER, place,"
        + " PRIMARY KEY (line, own, other, heir)) WITHOUT ROWID")
  }

  func remove() throws {
    statements.removeAll()
    for table in [Self.heirs, Self.found] { try setting.connection.execute("DROP TABLE IF EXISTS temp.\(table)") }
  }

  /// Returns the number of the links' line, for conditions.
  ///
  /// With `byKeys`, conditions about single links are enough; keys that all moved by the same
  /// offset then need no table.
  func find(_ search: Search, byKeys: Bool) throws -> Int {
    lineCount += 1
    guard let owner = setting.source.entity(named: search.owner) else { return lineCount }
    let targets = search.targets.compactMap { setting.source.entity(named: $0) }
    if byKeys, let found = try places(search, owner, targets) {
      places[lineCount] = found
      return lineCount
    }
    try makeTables()
    for entity in [owner] + targets { try addHeirs(of: entity) }
    for heir in search.heirs {
      guard let links = links(heir) else { continue }
      try setting.connection.execute(
        "INSERT OR IGNORE INTO temp.\(Self.found) SELECT \(lineCount), o.source, t.source, k.owner, k.position"
          + " FROM (\(links.sql)) AS k"
          + " CROSS JOIN temp.\(Self.heirs) AS o ON o.heir = k.owner AND o.heir_entity IN (\(numbers(links.ownerRoot)))"
          + " AND o.entity = \(owner.number)"
          + " CROSS JOIN temp.\(Self.heirs) AS t ON t.heir = k.target AND t.heir_entity IN (\(numbers(links.targetRoot)))"
          + " AND t.entity IN (\(targets.map { String($0.number) }.joined(separator: ", ")))")
    }
    return lineCount
  }

  private func links(_ heir: Heir) -> LinkQuery? {
    setting.destination.links(
      of: heir.relationship, in: heir.entity, isReversed: heir.isReversed, in: SchemaName.candidate)
  }

  private func places(_ search: Search, _ owner: PhysicalEntity, _ targets: [PhysicalEntity]) throws -> [Place]? {
    var places: [Place] = []
    for links in search.heirs.compactMap(links) {
      guard let own = try shift(of: owner, to: links.ownerRoot), let first = targets.first,
        let other = try shift(of: first, to: links.targetRoot),
        try targets.dropFirst().allSatisfy({ try shift(of: $0, to: links.targetRoot) == other })
      else { return nil }
      places.append(Place(columns: links.columns, owner: own, target: other))
    }
    return places
  }

  private func shift(of entity: PhysicalEntity, to root: String) throws -> Int64? {
    guard let tree = setting.destination.entity(named: root)?.treeNumbers,
      let count = try setting.connection.firstInteger(
        "SELECT COUNT(*) FROM \(SchemaName.rows(of: entity.table)) WHERE \(quote(PhysicalName.entity)) = \(entity.number)"
      )
    else { return nil }
    let shifts = try mappings(of: entity).flatMap {
      try associations.shifts(ofEntity: entity.number, count: count, in: tree, mapping: $0.name)
    }
    return shifts.count == 1 ? shifts[0] : nil
  }

  private func mappings(of entity: PhysicalEntity) -> [EntityMapping] {
    setting.mapping.entityMappings.filter { $0.sourceEntityName == entity.name && $0.destinationEntityName != nil }
  }

  private func numbers(_ root: String) -> String {
    setting.destination.model.entityTree(from: root).compactMap { setting.destination.entity(named: $0.name) }
      .map { String($0.number) }.joined(separator: ", ")
  }

  private func addHeirs(of entity: PhysicalEntity) throws {
    guard known.insert(entity.number).inserted else { return }
    let mappings = mappings(of: entity)
    let rows = try setting.connection.prepare(
      "SELECT \(quote(PhysicalName.primaryKey)) FROM \(SchemaName.rows(of: entity.table))"
        + " WHERE \(quote(PhysicalName.entity)) = \(entity.number)")
    while try rows.step() {
      let source = Associations.Key(entity: entity.number, primaryKey: rows.integer(at: 0))
      for mapping in mappings {
        for heir in try associations.destinations(of: source, mapping: mapping.name) {
          try statements.run(
            "INSERT OR IGNORE INTO temp.\(Self.heirs) VALUES (?1, ?2, ?3, ?4)",
            [
              .integer(heir.primaryKey), .integer(Int64(heir.entity)), .integer(Int64(source.entity)),
              .integer(source.primaryKey),
            ])
        }
      }
    }
  }

  // MARK: Conditions

  func contain(_ line: Int, owner: String, target: String) -> String {
    guard let places = places[line] else {
      return "EXISTS (SELECT 1 FROM temp.\(Self.found) AS f WHERE f.line = \(line) AND f.own = \(owner)"
        + " AND f.other = \(target))"
    }
    let conditions = places.map { place in
      "EXISTS (SELECT 1 FROM \(SchemaName.rows(of: place.columns.table, as: "f", usesIndexes: true, in: SchemaName.candidate))"
        + " WHERE f.\(quote(place.columns.owner)) = \(owner) + \(place.owner)"
        + " AND f.\(quote(place.columns.target)) = \(target) + \(place.target))"
    }
    return conditions.isEmpty ? "0" : "(\(conditions.joined(separator: " OR ")))"
  }

  func contain(_ line: Int, end: String, isOwner: Bool) -> String {
    "\(end) IN (SELECT \(isOwner ? "own" : "other") FROM temp.\(Self.found) WHERE line = \(line))"
  }

  func haveHeir(_ line: Int, _ key: String, _ entities: [String]) -> String {
    // Keys that all moved by the same offset have a destination object each.
    guard places[line] == nil else { return "1" }
    let numbers = entities.compactMap { setting.source.entity(named: $0)?.number }.map(String.init)
    return "EXISTS (SELECT 1 FROM temp.\(Self.heirs) AS h WHERE h.entity IN (\(numbers.joined(separator: ", ")))"
      + " AND h.source = \(key))"
  }

  /// The owners none of whose destination objects has its links in the source's order.
  ///
  /// `links` is the query of the source's links, with `owner`, `target` and `position`.
  func disordered(_ line: Int, _ links: String) -> String {
    // Links with equal positions have no order.
    "SELECT owner FROM (SELECT owner, heir, MAX(position > last AND (place <= lastPlace OR place IS NULL"
      + " OR lastPlace IS NULL)) AS isLost FROM (SELECT k.owner, f.heir, k.position, f.place,"
      + " LAG(k.position) OVER w AS last, LAG(f.place) OVER w AS lastPlace FROM (\(links)) AS k"
      + " JOIN temp.\(Self.found) AS f ON f.line = \(line) AND f.own = k.owner AND f.other = k.target"
      + " WINDOW w AS (PARTITION BY k.owner, f.heir ORDER BY k.position, f.place))"
      + " GROUP BY owner, heir) GROUP BY owner HAVING MIN(COALESCE(isLost, 0)) = 1"
  }

  func forEachSource(
    _ line: Int, of heir: Int64, in entities: [Int], isOwner: Bool, _ body: (Int64) -> Void
  ) throws {
    if let places = places[line] {
      if let place = places.first { body(heir &- (isOwner ? place.owner : place.target)) }
      return
    }
    let numbers = entities.map(String.init).joined(separator: ", ")
    try statements.withStatement(
      "SELECT source FROM temp.\(Self.heirs) WHERE heir = ?1 AND entity IN (\(numbers))", [.integer(heir)]
    ) { rows throws(SQLiteError) in
      while try rows.step() { body(rows.integer(at: 0)) }
    }
  }
}
