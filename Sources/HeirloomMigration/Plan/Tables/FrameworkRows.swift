import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The rows of persistent history and CloudKit mirroring, which refer to objects by entity and key.
///
/// Entity numbers depend on the names of all entities, so adding or removing an entity changes
/// those of others. After a migration every row refers to the same entity as before. Rows are left
/// out if their entity is gone or its objects go to several entities: no reader could resolve them,
/// and the number may belong to another entity. That is no loss of a person's data, so it is only a
/// warning.
///
/// Apple documents nothing about history across migrations; its readers need each row to describe
/// the same object.
struct FrameworkRows {
  /// The changes to a table's rows `s` while they are copied.
  struct Rewrite {
    fileprivate(set) var expressions: [String: String] = [:]
    fileprivate(set) var conditions: [String] = []
    var summary: String {
      let words = [
        (followed, "get their entities' new numbers"), (leftOut, "are left out"),
      ].filter { $0.0 > 0 }.map { "\($0.0) rows \($0.1)" }
      let details = hasNewDetails ? ["changed properties are translated"] : []
      return (words + details).joined(separator: ", ")
    }
    fileprivate var followed: Int64 = 0
    fileprivate var leftOut: Int64 = 0
    fileprivate var hasNewDetails = false

    var isChanged: String {
      expressions.ordered(by: \.key).map { "(\($0.value)) IS NOT s.\(quote($0.key))" }.chained(by: "OR")
    }

    var clause: String { conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ") }

    fileprivate mutating func renumber(_ reference: EntityReference, _ present: [EntityTransition]) {
      let column = "s.\(quote(reference.column))"
      let numbers = present.filter { $0.destination?.number != $0.source.number }
      if !numbers.isEmpty {
        let cases = numbers.map { "WHEN \($0.source.number) THEN \($0.destination?.number ?? 0)" }
        expressions[reference.column] = "CASE \(column) \(cases.joined(separator: " ")) ELSE \(column) END"
      }
      let moved = present.filter { $0.keyOffset != 0 }
      guard let key = reference.key, !moved.isEmpty else { return }
      let cases = moved.map { "WHEN \($0.source.number) THEN \($0.keyOffset)" }
      expressions[key] = "s.\(quote(key)) + CASE \(column) \(cases.joined(separator: " ")) ELSE 0 END"
    }
  }

  private(set) var rewrites: [String: Rewrite] = [:]
  private(set) var warnings: [String] = []
  private(set) var checks: [ProofCheck] = []

  private let crossing: Crossing
  private let connection: Connection
  private var fates: [String: EntityTransition] = [:]

  /// Reads no rows if none of the entities that they refer to changes.
  init(_ crossing: Crossing, connection: Connection) throws(SQLiteError) {
    self.crossing = crossing
    self.connection = connection
    let actual = crossing.actual
    let references = actual.entityReferences
    guard !references.isEmpty else { return }
    let all = EntityTransition.fates(in: crossing)
    fates = Dictionary(all.map { ($0.source.name, $0) }, uniquingKeysWith: { first, _ in first })
    for reference in references {
      guard let table = actual.table(named: reference.table) else { continue }
      if reference.isName { try followNames(reference) } else { try followNumbers(reference, table) }
    }
  }

  private var source: PhysicalSchema { crossing.source }
  private var destination: PhysicalSchema { crossing.destination }

  private mutating func followNumbers(_ reference: EntityReference, _ table: ActualTable) throws(SQLiteError) {
    let going = fates.values.filter { $0.destination != nil }
    var bits = ChangedBits(going, table, source: source.model, destination: destination.model)
    var tombstones = Tombstones(going, table, source: source.model, destination: destination.model)
    // An unknown number becomes another entity's if the destination has more entities.
    let isConcerned =
      destination.entities.count > source.entities.count || fates.values.contains { !$0.isSame } || bits.concernsAny
      || tombstones.concernsAny
    guard isConcerned else { return }
    let column = "s.\(quote(reference.column))"
    let isNumber = "TYPEOF(\(column)) = 'integer' AND \(column) < \(PhysicalName.firstFrameworkNumber)"
    var kept: [(fate: EntityTransition, rows: Int64)] = []
    var (changed, gone, unknown) = (Int64(0), [String: Int64](), Int64(0))
    var isTakenOver = false
    // Ascending, and only numbers that occur: the plan's SQL is the same each time.
    for row in try connection.rows(
      "SELECT \(column), COUNT(*) FROM \(SchemaName.rows(of: table.name, as: "s")) WHERE \(isNumber) GROUP BY \(column) ORDER BY \(column)"
    ) {
      guard let number = row[0].integer, let rows = row[1].integer else { continue }
      guard let entity = Int(exactly: number).flatMap({ source.entity(numbered: $0) }), let fate = fates[entity.name]
      else {
        unknown += rows
        isTakenOver = isTakenOver || number > 0 && number <= destination.entities.count
        continue
      }
      guard fate.destination != nil else {
        gone[entity.name] = rows
        continue
      }
      kept.append((fate, rows))
      if !fate.isSame { changed += rows }
    }
    let present = kept.map(\.fate)
    let bitsExpression = try bits.expression(for: present, column, connection)
    let tombstoneExpressions = try tombstones.expressions(for: present, column, connection)
    guard changed > 0 || !gone.isEmpty || isTakenOver || bitsExpression != nil || !tombstoneExpressions.isEmpty else {
      return
    }
    var rewrite = rewrites[table.name] ?? Rewrite()
    if let bitsExpression { rewrite.expressions[PhysicalName.changedColumns] = bitsExpression }
    rewrite.expressions.merge(tombstoneExpressions) { first, _ in first }
    rewrite.renumber(reference, present)
    if unknown > 0 || !gone.isEmpty {
      let list = present.map { String($0.source.number) }.joined(separator: ", ")
      rewrite.conditions.append("(\(column) IS NULL OR NOT (\(isNumber)) OR \(column) IN (\(list)))")
    }
    rewrite.followed += changed
    rewrite.leftOut += unknown + gone.values.reduce(0, +)
    rewrite.hasNewDetails = bitsExpression != nil || !tombstoneExpressions.isEmpty
    rewrites[table.name] = rewrite
    warn(table.name, gone: gone, unknown: unknown)
    warnings += bits.warnings + tombstones.warnings
    check(reference, fates: present, isNumber)
  }

  private mutating func warn(_ table: String, gone: [String: Int64], unknown: Int64) {
    for (entity, rows) in gone.ordered(by: { $0.key }) {
      let reason =
        fates[entity]?.goesOn == true ? "its objects can't be traced by key" : "the entity is gone"
      let isMirrored = table.hasPrefix(PhysicalName.cloudKitPrefix) && fates[entity]?.goesOn == true
      warnings.append(
        "\(CountText.counted(rows, "row")) of \(table) \(CountText.verb("refer", rows)) to \"\(entity)\" and"
          + " \(CountText.verb("are", rows)) left out: \(reason)"
          + (isMirrored ? "; CloudKit treats its objects as new ones" : ""))
    }
    if unknown > 0 {
      warnings.append(
        "\(CountText.counted(unknown, "row")) of \(table) \(CountText.verb("refer", unknown)) to no entity of the store"
          + " and \(CountText.verb("are", unknown)) left out: its number or name may now be that of another entity")
    }
  }

  /// The store's numbers are resolved by the plan, the candidate's by its own table of entities.
  private mutating func check(_ reference: EntityReference, fates: [EntityTransition], _ isNumber: String) {
    let column = "s.\(quote(reference.column))"
    func key(_ offset: String) -> String { reference.key.map { "(s.\(quote($0)) + \(offset)) % 8191" } ?? "0" }
    func totals(_ rows: String) -> String { "SELECT n, COUNT(*), TOTAL(k) FROM (\(rows)) GROUP BY n ORDER BY n" }
    let names = fates.map { "(\($0.source.number), \(quoteLiteral($0.destination?.name ?? "")), \($0.keyOffset))" }
    let known = names.isEmpty ? "(NULL, NULL, 0)" : names.joined(separator: ", ")
    let entities = "\(quote(SchemaName.candidate)).\(quote(PhysicalName.primaryKeyTable))"
    checks.append(
      .sums(
        table: reference.table,
        expected: totals(
          // The inner join omits what the copy omits: rows whose entity has no destination.
          "SELECT m.column2 AS n, \(key("m.column3")) AS k FROM \(SchemaName.rows(of: reference.table, as: "s"))"
            + " JOIN (VALUES \(known)) AS m ON m.column1 = \(column) WHERE \(isNumber)"),
        found: totals(
          // A wrong number in the candidate's table of entities is detected too.
          "SELECT (SELECT e.\(quote(PhysicalName.name)) FROM \(entities) AS e WHERE e.\(quote(PhysicalName.entity)) = \(column))"
            + " AS n, \(key("0")) AS k FROM \(quote(SchemaName.candidate)).\(quote(reference.table)) AS s WHERE \(isNumber)"
        )))
  }

  private mutating func followNames(_ reference: EntityReference) throws(SQLiteError) {
    let isConcerned =
      fates.values.contains { $0.destination?.name != $0.source.name }
      || destination.entities.contains { source.entity(named: $0.name) == nil }
    guard isConcerned else { return }
    let column = "s.\(quote(reference.column))"
    var (renamed, left, gone) = ([EntityTransition](), [String](), [String: Int64]())
    var (followed, unknown) = (Int64(0), Int64(0))
    // A value of another type is not an entity's name and is kept.
    for row in try connection.rows(
      "SELECT \(column), COUNT(*) FROM \(SchemaName.rows(of: reference.table, as: "s"))"
        + " WHERE TYPEOF(\(column)) = 'text' GROUP BY \(column) ORDER BY \(column)"
    ) {
      guard let name = row[0].text, let rows = row[1].integer else { continue }
      if let fate = fates[name] {
        guard let entity = fate.destination else {
          gone[name] = rows
          left.append(name)
          continue
        }
        guard entity.name != name else { continue }
        renamed.append(fate)
        followed += rows
      } else if destination.entity(named: name) != nil {
        unknown += rows
        left.append(name)
      }
    }
    guard !renamed.isEmpty || !left.isEmpty else { return }
    var rewrite = rewrites[reference.table] ?? Rewrite()
    if !renamed.isEmpty {
      let cases = renamed.map {
        "WHEN \(quoteLiteral($0.source.name)) THEN \(quoteLiteral($0.destination?.name ?? ""))"
      }
      rewrite.expressions[reference.column] = "CASE \(column) \(cases.joined(separator: " ")) ELSE \(column) END"
    }
    if !left.isEmpty {
      rewrite.conditions.append(
        "(\(column) IS NULL OR \(column) NOT IN (\(left.map(quoteLiteral).joined(separator: ", "))))")
    }
    rewrite.followed += followed
    rewrite.leftOut += unknown + gone.values.reduce(0, +)
    rewrites[reference.table] = rewrite
    warn(reference.table, gone: gone, unknown: unknown)
  }
}
