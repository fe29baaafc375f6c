import Foundation
import HeirloomStore

extension HostileSchema {
  private static let itemColumns = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZDONE INTEGER"
  private static let bomb = "printf('%.900000000c', 'x')"
  private static let search = "instr(zeroblob(900000), zeroblob(450000) || x'01')"
  /// Ten joins of a table that has 100 rows.
  private static let product = "(SELECT count(*) FROM \((0..<10).map { "d AS d\($0)" }.joined(separator: ",")))"

  static let expressions: [HostileSchema] = [
    HostileSchema("items with a computed name of 900 MB") { _ in
      [.table("ZITEM", "CREATE TABLE ZITEM(\(itemColumns), ZCREATEDAT TIMESTAMP, ZNAME VARCHAR AS (\(bomb)))")]
    },
    HostileSchema("items with a computed name that is searched for") { _ in
      [.table("ZITEM", "CREATE TABLE ZITEM(\(itemColumns), ZCREATEDAT TIMESTAMP, ZNAME VARCHAR AS (\(search)))")]
    },
    HostileSchema("computed metadata") { store in
      [
        HostileObject(
          kind: "table", name: "Z_METADATA", page: 4,
          sql: "CREATE TABLE Z_METADATA(Z_VERSION INTEGER PRIMARY KEY, Z_UUID AS (\(search)), Z_PLIST AS (\(bomb)))")
      ]
    },
    HostileSchema("computed statistics") { store in
      [.table("sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl AS (\(search)), idx AS (\(bomb)), stat AS (\(search)))")]
    },
    HostileSchema("a table of the app with computed values and checks") { store in
      try store.run(
        """
        CREATE TABLE app(a, b AS (\(bomb)), c AS (\(search)) STORED); PRAGMA ignore_check_constraints = ON;
        """)
      try store.add([.table("app", "CREATE TABLE app(a, b NOT NULL AS (\(bomb)), CHECK(\(search) = 0))")])
    },
    HostileSchema("an index of the app on values of 900 MB") { store in
      try store.run("CREATE INDEX app ON ZITEM(ZNAME)")
      try store.add([.index("app", on: "ZITEM", "(\(bomb))")])
    },
    HostileSchema("an index of the app with a condition that searches") { store in
      try store.run("CREATE INDEX app ON ZITEM(ZNAME)")
      try store.add([.index("app", on: "ZITEM", "(ZNAME) WHERE \(search) = 0")])
    },
    HostileSchema("a pattern that never ends") { store in
      let pattern = String(repeating: "%a_", count: 16_000)
      try store.run(
        """
        CREATE TABLE app(a CHECK(1)); INSERT INTO app VALUES (hex(zeroblob(400000)));
        """)
      try store.add([.table("app", "CREATE TABLE app(a CHECK(a NOT LIKE '\(pattern)'))")])
    },
    HostileSchema("a trigger of the app that multiplies rows") { store in
      try store.run(
        "CREATE TABLE d(a); INSERT INTO d SELECT 1 FROM \((0..<3).map { "sqlite_schema AS s\($0)" }.joined(separator: ",")) LIMIT 100"
      )
      try store.add([.trigger("g", "AFTER UPDATE", on: "Z_PRIMARYKEY", "DELETE FROM d WHERE \(product) < 0")])
    },
    HostileSchema("a default that is searched for") { _ in
      [.table("app", "CREATE TABLE app(Z_PK, x DEFAULT (\(search)), y DEFAULT (\(bomb)))")]
    },
  ]

  /// An inner page of a table, whose cells all name one page.
  ///
  /// https://www.sqlite.org/fileformat2.html#b_tree_pages
  private static func branch(to child: Int, byteCount: Int) -> [UInt8] {
    let number = withUnsafeBytes(of: UInt32(child).bigEndian) { Array($0) }
    func short(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
    // Each cell has the child's number and a key of one byte.
    let count = (byteCount - 12) / 7
    let places = (0..<count).map { byteCount - 5 * ($0 + 1) }
    let header = [5, 0, 0] + short(count) + short(byteCount - 5 * count) + [0] + number
    var page = header + places.flatMap(short)
    page += [UInt8](repeating: 0, count: byteCount - 5 * count - page.count)
    for _ in 0..<count { page += number + [0x7F] }
    return page
  }

  static let pages: [HostileSchema] = [
    HostileSchema("items in a tree whose branches are one") { store in
      try store.changePages { pages, root in
        // The items' page moves to the end; each page above names the one below in all its cells.
        pages.append(pages[root])
        for _ in 0..<11 { pages.append(branch(to: pages.count, byteCount: pages[root].count)) }
        pages[root] = branch(to: pages.count, byteCount: pages[root].count)
      }
    },
    HostileSchema("a value whose pages lead in a circle") { store in
      try store.run("UPDATE Z_METADATA SET Z_PLIST = zeroblob(600000)")
      try store.changePages { pages, _ in
        // An overflow page begins with the number of the next.
        for index in pages.indices.dropFirst(20)
        where pages[index][0] == 0 && pages[index].dropFirst(4).allSatisfy({ $0 == 0 }) {
          for byte in 0..<4 { pages[index][byte] = UInt8(truncatingIfNeeded: (index + 1) >> (8 * (3 - byte))) }
        }
      }
    },
    HostileSchema("first pages that are none") { store in
      try store.run(
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET rootpage = -7 WHERE name = 'Z_MODELCACHE';
        UPDATE sqlite_schema SET rootpage = 2147483647 WHERE name = 'ZITEM';
        """)
    },
    HostileSchema("all tables in one page") { store in
      try store.run("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 1 WHERE rootpage > 0")
    },
  ]

  private static func series(_ count: Int) -> String {
    "WITH RECURSIVE n(i) AS (VALUES (10) UNION ALL SELECT i + 1 FROM n LIMIT \(count))"
  }

  static let rows: [HostileSchema] = [
    HostileSchema("40,000 rows of metadata") { store in
      try store.run("\(series(40_000)) INSERT INTO Z_METADATA(Z_VERSION) SELECT i FROM n")
    },
    HostileSchema("40,000 entities, each the parent of the next") { store in
      try store.run(
        "\(series(40_000)) INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) SELECT i, 'E', i + 1, 1 FROM n")
    },
    HostileSchema("9,900 entities with the name of one") { store in
      try store.run(
        "\(series(9_900)) INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) SELECT i, 'Item', 0, 1 FROM n;"
          + "\(series(20_000)) INSERT INTO ZITEM(Z_PK, Z_ENT, Z_OPT) SELECT i, 1, 1 FROM n")
    },
    HostileSchema("60,000 items of nothing") { store in
      try store.run("\(series(60_000)) INSERT INTO ZITEM(Z_PK, Z_ENT, Z_OPT) SELECT i, 1, 1 FROM n")
    },
    HostileSchema("metadata of 900 kB") { store in
      try store.run("UPDATE Z_METADATA SET Z_PLIST = zeroblob(900000), Z_UUID = 'x'")
    },
    HostileSchema("an identifier of 900 kB") { store in
      try store.run("UPDATE Z_METADATA SET Z_UUID = hex(zeroblob(450000))")
    },
  ]
}
