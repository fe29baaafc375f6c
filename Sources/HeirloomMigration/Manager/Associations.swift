import HeirloomModel
import HeirloomStore

/// The destination objects that were made from each source object, by entity mapping.
///
/// They are kept in temporary tables rather than in memory. A row holds an ``AssociationRun``. Mappings that run as SQL
/// need no rows, since their objects have the source's keys, possibly plus an offset.
final class Associations {
  struct Key: Hashable {
    let entity: Int
    let primaryKey: Int64
  }

  fileprivate final class Mapping {
    /// Quoted.
    let table: String
    /// `nil` for a mapping that runs object by object.
    let rule: Rule?
    let insertion: Statement?
    /// The longest run in the table, in source keys and in destination keys.
    var longestSpan: Int64 = 1
    var longest: Int64 = 0
    /// By entity, without the open run: a higher destination can't have been associated before.
    var highest: [Int: Int64] = [:]
    var hasIndexes = false

    init(table: String, rule: Rule?, insertion: consuming Statement?) {
      self.table = table
      self.rule = rule
      self.insertion = insertion
    }
  }

  /// The associations of a mapping that ran as SQL.
  struct Rule {
    let sourceEntity: Int
    let destinationEntity: Int
    let offset: Int64

    func destination(of source: Key) -> Key? {
      guard source.entity == sourceEntity else { return nil }
      return Key(entity: destinationEntity, primaryKey: source.primaryKey &+ offset)
    }

    func source(of destination: Key) -> Key? {
      guard destination.entity == destinationEntity else { return nil }
      return Key(entity: sourceEntity, primaryKey: destination.primaryKey &- offset)
    }
  }

  private let connection: Connection
  private let statements: StatementCache
  private let removals: [RemovedObjects]
  /// The number of requests for objects that a decision removed without a successor.
  private(set) var removedCount: Int64 = 0
  private var mappings: [String: Mapping] = [:]
  @exclusivity(unchecked) private var last: (name: String, mapping: Mapping)?
  /// The run of `last` that is not written yet.
  @exclusivity(unchecked) private var open: AssociationRun?
  @exclusivity(unchecked) private var lastAsked: (name: String, mapping: Mapping)?

  init(connection: Connection, removals: [RemovedObjects] = []) {
    self.connection = connection
    self.removals = removals
    statements = StatementCache(connection: connection)
  }

  func add(mapping name: String, rule: Rule?) throws(SQLiteError) {
    guard rule == nil else {
      mappings[name] = Mapping(table: "", rule: rule, insertion: nil)
      return
    }
    let table = quote("heirloom_associations_\(mappings.count + 1)")
    try connection.execute("DROP TABLE IF EXISTS temp.\(table)")
    // The row number keeps the order of writing. Indexes are created only for a look-up.
    try connection.execute(
      "CREATE TEMP TABLE \(table) (source_entity INTEGER, source INTEGER, span INTEGER, entity INTEGER, first INTEGER,"
        + " count INTEGER, counts BLOB, is_repeated INTEGER)")
    let insertion = try connection.prepare(
      "INSERT INTO temp.\(table) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", isPersistent: true)
    mappings[name] = Mapping(table: table, rule: nil, insertion: insertion)
  }

  func removeAll() throws(SQLiteError) {
    statements.removeAll()
    let tables = mappings.values.filter { $0.rule == nil }.map(\.table)
    mappings.removeAll()
    (last, lastAsked, open) = (nil, nil, nil)
    for table in tables { try connection.execute("DROP TABLE IF EXISTS temp.\(table)") }
  }

  // MARK: Writing

  /// Returns false if the mapping has already associated both.
  func associate(_ source: Key, _ destination: Key, mapping name: String) throws(SQLiteError) -> Bool {
    // Mappings run one after the other, so this is nearly always the mapping of the call before.
    if last?.name == name {
      if open?.take(source, destination) == true { return true }
      try flush()
    } else {
      try flush()
      last = mappings[name].map { (name, $0) }
    }
    guard let mapping = last?.mapping, mapping.rule == nil else { return true }
    let isRepeated = destination.primaryKey <= mapping.highest[destination.entity] ?? .min
    if isRepeated {
      if try destinations(of: source, mapping: name).contains(destination) { return false }
    } else {
      mapping.highest[destination.entity] = destination.primaryKey
    }
    open = AssociationRun(source: source, destination: destination, isRepeated: isRepeated)
    return true
  }

  private func flush() throws(SQLiteError) {
    guard let run = open, let mapping = last?.mapping else { return }
    open = nil
    mapping.longest = max(mapping.longest, run.count)
    mapping.longestSpan = max(mapping.longestSpan, run.span)
    if !run.isRepeated { mapping.highest[run.destination.entity] = run.lastDestination }
    try mapping.write(run)
  }

  /// Only a mapping with look-ups needs indexes.
  private func prepareLookUp(_ name: String) throws(SQLiteError) -> Mapping? {
    if lastAsked?.name != name { lastAsked = mappings[name].map { (name, $0) } }
    guard let mapping = lastAsked?.mapping, mapping.rule == nil else { return lastAsked?.mapping }
    if last?.mapping === mapping { try flush() }
    guard !mapping.hasIndexes else { return mapping }
    let table = mapping.table
    for (suffix, columns) in [("by_source", "source, source_entity"), ("by_destination", "first, entity")] {
      let index = quote(String(table.dropFirst().dropLast()) + "_" + suffix)
      try connection.execute("CREATE INDEX temp.\(index) ON \(table) (\(columns))")
    }
    mapping.hasIndexes = true
    return mapping
  }

  // MARK: Reading

  var mappingNames: [String] { mappings.keys.ordered() }

  func hasObjects(of entities: ClosedRange<Int>, mapping name: String) -> Bool {
    mappings[name]?.highest.keys.contains { entities.contains($0) } ?? false
  }

  /// `nil` for mappings that run object by object, and where decisions removed objects.
  func rule(ofMapping name: String) throws(SQLiteError) -> Rule? {
    guard let rule = try prepareLookUp(name)?.rule, removal(of: rule.destinationEntity) == nil else { return nil }
    return rule
  }

  /// One offset of the destination objects' keys: empty if no object has one in the tree, `nil`
  /// unless each of the `count` objects has exactly one, all at the same offset.
  func shifts(ofEntity entity: Int, count: Int64, in tree: ClosedRange<Int>, mapping name: String) throws -> [Int64?] {
    guard let mapping = try prepareLookUp(name) else { return [] }
    if let rule = mapping.rule {
      guard rule.sourceEntity == entity, tree.contains(rule.destinationEntity) else { return [] }
      return [removal(of: rule.destinationEntity) == nil ? rule.offset : nil]
    }
    // `counts` has one byte for each source object: its number of destination objects.
    let row = try connection.rows(
      "SELECT MIN(first - source), MAX(first - source), SUM(span), SUM(count),"
        + " SUM(is_repeated OR REPLACE(HEX(counts), '01', '') <> '') FROM temp.\(mapping.table)"
        + " WHERE source_entity = \(entity) AND entity BETWEEN \(tree.lowerBound) AND \(tree.upperBound)"
    ).first?.map(\.integer)
    guard let row, let offset = row[0] else { return [] }
    return [offset == row[1] && row[2] == count && row[3] == count && row[4] ?? 0 == 0 ? offset : nil]
  }

  /// In the order in which they were associated.
  func destinations(of source: Key, mapping name: String) throws(SQLiteError) -> [Key] {
    guard let mapping = try prepareLookUp(name) else { return [] }
    if let rule = mapping.rule { return try destinations(of: source, by: rule) }
    let runs = try runs(
      "source BETWEEN ?1 - ?2 AND ?1 AND source_entity = ?3 AND source + span > ?1",
      [.integer(source.primaryKey), .integer(mapping.longestSpan), .integer(Int64(source.entity))], mapping)
    return runs.flatMap { $0.destinations(of: source) }
  }

  /// In the order in which they were associated.
  func sources(of destination: Key, mapping name: String) throws(SQLiteError) -> [Key] {
    guard let mapping = try prepareLookUp(name) else { return [] }
    if let rule = mapping.rule { return try sources(of: destination, by: rule) }
    let runs = try runs(
      "first BETWEEN ?1 - ?2 AND ?1 AND entity = ?3 AND first + count > ?1",
      [.integer(destination.primaryKey), .integer(mapping.longest), .integer(Int64(destination.entity))], mapping)
    return runs.compactMap { $0.source(of: destination) }
  }

  private func runs(
    _ condition: String, _ values: [SQLiteValue], _ mapping: Mapping
  ) throws(SQLiteError) -> [AssociationRun] {
    var found: [(row: Int64, run: AssociationRun)] = []
    try statements.withStatement(
      "SELECT rowid, source_entity, source, entity, first, count, counts FROM temp.\(mapping.table) WHERE \(condition)",
      values
    ) { row throws(SQLiteError) in
      while try row.step() {
        let source = Key(entity: Int(clamping: row.integer(at: 1)), primaryKey: row.integer(at: 2))
        let destination = Key(entity: Int(clamping: row.integer(at: 3)), primaryKey: row.integer(at: 4))
        let run = AssociationRun(
          source: source, destination: destination, count: row.integer(at: 5), counts: row.blob(at: 6) ?? [])
        found.append((row.integer(at: 0), run))
      }
    }
    // Nearly always it is one run, so SQLite need not sort.
    if found.count > 1 { found.sort { $0.row < $1.row } }
    return found.map(\.run)
  }

  // MARK: Objects that decisions removed

  private enum Successor {
    case itself
    case other(Key)
    case none
  }

  func hasRemovals(ofEntity number: Int) -> Bool { removal(of: number) != nil }

  private func removal(of number: Int) -> RemovedObjects? {
    removals.isEmpty ? nil : removals.first { $0.entities.contains(number) }
  }

  private func successor(of key: Key, _ removal: RemovedObjects) throws(SQLiteError) -> Successor {
    try statements.withStatement(removal.successor, [.integer(key.primaryKey)]) { row throws(SQLiteError) in
      guard try row.step() else { return .itself }
      guard !row.isNull(at: 0) else { return .none }
      return .other(Key(entity: Int(clamping: row.integer(at: 1)), primaryKey: row.integer(at: 0)))
    }
  }

  private func destinations(of source: Key, by rule: Rule) throws(SQLiteError) -> [Key] {
    guard let key = rule.destination(of: source) else { return [] }
    guard let removal = removal(of: key.entity) else { return [key] }
    switch try successor(of: key, removal) {
    case .itself: return [key]
    case .other(let other): return [other]
    case .none:
      removedCount += 1
      return []
    }
  }

  /// Includes the sources of objects that were merged into the destination object.
  private func sources(of destination: Key, by rule: Rule) throws(SQLiteError) -> [Key] {
    let own = rule.source(of: destination).map { [$0] } ?? []
    return try own + predecessors(of: destination).filter { $0.entity == rule.sourceEntity }
  }

  private func predecessors(of key: Key) throws(SQLiteError) -> [Key] {
    guard let removal = removal(of: key.entity) else { return [] }
    var keys: [Key] = []
    try statements.withStatement(removal.predecessors, [.integer(key.primaryKey)]) { row throws(SQLiteError) in
      while try row.step() {
        keys.append(Key(entity: Int(clamping: row.integer(at: 0)), primaryKey: row.integer(at: 1)))
      }
    }
    return keys
  }

  /// Each object once, in the order in which they were associated.
  func forEachDestination<Failure: Error>(
    ofMapping name: String, wrapping: (SQLiteError) -> Failure, _ body: (Key) throws(Failure) -> Void
  ) throws(Failure) {
    do {
      guard let mapping = try prepareLookUp(name), mapping.rule == nil else { return }
      // Only rows up to this one: the closure may associate more, which are not visited.
      let last = try connection.firstInteger("SELECT MAX(rowid) FROM temp.\(mapping.table)") ?? 0
      let rows = try connection.prepare(
        "SELECT rowid, entity, first, count, is_repeated FROM temp.\(mapping.table) WHERE rowid <= ?1"
          + " ORDER BY rowid")
      try rows.bind([.integer(last)])
      while try rows.step() {
        let (entity, first) = (Int(clamping: rows.integer(at: 1)), rows.integer(at: 2))
        if rows.integer(at: 4) != 0,
          try wasVisited(Key(entity: entity, primaryKey: first), before: rows.integer(at: 0), mapping)
        {
          continue
        }
        for place in 0..<rows.integer(at: 3) {
          do throws(Failure) {
            try body(Key(entity: entity, primaryKey: first + place))
          } catch {
            throw BodyError(error: error)
          }
        }
      }
    } catch let error as BodyError<Failure> {
      throw error.error
    } catch let error as SQLiteError {
      throw wrapping(error)
    } catch {
      throw wrapping(SQLiteError(extendedCode: 1, message: "\(error)"))
    }
  }

  /// Carries the closure's error past those of SQLite.
  private struct BodyError<Failure: Error>: Error {
    let error: Failure
  }

  private func wasVisited(_ key: Key, before rowid: Int64, _ mapping: Mapping) throws(SQLiteError) -> Bool {
    try statements.withStatement(
      // No run is longer than the longest, so the index finds the few that may contain the key.
      "SELECT 1 FROM temp.\(mapping.table) WHERE first BETWEEN ?1 - ?2 AND ?1 AND entity = ?3"
        + " AND first + count > ?1 AND rowid < ?4 LIMIT 1",
      [.integer(key.primaryKey), .integer(mapping.longest), .integer(Int64(key.entity)), .integer(rowid)]
    ) { row throws(SQLiteError) in try row.step() }
  }

  func unassociated(entity: Int, table: String) throws(SQLiteError) -> Int64 {
    guard let condition = try unassociated(entity) else { return 0 }
    return try connection.firstInteger(
      "SELECT COUNT(*) FROM \(SchemaName.rows(of: table, as: "s")) WHERE \(condition)") ?? 0
  }

  /// A condition on the source row `s`; `nil` if all objects have an association.
  func unassociated(_ entity: Int) throws(SQLiteError) -> String? {
    if mappings.values.contains(where: { $0.rule?.sourceEntity == entity }) { return nil }
    let key = "s.\(quote(PhysicalName.primaryKey))"
    var conditions: [String] = []
    for name in mappingNames {
      guard let mapping = try prepareLookUp(name), mapping.rule == nil else { continue }
      conditions.append(
        " AND NOT EXISTS (SELECT 1 FROM temp.\(mapping.table) AS a WHERE a.source BETWEEN \(key) - \(mapping.longestSpan)"
          + " AND \(key) AND a.source_entity = \(entity) AND a.source + a.span > \(key))")
    }
    return "s.\(quote(PhysicalName.entity)) = \(entity)\(conditions.joined())"
  }
}

extension Associations.Mapping {
  fileprivate func write(_ run: AssociationRun) throws(SQLiteError) {
    defer { insertion?.reset() }
    try insertion?.bind(Int64(run.source.entity), at: 1)
    try insertion?.bind(run.source.primaryKey, at: 2)
    try insertion?.bind(run.span, at: 3)
    try insertion?.bind(Int64(run.destination.entity), at: 4)
    try insertion?.bind(run.destination.primaryKey, at: 5)
    try insertion?.bind(run.count, at: 6)
    try insertion?.bind(run.counts, at: 7)
    try insertion?.bind(Int64(run.isRepeated ? 1 : 0), at: 8)
    try insertion?.run()
  }
}
