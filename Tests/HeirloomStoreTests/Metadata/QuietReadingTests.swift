import Foundation
import HeirloomStore
import TestSupport
import Testing

/// An inspection leaves nothing beside a store that wasn't there: Apple's SQLite leaves an empty `-wal` after closing.
struct QuietReadingTests {
  private static func store(in directory: TemporaryDirectory) throws -> URL {
    let url = directory.file("Journal.sqlite")
    let store = try PersistentStore.create(at: url, model: Models.everything())
    try store.close()
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    return url
  }

  private static func names(_ directory: TemporaryDirectory) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
  }

  @Test(arguments: [[], ["-wal"], ["-shm", "-wal"]])
  func `an inspection leaves the files that were there`(suffixes: [String]) throws {
    let directory = try TemporaryDirectory()
    let url = try Self.store(in: directory)
    for suffix in suffixes { try Data().write(to: URL(fileURLWithPath: url.path + suffix)) }
    let before = try Self.names(directory)
    #expect(before == ["Journal.sqlite"] + suffixes.map { "Journal.sqlite" + $0 })
    let bytes = try Data(contentsOf: url)
    #expect(try StoreMetadata(contentsOf: url).isCompatible(with: Models.everything()))
    #expect(try StoreModelCache.model(inStoreAt: url) == Models.everything())
    #expect(try Self.names(directory) == before)
    #expect(try Data(contentsOf: url) == bytes)
  }

  @Test func `a row that is only in the -wal is seen, also where its index is missing`() throws {
    let directory = try TemporaryDirectory()
    let url = try Self.store(in: directory)
    var options = Connection.Options()
    options.checkpointsOnClose = false
    try Connection.execute("CREATE TABLE app (line)", on: url.path, options: options)
    try FileManager.default.removeItem(atPath: url.path + "-shm")
    let log = try Data(contentsOf: URL(fileURLWithPath: url.path + "-wal"))
    #expect(!log.isEmpty)
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'app'"
    let count = try StoreReading.withQuietConnection(toStoreAt: url.path) { connection throws(StoreError) in
      try? connection.firstInteger(sql)
    }
    #expect(count == 1)
    #expect(try Data(contentsOf: URL(fileURLWithPath: url.path + "-wal")) == log)
    // A connection that only reads sees it as well.
    #expect(try Connection(reading: url, options: .inspecting).firstInteger(sql) == 1)
  }

  @Test func `a connection that only reads opens a store in WAL mode without side files`() throws {
    let directory = try TemporaryDirectory()
    let url = try Self.store(in: directory)
    let bytes = try Data(contentsOf: url)
    let connection = try Connection(reading: url, options: .inspecting)
    #expect(try connection.firstInteger("SELECT count(*) FROM Z_METADATA") == 1)
    #expect(connection.isReadOnly)
    #expect(throws: SQLiteError.self) { try connection.execute("DELETE FROM Z_METADATA") }
    try connection.close()
    #expect(try Data(contentsOf: url) == bytes)
  }
}
