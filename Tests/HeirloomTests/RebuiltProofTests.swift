import Foundation
import Heirloom
import HeirloomMigration
import TestSupport
import Testing

/// The findings of the proof of a new file, in which every row was written.
struct RebuiltProofTests {
  typealias Make = InferableChangeTests

  /// A fault of a step, and a word of the finding; `LINKS` stands for the table of links.
  static let faults: [(sql: String, finding: String?)] = [
    ("", nil),
    ("UPDATE faulty.ZA SET ZNAME = NULL WHERE Z_PK = (SELECT MAX(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    ("UPDATE faulty.ZA SET ZNAME = NULL WHERE Z_PK = (SELECT MIN(Z_PK) FROM faulty.ZA)", "values of A.name in"),
    ("UPDATE faulty.ZA SET ZNAME = ZNAME || 'x' WHERE Z_PK = (SELECT MAX(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    // The values of two columns, one for the other.
    ("UPDATE faulty.ZA SET ZNAME = ZTEXT, ZTEXT = ZNAME", "values of ZA differ"),
    ("UPDATE faulty.ZA SET ZLEFTOVER = NULL WHERE Z_PK = (SELECT MAX(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    ("UPDATE faulty.ZA SET ZB = ZB % 20 + 1 WHERE Z_PK = (SELECT MIN(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    ("UPDATE faulty.ZA SET Z_OPT = Z_OPT + 1 WHERE Z_PK = (SELECT MIN(Z_PK) FROM faulty.ZA)", "values of ZA differ"),
    ("DELETE FROM faulty.LINKS WHERE rowid = (SELECT MIN(rowid) FROM faulty.LINKS)", "rows instead of"),
    ("UPDATE OR REPLACE faulty.LINKS SET rowid = rowid, COLUMN = 99999", "links"),
    (
      "UPDATE faulty.sqlite_schema SET sql = REPLACE(sql, 'plain', 'other') WHERE name = 'AppTable'",
      "objects of no model"
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
    var generator = StoreGenerator(objectsPerEntity: 20, seed: 8)
    try generator.makeStore(at: url, model: source)
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
    var chain: CandidateChain?
    func swap() throws {
      _ = try StoreVault(try StoreLocation(resolving: url.path, files: POSIXFileOperations())).replaceStore(
        prepare: { StoreVault.Replacement() },
        build: { hold, candidate in
          let run = CandidateChain(
            hold: hold, candidatePath: candidate, hops: [hop], settings: RunSettings(builder: .always(.rebuild)))
          chain = run
          _ = try run.build { _, _ in nil }
          guard !fault.sql.isEmpty else { return }
          let connection = hold.connection
          try connection.attach(path: candidate, as: "faulty")
          try connection.execute("PRAGMA faulty.journal_mode = OFF")
          try connection.execute("PRAGMA writable_schema = ON")
          try connection.execute(
            fault.sql.replacingOccurrences(of: "LINKS", with: links).replacingOccurrences(of: "COLUMN", with: column))
          try connection.execute("PRAGMA writable_schema = RESET")
          try connection.detach("faulty")
        }, prove: { _, _ in try chain?.prove() })
    }
    guard let finding = fault.finding else {
      try swap()
      return #expect(try StoreMetadata(contentsOf: url).versionHashes == destination.versionHashes())
    }
    let text = "\(try #require(#expect(throws: MigrationError.self) { try swap() }))"
    #expect(text.contains(finding.replacingOccurrences(of: "links", with: links)), "\(text)")
    #expect(try StoreMetadata(contentsOf: url).versionHashes == source.versionHashes())
  }
}
