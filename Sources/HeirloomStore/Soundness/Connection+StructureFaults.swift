extension Connection {
  /// Leaves out tables for which SQLite would have to compute values.
  ///
  /// `quick_check`, unlike `integrity_check`, doesn't compare indexes with their tables.
  package func structureFaults(of actual: ActualSchema, by check: String, limit: Int) throws(SQLiteError) -> [String] {
    // The app's own constraints are not checked.
    try execute("PRAGMA ignore_check_constraints = ON")
    let costly = actual.costlyTables
    var lines: [String] = []
    if costly.isEmpty {
      lines = try rows("PRAGMA \(check)(\(limit))").compactMap(\.first?.text)
    } else {
      for table in actual.tables where !table.isVirtual && costly[table.name] == nil {
        lines += try rows("PRAGMA \(check)(\(quote(table.name)))").compactMap(\.first?.text)
      }
    }
    // Earlier versions of SQLite begin the faults of a database with a line that names it.
    let faults = lines.flatMap { $0.split(separator: "\n").map(String.init) }.filter {
      $0 != "ok" && !$0.hasPrefix("*** in database ")
    }
    return Array(faults.prefix(limit))
  }
}
