import Foundation
import Heirloom
import TestSupport
import Testing

/// Logs of another database beside a store: SQLite takes them for the store's.
struct ForeignLogTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  enum Other: CaseIterable, Sendable { case table, store }

  /// The log is that of another database in WAL mode, as it is while that one is open.
  private func copyLog(of other: Other, to store: URL) throws {
    let url = directory.file("Other.sqlite")
    if other == .store { try PersistentStore.create(at: url, model: Notebook.first()).close() }
    let connection = try Connection(path: url.path, mode: other == .store ? .readWrite : .createExclusively())
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.execute(other == .store ? "UPDATE Z_METADATA SET Z_VERSION = 1" : "CREATE TABLE t (a)")
    try FileManager.default.copyItem(atPath: url.path + "-wal", toPath: store.path + "-wal")
    try connection.close()
  }

  private static func objects(of url: URL) throws -> [[SQLiteValue]] {
    try Connection(path: url.path, mode: .immutable, options: .inspecting).rows("SELECT * FROM ZNOTE ORDER BY Z_PK")
  }

  @Test(arguments: Other.allCases)
  func `a store is recognised through a symbolic link, too`(other: Other) throws {
    let store = try Notebook.makeStore(in: directory, count: 3)
    try copyLog(of: other, to: store)
    let bytes = try Data(contentsOf: store)
    let link = directory.file("Link.sqlite")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: store)
    #expect(throws: StoreError.self) { try PersistentStore.open(at: link, model: Notebook.first()) }
    #expect(try Data(contentsOf: store) == bytes)
  }

  @Test(arguments: Other.allCases)
  func `no command writes to the store, and without the log everything is there`(other: Other) throws {
    let store = try Notebook.makeStore(in: directory, count: 50)
    let kept = try Notebook.write(try Notebook.first(), "First", in: directory)
    let model = try Notebook.write(try Notebook.adding(), "Adding", in: directory)
    #expect(tool("migrate", store.path, "--to", model, "--keep", "3").code == 0)
    let rows = try Self.objects(of: store)
    try copyLog(of: other, to: store)
    let files = [store, URL(fileURLWithPath: store.path + "-wal")]
    let bytes = try files.map { try Data(contentsOf: $0) }
    for command in [
      ["migrate", store.path, "--to", kept, "--accept-losses", "--accept-version"], ["restore", store.path],
      ["repair", store.path],
    ] {
      let outcome = tool.run(command)
      #expect(outcome.code != 0 && outcome.error.contains("-wal"), "\(command): \(outcome.output) \(outcome.error)")
      #expect(try files.map { try Data(contentsOf: $0) } == bytes, "\(command)")
    }
    // An app that opens the store for writing would bring the log into it when it closes.
    for model in [try Notebook.first(), try Notebook.adding()] {
      let error = #expect(throws: StoreError.self) { try PersistentStore.open(at: store, model: model) }
      #expect(error?.description.contains("the log of another database") == true)
      #expect(try files.map { try Data(contentsOf: $0) } == bytes)
    }
    let diagnosis = tool("doctor", store.path)
    #expect(diagnosis.output.contains("move it away first"), "\(diagnosis.output)")
    // As the diagnosis says.
    try FileManager.default.moveItem(atPath: store.path + "-wal", toPath: directory.file("away").path)
    #expect(try Self.objects(of: store) == rows)
    let outcome = tool("migrate", store.path, "--to", kept, "--accept-losses", "--accept-version")
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try Self.objects(of: store).count == rows.count)
  }
}
