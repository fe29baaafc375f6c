import Foundation
import Heirloom
import HeirloomMigration
import TestSupport
import Testing

/// The findings of the proof of a changed copy, which leaves out everything that no statement wrote.
struct ProofStrengthTests {
  private static let before = [
    Make.entity("A", [Make.attribute("gone"), Make.attribute("name")], [Make.toOne("b", "B", "as")]),
    Make.entity("B", [Make.attribute("name")], [Make.toMany("as", "A", "b")]),
    Make.entity("C", [Make.attribute("gone"), Make.attribute("name")], [Make.toOne("d", "D", "cs")]),
    Make.entity("D", [Make.attribute("name")], [Make.toMany("cs", "C", "d")]),
  ]
  /// A is written, C only loses an attribute, B and D stay.
  private static let after = [
    Make.entity(
      "A", [Make.attribute("added", value: .string("new")), Make.attribute("name")], [Make.toOne("b", "B", "as")]),
    Make.entity("B", [Make.attribute("name")], [Make.toMany("as", "A", "b")]),
    Make.entity("C", [Make.attribute("name")], [Make.toOne("d", "D", "cs")]),
    Make.entity("D", [Make.attribute("name")], [Make.toMany("cs", "C", "d")]),
  ]

  static let faults: [(sql: String, finding: String?)] = [
    ("", nil),
    ("UPDATE faulty.ZA SET ZB = 99999 WHERE Z_PK = (SELECT MAX(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    // Another object, which is there.
    ("UPDATE faulty.ZA SET ZB = ZB % 20 + 1 WHERE Z_PK = (SELECT MIN(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    ("UPDATE faulty.ZA SET Z_PK = Z_PK - 1000 WHERE Z_PK = (SELECT MIN(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    ("UPDATE faulty.ZA SET ZADDED = 'other' || ZNAME WHERE Z_PK = 1", "values of ZA differ"),
    // As long as the right one.
    ("UPDATE faulty.ZA SET ZADDED = 'wen' WHERE Z_PK = (SELECT MAX(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    ("DELETE FROM faulty.ZA WHERE Z_PK = (SELECT MAX(Z_PK) FROM faulty.ZA)", "rows instead of"),
    ("DELETE FROM faulty.ZC WHERE Z_PK = (SELECT MAX(Z_PK) FROM faulty.ZC)", "rows instead of"),
    (
      "UPDATE faulty.ZC SET ZNAME = ZNAME || 'other' WHERE Z_PK = (SELECT MAX(Z_PK) FROM faulty.ZC)",
      "changed unexpectedly"
    ),
    ("UPDATE faulty.ZC SET ZD = 99999", "changed unexpectedly"),
    ("UPDATE faulty.ZD SET Z_PK = Z_PK + 1000", "changed unexpectedly"),
    ("UPDATE faulty.ZD SET Z_ENT = 99", "another entity"),
    ("UPDATE faulty.Z_PRIMARYKEY SET Z_MAX = 0", "Z_MAX"),
    ("UPDATE faulty.Z_METADATA SET Z_UUID = LOWER(Z_UUID) || 'x'", "metadata are not those of the store"),
    ("ALTER TABLE faulty.ZC DROP COLUMN ZGONE", "the deferred clean-up differs"),
    ("ALTER TABLE faulty.ZD ADD COLUMN ZOTHER", "differs from the model"),
  ]

  @Test(arguments: faults.indices, [true, false])
  func `a fault in a changed copy is found`(_ index: Int, isNoted: Bool) throws {
    let fault = Self.faults[index]
    let directory = try TemporaryDirectory()
    let source = try ManagedObjectModel(entities: Self.before)
    let destination = try ManagedObjectModel(entities: Self.after)
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: source, objects: 20, seed: 8)
    let hop = MigrationHop(
      source: source, destination: destination, mapping: try MappingModel.inferred(from: source, to: destination))
    var chain: CandidateChain?
    var checks: [ProofCheck] = []
    func swap() throws {
      _ = try StoreVault(try StoreLocation(resolving: url.path, files: POSIXFileOperations())).replaceStore(
        prepare: { StoreReplacement() },
        build: { hold, candidate in
          let run = CandidateChain(
            hold: hold, candidatePath: candidate, hops: [hop],
            settings: RunSettings(builder: .always(.cloneAndAlter), defers: true))
          chain = run
          checks = try run.build { _, _ in nil }.checks
          guard !fault.sql.isEmpty else { return }
          // A fault of a statement is written like everything else; one of another program isn't noted.
          let written: WrittenPages = try #require(run.writtenPages)
          let connection = hold.connection
          try connection.attach(path: candidate, as: "faulty", noting: isNoted ? written : nil)
          try connection.execute("PRAGMA faulty.journal_mode = OFF")
          try connection.execute(fault.sql)
          try connection.detach("faulty")
        }, prove: { _, _ in try chain?.prove() })
    }
    if let finding = fault.finding {
      let error = #expect(throws: MigrationError.self) { try swap() }
      let text = "\(try #require(error))"
      // A write that wasn't noted is found by the bytes, and the statements' finding comes as well.
      #expect(text.contains(finding), "\(text)")
      #expect(isNoted || text.contains("other bytes on page"), "\(text)")
      #expect(try StoreMetadata(contentsOf: url).versionHashes == source.versionHashes())
    } else {
      try swap()
      #expect(try StoreMetadata(contentsOf: url).versionHashes == destination.versionHashes())
    }
    // Keys are looked up in no table that holds those that it held.
    let dangling = checks.compactMap { check -> String? in
      if case .noMore(let subject, _, let found) = check, subject.contains("no object") { found } else { nil }
    }
    #expect(dangling.isEmpty && !checks.isEmpty)
  }

  // MARK: Bytes

  /// The places of one wrong byte, and other faults of a file.
  enum FileFault: CaseIterable {
    case touchedTable, untouchedTable, untouchedIndex, newIndex, freePage, map, header, lostEnd, longerEnd, swappedPages
    case missingEntry, otherOrder
  }

  /// All faults, or those that are found in a clone whose volume doesn't tell which blocks it shares.
  ///
  /// Of such a clone a sample is compared, and the statements read what the rows are in.
  private static let foundFaults: [FileFault] = {
    #if canImport(Darwin)
      FileFault.allCases.filter { $0 != .freePage }
    #else
      FileFault.allCases
    #endif
  }()

  @Test(arguments: foundFaults)
  func `a fault in a changed copy's file is found`(_ fault: FileFault) throws {
    let scene = try FileScene()
    let before = try Data(contentsOf: scene.url)
    let error = #expect(throws: MigrationError.self) {
      try scene.migrate { hold, candidate, written in
        try scene.plant(fault, in: candidate, connection: hold.connection, written: written)
      }
    }
    let text = "\(try #require(error))"
    // SQLite itself doesn't open a file without its end.
    #expect(text.contains("the pages of the candidate") || fault == .lostEnd && text.contains("is damaged"), "\(text)")
    #expect(try Data(contentsOf: scene.url) == before)
  }

  @Test(arguments: [FileFault.untouchedTable, .untouchedIndex, .freePage])
  func `what was wrong in the store is carried over as it was, or stops the migration`(_ fault: FileFault) throws {
    let scene = try FileScene()
    let sound = try scene.untouchedContent()
    try scene.plant(fault, in: scene.url.path, connection: nil, written: nil)
    let before = try scene.untouchedContent()
    #expect(fault == .freePage || before != sound)
    let bytes = try Data(contentsOf: scene.url)
    do {
      try scene.migrate { _, _, _ in }
      #expect(try scene.untouchedContent() == before)
    } catch is MigrationError {
      #expect(try Data(contentsOf: scene.url) == bytes)
    }
  }

  /// A store with free pages and indexes, and its next model.
  private struct FileScene {
    let url: URL
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    private let directory: TemporaryDirectory

    init() throws {
      directory = try TemporaryDirectory()
      func indexed(_ entity: EntityDescription, by names: [String]) -> EntityDescription {
        var entity = entity
        entity.indexes = names.map { name in
          FetchIndexDescription(name: "by" + name, elements: [FetchIndexElementDescription(property: name)])
        }
        return entity
      }
      var before = ProofStrengthTests.before
      before[3] = indexed(before[3], by: ["name"])
      source = try ManagedObjectModel(entities: before)
      var after = before
      after[0] = ProofStrengthTests.after[0]
      after[1] = indexed(after[1], by: ["name"])
      destination = try ManagedObjectModel(entities: after)
      url = directory.file("Store.sqlite")
      try StoreGenerator.makeStore(at: url, model: source, objects: 400, seed: 9)
      let connection = try Connection(path: url.path, mode: .readWrite)
      #expect(try connection.firstValue("PRAGMA journal_mode = DELETE")?.text == "delete")
      try connection.execute("CREATE TABLE Passing (x)")
      try connection.execute("INSERT INTO Passing VALUES (zeroblob(100000))")
      try connection.execute("DROP TABLE Passing")
      #expect(try connection.firstInteger("PRAGMA freelist_count") ?? 0 > 10)
      try connection.close()
    }

    func untouchedContent() throws -> [[SQLiteValue]?] {
      let connection = try Connection(path: url.path, mode: .immutable)
      return [
        "SELECT * FROM ZD NOT INDEXED ORDER BY Z_PK",
        "SELECT ZNAME, rowid FROM ZD INDEXED BY Z_D_byname ORDER BY ZNAME",
      ].flatMap { sql -> [[SQLiteValue]?] in
        // Damage may keep SQLite from reading at all.
        (try? connection.rows(sql)) ?? [nil]
      }
    }

    func migrate(_ meddle: @escaping (StoreHold, String, WrittenPages) throws -> Void) throws {
      var chain: CandidateChain?
      let hop = MigrationHop(
        source: source, destination: destination, mapping: try MappingModel.inferred(from: source, to: destination))
      _ = try StoreVault(try StoreLocation(resolving: url.path, files: POSIXFileOperations())).replaceStore(
        prepare: { StoreReplacement() },
        build: { hold, candidate in
          let run = CandidateChain(
            hold: hold, candidatePath: candidate, hops: [hop], settings: RunSettings(builder: .always(.cloneAndAlter)))
          chain = run
          _ = try run.build { _, _ in nil }
          try meddle(hold, candidate, try #require(run.writtenPages))
        }, prove: { _, _ in try chain?.prove() })
    }

    func page(of fault: FileFault, in path: String) throws -> Int {
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      func number(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
      let connection = try Connection(path: path, mode: .immutable)
      func root(_ name: String) throws -> Int {
        Int(
          try #require(try connection.firstInteger("SELECT rootpage FROM sqlite_schema WHERE name = ?1", [.text(name)]))
        )
      }
      switch fault {
      case .touchedTable: return try root("ZA")
      case .untouchedTable, .swappedPages: return try root("ZD")
      case .untouchedIndex: return try root("Z_D_byname")
      case .newIndex, .missingEntry, .otherOrder: return try root("Z_B_byname")
      case .freePage: return number((number(32) - 1) * 4096 + 8)
      case .map: return 2
      case .header: return 1
      case .lostEnd, .longerEnd: return bytes.count / 4096
      }
    }

    func plant(_ fault: FileFault, in path: String, connection: Connection?, written: WrittenPages?) throws {
      // An index under a rule that lacks a row, or puts its entries in the opposite order; then under its own again.
      let rules: [FileFault: (own: String, other: String)] = [
        .missingEntry: ("ASC)", "ASC) WHERE Z_PK <> 1"), .otherOrder: ("ASC)", "DESC)"),
      ]
      if let rule = rules[fault] {
        let connection = try #require(connection)
        try connection.attach(path: path, as: "faulty", noting: written)
        func rewrite(_ sql: String) throws {
          try connection.execute("PRAGMA writable_schema = ON")
          try connection.execute("UPDATE faulty.sqlite_schema SET sql = \(sql) WHERE name = 'Z_B_byname'")
          try connection.execute("PRAGMA writable_schema = RESET")
        }
        try connection.execute("PRAGMA faulty.journal_mode = OFF")
        try rewrite("replace(sql, '\(rule.own)', '\(rule.other)')")
        try connection.execute("REINDEX faulty.Z_B_byname")
        try rewrite("replace(sql, '\(rule.other)', '\(rule.own)')")
        #expect(
          try connection.rows("PRAGMA faulty.integrity_check").contains {
            $0[0].text?.contains(fault == .missingEntry ? "wrong # of entries" : "missing from index") ?? false
          })
        return try connection.detach("faulty")
      }
      let page = try page(of: fault, in: path)
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      defer { try? file.close() }
      func content(_ page: Int) throws -> Data {
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        return try #require(try file.read(upToCount: 4096))
      }
      func write(_ content: Data, at page: Int) throws {
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        try file.write(contentsOf: content)
      }
      switch fault {
      case .lostEnd: try file.truncate(atOffset: UInt64(page - 1) * 4096)
      case .longerEnd: try write(Data(repeating: 0, count: 4096), at: page + 1)
      case .swappedPages:
        let (one, other) = (try content(page), try content(page + 1))
        try write(other, at: page)
        try write(one, at: page + 1)
      default:
        var bytes = try content(page)
        // In a cell, an entry of the map, the header's count of changes.
        let place = bytes.startIndex + (fault == .header ? 27 : fault == .map ? 6 : 4090)
        bytes[place] ^= 1
        try write(bytes, at: page)
      }
    }
  }

  @Test(arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter], ["77", "NULL"])
  func `a row of another entity is found before the store is held`(
    builder: MigrationPlan.Builder, number: String
  ) throws {
    let directory = try TemporaryDirectory()
    let source = try ManagedObjectModel(entities: Self.before)
    let destination = try ManagedObjectModel(entities: Self.after)
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: source, objects: 20, seed: 8)
    try Connection.execute("UPDATE ZC SET Z_ENT = \(number) WHERE Z_PK = 3", on: url.path)
    let assistant = MigrationAssistant(url, from: source, to: destination, builder: .always(builder))
    let words = "1 row of ZC has no entity number of the table's, and is treated as C, the only entity that it can hold"
    #expect(try assistant.plan()?.warnings.first == words)
    let report = try assistant.migrate()
    #expect(report.plan.warnings.first == words)
    #expect(report.plan.rows.first { $0.entity == "C" }?.after == 20)
  }
}
