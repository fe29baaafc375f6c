import HeirloomStore

/// Who says how a candidate is made.
package enum BuilderChoice: Hashable, Sendable {
  /// The planner, by what it counts on the store.
  case automatic
  /// The caller: both builders give the same store, and a test compares them.
  case always(MigrationPlan.Builder)
}

extension BuilderChoice {
  /// Says how a candidate is made.
  ///
  /// - Parameters:
  ///   - parts: What the candidate is made of.
  ///   - size: The store's size.
  ///   - connection: The connection to the store.
  /// - Returns: The builder.
  /// - Throws: `SQLiteError`.
  func choose(
    for parts: CandidateParts, size: StoreSize, connection: Connection
  ) throws(SQLiteError) -> MigrationPlan.Builder {
    switch self {
    case .always(let builder): return builder
    case .automatic: break
    }
    // SQLite's module for R-trees may be missing here, without which one can't be dropped.
    guard !parts.source.indexes.contains(where: { $0.ordering == nil }) else { return .rebuild }
    let kept = Set(parts.carried.map(\.sourceTable))
    let used = Set(parts.transfers.map(\.sourceTable) + parts.joins.compactMap { $0.source?.table })
    let later = Set(parts.deferral.tables)
    var anew: Int64 = 0
    var empty = size.freeBytes
    for table in parts.source.tables where !kept.contains(table.name) {
      let bytes = try StoreSize.bytes(of: table, in: parts.actual, connection: connection)
      if used.contains(table.name) { anew += bytes } else if !later.contains(table.name) { empty += bytes }
    }
    // A copy is as large as the store, whatever it loses; a new file holds only what is there. In time the copy is ahead even
    // where all objects are written anew (by a quarter, with 100,000 and a million notes), but it may be written twice.
    let isHollow = empty > size.bytes / 3
    return isHollow || anew + empty > size.bytes / 3 * 2 ? .rebuild : .cloneAndAlter
  }
}

/// The size of a store's file.
struct StoreSize {
  /// All bytes.
  let bytes: Int64
  /// The bytes of pages that hold nothing.
  let freeBytes: Int64

  init(connection: Connection) throws(SQLiteError) {
    func value(_ pragma: String) throws(SQLiteError) -> Int64? {
      try connection.firstInteger("PRAGMA \(quote(SchemaName.store)).\(pragma)")
    }
    let pageSize = try value("page_size") ?? 4096
    bytes = (try value("page_count") ?? 0) * pageSize
    freeBytes = (try value("freelist_count") ?? 0) * pageSize
  }

  /// Estimates the bytes of a table's rows by its first hundred, without its indexes.
  static func bytes(
    of table: PhysicalTable, in actual: ActualSchema, connection: Connection
  ) throws(SQLiteError) -> Int64 {
    guard let found = actual.table(named: table.name), !found.isVirtual, !found.columns.isEmpty else { return 0 }
    let name = "\(quote(SchemaName.store)).\(quote(table.name))"
    let rows = try connection.firstInteger("SELECT COUNT(*) FROM \(name)") ?? 0
    guard rows > 0 else { return 0 }
    // A number takes up to nine bytes; text and bytes have their length, and each value a byte that tells its kind.
    let lengths = found.columns.map { column in
      let value = "t.\(quote(column.name))"
      return "CASE TYPEOF(\(value)) WHEN 'null' THEN 1 WHEN 'integer' THEN 4 WHEN 'real' THEN 9"
        + " ELSE LENGTH(\(value)) + 2 END"
    }
    let sum = lengths.map { "SUM(\($0))" }.joined(separator: " + ")
    let sample = min(rows, 100)
    let total = try connection.firstInteger("SELECT \(sum) FROM (SELECT * FROM \(name) LIMIT 100) AS t") ?? 0
    return (total / sample + 8).multipliedReportingOverflow(by: rows).partialValue
  }
}
