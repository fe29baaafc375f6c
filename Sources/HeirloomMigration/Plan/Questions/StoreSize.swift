import HeirloomStore

struct StoreSize {
  let bytes: Int64
  let freeBytes: Int64

  init(connection: Connection) throws(SQLiteError) {
    func value(_ pragma: String) throws(SQLiteError) -> Int64? {
      try connection.firstInteger("PRAGMA \(quote(SchemaName.store)).\(pragma)")
    }
    let pageSize = try value("page_size") ?? 4096
    bytes = (try value("page_count") ?? 0) * pageSize
    freeBytes = (try value("freelist_count") ?? 0) * pageSize
  }

  private static let sampleCount: Int64 = 100

  /// 0 for a table without rows, or one that doesn't exist.
  ///
  /// The rows that it reads are evenly spaced between the first and the last. Rows that an app
  /// wrote first are often smaller than later ones, which have values in attributes added since.
  static func bytes(
    of table: PhysicalTable, indexes: [PhysicalIndex], in actual: ActualSchema, connection: Connection
  ) throws(SQLiteError) -> Int64 {
    guard let found = actual.table(named: table.name), !found.isVirtual, !found.columns.isEmpty else { return 0 }
    let name = SchemaName.rows(of: table.name)
    let number = connection.rowNumber(of: table.name, found.columns, in: SchemaName.store)
    let sql = ["COUNT(*)", "MIN(\(number ?? "1"))", "MAX(\(number ?? "1"))"].map { "(SELECT \($0) FROM \(name))" }
      .joined(separator: ", ")
    let range = try connection.rows("SELECT \(sql)").first ?? []
    guard range.count == 3, let rows = range[0].integer, rows > 0, let first = range[1].integer,
      let last = range[2].integer
    else { return 0 }
    let step = (Double(last) - Double(first)) / Double(sampleCount - 1)
    // `CROSS JOIN` avoids a scan: each row is found by its key, or the next one in a gap.
    let sample =
      "WITH RECURSIVE place(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM place WHERE n < \(sampleCount - 1))"
      + " SELECT t.* FROM place CROSS JOIN \(SchemaName.rows(of: table.name, as: "t")) WHERE t.\(number ?? "") ="
      + " (SELECT MIN(\(number ?? "")) FROM \(name) WHERE \(number ?? "") >= CAST(?1 + place.n * ?2 AS INTEGER))"
    // Rows without a row number are read from the start.
    let isSampled = rows > sampleCount && number != nil
    let source = isSampled ? sample : "SELECT * FROM \(name) LIMIT \(sampleCount)"
    let values: [SQLiteValue] = isSampled ? [.real(Double(first)), .real(step)] : []
    var sums: [String: Int64] = [:]
    var count: Int64 = 0
    let names = found.columns.map(\.name)
    // SQLite allows 2000 result columns.
    for start in stride(from: 0, to: names.count, by: 500) {
      let part = names[start..<min(start + 500, names.count)]
      let terms = part.map { "SUM(\(length(of: $0)))" }.joined(separator: ", ")
      let row = try connection.rows("SELECT COUNT(*), \(terms) FROM (\(source)) AS t", values).first ?? []
      count = row.first?.integer ?? 0
      for (name, value) in zip(part, row.dropFirst()) { sums[name] = value.integer ?? 0 }
    }
    guard count > 0 else { return 0 }
    // A join table has an automatic index over both keys.
    let entries = indexes.map(\.columns) + (table.isJoin ? [table.columns.map(\.name)] : [])
    let sum = ([names] + entries).joined().reduce(0) { $0 + (sums[$1] ?? 0) }
    // A row has its key, its length and a pointer in the page; so does an index entry.
    let bytes = (Double(sum) / Double(count) + Double(8 * (1 + entries.count))) * Double(rows)
    // SQLite allows files of 281 TB; an exaggerated sample must not overflow in sums.
    return Int64(min(bytes, 1e15))
  }

  /// A number takes up to nine bytes, text and blobs their length, and each value has a type byte.
  private static func length(of column: String) -> String {
    let value = "t.\(quote(column))"
    return "CASE TYPEOF(\(value)) WHEN 'null' THEN 1 WHEN 'integer' THEN 4 WHEN 'real' THEN 9"
      + " WHEN 'text' THEN LENGTH(CAST(\(value) AS BLOB)) + 2 ELSE LENGTH(\(value)) + 2 END"
  }
}
