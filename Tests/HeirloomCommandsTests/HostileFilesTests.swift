import Foundation
import Heirloom
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing

/// Stores whose schema calls forbidden functions, and the permissions and names of the files made beside them.
struct HostileFilesTests {
  private static let commands = ["inspect", "doctor", "verify", "plan", "rehearse", "migrate"]

  /// They would leave the database, wait, or fail.
  static let calls = [
    "load_extension('%')", "writefile('%', 'x')", "readfile('%')", "edit('x')", "fts3_tokenizer('x', x'00')",
    "unknown_function(1)", "randomblob(2000000000)", "zeroblob(2000000000)", "printf('%.*c', 2000000000, 'x')",
    "(WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r)",
    "(SELECT count(*) FROM pragma_table_info('ZNOTE'))",
  ]

  @Test(arguments: LongTests.areOn ? calls : Array(calls.prefix(2)))
  func `what views and triggers call is not called by looking and migrating`(call: String) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 3)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let target = directory.file("written").path
    let call = call.replacing("'%'", with: quoteLiteral(target))
    let connection = try Connection(path: store.path, mode: .readWrite, options: .building)
    try connection.execute("CREATE VIEW ZVIEW AS SELECT Z_PK, \(call) AS a FROM ZNOTE")
    for event in ["INSERT", "UPDATE", "DELETE"] {
      try connection.execute("CREATE TRIGGER app_\(event) AFTER \(event) ON ZNOTE BEGIN SELECT \(call); END")
      try connection.execute("CREATE TRIGGER app_b\(event) INSTEAD OF \(event) ON ZVIEW BEGIN SELECT \(call); END")
    }
    try connection.close()
    let tool = Tool(directory: directory.url)
    let start = ContinuousClock.now
    for command in Self.commands {
      let more = ["plan", "rehearse", "migrate"].contains(command) ? ["--to", model] : []
      let outcome = tool.run([command, store.path] + more)
      #expect([0, 1, 6].contains(outcome.code), "\(command): \(outcome.error)")
      #expect(!FileManager.default.fileExists(atPath: target))
    }
    #expect(start.duration(to: .now) < .seconds(20))
    // The notes are there whether the store was migrated or refused.
    #expect(try Connection(reading: store).firstInteger("SELECT COUNT(*) FROM ZNOTE") == 3)
    withExtendedLifetime(directory) {}
  }

  @Test(arguments: ["load_extension('x')", "unknown_function(1)", "fts3_tokenizer('x', x'00')"])
  func `a trigger that calls what it must not keeps an object from being saved, with an error`(call: String) throws {
    let directory = try TemporaryDirectory()
    let url = try Notebook.makeStore(in: directory, count: 3)
    try Connection.execute(
      "CREATE TRIGGER app AFTER INSERT ON ZNOTE BEGIN SELECT \(call); END", on: url.path, options: .building)
    let store = try PersistentStore.open(at: url, model: Notebook.first())
    let context = ManagedObjectContext(store: store)
    try context.insert("Note").setValue(.string("new"), forAttribute: "title")
    #expect(throws: (any Error).self) { try context.save() }
    #expect(try ManagedObjectContext(store: store).count("Note") == 3)
    withExtendedLifetime((context, directory)) {}
  }

  @Test(
    .enabled(if: BuiltTool.url != nil, "the tool was not built beside the tests"),
    arguments: LongTests.areOn ? [0o600, 0o640, 0o644, 0o664] : [0o600],
    LongTests.areOn ? [0o000, 0o022, 0o077] : [0o000])
  func `what is made beside a store may be read by nobody who may not read the store`(mode: Int, mask: Int) throws {
    let directory = try TemporaryDirectory()
    let models = directory.file("models")
    let store = try Notebook.makeStore(in: directory, count: 3, archives: false)
    try FileManager.default.createDirectory(at: models, withIntermediateDirectories: false)
    for (name, model) in [("1", try Notebook.first()), ("2", try Notebook.dropping())] {
      try ModelSnapshot(model: model, archivedAt: Date(timeIntervalSince1970: 0)).encoded(.readable)
        .write(to: models.appendingPathComponent(name + ".json"))
    }
    let lock =
      #"{"format":1,"versions":[{"checksum":"\#(try Notebook.first().versionChecksum())","name":"1"},"#
      + #"{"checksum":"\#(try Notebook.dropping().versionChecksum())","name":"2"}]}"#
    try Data(lock.utf8).write(to: models.appendingPathComponent("lock.json"))
    #expect(chmod(store.path, mode_t(mode)) == 0)
    let tool = ToolProcess(wrapper: ["/bin/sh", "-c", "umask \(String(mask, radix: 8)); exec \"$0\" \"$@\""])
    let outcome = try tool.migrate(store, to: models, "--accept-losses")
    #expect(outcome.outcome == "migrated", outcome.summary)
    let companion = store.path + ".heirloom"
    let folderMode = try #require(
      try FileManager.default.attributesOfItem(atPath: directory.url.path)[.posixPermissions] as? Int)
    let paths = FileManager.default.enumerator(atPath: companion)?.allObjects as? [String] ?? []
    #expect(paths.contains { $0.hasSuffix("/Notebook.sqlite") })
    for path in [""] + paths.map({ ".heirloom/" + $0 }) {
      var status = stat()
      #expect(lstat(store.path + path, &status) == 0)
      let bits = Int(status.st_mode) & 0o777
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      // Folders are as the store's folder. The lock holds nothing, and whoever may make one may take it.
      if path.hasSuffix("/lock") { #expect(status.st_size == 0) }
      let readers = isFolder ? folderMode : path.hasSuffix("/lock") ? 0o666 : mode
      #expect(bits & ~readers == 0, "\(path): \(String(bits, radix: 8)) beside \(String(mode, radix: 8))")
      // The store and its previous version have the store's mode, whatever the mask.
      if path.isEmpty || path.hasSuffix("/Notebook.sqlite") { #expect(bits == mode, "\(path)") }
    }
    withExtendedLifetime(directory) {}
  }

  @Test func `names of what is made for a while can't be guessed`() throws {
    let files = POSIXFileOperations()
    let names = Set((0..<1000).map { _ in files.uniqueIdentifier() })
    #expect(names.count == 1000)
    #expect(names.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
    // No digit is the same in all names, as one from a clock or a counter would be.
    for place in 0..<32 { #expect(Set(names.map { $0[$0.index($0.startIndex, offsetBy: place)] }).count > 8) }
  }
}
