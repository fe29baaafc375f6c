/// A comparison in the proof between the plan, the store and the candidate.
package enum ProofCheck: Hashable, Sendable {
  case rowCount(table: String, rows: Int64)
  /// Two equal rows of sums: from the store with the plan's expressions, and from the candidate.
  case sums(table: String, expected: String, found: String)
  /// The number and the sum of the rows, from both sides; `columns` are the positions of the summed
  /// values in the candidate's records, if the sums cover all rows.
  case rowSum(table: String, expected: String, found: String, columns: [Int]?)
  /// Counts of cells from the store and from the candidate, with a name for each.
  case balance(table: String, lines: [String], expected: String, found: String)
  /// A count of unwanted rows that is no higher in the candidate than in the store.
  case noMore(subject: String, expected: String, found: String)
  /// A count of rows of other entities in a table of one entity; it must be 0.
  case strangers(table: String, found: String)
  /// A query for rows of a table that differ from the store; it must find none.
  case unchanged(subject: String, table: String, found: String)
}

extension ProofCheck {
  func survives(changesOf tables: Set<String>) -> Bool {
    switch self {
    case .sums(let table, _, _), .rowSum(let table, _, _, _), .balance(let table, _, _, _), .strangers(let table, _),
      .unchanged(_, let table, _):
      !tables.contains(table)
    case .rowCount, .noMore: true
    }
  }
}
