import Foundation

extension HostileSchema {
  /// Each leaves a file of at most about 1 MB.
  package static let all: [HostileSchema] = longStatements + manyObjects + views + expressions + pages + rows

  private static func names(_ count: Int, _ prefix: String = "c") -> String {
    (0..<count).map { "\(prefix)\($0)" }.joined(separator: ",")
  }

  private static func list(_ word: String, _ count: Int) -> String {
    Array(repeating: word, count: count).joined(separator: ",")
  }

  private static let longStatements: [HostileSchema] = [
    HostileSchema("a table with 60,000 constraints") { _ in
      var constraints: [String] = []
      for first in 0..<30 { for second in 0..<1999 { constraints.append("UNIQUE(c\(first),c\(second))") } }
      return [.table("u", "CREATE TABLE u(\(names(1999)),\(constraints.prefix(55_000).joined(separator: ",")))")]
    },
    HostileSchema("tables with 9,000 constraints each") { _ in
      var constraints: [String] = []
      for first in 0..<5 { for second in 0..<1999 { constraints.append("UNIQUE(c\(first),c\(second))") } }
      let body = "(\(names(1999)),\(constraints.prefix(9_000).joined(separator: ",")))"
      return (0..<6).map { .table("u\($0)", "CREATE TABLE u\($0)\(body)") }
    },
    HostileSchema("a foreign key of 490,000 columns") { _ in
      [.table("f", "CREATE TABLE f(\(names(1999)),x,FOREIGN KEY(\(list("x", 490_000))) REFERENCES q)")]
    },
    HostileSchema("a view with 45,000 common tables") { _ in
      let tables = (0..<45_000).map { "t\($0) AS (SELECT 1)" }.joined(separator: ",")
      return [.view("v", "WITH \(tables) SELECT 1")]
    },
    HostileSchema("a check of 480,000 columns") { _ in
      [.table("k", "CREATE TABLE k(\(names(1999)),z,CHECK(z IN (\(list("z", 480_000)))))")]
    },
    HostileSchema("an index whose condition has 480,000 columns") { _ in
      [
        .table("w", "CREATE TABLE w(\(names(1999)),z)"),
        .index("i", on: "w", "(z) WHERE z IN (\(list("z", 480_000)))"),
      ]
    },
    HostileSchema("a trigger of 100,000 statements") { _ in
      let body = Array(repeating: "SELECT 1", count: 100_000).joined(separator: ";")
      return [.trigger("g", "AFTER INSERT", on: "ZITEM", body)]
    },
    HostileSchema("expressions nested 900 deep") { _ in
      let deep = String(repeating: "(", count: 90) + "a" + String(repeating: "+a)", count: 90)
      return [.table("d", "CREATE TABLE d(a, CHECK(\(deep)), CHECK(\(list(deep, 900)) IS NULL))")]
    },
  ]

  private static let manyObjects: [HostileSchema] = [
    HostileSchema("16,000 views") { _ in (0..<16_000).map { .view("v\($0)", "SELECT 1") } },
    HostileSchema("16,000 tables") { _ in (0..<16_000).map { .table("t\($0)", "CREATE TABLE t\($0)(a)") } },
    HostileSchema("1,700 tables with pages of their own") { store in
      try store.run("PRAGMA page_size = 512; VACUUM")
      try store.run((0..<1_700).map { "CREATE TABLE t\($0)(a);" }.joined())
    },
    HostileSchema("1,700 indexes with pages of their own") { store in
      try store.run("PRAGMA page_size = 512; VACUUM")
      let indexes = (0..<1_700).map { "CREATE INDEX i\($0) ON ZITEM(ZNAME, ZDONE) WHERE ZNAME > \($0);" }
      try store.run(indexes.joined())
    },
    HostileSchema("90 tables of 2,000 columns") { _ in
      (0..<90).map { .table("t\($0)", "CREATE TABLE t\($0)(\(names(1999)))") }
    },
    HostileSchema("9,000 triggers on the items") { _ in
      (0..<9_000).map { .trigger("g\($0)", "AFTER UPDATE", on: "ZITEM", "SELECT 1") }
    },
    HostileSchema("4,000 indexes on the items") { _ in
      [HostileObject(kind: "table", name: "empty", page: nil, sql: "CREATE TABLE empty(a)")]
        + (0..<4_000).map { .index("i\($0)", on: "ZITEM", "(ZNAME) WHERE ZNAME > \($0)") }
    },
    HostileSchema("9,000 tables with names like Core Data's") { _ in
      (0..<9_000).map { .table("ZT\($0)", "CREATE TABLE ZT\($0)(Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT)") }
    },
  ]

  /// Each view names the one before it twice.
  private static func doubling(_ depth: Int, from first: String = "SELECT 1 AS a") -> [HostileObject] {
    [.view("v0", first)] + (1...depth).map { .view("v\($0)", "SELECT x.* FROM v\($0 - 1) AS x, v\($0 - 1) AS y") }
  }

  private static let endless =
    "WITH RECURSIVE r(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM r) SELECT"

  private static let views: [HostileSchema] = [
    HostileSchema("views that double 60 times") { _ in doubling(60) },
    HostileSchema("views that double 900 times, of many columns") { _ in doubling(900, from: "SELECT * FROM ZITEM") },
    HostileSchema("metadata that are doubling views") { _ in
      doubling(40) + [.view("Z_METADATA", "SELECT 1 AS Z_VERSION, a AS Z_UUID, a AS Z_PLIST FROM v40")]
    },
    HostileSchema("metadata that are an endless view") { _ in
      [.view("Z_METADATA", "\(endless) 1 AS Z_VERSION, 'a' AS Z_UUID, x'00' AS Z_PLIST FROM r WHERE i < 0")]
    },
    HostileSchema("entities that are an endless view") { _ in
      [
        .view(
          "Z_PRIMARYKEY",
          "\(endless) i AS Z_ENT, 'Item' AS Z_NAME, 0 AS Z_SUPER, 1 AS Z_MAX FROM r WHERE i < 0")
      ]
    },
    HostileSchema("a model that is an endless view") { _ in
      [.view("Z_MODELCACHE", "\(endless) x'00' AS Z_CONTENT FROM r WHERE i < 0")]
    },
    HostileSchema("items that are an endless view") { _ in
      [.view("ZITEM", "\(endless) i AS Z_PK, 1 AS Z_ENT, 1 AS Z_OPT, 'a' AS ZNAME FROM r")]
    },
    HostileSchema("items that are doubling views") { _ in
      doubling(40) + [.view("ZITEM", "SELECT a AS Z_PK, 1 AS Z_ENT, 1 AS Z_OPT, 'a' AS ZNAME FROM v40")]
    },
    HostileSchema("a trigger on the items that reads an endless view") { _ in
      [
        .view("e", "\(endless) i FROM r"),
        .trigger("g", "AFTER UPDATE", on: "ZITEM", "DELETE FROM ZITEM WHERE (SELECT max(i) FROM e) > 0"),
      ]
    },
    HostileSchema("metadata that are a virtual table") { _ in
      [
        HostileObject(
          kind: "table", name: "Z_METADATA", page: 0,
          sql: "CREATE VIRTUAL TABLE Z_METADATA USING fts4(Z_VERSION, Z_UUID, Z_PLIST)"),
        .view("Z_METADATA_content", "\(endless) i AS docid FROM r"),
        .view("Z_METADATA_segdir", "\(endless) i FROM r"),
      ]
    },
    HostileSchema("items that are a virtual table under another page") { _ in
      [
        HostileObject(
          kind: "table", name: "ZITEM", page: 5,
          sql: "CREATE/**/VIRTUAL TABLE ZITEM USING rtree(Z_PK, Z_ENT, Z_OPT)")
      ]
    },
  ]
}
