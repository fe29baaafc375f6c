import HeirloomStore

/// A table whose rows stay in place in a copy of the store, with the changes to it.
struct CarriedTable {
  let sourceTable: String
  /// In the candidate: the columns of the store's table in their order, then new ones.
  let table: PhysicalTable
  /// By their names in the candidate.
  let origins: [String: String]
  let sourceColumns: [String]
  let dropped: String?
  /// Columns that belong to no property any more, but are dropped only later.
  var pending: [String] = []
  /// By the column's name in the source, or the name of a new column.
  let updates: [(column: String, entry: CellEntry)]
  /// None for links.
  let numbers: [Int]
  let rows: Int64

  var isOnlyExtended: Bool {
    table.name == sourceTable && dropped == nil && updates.isEmpty && origins.allSatisfy { $0.key == $0.value }
  }

  func keepsKey(in column: String) -> Bool {
    guard let origin = origins[column] else { return false }
    return table.column(named: column)?.role.isReference ?? false && !updates.contains { $0.column == origin }
  }

  /// The position in the table's records; the number of columns for an unknown column.
  func place(of column: String) -> Int {
    table.columns.firstIndex { $0.name == column } ?? table.columns.count
  }

  /// True when added columns get values while the other columns still have their source names.
  var isExtendedFirst: Bool { updates.contains { !sourceColumns.contains($0.column) } }

  /// It runs while all columns still have their source names.
  var updateStatement: PlannedStatement? {
    guard !updates.isEmpty else { return nil }
    let values = updates.map { "\(quote($0.column)) = \($0.entry.sql)" }.joined(separator: ", ")
    let list = numbers.map(String.init).joined(separator: ", ")
    // Rows of another entity aren't changed: the count then differs from the expected one.
    return PlannedStatement(
      "UPDATE \(quote(SchemaName.candidate)).\(quote(sourceTable)) AS s NOT INDEXED SET \(values)"
        + " WHERE s.\(quote(PhysicalName.entity)) IN (\(list))", expectedRows: rows)
  }

  var extendedSQL: String {
    let added = table.columns.filter { origins[$0.name] == nil && !pending.contains($0.name) }
    let old = sourceColumns.compactMap { name -> PhysicalColumn? in
      let column =
        origins.first { $0.value == name }.flatMap { table.column(named: $0.key) }
        ?? (pending.contains(name) ? table.column(named: name) : nil)
      // Of the column that will be dropped, only the position matters.
      guard let column else { return PhysicalColumn(name: name, type: .blob, role: .optimisticLock) }
      return PhysicalColumn(name: name, type: column.type, role: column.role)
    }
    return PhysicalTable(name: sourceTable, kind: table.kind, columns: old + added).sql
  }
}

struct TableCarrier {
  let crossing: Crossing
  let defers: Bool
  private var taken: Set<String> = []

  init(_ crossing: Crossing, defers: Bool = false) {
    self.crossing = crossing
    self.defers = defers
  }

  /// `nil` if rows move away, columns change type or order, or the store's table isn't the model's.
  ///
  /// `table` is the one of a new store.
  mutating func carry(_ transfer: TableTransfer, to table: PhysicalTable) -> CarriedTable? {
    guard !taken.contains(transfer.sourceTable), let old = understood(transfer.sourceTable),
      let claims = Claims(transfer, table: table, from: old)
    else { return nil }
    let rows = crossing.counts.rows(of: transfer.sourceNumbers)
    guard rows == crossing.counts.total(ofTable: transfer.sourceTable, in: crossing.source) else { return nil }

    // A column must be dropped at once if the destination needs its name.
    let needed = Set(table.columns.map { $0.name.lowercased() })
    let claimed = claims.claimed
    let unclaimed = old.columns.map(\.name).filter { !claimed.contains($0) }
    let pending = defers ? unclaimed.filter { !needed.contains($0.lowercased()) } : []
    let dropped = unclaimed.filter { !pending.contains($0) }
    let names = old.columns.compactMap { claims.names[$0.name] } + claims.added
    guard let layout = table.withColumns(names), layout.columns.count == table.columns.count else { return nil }
    // SQLite drops one column as fast as it rewrites; Core Data rebuilds in the model's order.
    guard dropped.isEmpty || dropped.count == 1 && (layout == table || !pending.isEmpty) else { return nil }
    taken.insert(transfer.sourceTable)
    return CarriedTable(
      sourceTable: transfer.sourceTable,
      table: pending.isEmpty ? layout : claims.layout(of: table, from: old, keeping: pending),
      origins: Dictionary(claims.names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first }),
      sourceColumns: old.columns.map(\.name), dropped: dropped.first, pending: pending, updates: claims.updates,
      numbers: transfer.sourceNumbers, rows: rows)
  }

  /// `origins` has the store's columns by the candidate's.
  mutating func carryLinks(
    from name: String, to table: PhysicalTable, origins: [String: String], rows: Int64
  ) -> CarriedTable? {
    guard !taken.contains(name), let old = understood(name),
      table.columns.map({ origins[$0.name] }) == old.columns.map(\.name)
    else { return nil }
    taken.insert(name)
    return CarriedTable(
      sourceTable: name, table: table, origins: origins, sourceColumns: old.columns.map(\.name), dropped: nil,
      updates: [], numbers: [], rows: rows)
  }

  /// In the file's order; `nil` unless the table matches the model exactly.
  private func understood(_ name: String) -> PhysicalTable? {
    guard let found = crossing.actual.table(named: name), !found.isVirtual,
      let expected = crossing.source.table(named: name),
      let table = expected.withColumns(found.columns.map(\.name)), table.columns.count == expected.columns.count,
      table.isMade(by: crossing.actual.object(.table, named: name)?.sql)
    else { return nil }
    return table
  }

  /// The pairs of a destination column and the store's column whose position it takes.
  private struct Claims {
    /// The new names, by those in the store.
    private(set) var names: [String: String] = [:]
    /// In the order of a new store's table.
    private(set) var added: [String] = []
    private(set) var updates: [(column: String, entry: CellEntry)] = []

    var claimed: Set<String> { Set(names.keys) }

    func layout(of table: PhysicalTable, from old: PhysicalTable, keeping pending: [String]) -> PhysicalTable {
      let columns = old.columns.compactMap { column in
        pending.contains(column.name) ? column : names[column.name].flatMap { table.column(named: $0) }
      }
      return PhysicalTable(
        name: table.name, kind: table.kind, columns: columns + added.compactMap { table.column(named: $0) })
    }

    init?(_ transfer: TableTransfer, table: PhysicalTable, from old: PhysicalTable) {
      // Unchanged columns come first: if two come from one column, the other one is new.
      for isVerbatim in [true, false] {
        for (name, entry) in transfer.columns where entry.isVerbatim == isVerbatim {
          guard let origin = entry.origin, names[origin] == nil,
            old.column(named: origin)?.type == table.column(named: name)?.type,
            old.column(named: origin) != nil
          else { continue }
          names[origin] = name
        }
      }
      let places = Dictionary(names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
      for (name, entry) in transfer.columns {
        if let place = places[name] {
          if !entry.isVerbatim { updates.append((place, entry)) }
          continue
        }
        added.append(name)
        if entry.sql != CellEntry.null.sql { updates.append((name, entry)) }
      }
      // New columns are filled while the others have their old names.
      let areFilled = updates.contains { update in added.contains(update.column) }
      guard !areFilled || added.allSatisfy({ old.column(named: $0) == nil }) else { return nil }
    }
  }
}
