/// All tables of a file with all their rows, read without any index.
struct Contents {
  struct Table: Equatable {
    let columns: [String]
    let rows: [[Cell]]

    func place(of column: String) -> Int? { columns.firstIndex(of: column) }
  }

  /// The columns that were asked for, by table and column.
  private final class Values {
    var known: [String: [String: [Int64: Cell]]] = [:]
  }

  private let values = Values()

  /// Without SQLite's own and virtual ones.
  let tables: [String: Table]
  /// As the table of primary keys has them.
  let numbers: [String: Int64]

  init(of path: String) throws {
    let database = try Database(path)
    let names = try database.query(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        + " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
    var tables: [String: Table] = [:]
    for name in names.rows.compactMap({ $0[0].string }) {
      let found = try database.query("SELECT * FROM \(quoted(name)) NOT INDEXED")
      tables[name] = Table(columns: found.columns, rows: found.rows)
    }
    self.tables = tables
    var numbers: [String: Int64] = [:]
    for row in tables["Z_PRIMARYKEY"]?.rows ?? [] {
      if let number = row[0].integer, let name = row[1].string { numbers[name] = number }
    }
    self.numbers = numbers
  }

  /// By primary key; rows without a value are left out.
  func values(of column: String, in table: String) -> [Int64: Cell] {
    if let known = values.known[table]?[column] { return known }
    var found: [Int64: Cell] = [:]
    if let table = tables[table], let place = table.place(of: column), let keys = table.place(of: "Z_PK") {
      for row in table.rows where row[place] != .null { if let key = row[keys].integer { found[key] = row[place] } }
    }
    values.known[table, default: [:]][column] = found
    return found
  }
}
