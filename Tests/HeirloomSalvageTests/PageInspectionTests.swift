import Foundation
import HeirloomFormats
import HeirloomModel
import HeirloomSalvage
import HeirloomStore
import TestSupport
import Testing

/// The assignment of pages to tables, compared page by page with what SQLite says of the same file.
struct PageInspectionTests {
  /// Counts of what was compared, so that a test can't pass without having tested.
  struct Tally {
    var (stores, rows, leaves, interiors, overflows, free, mapped) = (0, 0, 0, 0, 0, 0, 0)
  }

  private static func compare(_ url: URL, _ tally: inout Tally, _ what: String) throws {
    let file = try InspectedFile(url)
    let oracle = try PageOracle(file.connection)
    let inspection = file.inspection
    for table in file.tables {
      let found = inspection.leaves[table.name] ?? []
      #expect(found.map(\.page) == oracle.leaves[table.name] ?? [], "\(what) \(table.name)")
      #expect(found.allSatisfy { !$0.isApart }, "\(what) \(table.name)")
      let (rows, places) = try file.rows(of: table)
      let expected = try file.expectedRows(of: table)
      // A failure would take a minute to describe all rows.
      let areSame = rows == expected
      #expect(areSame, "\(what) \(table.name)")
      #expect(rows.isEmpty || places == ["tree"])
      tally.rows += rows.count
      tally.leaves += found.count
    }
    #expect(Set(inspection.leaves.keys).isSubset(of: file.tables.map(\.name)), "\(what)")
    #expect(inspection.unreadablePages == [] && inspection.unassignedPages == [], "\(what)")
    #expect(inspection.unreadableIndexPages == 0 && inspection.uncertainPages == 0, "\(what)")

    var (free, wrong): (Int, [String]) = (0, [])
    // Each page of the map is followed by those that it tells of.
    let span = file.image.usableSize / 5 + 1
    for page in 2...max(2, file.image.pageCount) where page <= file.image.pageCount {
      let isMap = file.map != nil && (page - 2).isMultiple(of: span)
      if file.map?.contains(page) ?? false != isMap { wrong.append("\(page) is a page of the map: \(isMap)") }
      if isMap {
        tally.mapped += 1
        continue
      }
      let used = oracle.pages[page]
      if used == nil { free += 1 }
      if try inspection.isInUse(page) != (used != nil) { wrong.append("\(page) is in use: \(used != nil)") }
      guard let map = file.map else { continue }
      let entry = used == nil ? .free : try oracle.entry(of: page)
      if try map.entry(of: page) != entry { wrong.append("\(page) has the entry \(entry)") }
      guard let used, used.kind != "overflow" else { continue }
      if try map.root(of: page) != oracle.root(of: used.name) { wrong.append("\(page) is of \(used.name)") }
    }
    #expect(wrong == [], "\(what)")
    #expect(try file.connection.firstInteger("PRAGMA freelist_count") == Int64(free), "\(what)")
    tally.stores += 1
    tally.free += free
    tally.interiors += oracle.pages.values.count { $0.kind == "internal" }
    tally.overflows += oracle.pages.values.count { $0.kind == "overflow" }
  }

  @Test(.enabled(if: Corpus.isPresent, Corpus.absence))
  func `every page of every store of the corpus is where SQLite says`() throws {
    var tally = Tally()
    for path in Corpus.storePaths {
      try Corpus.withCopy(of: path) { url in
        if FileManager.default.fileExists(atPath: url.path + "-wal") {
          try Connection.execute("PRAGMA journal_mode = DELETE", on: url.path)
        }
        try Self.compare(url, &tally, path)
      }
    }
    #expect(tally.stores >= 57 && tally.rows > 30_000 && tally.leaves > 2000 && tally.interiors > 80, "\(tally)")
    #expect(tally.overflows > 200 && tally.mapped >= 57 && tally.free > 200, "\(tally)")
  }

  // MARK: Shapes

  struct Shape: CustomTestStringConvertible, Sendable {
    let pageSize: Int
    /// 0: no map of pages; 1: pages are given back at once; 2: when asked.
    let autoVacuum: Int
    var reserved = 0
    var encoding = "UTF-8"

    var testDescription: String {
      "\(pageSize) bytes, auto-vacuum \(autoVacuum), \(reserved) reserved, \(encoding)"
    }
  }

  static let shapes: [Shape] =
    [512, 65_536].flatMap { size in (0...2).map { Shape(pageSize: size, autoVacuum: $0) } } + [
      Shape(pageSize: 512, autoVacuum: 0, reserved: 32), Shape(pageSize: 512, autoVacuum: 2, reserved: 32),
      Shape(pageSize: 4096, autoVacuum: 0, reserved: 255), Shape(pageSize: 4096, autoVacuum: 1, reserved: 12),
      Shape(pageSize: 65_536, autoVacuum: 2, reserved: 8),
      Shape(pageSize: 1024, autoVacuum: 2, encoding: "UTF-16le"),
      Shape(pageSize: 4096, autoVacuum: 0, reserved: 1, encoding: "UTF-16be"),
    ]

  /// With tables and indexes of all kinds, rows that go on in other pages, and free pages.
  private static func make(_ shape: Shape, at url: URL) throws {
    var connection = try Connection(path: url.path, mode: .createExclusively(), options: .building)
    for pragma in [
      "page_size = \(shape.pageSize)", "auto_vacuum = \(shape.autoVacuum)", "encoding = '\(shape.encoding)'",
    ] {
      try connection.execute("PRAGMA \(pragma)")
    }
    // Writes the first page and no other.
    try connection.execute("PRAGMA user_version = 1")
    if shape.reserved > 0 {
      try connection.close()
      var page = Array(try Data(contentsOf: url))
      try #require(page.count == shape.pageSize)
      // The bytes reserved in each page, and the place where content begins: the end, for none is there yet.
      let end = shape.pageSize - shape.reserved
      (page[20], page[105], page[106]) = (UInt8(shape.reserved), UInt8(end >> 8), UInt8(end & 255))
      try Data(page).write(to: url)
      connection = try Connection(path: url.path, mode: .readWrite, options: .building)
    }
    try connection.execute("PRAGMA secure_delete = OFF")
    try connection.execute("BEGIN")
    try connection.executeScript(
      """
      CREATE TABLE plain (id INTEGER PRIMARY KEY, a TEXT, b REAL, c BLOB);
      CREATE TABLE hidden (x, y TEXT DEFAULT 'y');
      CREATE TABLE none (id INTEGER PRIMARY KEY);
      CREATE TABLE keyed (k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID;
      CREATE TABLE gone (id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT);
      CREATE INDEX plain_a ON plain (a, c) WHERE id < 0;
      CREATE TABLE numbers (n INTEGER PRIMARY KEY);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) INSERT INTO numbers SELECT i FROM n;
      """)
    // Every seventh row goes on in another page, and some in several; large pages need fewer.
    let step = shape.pageSize > 4096 ? 25 : 7
    let size =
      "CASE WHEN n % \(10 * step) = 0 THEN 3 * \(shape.pageSize) WHEN n % \(step) = 0 THEN \(shape.pageSize)"
      + " ELSE n % 40 END"
    try connection.executeScript(
      """
      INSERT INTO plain SELECT n * 1000 - 50000, 'ä🦊 ' || n, n / 4.0, zeroblob(n % 3) || CAST(hex(zeroblob((\(size)) / 2)) AS BLOB) FROM numbers;
      INSERT INTO plain VALUES (-9223372036854775807 - 1, NULL, -0.0, X''), (9223372036854775807, '', 1e300, NULL);
      INSERT INTO hidden SELECT CASE n % 4 WHEN 0 THEN NULL WHEN 1 THEN n << 40 WHEN 2 THEN n / 8.0 ELSE 'x' || n END, 'y' FROM numbers;
      INSERT INTO keyed SELECT 'key ' || n, CAST(hex(zeroblob((\(size)) / 2)) AS BLOB) FROM numbers;
      INSERT INTO gone SELECT n, printf('%.*c', 90, 'g') FROM numbers;
      COMMIT;
      BEGIN;
      DROP TABLE gone;
      DELETE FROM plain WHERE id BETWEEN 0 AND 90000;
      COMMIT;
      """)
    try connection.close()
  }

  @Test(arguments: shapes) func `every page of a database is where SQLite says, whatever its form`(
    shape: Shape
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("made.sqlite")
    try Self.make(shape, at: url)
    let connection = try Connection(path: url.path, mode: .immutable, options: .inspecting)
    #expect(try connection.firstInteger("PRAGMA page_size") == Int64(shape.pageSize))
    #expect(try connection.firstInteger("PRAGMA auto_vacuum") == Int64(shape.autoVacuum))
    #expect(try connection.firstValue("PRAGMA integrity_check")?.text == "ok")
    #expect(try Data(contentsOf: url)[20] == UInt8(shape.reserved))
    let oracle = try PageOracle(connection)
    for (name, kind) in [("plain", "overflow"), ("plain_a", "overflow"), ("keyed", "overflow"), ("keyed", "internal")] {
      #expect(oracle.pages.values.contains { $0.name == name && $0.kind == kind }, "\(name) \(kind)")
    }
    try connection.close()
    var tally = Tally()
    try Self.compare(url, &tally, shape.testDescription)
    // 400 in two tables each, two more, and those between 0 and 90,000 gone.
    #expect(tally.rows >= 400 + 400 + 402 - 91 && (tally.free > 0) == (shape.autoVacuum != 1), "\(tally)")
    #expect((tally.mapped > 0) == (shape.autoVacuum > 0))
  }

  // MARK: Lost pages

  private static func zero(_ pages: Set<Int>, of url: URL, _ pageSize: Int) throws {
    var data = try Data(contentsOf: url)
    for page in pages {
      data.replaceSubrange((page - 1) * pageSize..<page * pageSize, with: Data(count: pageSize))
    }
    try data.write(to: url)
  }

  @Test(arguments: LongTests.areOn ? shapes : shapes.filter { $0.reserved > 0 })
  func `leaves are found without the pages above them, or counted`(shape: Shape) throws {
    let directory = try TemporaryDirectory()
    let (sound, url) = (directory.file("sound.sqlite"), directory.file("damaged.sqlite"))
    try Self.make(shape, at: sound)
    try FileManager.default.copyItem(at: sound, to: url)
    let oracle = try PageOracle(try Connection(path: sound.path, mode: .immutable, options: .inspecting))
    let root = try #require(oracle.root(of: "plain"))
    try #require(oracle.pages[root]?.kind == "internal")
    try Self.zero([root], of: url, shape.pageSize)
    let file = try InspectedFile(url, original: sound)
    let leaves = Set(try #require(oracle.leaves["plain"]))
    #expect(file.inspection.unreadablePages == [root])
    let found = file.inspection.leaves["plain"] ?? []
    let plain = try #require(file.tables.first { $0.name == "plain" })
    if shape.autoVacuum == 0 {
      // Nothing tells whose they are: neither a map nor the kinds of their values.
      #expect(found.isEmpty && Set(file.inspection.unassignedPages) == leaves)
    } else {
      // The map leads from each page to its parent. One that is itself gone is named as the parent all the same.
      #expect(found.allSatisfy { $0.isApart } && Set(found.map(\.page)) == leaves)
      let (rows, places) = try file.rows(of: plain)
      #expect(places == ["apart"])
      #expect(try Set(rows) == Set(file.expectedRows(of: plain)))
    }
    for table in file.tables where table.name != "plain" {
      #expect(file.inspection.leaves[table.name]?.map(\.page) ?? [] == oracle.leaves[table.name] ?? [], "\(table.name)")
    }
  }

  // MARK: Rows that tell their table

  /// A store of two entities without a map of pages, most of whose notes are deleted.
  private struct Notes {
    let directory: TemporaryDirectory
    let schema: PhysicalSchema
    /// The leaves of the notes before most of them were deleted.
    let former: Set<Int>
    private static let name = "notes.sqlite"
    var url: URL { directory.file(Self.name) }

    init(deletes: Bool) throws {
      directory = try TemporaryDirectory()
      let url = directory.file(Self.name)
      let model = try ManagedObjectModel(entities: [
        Make.entity("Note", [Make.attribute("text")]), Make.entity("Place", [Make.attribute("x", .double)]),
      ])
      schema = PhysicalSchema(model: model)
      try PersistentStore.create(at: url, model: model).close()
      let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
      for sql in ["journal_mode = DELETE", "auto_vacuum = 0", "page_size = 1024", "secure_delete = OFF"] {
        try connection.execute("PRAGMA \(sql)")
      }
      try connection.execute("VACUUM")
      try connection.executeScript(
        """
        BEGIN;
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
        INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) SELECT i, 1, 1, 'Dear diary, this is day ' || i FROM n;
        INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT, ZX) SELECT Z_PK, 2, 1, Z_PK / 8.0 FROM ZNOTE;
        COMMIT;
        """)
      former = Set(try #require(try PageOracle(connection).leaves["ZNOTE"]))
      if deletes { try connection.execute("DELETE FROM ZNOTE WHERE Z_PK > 20") }
      try connection.close()
    }

    func inspect(includesUncertainPages: Bool = false, original: URL? = nil) throws -> InspectedFile {
      try InspectedFile(url, original: original, includesUncertainPages: includesUncertainPages) { table in
        if let physical = schema.table(named: table.name) { table.recognize(by: physical, schema, numbers: nil) }
      }
    }

    func change(_ body: (inout Data) -> Void) throws {
      var data = try Data(contentsOf: url)
      body(&data)
      try data.write(to: url)
    }
  }

  @Test func `without a map, leaves are told by their rows`() throws {
    let notes = try Notes(deletes: false)
    let sound = notes.directory.file("sound.sqlite")
    try FileManager.default.copyItem(at: notes.url, to: sound)
    let oracle = try PageOracle(try Connection(path: sound.path, mode: .immutable, options: .inspecting))
    let roots = Set(["ZNOTE", "ZPLACE"].compactMap { oracle.root(of: $0) })
    try Self.zero(roots, of: notes.url, 1024)
    let file = try notes.inspect(original: sound)
    #expect(Set(file.inspection.unreadablePages) == roots && file.inspection.unassignedPages == [])
    for name in ["ZNOTE", "ZPLACE"] {
      let table = try #require(file.tables.first { $0.name == name })
      let leaves = try #require(oracle.leaves[name])
      #expect(Set(file.inspection.leaves[name]?.map(\.page) ?? []) == Set(leaves))
      let (rows, places) = try file.rows(of: table)
      #expect(rows.count == 600 && places == ["apart"])
      #expect(try Set(rows) == Set(file.expectedRows(of: table)))
    }
  }

  /// As https://www.sqlite.org/fileformat2.html#the_freelist describes it.
  private static func freeList(_ data: Data, _ pageSize: Int) -> (trunks: [Int], leaves: [Int]) {
    func number(_ offset: Int) -> Int { data[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
    var (trunks, leaves): ([Int], [Int]) = ([], [])
    var trunk = number(32)
    while trunk != 0 {
      trunks.append(trunk)
      let start = (trunk - 1) * pageSize
      leaves += (0..<number(start + 4)).map { number(start + 8 + 4 * $0) }
      trunk = number(start)
    }
    return (trunks, leaves)
  }

  @Test func `free pages are left alone, and counted where the list of them is damaged`() throws {
    let notes = try Notes(deletes: true)
    let sound = try notes.inspect()
    let oracle = try PageOracle(sound.connection)
    let data = try Data(contentsOf: notes.url)
    let kept = try #require(oracle.leaves["ZNOTE"])
    let (trunks, leaves) = Self.freeList(data, 1024)
    // A page that leads to others of the list has lost its rows.
    let deleted = notes.former.intersection(leaves)
    #expect(trunks.count >= 1 && deleted.count > 15)
    #expect(sound.inspection.uncertainPages == 0)
    for page in trunks + leaves { #expect(try sound.inspection.isInUse(page) == false) }

    // Numbers in the header and in the list that can't be: nothing tells any more which pages are free.
    let first = (trunks[0] - 1) * 1024
    let hostile: [(offset: Int, bytes: [UInt8])] = [
      (36, [0, 0, 0, 1]), (36, [255, 255, 255, 255]), (32, [255, 255, 255, 255]), (32, [0, 0, 0, 1]),
      (first, Array(data[32..<36])), (first + 4, [255, 255, 255, 255]), (first + 8, [0, 0, 0, 0]),
      (first + 8, [127, 255, 255, 255]),
    ]
    for (offset, bytes) in hostile {
      let what = "\(bytes) at \(offset)"
      try notes.change { changed in
        changed = data
        changed.replaceSubrange(offset..<offset + 4, with: bytes)
      }
      let file = try notes.inspect()
      for page in deleted { #expect(try file.inspection.isInUse(page) == nil, "\(what)") }
      #expect(file.inspection.uncertainPages == deleted.count, "\(what)")
      #expect(file.inspection.leaves["ZNOTE"]?.map(\.page) == kept, "\(what)")
      let all = try notes.inspect(includesUncertainPages: true)
      #expect(Set(all.inspection.leaves["ZNOTE"]?.map(\.page) ?? []) == deleted.union(kept), "\(what)")
    }
  }
}
