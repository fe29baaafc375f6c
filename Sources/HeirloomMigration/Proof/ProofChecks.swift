import HeirloomMapping
import HeirloomModel
import HeirloomStore

struct ProofChecks {
  let checks: [ProofCheck]

  /// `scanned` are the tables of the store in which the plan read each row's entity.
  init(_ parts: CandidateParts, builder: MigrationPlan.Builder, scanned: Set<String>) {
    var checks = parts.rowCounts.map { ProofCheck.rowCount(table: $0.table, rows: $0.rows) }
    let rowDecisions = parts.rowDecisions
    let carriedNames = builder == .cloneAndAlter ? Set(parts.carried.map(\.table.name)) : []
    let (unwritten, written) = builder == .cloneAndAlter ? (parts.unwrittenTables, parts.writtenTables) : ([:], [:])
    checks += parts.transfers.compactMap {
      Self.sum(
        of: $0, in: written[$0.table], places: Self.places(in: parts.destination.table(named: $0.table)),
        isNew: !carriedNames.contains($0.table), where: rowDecisions.untouched[$0.table])
    }
    // Rows that are copied or changed are selected by their entity; rows that only stay have to be checked.
    if builder == .cloneAndAlter {
      checks +=
        parts.carried.filter { !scanned.contains($0.sourceTable) }.compactMap(Self.strangers)
        + parts.carried.filter { !rowDecisions.concerns($0.table.name) }.compactMap(Self.samples)
    }
    // Links that were keys are counted, and each of their keys has to refer to an object.
    checks += parts.joins.filter { join in
      join.pairs != nil && !carriedNames.contains(join.table.name) && !rowDecisions.concerns(join.table.name)
    }.map(Self.sum)
    // Decisions give values to empty cells, and code may write any value.
    if rowDecisions.outcomes.isEmpty {
      let byCode = parts.crossing.split.byRow.compactMap(\.destinationEntityName)
      let tables = Set(parts.transfers.map(\.table)).subtracting(carriedNames)
        .subtracting(byCode.compactMap { parts.destination.table(ofEntity: $0)?.name })
      checks += CellBalance.checks(parts.crossing, of: tables)
    }
    checks += rowDecisions.checks + parts.framework.checks + Self.declarations(parts.foreign)
    checks += Self.highestKeys(parts.destination)
    checks += Self.danglingKeys(parts, kept: unwritten.merging(written) { first, _ in first })
    self.checks = checks
  }

  /// In tables of several entities, the plan's count has read each row's entity.
  private static func strangers(in table: CarriedTable) -> ProofCheck? {
    guard table.updates.isEmpty, table.numbers.count == 1, let number = table.numbers.first else { return nil }
    return .strangers(
      table: table.table.name,
      found: "SELECT COUNT(*) FROM \(quote(SchemaName.candidate)).\(quote(table.table.name))"
        + " WHERE \(quote(PhysicalName.entity)) IS NOT \(number)")
  }

  /// A value in a wrong column is wrong in the last rows too; the sums cover changed values.
  private static func samples(of table: CarriedTable) -> ProofCheck? {
    let changing = Set(table.updates.map(\.column))
    let staying = table.table.columns.compactMap { column in
      table.origins[column.name].flatMap { changing.contains($0) ? nil : (old: $0, new: column.name) }
    }
    // The end of a table is found without a scan: by the key of its objects, or by the keys of its links.
    let keys = staying.filter { table.table.column(named: $0.new)?.role.isRowKey ?? false }
    guard !keys.isEmpty else { return nil }
    func rows(_ database: String, _ name: String, _ columns: [String], by keys: [String]) -> String {
      "SELECT \(columns.map(quote).joined(separator: ", ")) FROM \(quote(database)).\(quote(name))"
        + " ORDER BY \(keys.map { quote($0) + " DESC" }.joined(separator: ", ")) LIMIT 64"
    }
    let before = rows(SchemaName.store, table.sourceTable, staying.map(\.old), by: keys.map(\.old))
    let after = rows(SchemaName.candidate, table.table.name, staying.map(\.new), by: keys.map(\.new))
    return .unchanged(
      subject: "rows of \(table.table.name) that were changed unexpectedly", table: table.table.name,
      // SQLite allows no `LIMIT` in a part of a compound, so each query is a subquery.
      found: "SELECT COUNT(*) FROM (SELECT * FROM (\(before)) EXCEPT SELECT * FROM (\(after)))")
  }

  /// All columns of a new table, the rewritten ones of another; `nil` if nothing is rewritten.
  ///
  /// `written` is the table if it is one of a copy and only the plan's statements wrote its rows.
  /// `untouched` is the condition that no decision affected the row with the key `pk`.
  private static func sum(
    of transfer: TableTransfer, in written: CarriedTable?, places: Set<String>, isNew: Bool,
    where untouched: String?
  ) -> ProofCheck? {
    var columns = transfer.rewrittenColumns
    if isNew {
      columns = transfer.columns.filter { column in
        // A decision that merges objects renumbers other members of a list. The key is in each row's digest already,
        // and SQLite allows as many results as columns.
        column.name != PhysicalName.primaryKey && column.entry.sql != "NULL"
          && (untouched == nil || !places.contains(column.name))
      }
    }
    if let written {
      // Keys that stay are summed too, so the objects that they refer to need no other proof.
      columns += transfer.columns.filter { written.keepsKey(in: $0.name) }
      columns = columns.ordered { written.place(of: $0.name) < written.place(of: $1.name) }
    }
    guard !columns.isEmpty || written != nil else { return nil }
    let key = "s.\(quote(PhysicalName.primaryKey))"
    let expressions = columns.enumerated().map { "\($1.entry.sql) AS c\($0)" } + ["\(transfer.key) AS pk"]
    let stored = columns.enumerated().map { "s.\(quote($1.name)) AS c\($0)" } + ["\(key) AS pk"]
    // If trees are merged, the table has rows of other transfers, which are not compared here.
    let found =
      "SELECT \(stored.joined(separator: ", ")) FROM \(quote(SchemaName.candidate)).\(quote(transfer.table)) AS s"
      + (transfer.destinationNumbers.map { numbers in
        " WHERE s.\(quote(PhysicalName.entity)) IN (\(numbers.map(String.init).joined(separator: ", ")))"
      } ?? "")
    let total = "SELECT COUNT(*), \(Connection.rowSum(ofKey: "pk", columns.indices.map { "c\($0)" }))"
    let condition = untouched.map { " WHERE \($0)" } ?? ""
    return .rowSum(
      table: transfer.table, expected: "\(total) FROM (\(transfer.select(expressions)))\(condition)",
      found: "\(total) FROM (\(found))\(condition)",
      columns: untouched == nil ? written.map { table in columns.map { table.place(of: $0.name) } } : nil)
  }

  private static func places(in table: PhysicalTable?) -> Set<String> {
    Set(table?.columns.compactMap { if case .order = $0.role { $0.name } else { nil } } ?? [])
  }

  private static func sum(of join: JoinTransfer) -> ProofCheck {
    // Two whole numbers need no digest, which takes several times as long: a product shows which ends belong together.
    let total = "SELECT COUNT(*), SUM((owner % 65521 + 1) * (target % 65519 + 1))"
    let keys = zip(join.keyColumns, ["owner", "target"]).map { "\(quote($0)) AS \($1)" }.joined(separator: ", ")
    return .sums(
      table: join.table.name, expected: "\(total) FROM (\(join.selection))",
      found: "\(total) FROM (SELECT \(keys) FROM \(quote(SchemaName.candidate)).\(quote(join.table.name)))")
  }

  /// The case of the first words may differ.
  private static func declarations(_ foreign: ForeignObjects) -> [ProofCheck] {
    let names = foreign.carriedNames.map(quoteLiteral)
    guard !names.isEmpty else { return [] }
    func schema(_ database: String) -> String { "\(quote(database)).sqlite_schema" }
    return [
      .unchanged(
        subject: "objects outside the model that differ from the store's", table: "sqlite_schema",
        found:
          "SELECT COUNT(*) FROM \(schema(SchemaName.store)) AS s WHERE s.name IN (\(names.joined(separator: ", ")))"
          + " AND NOT EXISTS (SELECT 1 FROM \(schema(SchemaName.candidate)) AS c WHERE c.type = s.type AND"
          + " c.name = s.name AND c.tbl_name = s.tbl_name AND UPPER(SUBSTR(c.sql, 1, 20)) = UPPER(SUBSTR(s.sql, 1, 20))"
          + " AND SUBSTR(c.sql, 21) = SUBSTR(s.sql, 21))")
    ]
  }

  private static func highestKeys(_ schema: PhysicalSchema) -> [ProofCheck] {
    schema.entities.filter { $0.superentityNumber == 0 }.map { entity in
      let candidate = quote(SchemaName.candidate)
      let maximum =
        "(SELECT \(quote(PhysicalName.maximum)) FROM \(candidate).\(quote(PhysicalName.primaryKeyTable))"
        + " WHERE \(quote(PhysicalName.entity)) = \(entity.number))"
      // Core Data gives a new object the next key after the recorded one, which must be unused.
      return .noMore(
        subject: "keys of \(entity.name) above \(PhysicalName.maximum)", expected: "SELECT 0",
        found: "SELECT COUNT(*) FROM (SELECT MAX(\(quote(PhysicalName.primaryKey))) AS highest"
          + " FROM \(candidate).\(quote(entity.table))) WHERE highest > COALESCE(\(maximum), 0)")
    }
  }

}

// MARK: - Keys

extension ProofChecks {
  private struct KeyColumn: Hashable {
    let table: String
    let column: String
    let target: String
  }

  /// A column is excluded on both sides if its table and the table that it refers to have the same
  /// rows as before, and its keys are unchanged: it then has as many dangling keys as before.
  ///
  /// `kept` has these tables by name. For unwritten tables, the page proof and the comparison of
  /// the last rows show that the column is unchanged; for written ones, the sum of keys does.
  private static func danglingKeys(_ parts: CandidateParts, kept: [String: CarriedTable]) -> [ProofCheck] {
    var expected = keyColumns(parts.source)
    let found = keyColumns(parts.destination).filter { key in
      guard let table = kept[key.table], let target = kept[key.target], table.keepsKey(in: key.column),
        let column = table.origins[key.column],
        let same = expected.firstIndex(
          of: KeyColumn(table: table.sourceTable, column: column, target: target.sourceTable))
      else { return true }
      expected.remove(at: same)
      return false
    }
    guard !found.isEmpty else { return [] }
    return [
      .noMore(
        subject: "keys that refer to no object",
        // If indexes of the store differ from their tables, the plan reads the tables themselves.
        expected: total(expected, in: SchemaName.store, usesIndexes: parts.crossing.counts.usesIndexes),
        found: total(found, in: SchemaName.candidate, usesIndexes: true))
    ]
  }

  private static func keyColumns(_ schema: PhysicalSchema) -> [KeyColumn] {
    schema.tables.flatMap { table in
      table.columns.compactMap { column -> KeyColumn? in
        let target: String?
        switch column.role {
        case .key(let entity, let relationship), .joinKey(let entity, let relationship),
          .reflexiveKey(let entity, let relationship):
          target = schema.model.relationship(named: relationship, of: entity)?.destinationEntity
        case .inverselessKey(let entity, _):
          target = entity
        default: return nil
        }
        guard let target, let targetTable = schema.table(ofEntity: target)?.name else { return nil }
        return KeyColumn(table: table.name, column: column.name, target: targetTable)
      }
    }
  }

  // A list of rows rather than one long sum, because SQLite limits the depth of an expression.
  private static func total(_ keys: [KeyColumn], in database: String, usesIndexes: Bool) -> String {
    guard !keys.isEmpty else { return "SELECT 0" }
    let plainly = usesIndexes ? "" : " NOT INDEXED"
    let rows = keys.map { key in
      let name = quote(key.column)
      let keyed = "\(quote(database)).\(quote(key.table))"
      // Each distinct key is searched once; rows are counted only for dangling keys.
      return
        "(SELECT COUNT(*) FROM \(keyed) AS r\(plainly) WHERE r.\(name) IN (SELECT k FROM"
        + " (SELECT DISTINCT s.\(name) AS k FROM \(keyed) AS s\(plainly) WHERE s.\(name) IS NOT NULL)"
        + " WHERE k NOT IN (SELECT d.\(quote(PhysicalName.primaryKey)) FROM"
        + " \(quote(database)).\(quote(key.target)) AS d\(plainly))))"
    }
    return "SELECT SUM(column1) FROM (VALUES (\(rows.joined(separator: "), ("))))"
  }
}
