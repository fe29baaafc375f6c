import Foundation
import Heirloom
import HeirloomMigration
import TestSupport
import Testing

/// The findings of the proof of a new file, in which every row was written.
struct RebuiltProofTests {
  /// `LINKS` stands for the table of links.
  static let faults: [(sql: String, finding: String?)] = [
    ("", nil),
    ("UPDATE faulty.ZA SET ZNAME = NULL WHERE Z_PK = (SELECT MAX(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    ("UPDATE faulty.ZA SET ZNAME = NULL WHERE Z_PK = (SELECT MIN(Z_PK) FROM faulty.ZA)", "values of A.name, but"),
    ("UPDATE faulty.ZA SET ZNAME = ZNAME || 'x' WHERE Z_PK = (SELECT MAX(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    // The values of two columns, one for the other.
    ("UPDATE faulty.ZA SET ZNAME = ZTEXT, ZTEXT = ZNAME", "values of ZA differ"),
    ("UPDATE faulty.ZA SET ZLEFTOVER = NULL WHERE Z_PK = (SELECT MAX(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    ("UPDATE faulty.ZA SET ZB = ZB % 20 + 1 WHERE Z_PK = (SELECT MIN(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    ("UPDATE faulty.ZA SET Z_OPT = Z_OPT + 1 WHERE Z_PK = (SELECT MIN(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    ("DELETE FROM faulty.LINKS WHERE rowid = (SELECT MIN(rowid) FROM faulty.LINKS)", "rows instead of"),
    ("UPDATE OR REPLACE faulty.LINKS SET rowid = rowid, COLUMN = 99999", "links"),
    // As many links, to other objects that are there.
    ("UPDATE OR IGNORE faulty.LINKS SET COLUMN = COLUMN % 20 + 1", "values of links differ"),
    ("UPDATE faulty.ZA SET ZB = 99999", "keys that refer to no object"),
    ("UPDATE faulty.Z_METADATA SET Z_PLIST = (SELECT Z_PLIST FROM main.Z_METADATA)", "version hashes"),
    // Pages that are no table's any more.
    ("DELETE FROM faulty.sqlite_schema WHERE name = 'AppTable'", "quick_check"),
    (
      "UPDATE faulty.sqlite_schema SET sql = REPLACE(sql, 'plain', 'other') WHERE name = 'AppTable'",
      "objects outside the model"
    ),
    ("DELETE FROM faulty.AppTable", "rows instead of"),
  ]

  @Test(arguments: faults.indices)
  func `a fault in a new file is found`(_ index: Int) throws {
    let fault = Self.faults[index]
    let directory = try TemporaryDirectory()
    func entities(_ text: String) -> [EntityDescription] {
      [
        Make.entity(
          "A", [Make.attribute("name"), Make.attribute(text)],
          [Make.toOne("b", "B", "as"), Make.toMany("cs", "C", "as")]),
        Make.entity("B", [Make.attribute("name")], [Make.toMany("as", "A", "b")]),
        Make.entity("C", [Make.attribute("name")], [Make.toMany("as", "A", "cs")]),
      ]
    }
    let source = try ManagedObjectModel(entities: entities("text"))
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: source, objects: 20, seed: 8)
    let plain = try Connection(path: url.path, mode: .readWrite)
    try plain.execute("ALTER TABLE ZA ADD COLUMN ZLEFTOVER VARCHAR")
    try plain.execute("UPDATE ZA SET ZLEFTOVER = 'left ' || Z_PK")
    try plain.execute("CREATE TABLE AppTable (id INTEGER PRIMARY KEY, plain TEXT DEFAULT 'a')")
    try plain.execute("INSERT INTO AppTable VALUES (1, 'x')")
    let links = try #require(
      try plain.firstValue("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")?.text)
    let column = try #require(try plain.firstValue("SELECT name FROM pragma_table_info('\(links)') LIMIT 1")?.text)
    #expect(try plain.firstInteger("SELECT COUNT(*) FROM \(links)") ?? 0 > 0)
    try plain.close()
    let destination = try ManagedObjectModel(entities: entities("text") + [Make.entity("D", [Make.attribute("new")])])
    let hop = MigrationHop(
      source: source, destination: destination, mapping: try MappingModel.inferred(from: source, to: destination))
    func swap() throws {
      try Self.swap(
        url, hop,
        with: fault.sql.replacingOccurrences(of: "LINKS", with: links).replacingOccurrences(of: "COLUMN", with: column))
    }
    guard let finding = fault.finding else {
      try swap()
      return #expect(try StoreMetadata(contentsOf: url).versionHashes == destination.versionHashes())
    }
    let text = "\(try #require(#expect(throws: MigrationError.self) { try swap() }))"
    #expect(text.contains(finding.replacingOccurrences(of: "links", with: links)), "\(text)")
    #expect(try StoreMetadata(contentsOf: url).versionHashes == source.versionHashes())
  }
  private static func swap(_ url: URL, _ hop: MigrationHop, decisions: [DataDecision] = [], with fault: String) throws {
    var chain: CandidateChain?
    _ = try StoreVault(try StoreLocation(resolving: url.path, files: POSIXFileOperations())).replaceStore(
      prepare: { StoreReplacement() },
      build: { hold, candidate in
        let run = CandidateChain(
          hold: hold, candidatePath: candidate, hops: [hop],
          settings: RunSettings(builder: .always(.rebuild), decisions: decisions))
        chain = run
        _ = try run.build { _, _ in nil }
        guard !fault.isEmpty else { return }
        let connection = hold.connection
        try connection.attach(path: candidate, as: "faulty")
        try connection.execute("PRAGMA faulty.journal_mode = OFF")
        try connection.execute("PRAGMA writable_schema = ON")
        try connection.execute(fault)
        try connection.execute("PRAGMA writable_schema = RESET")
        try connection.detach("faulty")
      }, prove: { _, _ in try chain?.prove() })
  }

  @Test(arguments: [
    ("UPDATE faulty.ZB SET ZA = 3 WHERE Z_PK = 1", "differ from the decisions"),
    ("UPDATE faulty.ZB SET ZA = 1 WHERE Z_PK = 1", "removed by decision"),
  ]) func `a fault in what was decided is found`(fault: String, finding: String) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(_ unique: [[String]]) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Make.entity("A", [Make.attribute("name")], [Make.toMany("bs", "B", "a")], unique: unique),
        Make.entity("B", [], [Make.toOne("a", "A", "bs")]),
      ])
    }
    let (source, destination) = (try model([]), try model([["name"]]))
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: source))
      for name in ["x", "x", "y"] { try context.insert("A")["name"] = .string(name) }
      _ = try context.insert("B")
      try context.save()
    }
    for sql in [
      "UPDATE ZA SET ZNAME = CASE Z_PK WHEN 3 THEN 'y' ELSE 'x' END", "UPDATE ZB SET ZA = 1",
    ] { try Connection(path: url.path, mode: .readWrite).execute(sql) }
    let hop = MigrationHop(
      source: source, destination: destination, mapping: try MappingModel.inferred(from: source, to: destination))
    let newest = DataDecision(entity: "A", property: "name", .keepNewest())
    let error = #expect(throws: MigrationError.self) { try Self.swap(url, hop, decisions: [newest], with: fault) }
    #expect("\(try #require(error))".contains(finding))
    try Self.swap(url, hop, decisions: [newest], with: "")
    #expect(try Connection(reading: url).firstInteger("SELECT COUNT(*) FROM ZA") == 2)
  }

  @Test func `what code makes of one entity ends no check of another`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let source = try ManagedObjectModel(entities: [
      Make.entity("A", [Make.attribute("name")]), Make.entity("B", [Make.attribute("name")]),
    ])
    let destination = try ManagedObjectModel(entities: source.entities + [Make.entity("C", [Make.attribute("new")])])
    try StoreGenerator.makeStore(at: url, model: source, objects: 20, seed: 8)
    let mapping = try MappingModel.inferred(from: source, to: destination) {
      EntityMapping(from: "A", to: "A", policy: EntityMigrationPolicy.self)
    }
    let hop = MigrationHop(source: source, destination: destination, mapping: mapping)
    let error = #expect(throws: MigrationError.self) {
      try Self.swap(url, hop, with: "UPDATE faulty.ZB SET ZNAME = ZNAME || 'x'")
    }
    #expect("\(try #require(error))".contains("values of ZB differ"))
  }
  @Test func `after a stage's code, keys still have to lead to objects`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(_ more: [EntityDescription]) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [Make.entity("A", [], [Make.toOne("b", "B")]), Make.entity("B")] + more)
    }
    let (source, destination) = (try model([]), try model([Make.entity("C")]))
    try StoreGenerator.makeStore(at: url, model: source, objects: 3, seed: 8)
    let references = [source, destination].map {
      ManagedObjectModelReference(model: $0, versionChecksum: $0.versionChecksum())
    }
    let stage = CustomMigrationStage(migratingFrom: references[0], to: references[1], label: "one")
    stage.didMigrateHandler = { _ in }
    var hop = MigrationHop(
      source: source, destination: destination, mapping: try MappingModel.inferred(from: source, to: destination))
    hop.didMigrate = StageHandler(.didMigrate, of: stage, manager: try StagedMigrationManager([stage]))
    let error = #expect(throws: MigrationError.self) { try Self.swap(url, hop, with: "UPDATE faulty.ZA SET ZB = 99") }
    #expect("\(try #require(error))".contains("keys that refer to no object"))
    try Self.swap(url, hop, with: "")
  }

  @Test func `a row that names another entity than before is found`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let source = try ManagedObjectModel(entities: [Make.entity("B", [Make.attribute("name")])])
    let destination = try ManagedObjectModel(entities: [Make.entity("A")] + source.entities)
    try StoreGenerator.makeStore(at: url, model: source, objects: 2, seed: 8)
    for sql in [
      "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER,"
        + " ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB)",
      "INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 900)",
      "INSERT INTO ACHANGE (Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) VALUES (16001, 0, 1, 1, 1)",
    ] { try Connection(path: url.path, mode: .readWrite).execute(sql) }
    let hop = MigrationHop(
      source: source, destination: destination, mapping: try MappingModel.inferred(from: source, to: destination))
    let error = #expect(throws: MigrationError.self) {
      try Self.swap(url, hop, with: "UPDATE faulty.ACHANGE SET ZENTITY = 1")
    }
    #expect("\(try #require(error))".contains("values of ACHANGE differ"))
    try Self.swap(url, hop, with: "")
    #expect(try Connection(reading: url).firstInteger("SELECT ZENTITY FROM ACHANGE") == 2)
  }
}
