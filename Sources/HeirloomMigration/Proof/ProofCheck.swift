import HeirloomModel
import HeirloomStore

/// One comparison that the proof makes between the plan, the store and the candidate.
package enum ProofCheck: Hashable, Sendable {
  /// A table of the candidate has a number of rows.
  case rowCount(table: String, rows: Int64)
  /// Two queries give the same row of sums: one over the store with the plan's expressions, one over the candidate.
  case sums(table: String, expected: String, found: String)
  /// A query over the candidate counts what must not be there more often than another query counts in the store.
  case noMore(subject: String, expected: String, found: String)
  /// A query finds no row of a table that is not as it was in the store.
  case unchanged(subject: String, table: String, found: String)
}

extension ProofCheck {
  /// Whether the check compares no values of tables that code has changed.
  func survives(changesOf tables: Set<String>) -> Bool {
    switch self {
    case .sums(let table, _, _), .unchanged(_, let table, _): !tables.contains(table)
    case .rowCount, .noMore: true
    }
  }
}

/// Derives the comparisons of a candidate with the plan and the store.
struct ProofChecks {
  let checks: [ProofCheck]

  init(_ parts: CandidateParts, builder: MigrationPlan.Builder) {
    var checks = parts.rowCounts.map { ProofCheck.rowCount(table: $0.table, rows: $0.rows) }
    let settlement = parts.settlement
    checks += parts.transfers.compactMap { Self.sums(of: $0, where: settlement.untouched[$0.table]) }
    // Rows that are copied or changed are chosen by their entity; those that only stay have to be looked at.
    if builder == .cloneAndAlter {
      checks +=
        parts.carried.compactMap(Self.strangers)
        + parts.carried.filter { !settlement.concerns($0.table.name) }.compactMap(Self.samples)
    }
    checks += settlement.checks
    checks += Self.highestKeys(parts.destination)
    checks += Self.danglingKeys(parts.destination, source: parts.source)
    self.checks = checks
  }

  /// Counts rows of another entity in a table of one entity; in others each row's entity was looked at for the plan.
  private static func strangers(in table: CarriedTable) -> ProofCheck? {
    guard table.updates.isEmpty, table.numbers.count == 1, let number = table.numbers.first else { return nil }
    return .unchanged(
      subject: "rows of \(table.table.name) that are of another entity", table: table.table.name,
      found: "SELECT COUNT(*) FROM \(quote(SchemaName.candidate)).\(quote(table.table.name))"
        + " WHERE \(quote(PhysicalName.entity)) IS NOT \(number)")
  }

  /// Compares the values that stay in the last rows: one that is in a wrong column is in the wrong one everywhere.
  ///
  /// Values that change are in the sums.
  private static func samples(of table: CarriedTable) -> ProofCheck? {
    let changing = Set(table.updates.map(\.column))
    let staying = table.table.columns.compactMap { column in
      table.origins[column.name].flatMap { changing.contains($0) ? nil : (old: $0, new: column.name) }
    }
    func rows(_ database: String, _ name: String, _ columns: [String]) -> String {
      "SELECT \(columns.map(quote).joined(separator: ", ")) FROM \(quote(database)).\(quote(name))"
        + " ORDER BY rowid DESC LIMIT 64"
    }
    return .unchanged(
      subject: "rows of \(table.table.name) that are not as before", table: table.table.name,
      found: "SELECT COUNT(*) FROM (SELECT * FROM (\(rows(SchemaName.store, table.sourceTable, staying.map(\.old))))"
        + " EXCEPT SELECT * FROM (\(rows(SchemaName.candidate, table.table.name, staying.map(\.new)))))")
  }

  /// Compares the rewritten columns of a table, in the rows that no decision touched.
  private static func sums(of transfer: TableTransfer, where untouched: String?) -> ProofCheck? {
    let columns = transfer.rewrittenColumns
    guard !columns.isEmpty else { return nil }
    // Floating-point sums depend on the order of the rows, which the primary key fixes on both sides.
    let key = quote(PhysicalName.primaryKey)
    let expressions = columns.enumerated().map { "\($1.expression.sql) AS c\($0)" } + ["\(transfer.key) AS pk"]
    let stored = columns.enumerated().map { "s.\(quote($1.name)) AS c\($0)" } + ["s.\(key) AS pk"]
    let found =
      "SELECT \(stored.joined(separator: ", ")) FROM \(quote(SchemaName.candidate)).\(quote(transfer.table)) AS s"
      + (transfer.destinationNumbers.map { numbers in
        " WHERE s.\(quote(PhysicalName.entity)) IN (\(numbers.map(String.init).joined(separator: ", ")))"
      } ?? "")
    let totals = columns.indices.map { sum(of: "c\($0)") }.joined(separator: ", ")
    let condition = untouched.map { " WHERE \($0)" } ?? ""
    return .sums(
      table: transfer.table,
      expected: "SELECT \(totals) FROM (\(transfer.select(expressions)) ORDER BY s.\(key))\(condition)",
      found: "SELECT \(totals) FROM (\(found) ORDER BY s.\(key))\(condition)")
  }

  /// A count and a sum that depends on each value and its row; text and bytes enter by their length.
  private static func sum(of column: String) -> String {
    "COUNT(\(column)), TOTAL(CASE WHEN TYPEOF(\(column)) IN ('text', 'blob') THEN LENGTH(\(column))"
      + " ELSE CAST(\(column) AS REAL) END * (1 + pk % 127))"
  }

  /// Counts tables whose highest primary key is above the one that was handed out.
  private static func highestKeys(_ schema: PhysicalSchema) -> [ProofCheck] {
    schema.entities.filter { $0.superentityNumber == 0 }.map { entity in
      let candidate = quote(SchemaName.candidate)
      let maximum =
        "(SELECT \(quote(PhysicalName.maximum)) FROM \(candidate).\(quote(PhysicalName.primaryKeyTable))"
        + " WHERE \(quote(PhysicalName.entity)) = \(entity.number))"
      return .noMore(
        subject: "keys of \(entity.name) above \(PhysicalName.maximum)", expected: "SELECT 0",
        found: "SELECT COUNT(*) FROM (SELECT MAX(\(quote(PhysicalName.primaryKey))) AS highest"
          + " FROM \(candidate).\(quote(entity.table))) WHERE highest > COALESCE(\(maximum), 0)")
    }
  }

  /// Counts keys that lead nowhere, in the candidate and, for comparison, in all of the store.
  private static func danglingKeys(_ destination: PhysicalSchema, source: PhysicalSchema) -> [ProofCheck] {
    let found = danglingQueries(destination, database: SchemaName.candidate)
    let expected = danglingQueries(source, database: SchemaName.store)
    guard !found.isEmpty else { return [] }
    return [
      .noMore(subject: "keys that lead to no object", expected: total(expected), found: total(found))
    ]
  }

  // A list of rows rather than one long sum: SQLite limits the depth of an expression.
  private static func total(_ queries: [String]) -> String {
    guard !queries.isEmpty else { return "SELECT 0" }
    let rows = queries.map { "(\($0))" }.joined(separator: "), (")
    return "SELECT SUM(column1) FROM (VALUES (\(rows)))"
  }

  private static func danglingQueries(_ schema: PhysicalSchema, database: String) -> [String] {
    schema.tables.flatMap { table in
      table.columns.compactMap { column -> String? in
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
        let name = quote(column.name)
        let key = quote(PhysicalName.primaryKey)
        let keyed = "\(quote(database)).\(quote(table.name))"
        // Each key is looked for once, however many rows have it; rows are counted only for keys that lead nowhere.
        return
          "SELECT COUNT(*) FROM \(keyed) AS r WHERE r.\(name) IN (SELECT k FROM"
          + " (SELECT DISTINCT s.\(name) AS k FROM \(keyed) AS s WHERE s.\(name) IS NOT NULL)"
          + " WHERE k NOT IN (SELECT d.\(key) FROM \(quote(database)).\(quote(targetTable)) AS d))"
      }
    }
  }
}
