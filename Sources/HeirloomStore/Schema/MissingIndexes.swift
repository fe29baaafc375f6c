import HeirloomModel

extension PhysicalIndex {
  /// Rows with equal values keep a unique index from being created.
  package func isPrevented(in connection: Connection) throws(SQLiteError) -> Bool {
    guard case .constraint = kind else { return false }
    return try connection.firstInteger("SELECT 1 FROM (\(equalValues)) LIMIT 1") != nil
  }

  package var equalValues: String {
    let (columns, key) = (self.columns.map(quote), quote(PhysicalName.primaryKey))
    return "SELECT COUNT(*) AS n, MIN(\(key)) AS first, MAX(\(key)) AS last FROM \(quote(table)) NOT INDEXED WHERE "
      + columns.map { "\($0) NOT NULL" }.chained(by: "AND")
      + " GROUP BY \(columns.joined(separator: ", ")) HAVING COUNT(*) > 1"
  }
}

extension Connection {
  /// An index of any name counts: earlier versions of Core Data used other names.
  package func hasEquivalent(of index: PhysicalIndex) -> Bool {
    var mustBeUnique = false
    switch index.kind {
    case .constraint: mustBeUnique = true
    case .rTree: return false
    case .standard, .fetchIndex: break
    }
    let sql =
      "SELECT l.name, l.\"unique\", (SELECT GROUP_CONCAT(name, char(0)) FROM (SELECT x.name FROM pragma_index_info(l.name)"
      + " AS x ORDER BY x.seqno)) FROM pragma_index_list(?1) AS l WHERE l.partial = 0"
    guard let rows = try? rows(sql, [.text(index.table)]) else { return false }
    return rows.contains { row in
      row[2].text?.split(separator: "\0", omittingEmptySubsequences: false).map(String.init) == index.columns
        && (!mustBeUnique || row[1] == .integer(1))
    }
  }

  package func indexesToMake(
    of schema: PhysicalSchema, _ actual: ActualSchema
  ) throws(SQLiteError) -> [PhysicalIndex] {
    var made: [PhysicalIndex] = []
    for case .missingIndex(let name) in actual.drift(from: schema) {
      guard let index = schema.indexes.first(where: { $0.name == name }), !hasEquivalent(of: index) else { continue }
      if case .rTree = index.kind { continue }
      guard let table = actual.table(named: index.table), index.columns.allSatisfy({ table.column(named: $0) != nil }),
        try !index.isPrevented(in: self)
      else { continue }
      made.append(index)
    }
    return made
  }
}
