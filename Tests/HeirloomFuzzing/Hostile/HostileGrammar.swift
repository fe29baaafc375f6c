import Foundation

/// A source of random objects of a schema, with our names and others, in shapes that ask for much work.
struct HostileGrammar {
  private static let names = [
    "ZITEM", "Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "ZLIST", "ZUSER", "ACHANGE", "ATRANSACTION", "sqlite_stat1",
    "Z_1LISTS", "app", "v0", "v1", "v2", "v3",
  ]
  private static let columns = [
    "Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER", "ZNAME VARCHAR", "Z_UUID VARCHAR(255)",
    "Z_PLIST BLOB", "Z_CONTENT BLOB", "Z_NAME VARCHAR", "Z_SUPER INTEGER", "Z_MAX INTEGER", "a", "b",
  ]

  static func change(_ url: URL, using random: inout FuzzRandom) throws {
    if random.once(in: 4) { return try random.pick(HostileSchema.all).apply(to: url) }
    var objects: [HostileObject] = []
    for _ in 0...random.below(4) { objects += some(using: &random) }
    try HostileStore(url: url).add(objects)
  }

  private static func some(using random: inout FuzzRandom) -> [HostileObject] {
    let name = random.pick(names)
    // There is mostly one, and sometimes many of a kind.
    let count = random.once(in: 6) ? 1 << random.below(11) : 1
    return (0..<count).map { number in
      var object = object(number == 0 ? name : "\(name)\(number)", using: &random)
      if random.once(in: 3) { object.page = random.pick([nil, -1, 0, 1, 2, 3, 4, 5, 6, 7, 4_000_000_000]) }
      if random.once(in: 10) { object.kind = random.pick(["table", "index", "view", "trigger", "VIEW", ""]) }
      if random.once(in: 12) { object.table = random.pick(names) }
      return object
    }
  }

  private static func object(_ name: String, using random: inout FuzzRandom) -> HostileObject {
    let table = random.pick(names)
    switch random.below(6) {
    case 0, 1: return .view(name, query(using: &random))
    case 2:
      return .index(
        name, on: table,
        "(\(expression(2, using: &random)))" + (random.once(in: 2) ? " WHERE \(expression(2, using: &random))" : ""))
    case 3:
      return .trigger(
        name, random.pick(["AFTER UPDATE", "BEFORE INSERT", "INSTEAD OF DELETE", "AFTER UPDATE OF ZNAME"]), on: table,
        random.pick([
          "DELETE FROM \(table) WHERE \(expression(3, using: &random))", "UPDATE \(table) SET a = a + 1",
          query(using: &random),
        ]))
    case 4:
      let module = random.pick(["rtree(a, b, c)", "fts5(a, content=ZITEM)", "fts4(a, content=v1)", "dbstat", "none(a)"])
      return .table(name, "CREATE VIRTUAL TABLE \(name) USING \(module)")
    default:
      var parts = columns.filter { _ in !random.once(in: 3) }
      for _ in 0..<random.below(4) {
        let value = expression(3, using: &random)
        parts.append(
          random.pick([
            "c\(parts.count) AS (\(value))", "c\(parts.count) AS (\(value)) STORED", "ZNAME AS (\(value))",
            "CHECK (\(value))", "d\(parts.count) DEFAULT (\(value))", "UNIQUE (a, b)",
            "FOREIGN KEY (a) REFERENCES \(table)", "e\(parts.count) TEXT COLLATE own",
          ]))
      }
      return .table(name, "CREATE TABLE \(name)(\(parts.joined(separator: ", ")))")
    }
  }

  private static func query(using random: inout FuzzRandom) -> String {
    let (first, second) = (random.pick(names), random.pick(names))
    return random.pick([
      "SELECT * FROM \(first), \(second)", "SELECT x.* FROM \(first) AS x, \(first) AS y",
      "SELECT \(expression(3, using: &random)) AS Z_PLIST, 1 AS Z_UUID, 2 AS Z_ENT, 3 AS Z_PK FROM \(first)",
      "WITH RECURSIVE r(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM r) SELECT i AS Z_PK, i AS Z_ENT, i AS Z_UUID FROM r",
      "SELECT 1 UNION SELECT * FROM \(first) UNION ALL SELECT 2",
    ])
  }

  private static func expression(_ depth: Int, using random: inout FuzzRandom) -> String {
    guard depth > 0 else { return random.pick(["a", "b", "ZNAME", "Z_PK", "1", "'x'", "NULL", "x'00'"]) }
    let (first, second) = (expression(depth - 1, using: &random), expression(depth - 1, using: &random))
    return random.pick([
      "(\(first) + \(second))", "(\(first) || \(second))", "printf('%.\(random.below(1_000_000_000))c', \(first))",
      "instr(zeroblob(\(random.below(2_000_000))), \(second))", "hex(zeroblob(\(random.below(1 << 30))))",
      "\(first) LIKE '\(String(repeating: "%a_", count: random.below(300)))'", "replace(\(first), 'a', \(second))",
      "own(\(first))", "lower(\(first))", "\(first) IN (\(second), \(second))", "abs(\(first))", "randomblob(1 << 30)",
    ])
  }
}
