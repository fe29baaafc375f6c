import Foundation
import HeirloomFormats
import HeirloomStore

/// A store's file that is changed by SQL first, so that it stays a store, and then in its pages.
struct StoreMutation {
  private(set) var bytes: [UInt8]
  private let url: URL

  init(_ bytes: [UInt8], folder: URL) {
    self.bytes = bytes
    url = folder.appendingPathComponent("Mutation.sqlite")
  }

  mutating func mutate(using random: inout FuzzRandom) throws {
    let way = random.below(10)
    if way < 7 {
      try Data(bytes).write(to: url)
      defer {
        for ending in ["", "-wal", "-shm", "-journal"] {
          try? FileManager.default.removeItem(atPath: url.path + ending)
        }
      }
      if random.once(in: 4) {
        // This schema of its own may be unreadable for SQLite.
        try? HostileGrammar.change(url, using: &random)
        bytes = Array(try Data(contentsOf: url))
        return
      }
      let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
      for _ in 0...random.below(3) {
        // A change that SQLite refuses leaves the store as it was.
        try? change(connection, using: &random)
      }
      try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      try connection.close()
      bytes = Array(try Data(contentsOf: url))
    }
    if way >= 5 { damagePages(using: &random) }
  }

  // MARK: SQL

  private func change(_ connection: Connection, using random: inout FuzzRandom) throws {
    let tables = try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .compactMap(\.first?.text)
    guard !tables.isEmpty else { return }
    let table = quote(random.pick(tables))
    let columns = try connection.rows(
      "SELECT name FROM pragma_table_info(?1)", [.text(String(table.dropFirst().dropLast()))]
    )
    .compactMap(\.first?.text)
    let column = quote(columns.isEmpty ? "x" : random.pick(columns))
    switch random.below(16) {
    case 0, 1, 2: try changeMetadata(connection, using: &random)
    case 3, 4: try changeCache(connection, using: &random)
    case 5, 6: try connection.execute("UPDATE \(table) SET \(column) = ?1", [value(using: &random)])
    case 7:
      let rows = "(SELECT rowid FROM \(table) LIMIT 1 OFFSET \(random.below(4)))"
      try connection.execute("UPDATE \(table) SET \(column) = ?1 WHERE rowid = \(rows)", [value(using: &random)])
    case 8: try connection.execute("INSERT INTO \(table) (\(column)) VALUES (?1)", [value(using: &random)])
    case 9: try connection.execute("DELETE FROM \(table)")
    case 10: try connection.execute("DROP TABLE \(table)")
    case 11: try connection.execute("ALTER TABLE \(table) DROP COLUMN \(column)")
    case 12:
      let name = quote(random.text())
      try connection.execute(
        random.pick([
          "ALTER TABLE \(table) RENAME TO \(name)", "ALTER TABLE \(table) RENAME COLUMN \(column) TO \(name)",
          "ALTER TABLE \(table) ADD COLUMN \(name) INTEGER", "CREATE TABLE \(name) (a, b, c)",
        ]))
    case 13: try connection.execute(object(table, column, using: &random))
    case 14:
      try connection.execute(
        random.pick([
          "PRAGMA user_version = -1", "PRAGMA application_id = 252006675", "PRAGMA auto_vacuum = FULL",
          "PRAGMA journal_mode = WAL", "PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512; VACUUM", "VACUUM",
          "PRAGMA schema_version = 2147483647", "PRAGMA incremental_vacuum", "REINDEX",
        ]))
    default: try changeSchema(connection, using: &random)
    }
  }

  private func value(using random: inout FuzzRandom) -> SQLiteValue {
    switch random.below(6) {
    case 0: .null
    case 1, 2: .integer(random.number())
    case 3: .real(random.pick([.infinity, -.infinity, 1e300, -0.0, 0.5, 9_007_199_254_740_992]))
    case 4: .text(random.text())
    default: .blob(Array(repeating: UInt8(random.below(256)), count: random.below(80)))
    }
  }

  private func object(_ table: String, _ column: String, using random: inout FuzzRandom) -> String {
    let call = random.pick([
      "load_extension('/tmp/x')", "writefile('/tmp/x', 'y')", "randomblob(10)", "abs(\(column))", "unknown_function(1)",
      "(SELECT count(*) FROM \(table))", "fts3_tokenizer('x')", "zeroblob(100)",
      "NSCoreDataTriggerUpdateAffectedObjectValue()",
    ])
    let name = quote("o\(random.below(5))")
    return random.pick([
      "CREATE VIEW \(name) AS SELECT \(call) AS a FROM \(table)",
      "CREATE TRIGGER \(name) AFTER INSERT ON \(table) BEGIN SELECT \(call); END",
      "CREATE TRIGGER \(name) AFTER UPDATE ON \(table) BEGIN DELETE FROM \(table); END",
      "CREATE INDEX \(name) ON \(table) (\(column), \(call))",
      "CREATE INDEX \(name) ON \(table) (\(column)) WHERE \(column) > \(random.number())",
      "CREATE TABLE \(name) (a, b AS (\(call)), c CHECK (c > \(call)))",
      "CREATE TABLE \(name) (a PRIMARY KEY, b) WITHOUT ROWID", "CREATE VIRTUAL TABLE \(name) USING rtree(a, b, c)",
      "CREATE VIRTUAL TABLE \(name) USING fts5(a)", "CREATE TABLE \(name) AS SELECT * FROM \(table)",
      "ALTER TABLE \(table) ADD COLUMN \(name) GENERATED ALWAYS AS (\(call))", "CREATE TABLE \(name) (a TEXT) STRICT",
      "CREATE UNIQUE INDEX \(name) ON \(table) (\(column))",
      "WITH RECURSIVE r(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM r LIMIT 300) INSERT INTO \(table) (Z_PK) SELECT i * 7 FROM r",
    ])
  }

  private func changeMetadata(_ connection: Connection, using random: inout FuzzRandom) throws {
    guard let list = try connection.firstValue("SELECT Z_PLIST FROM Z_METADATA")?.blob,
      var mutation = PropertyListMutation(list), !random.once(in: 8)
    else {
      return try connection.execute(
        random.pick([
          "DELETE FROM Z_METADATA", "INSERT INTO Z_METADATA SELECT Z_VERSION + 1, Z_UUID, Z_PLIST FROM Z_METADATA",
          "UPDATE Z_METADATA SET Z_PLIST = NULL", "UPDATE Z_METADATA SET Z_UUID = x'00'",
          "UPDATE Z_METADATA SET Z_VERSION = -1", "UPDATE Z_METADATA SET Z_PLIST = zeroblob(3000000)",
          "UPDATE Z_METADATA SET Z_UUID = '../../../x'",
          "UPDATE Z_METADATA SET Z_PLIST = '<?xml version=\"1.0\"?><plist><dict/></plist>'",
        ]))
    }
    mutation.mutate(using: &random)
    try connection.execute("UPDATE Z_METADATA SET Z_PLIST = ?1", [.blob(mutation.encoded(using: &random))])
  }

  private func changeCache(_ connection: Connection, using random: inout FuzzRandom) throws {
    let content = try connection.firstValue("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob ?? []
    guard let archive = try? Compression.inflate(content), var mutation = PropertyListMutation(archive),
      !random.once(in: 6)
    else {
      let bomb = try Compression.deflate([UInt8](repeating: 0, count: 4 << 20))
      return try connection.execute(
        "UPDATE Z_MODELCACHE SET Z_CONTENT = ?1", [.blob(random.once(in: 2) ? bomb : [1, 2, 3])])
    }
    mutation.mutate(using: &random)
    let bytes = try Compression.deflate(mutation.encoded(using: &random))
    try connection.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = ?1", [.blob(bytes)])
  }

  /// SQLite trusts these rows.
  private func changeSchema(_ connection: Connection, using random: inout FuzzRandom) throws {
    try connection.execute("PRAGMA writable_schema = ON")
    defer { try? connection.execute("PRAGMA writable_schema = RESET") }
    let row = "(SELECT rowid FROM sqlite_schema LIMIT 1 OFFSET \(random.below(20)))"
    let change = random.pick([
      "rootpage = \(random.below(60))", "sql = replace(sql, 'INTEGER', 'BLOB')", "sql = replace(sql, 'Z_PK', 'Z_ENT')",
      "name = 'Z_METADATA'", "tbl_name = 'x'", "type = 'view'", "sql = substr(sql, 1, length(sql) / 2)", "sql = NULL",
      "sql = replace(sql, ' PRIMARY KEY', '')", "sql = replace(sql, 'VARCHAR', 'VARCHAR COLLATE none')",
      "sql = replace(sql, 'CREATE TABLE', 'CREATE TEMP TABLE')", "name = name || char(27) || '[2J'",
    ])
    try connection.execute("UPDATE sqlite_schema SET \(change) WHERE rowid = \(row)")
  }

  // MARK: Pages

  private mutating func damagePages(using random: inout FuzzRandom) {
    guard bytes.count > 1024 else { return random.damage(&bytes) }
    let size = max(512, Int(bytes[16]) << 8 | Int(bytes[17]))
    for _ in 0...random.below(4) {
      let page = random.below(max(1, bytes.count / size)) * size
      // The first page has the file's header before its own.
      let header = page == 0 ? 100 : page
      let place: Int
      switch random.below(20) {
      case 0: place = 16 + random.below(84)
      case 1: return bytes.removeLast(random.below(bytes.count))
      case 2: return bytes.append(contentsOf: [UInt8](repeating: 0, count: random.below(2 * size)))
      case 3...6: place = header + random.below(8)
      case 7...11: place = header + 8 + random.below(80)
      default: place = page + random.below(size)
      }
      guard place < bytes.count else { continue }
      bytes[place] = random.once(in: 2) ? bytes[place] ^ (1 << UInt8(random.below(8))) : UInt8(random.below(256))
    }
  }
}
