import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// The advice for a damaged store that a restored version moved aside: its own model reads it, not another version's.
struct SetAsideAdviceTests {
  private static func model(adding: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [Make.entity("Note", [Make.attribute("text")])]
        + (adding ? [Make.entity("Person", [Make.attribute("name")])] : []))
  }

  @Test(arguments: ["cut", "no header"])
  func `what doctor and salvage read of a store that was moved aside has its own entities`(damage: String) throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    let store = directory.file("Kitchen.sqlite")
    try PersistentStore.make(at: store, model: Self.model(adding: false)) { context in
      for number in 0..<30 { try context.insert("Note").setValue(.string("note \(number)"), forAttribute: "text") }
    }
    let first = try Notebook.write(Self.model(adding: false), "1", in: directory)
    let second = try Notebook.write(Self.model(adding: true), "2", in: directory)
    #expect(tool("migrate", store.path, "--to", first).code == 0)
    #expect(tool("migrate", store.path, "--to", second).code == 0)
    let connection = try Connection(path: store.path, mode: .readWrite, options: .building)
    try connection.executeScript(
      """
      WITH RECURSIVE n (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 10)
        INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT k, 2, 1, 'person ' || k FROM n;
      UPDATE Z_PRIMARYKEY SET Z_MAX = 10 WHERE Z_NAME = 'Person';
      CREATE TABLE app (x); INSERT INTO app VALUES (zeroblob(20000));
      """)
    _ = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    try connection.close()
    var data = try Data(contentsOf: store)
    if damage == "cut" { data = data.dropLast(4096) } else { data.replaceSubrange(0..<100, with: Data(count: 100)) }
    try data.write(to: store)
    let restored = tool("restore", store.path)
    #expect(restored.code == 0, "\(restored)")
    let aside = try #require(PrintedCommand.all(in: restored.output).first { $0.words[0] == "doctor" }).words[1]
    #expect(try Data(contentsOf: URL(fileURLWithPath: aside)) == data)
    let next = try #require(try tool("doctor", aside, "--json").json()["next"] as? String)
    var commands = [try DoctorWalk.words(of: next)]
    commands.append(["heirloom", "salvage", aside, "--output", directory.file("Plain.sqlite").path])
    for words in commands {
      #expect(words[1] == "salvage" && words.contains("--output"), "\(words)")
      let told = tool.run(Array(words.dropFirst()))
      #expect([0, 6].contains(told.code), "\(words): \(told)")
      let output = try #require(words.last)
      let found = try Connection(path: output, mode: .readOnly)
      #expect(try found.firstInteger("SELECT COUNT(*) FROM ZPERSON") == 10, "\(words): \(told)")
      #expect(try found.firstInteger("SELECT COUNT(*) FROM ZNOTE") == 30, "\(words): \(told)")
      try found.close()
      let migrated = tool("migrate", output, "--to", second)
      #expect(migrated.code == 0, "\(migrated)")
    }
  }
}
