import Foundation
import HeirloomStore
import TestSupport
import Testing

/// The check of a changed copy's pages, compared with SQLite's own checks of the same file.
struct PageCheckTests {
  /// New and dropped tables and indexes, rows of all lengths written and removed.
  static func changes(
    to connection: Connection, random: inout SplitMix64, count: Int
  ) throws -> [(sql: String, table: String?)] {
    var tables = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite_%'"
        + " AND name NOT LIKE '%\\_node' ESCAPE '\\' AND name NOT LIKE '%\\_parent' ESCAPE '\\'"
        + " AND name NOT LIKE '%\\_rowid' ESCAPE '\\' ORDER BY name"
    ).compactMap { $0[0].text }
    var changes: [(sql: String, table: String?)] = []
    for number in 0..<count {
      guard !tables.isEmpty else { break }
      let table = tables[random.below(tables.count)]
      let column =
        try connection.rows("PRAGMA main.table_info(\(quote(table)))").compactMap { $0[1].text }.last ?? "rowid"
      let name = "copy.\(quote(table))"
      switch random.below(9) {
      case 0:
        changes.append(("CREATE TABLE copy.New\(number) (a INTEGER PRIMARY KEY, b, c)", "New\(number)"))
        changes.append(
          (
            "INSERT INTO copy.New\(number) (b, c) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(random.below(600)))"
              + " SELECT i * 7919 % 1000, zeroblob(i * 37 % \(1 + random.below(9000))) FROM n", "New\(number)"
          ))
        changes.append(("CREATE INDEX copy.NewByB\(number) ON New\(number) (b DESC, c)", "New\(number)"))
      case 1: changes.append(("CREATE INDEX copy.Other\(number) ON \(quote(table)) (\(quote(column)))", nil))
      case 2: changes.append(("DELETE FROM \(name) WHERE rowid % 3 = \(random.below(3))", table))
      case 3: changes.append(("UPDATE \(name) SET \(quote(column)) = \(quote(column)) WHERE rowid % 5 < 2", table))
      case 4:
        guard tables.count > 1 else { continue }
        // Z_METADATA is written below.
        guard table != "Z_METADATA" else { continue }
        tables.removeAll { $0 == table }
        changes.append(("DROP TABLE \(name)", table))
      case 5: changes.append(("ALTER TABLE \(name) ADD COLUMN new\(number)", nil))
      case 6: changes.append(("PRAGMA copy.incremental_vacuum(\(random.below(20)))", nil))
      case 7:
        changes.append(("CREATE TABLE copy.Wide\(number) (x)", "Wide\(number)"))
        changes.append(
          ("INSERT INTO copy.Wide\(number) VALUES (randomblob(\(random.below(60_000)))), (1)", "Wide\(number)"))
      default: changes.append(("UPDATE copy.Z_METADATA SET Z_PLIST = zeroblob(\(random.below(30_000)))", "Z_METADATA"))
      }
    }
    return changes
  }

  @Test(.enabled(if: Corpus.isPresent, Corpus.absence))
  func `a copy in which SQLite finds nothing is sound, whatever was changed in it`() throws {
    var tally = ChangedCopy.Tally()
    var random = SplitMix64(seed: 21)
    for path in LongTests.selection(of: Corpus.storePaths, every: 3) {
      for round in 0..<LongTests.count(quick: 3, long: 40) {
        var copy = try ChangedCopy(ofCorpusStore: path)
        let changes = try Self.changes(to: copy.connection, random: &random, count: 1 + random.below(6))
        try copy.change(changes)
        #expect(try copy.findings("integrity_check").filter { !$0.contains("NULL value") } == [])
        do {
          try copy.check(tally: &tally)
        } catch {
          Issue.record("\(path), round \(round): it \(error), after \(changes.map(\.sql))")
        }
      }
    }
    #expect(tally.kept > 500 && tally.compared > 20 && tally.walked > 100 && tally.summed > 30, "\(tally)")
  }

  @Test(.enabled(if: Corpus.isPresent, Corpus.absence))
  func `one bit that another program changes anywhere is found`() throws {
    var random = SplitMix64(seed: 22)
    var tally = ChangedCopy.Tally()
    var (found, places) = (0, (written: 0, unwritten: 0))
    for path in LongTests.selection(of: Corpus.storePaths, every: 8) {
      var copy = try ChangedCopy(ofCorpusStore: path)
      try copy.change(try Self.changes(to: copy.connection, random: &random, count: 4))
      let bytes = [UInt8](try Data(contentsOf: copy.copy))
      let sourcePages = try Data(contentsOf: copy.source).count / copy.pageSize
      let writtenPages = copy.written.pages(upTo: bytes.count / copy.pageSize)
      for _ in 0..<LongTests.count(quick: 25, long: 400) {
        let offset = random.below(bytes.count)
        let page = offset / copy.pageSize + 1
        // A free page at the end that SQLite never wrote is nobody's, and has nothing to be compared with.
        if page > sourcePages, try copy.isFree(page) { continue }
        try copy.overwriteUnseen([bytes[offset] ^ 1 << UInt8(random.below(8))], at: Int64(offset))
        #expect(throws: (any Error).self, "\(path): byte \(offset) of page \(page)") { try copy.check(tally: &tally) }
        try copy.overwriteUnseen([bytes[offset]], at: Int64(offset))
        found += 1
        if writtenPages.contains(page) { places.written += 1 } else { places.unwritten += 1 }
      }
      try copy.check(tally: &tally)
    }
    #expect(found > 100 && places.written > 20 && places.unwritten > 20, "\(found) \(places)")
  }

  private static func mixedValues(pageSize: Int, encoding: String, map: Bool = true) -> [String] {
    let value = """
      CASE abs(random()) % 8 WHEN 0 THEN NULL WHEN 1 THEN random() WHEN 2 THEN random() / 1e3
        WHEN 3 THEN abs(random()) % 100 WHEN 4 THEN 9007199254740992 + abs(random()) % 3
        WHEN 5 THEN 9007199254740992.0 WHEN 6 THEN hex(randomblob(abs(random()) % 40)) || 'é'
        ELSE randomblob(abs(random()) % 3000) END
      """
    return [
      "PRAGMA page_size = \(pageSize)", "PRAGMA encoding = '\(encoding)'", "PRAGMA auto_vacuum = \(map ? 2 : 0)",
      "CREATE TABLE t (a, b, c)",
      "INSERT INTO t WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)"
        + " SELECT \(value), abs(random()) % 4, \(value) FROM n",
    ]
  }

  @Test(arguments: [512, 4096, 65_536], ["UTF-8", "UTF-16le", "UTF-16be"])
  func `an index has the order that SQLite gives it, and no other`(pageSize: Int, encoding: String) throws {
    var tally = ChangedCopy.Tally()
    var copy = try ChangedCopy(Self.mixedValues(pageSize: pageSize, encoding: encoding))
    try copy.change([("CREATE INDEX copy.i ON t (b DESC, a)", nil), ("CREATE INDEX copy.j ON t (c, a DESC)", nil)])
    try copy.check(tally: &tally)
    // Making indexes moves pages of the table.
    #expect(tally.walked == 2 && tally.compared == 1, "\(tally)")
    // The same entries under another rule.
    for sql in ["CREATE INDEX i ON t (b, a)", "CREATE INDEX i ON t (b DESC, a DESC)"] {
      try copy.change([
        ("PRAGMA writable_schema = ON", nil),
        ("UPDATE copy.sqlite_schema SET sql = '\(sql)' WHERE name = 'i'", nil), ("PRAGMA writable_schema = RESET", nil),
      ])
      let fault = #expect(throws: PageFault.self) { try copy.check(tally: &tally) }
      #expect(fault?.description.contains("out of order") ?? false, "\(sql): \(fault?.description ?? "")")
    }
  }

  @Test(arguments: [1, 511, 4096, 3 * 4096])
  func `bytes after the last page are no fault of the source, and one of the copy`(count: Int) throws {
    var copy = try ChangedCopy(Self.mixedValues(pageSize: 4096, encoding: "UTF-8"))
    try copy.change([("CREATE INDEX copy.i ON t (b)", nil)])
    var tally = ChangedCopy.Tally()
    let bytes = [UInt8](repeating: 7, count: count)
    func end(of url: URL) throws -> Int64 { Int64(try Data(contentsOf: url).count) }
    try copy.overwriteUnseen(bytes, at: try end(of: copy.source), in: copy.source)
    try copy.check(tally: &tally)
    try copy.overwriteUnseen(bytes, at: try end(of: copy.copy))
    let fault = #expect(throws: PageFault.self) { try copy.check(tally: &tally) }
    #expect(fault?.description.contains("pages by its header") ?? false, "\(fault?.description ?? "")")
  }

  @Test func `a database without a map of its pages is for SQLite to check`() throws {
    let copy = try ChangedCopy(Self.mixedValues(pageSize: 4096, encoding: "UTF-8", map: false))
    let pages = try DatabasePages(of: copy.connection, database: "main")
    #expect(pages.pageCount > 100)
    #expect(PageCheck(pages, from: pages, written: copy.written) == nil)
  }

  /// The kinds of damage that SQLite itself is made to write.
  enum Damage: CaseIterable {
    case bit, byte, cellPointer, childPointer, mapEntry, header, zeros, otherPage, swappedPages, freeList
  }

  /// Damage of the structure is found by walking pages.
  ///
  /// The values of rows and the texts of the schema are proven otherwise: by sums, and by comparing
  /// the schema with the model's.
  @Test(.enabled(if: Corpus.isPresent, Corpus.absence), arguments: Damage.allCases)
  func `what quick_check finds in what was written is found`(damage: Damage) throws {
    var random = SplitMix64(seed: 23 + UInt64(Damage.allCases.firstIndex(of: damage) ?? 0))
    var tally = ChangedCopy.Tally()
    var (found, more, silent) = (0, 0, 0)
    for path in LongTests.selection(of: Corpus.storePaths, every: 9) {
      for _ in 0..<LongTests.count(quick: 6, long: 60) {
        var copy = try ChangedCopy(ofCorpusStore: path)
        try copy.change(try Self.changes(to: copy.connection, random: &random, count: 3))
        let bytes = [UInt8](try Data(contentsOf: copy.copy))
        let schema = try copy.schemaTexts()
        for (page, content) in Self.damaged(bytes, pageSize: copy.pageSize, damage, random: &random) {
          try copy.overwrite(content, at: Int64((page - 1) * copy.pageSize))
        }
        let isFoundBySQLite = try !copy.findings("quick_check").allSatisfy { $0.contains(" value in ") }
        let isFound: Bool
        do {
          try copy.check(walksAll: true, tally: &tally)
          isFound = false
        } catch {
          isFound = true
        }
        switch (isFoundBySQLite, isFound) {
        case (true, true): found += 1
        case (false, true): more += 1
        case (false, false): silent += 1
        case (true, false) where try schema != copy.schemaTexts(): silent += 1
        case (true, false):
          Issue.record("\(path), \(damage): \(try copy.findings("quick_check").prefix(3)) is not found")
        }
      }
    }
    // Most bits are values of rows, which tell nothing of the structure.
    #expect(found > 0 && (damage == .bit || damage == .byte || found + more > silent))
    print("\(damage): \(found) as by SQLite, \(more) more, \(silent) by nobody")
  }

  private static func damaged(
    _ bytes: [UInt8], pageSize: Int, _ damage: Damage, random: inout SplitMix64
  ) -> [(page: Int, content: [UInt8])] {
    let count = bytes.count / pageSize
    func content(_ page: Int) -> [UInt8] { Array(bytes[(page - 1) * pageSize..<page * pageSize]) }
    // Trees, most of the time.
    var page = 2 + random.below(count - 1)
    for _ in 0..<20 where ![2, 5, 10, 13].contains(content(page)[0]) { page = 2 + random.below(count - 1) }
    var changed = content(page)
    switch damage {
    case .bit: changed[random.below(pageSize)] ^= 1 << UInt8(random.below(8))
    case .byte: changed[random.below(pageSize)] = UInt8(random.below(256))
    case .cellPointer: changed[8 + random.below(12)] ^= UInt8(1 + random.below(255))
    case .childPointer:
      for _ in 0..<200 where ![2, 5].contains(content(page)[0]) { page = 2 + random.below(count - 1) }
      changed = content(page)
      changed[11] ^= UInt8(1 + random.below(7))
    case .mapEntry:
      page = 2
      changed = content(2)
      changed[random.below(5 * min(pageSize / 5, count - 2))] ^= 1
    case .header:
      page = 1
      changed = content(1)
      changed[[16, 28 + 3, 32 + 3, 36 + 3, 52 + 3, 100, 103, 104][random.below(8)]] ^= UInt8(1 + random.below(7))
    case .zeros: changed = [UInt8](repeating: 0, count: pageSize)
    case .otherPage: changed = content(2 + random.below(count - 1))
    case .swappedPages:
      let other = 2 + random.below(count - 1)
      return [(page, content(other)), (other, changed)]
    case .freeList:
      let trunk = bytes[32..<36].reduce(0) { $0 << 8 | Int($1) }
      guard trunk > 0, trunk <= count else { return [(page, changed.reversed())] }
      page = trunk
      changed = content(trunk)
      changed[7 + 4 * random.below(2)] ^= UInt8(1 + random.below(3))
    }
    return [(page, changed)]
  }
}
