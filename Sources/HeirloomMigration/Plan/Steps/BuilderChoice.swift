import HeirloomStore

package enum BuilderChoice: Hashable, Sendable {
  /// By what the planner counts in the store.
  case automatic
  /// Both builders build the same store, and a test compares them.
  case always(MigrationPlan.Builder)
}

extension BuilderChoice {
  func choose(
    for parts: CandidateParts, size: StoreSize, connection: Connection
  ) throws(SQLiteError) -> MigrationPlan.Builder {
    switch self {
    case .always(let builder): return builder
    case .automatic: break
    }
    // SQLite's R-tree module may be missing here, and an R-tree can't be dropped without it.
    guard !parts.source.indexes.contains(where: { $0.ordering == nil }) else { return .rebuild }
    let kept = Set(parts.carried.map(\.sourceTable))
    let used = Set(parts.transfers.map(\.sourceTable) + parts.joins.compactMap { $0.source?.table })
    let later = Set(parts.deferral.tables)
    var anew: Int64 = 0
    var empty = size.freeBytes
    for table in parts.source.tables where !kept.contains(table.name) {
      guard used.contains(table.name) || !later.contains(table.name) else { continue }
      let indexes = parts.source.indexes.filter { $0.table == table.name }
      let bytes = try StoreSize.bytes(of: table, indexes: indexes, in: parts.actual, connection: connection)
      if used.contains(table.name) { anew += bytes } else { empty += bytes }
    }
    return Self.builder(anew: anew, empty: empty, of: size.bytes)
  }

  /// The table shows the CPU time for a new file as a multiple of that for a copy, with 100,000
  /// rows of 240 bytes. Its columns are the percentages of the bytes that are dropped and that are
  /// rewritten:
  ///
  /// | dropped/rewritten | 0/0 | 50/0 | 70/0 | 80/0 | 90/0 | 0/50 | 0/75 | 0/100 | 25/50 | 25/75 | 50/25 | 50/50 |
  /// | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
  /// | ext4 | 2.9 | 1.7 | 1.2 | 0.94 | 0.83 | 1.4 | 1.0 | 0.94 | 1.1 | 0.91 | 1.1 | 0.79 |
  /// | ext4, 400,000 rows | 3.6 | 2.1 | 1.5 | 0.99 | 0.54 | 1.4 | 1.2 | 0.88 | 1.2 | 0.91 | 0.97 | 0.83 |
  /// | XFS, blocks shared | 3.5 | 1.9 | 1.5 | 0.90 | 0.90 | 1.5 | 1.1 | 0.93 | 0.96 | 0.90 | 1.2 | 0.85 |
  ///
  /// Values that change in place favour the copy even if all rows change (1.5 and 1.8).
  ///
  /// `anew` counts the bytes rewritten even in a copy, and `empty` those of empty space in a copy.
  static func builder(anew: Int64, empty: Int64, of total: Int64) -> MigrationPlan.Builder {
    // From four fifths on, a new file takes less time. A copy is as large as the store: a file more
    // than twice as large as its content isn't worth the time saved, about four tenths there.
    anew > total / 5 * 4 - empty || empty > total / 2 ? .rebuild : .cloneAndAlter
  }
}
