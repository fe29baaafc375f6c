/// One comparison that the proof makes between the plan, the store and the candidate.
package enum ProofCheck: Hashable, Sendable {
  /// The number of rows of a table of the candidate.
  case rowCount(table: String, rows: Int64)
  /// Two equal rows of sums: one from the store with the plan's expressions, one from the candidate.
  case sums(table: String, expected: String, found: String)
  /// The number and the sum of the rows of a table: from the store with the plan's expressions, and from the candidate.
  ///
  /// The columns are the places in the candidate's records of the summed values, if these are of all rows of the table.
  case rowSum(table: String, expected: String, found: String, columns: [Int]?)
  /// Two rows of equal counts of cells, one from the store and one from the candidate, with a name for each.
  case balance(table: String, lines: [String], expected: String, found: String)
  /// A count of unwanted rows in the candidate that is no higher than the store's.
  case noMore(subject: String, expected: String, found: String)
  /// A count of the rows of another entity in a table of one entity, which there are none of.
  case strangers(table: String, found: String)
  /// A query that finds no row of a table that differs from the store.
  case unchanged(subject: String, table: String, found: String)
}

extension ProofCheck {
  /// Returns true if the check compares no values of tables that code has changed.
  func survives(changesOf tables: Set<String>) -> Bool {
    switch self {
    case .sums(let table, _, _), .rowSum(let table, _, _, _), .balance(let table, _, _, _), .strangers(let table, _),
      .unchanged(_, let table, _):
      !tables.contains(table)
    case .rowCount, .noMore: true
    }
  }
}
