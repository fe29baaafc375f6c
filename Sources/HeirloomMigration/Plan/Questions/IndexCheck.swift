import HeirloomStore

/// Thrown if a plan was counted with indexes that differ from their tables.
struct DamagedIndexes: Error {
  let findings: [String]
}

struct IndexCheck {
  let connection: Connection

  /// An index on all rows of a table.
  private struct Index {
    let name: String
    /// An aggregate over keys and indexed values; `nil` if the entries are only counted.
    let sum: String?
  }

  /// Compares the indexes of a table with its rows; one clause for each that differs.
  ///
  /// Partial indexes are skipped, and those that SQLite can't read without a function of the app.
  /// `keys` limits the check to indexes whose first column is one of them. The entries of an index
  /// are compared if its first column is in `columns`, which must hold whole numbers. Otherwise
  /// they are only counted, which takes a third of the time.
  func findings(
    in table: String, of keys: Set<String>? = nil, comparing columns: Set<String> = []
  ) throws(SQLiteError) -> [String] {
    let indexes = try indexes(of: table, keys, comparing: columns)
    guard !indexes.isEmpty else { return [] }
    let sums = indexes.compactMap(\.sum)
    var expected: [SQLiteValue] = []
    if sums.isEmpty {
      expected = [.integer(try connection.rowCount(of: SchemaName.rows(of: table)))]
    } else {
      let list = (["COUNT(*)"] + sums).joined(separator: ", ")
      expected = try connection.rows("SELECT \(list) FROM \(SchemaName.rows(of: table))").first ?? []
    }
    let rows = expected.first?.integer ?? 0
    var left = expected.dropFirst()
    var findings: [String] = []
    for index in indexes {
      let sum = index.sum == nil ? nil : left.popFirst()
      guard let difference = try difference(of: index, on: table, rows: rows, sum: sum) else { continue }
      findings.append("the index \(index.name) of the table \(table) \(difference)")
    }
    return findings
  }

  private func indexes(
    of table: String, _ keys: Set<String>?, comparing columns: Set<String>
  ) throws(SQLiteError) -> [Index] {
    let store = quote(SchemaName.store)
    let number = connection.rowNumber(
      of: table, try ActualSchema.columns(of: table, connection), in: SchemaName.store)
    var indexes: [Index] = []
    for row in try connection.rows("PRAGMA \(store).index_list(\(quote(table)))") where row[4].integer == 0 {
      guard let name = row[1].text else { continue }
      let names = try connection.rows("PRAGMA \(store).index_info(\(quote(name)))").map(\.[2].text)
      let first = names.first.flatMap { $0 }
      guard keys.map({ keys in first.map(keys.contains) ?? false }) ?? true else { continue }
      // Entries of rows without a row number are only counted.
      let compared = first.map(columns.contains) ?? false ? number : nil
      indexes.append(Index(name: name, sum: compared.map { Self.sum(names.compactMap { $0 }, from: $0) }))
    }
    return indexes
  }

  /// The sum stays far below SQLite's limit.
  private static func sum(_ columns: [String], from number: String) -> String {
    // SQLite's parser allows 100 levels of parentheses, and each column takes two.
    stride(from: 0, to: columns.count, by: 16).map { start in
      let sum = columns[start..<min(start + 16, columns.count)].reduce("\(number) % 65521") { number, column in
        "((\(number)) * 7 + 1) * (IFNULL(\(quote(column)), -1) % 65521 + 65521) % 2147483647"
      }
      return "SUM(\(sum))"
    }.chained(by: "+")
  }

  private func difference(
    of index: Index, on table: String, rows: Int64, sum: SQLiteValue?
  ) throws(SQLiteError) -> String? {
    do throws(SQLiteError) {
      // `COUNT(*)` would be answered by the smallest index.
      let list = "SUM(1)" + (index.sum.map { ", " + $0 } ?? "")
      let found = try connection.rows(
        "SELECT \(list) FROM \(quote(SchemaName.store)).\(quote(table)) INDEXED BY \(quote(index.name))"
      ).first
      let entries = found?.first?.integer ?? 0
      guard entries == rows else {
        return entries < rows
          ? "lacks \(rows - entries) of \(rows) entries" : "has \(entries) entries for \(rows) rows"
      }
      return found?.dropFirst().first == sum ? nil : "has entries with other values than the rows"
    } catch  where error.isCorrupt {
      return "can't be read"
    } catch  where !error.isInterrupt && !error.isExpired && !error.isInputOutput && !error.isDenied {
      return nil
    }
  }
}
