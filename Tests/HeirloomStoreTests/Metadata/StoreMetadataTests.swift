import Foundation
import HeirloomFormats
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

struct StoreMetadataTests {
  private func database(_ directory: TemporaryDirectory, _ script: String) throws -> URL {
    let file = directory.file("Store.sqlite")
    let connection = try Connection(path: file.path, mode: .createExclusively())
    try connection.executeScript(script)
    try connection.close()
    return file
  }

  private static let table =
    "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);"

  private func store(_ directory: TemporaryDirectory, _ list: PropertyListValue) throws -> URL {
    let file = try database(directory, Self.table)
    let connection = try Connection(path: file.path, mode: .readWrite)
    try connection.execute(
      "INSERT INTO Z_METADATA VALUES (1, 'A', ?1)", [.blob(try BinaryPropertyListWriter.bytes(of: list))])
    return file
  }

  @Test func `writing keeps the columns of others`() throws {
    let directory = try TemporaryDirectory()
    let file = try store(directory, .dictionary(["NSStoreModelVersionHashes": .dictionary([:])]))
    let connection = try Connection(path: file.path, mode: .readWrite)
    try connection.executeScript("ALTER TABLE Z_METADATA ADD COLUMN OTHER; UPDATE Z_METADATA SET OTHER = x'00ff'")
    try StoreMetadata(contentsOf: file).write(to: connection)
    #expect(
      try connection.rows("SELECT Z_VERSION, Z_UUID, OTHER FROM Z_METADATA") == [
        [.integer(1), .text("A"), .blob([0, 255])]
      ])
    try connection.close()
  }

  @Test func `a store that has grown in its log is whole, also through a symbolic link`() throws {
    let directory = try TemporaryDirectory()
    let file = try store(directory, .dictionary(["NSStoreModelVersionHashes": .dictionary([:])]))
    let links = try TemporaryDirectory()
    let link = links.file("Link.sqlite")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
    let connection = try Connection(path: file.path, mode: .readWrite)
    try connection.executeScript(
      "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE X (B);"
        + " INSERT INTO X VALUES (zeroblob(500000))"
    )
    let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
    #expect(size < 100_000)
    for url in [file, link] {
      #expect(try StoreMetadata(contentsOf: url).identifier == "A")
      #expect(StoreError(path: url.path, problem: .missing).hasLog && !StoreReading.isComplete(url.path))
    }
    try connection.close()
  }

  private func problem(_ file: URL) -> StoreError.Problem? {
    do throws(StoreError) {
      _ = try StoreMetadata(contentsOf: file)
      return nil
    } catch {
      #expect(error.path == file.path)
      #expect(error.description.hasSuffix(".") && !error.description.contains("\n"))
      #expect(error.recoverySuggestion?.isEmpty == false)
      return error.problem
    }
  }

  @Test(arguments: [
    ("no database", StoreError.Problem.notDatabase), (String(repeating: "text ", count: 5000), .notDatabase),
    ("SQLite format 3\u{0}", .notDatabase), ("", .empty),
  ])
  func `a file that is something else is refused`(content: String, expected: StoreError.Problem) throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("Store.sqlite")
    try Data(content.utf8).write(to: file)
    #expect(problem(file) == expected)
    #expect(try Data(contentsOf: file) == Data(content.utf8))
  }

  @Test func `a path without a file is refused`() throws {
    let directory = try TemporaryDirectory()
    #expect(problem(directory.file("none")) == .missing)
    #expect(problem(directory.file("none/none")) == .missing)
    #expect(problem(directory.url) == .notFile)
    #expect(problem(URL(fileURLWithPath: "/dev/null")) == .notFile)
  }

  @Test func `the log beside an emptied store stays`() throws {
    let directory = try TemporaryDirectory()
    try Data().write(to: directory.file("Store.sqlite"))
    try Data("log".utf8).write(to: directory.file("Store.sqlite-wal"))
    #expect(problem(directory.file("Store.sqlite")) == .empty)
    #expect(try Data(contentsOf: directory.file("Store.sqlite-wal")) == Data("log".utf8))
  }

  @Test(arguments: [
    ("CREATE TABLE t (a);", StoreError.Problem.notStore(tables: ["t"])),
    ("CREATE TABLE t (a); DROP TABLE t;", .notStore(tables: [])),
    (StoreMetadataTests.table, .metadataRowCount(0)),
    (StoreMetadataTests.table + "INSERT INTO Z_METADATA VALUES (1, 'A', x'00'), (2, 'B', x'00')", .metadataRowCount(2)),
    (
      StoreMetadataTests.table + "INSERT INTO Z_METADATA VALUES (1, NULL, x'00')",
      .invalidMetadata(reason: "the store has no identifier.")
    ),
    (
      StoreMetadataTests.table + "INSERT INTO Z_METADATA VALUES (1, 'A', NULL)",
      .invalidMetadata(reason: "the property list is missing.")
    ),
  ])
  func `a database that is no complete store is refused`(script: String, expected: StoreError.Problem) throws {
    let directory = try TemporaryDirectory()
    #expect(problem(try database(directory, script)) == expected)
  }

  @Test(arguments: [
    (PropertyListValue.array([]), StoreError.Problem.invalidMetadata(reason: "the property list is not a dictionary.")),
    (.dictionary([:]), .missingVersionHashes),
    (
      .dictionary(["NSStoreModelVersionHashes": .integer(1)]),
      .invalidMetadata(reason: "the version hashes are not a dictionary.")
    ),
    (
      .dictionary(["NSStoreModelVersionHashes": .dictionary(["A": .data([1, 2])])]),
      .invalidMetadata(reason: "the version hash of entity \"A\" is not data of 32 bytes.")
    ),
  ])
  func `metadata that don't say which model made the store are refused`(
    list: PropertyListValue, expected: StoreError.Problem
  ) throws {
    let directory = try TemporaryDirectory()
    #expect(problem(try store(directory, list)) == expected)
  }

  @Test func `a store held exclusively is in use`() throws {
    let directory = try TemporaryDirectory()
    let file = try database(directory, Self.table)
    let holder = try Connection(path: file.path, mode: .readWrite)
    try holder.executeScript("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
    var options = Connection.Options.inspecting
    options.busyTimeout = 1
    let connection = try Connection(reading: file, options: options)
    let error = #expect(throws: StoreError.self) { try StoreMetadata(connection: connection, path: file.path) }
    #expect(error?.problem == .inUse)
  }

  @Test func `a change that was interrupted is reported, not undone`() throws {
    let directory = try TemporaryDirectory()
    let original = try database(directory, Self.table + "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000))")
    let file = directory.file("Copy.sqlite")
    do {
      // A tiny cache spills pages into the file, so the journal beside it is hot. Copying both simulates the power cut.
      let writer = try Connection(path: original.path, mode: .readWrite)
      try writer.executeScript(
        "PRAGMA cache_size=1; BEGIN; UPDATE t SET a = zeroblob(99999); INSERT INTO t VALUES (zeroblob(200000))")
      for suffix in ["", "-journal"] {
        try FileManager.default.copyItem(atPath: original.path + suffix, toPath: file.path + suffix)
      }
      try writer.execute("ROLLBACK")
    }
    let before = try ["", "-journal"].map { try Data(contentsOf: URL(fileURLWithPath: file.path + $0)) }
    #expect(problem(file) == .needsRecovery)
    #expect(try ["", "-journal"].map { try Data(contentsOf: URL(fileURLWithPath: file.path + $0)) } == before)
  }

  @Test(.enabled(if: geteuid() != 0, "root may write everywhere"))
  func `a store in a folder that can't be written to is read if it is complete`() throws {
    let directory = try TemporaryDirectory()
    let folder = directory.file("folder")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let url = folder.appendingPathComponent("Store.sqlite")
    let model = try Models.everything()
    func setPermissions(_ permissions: Int) throws {
      try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: folder.path)
    }
    let made = try PersistentStore.create(at: url, model: model)
    try made.close()
    try setPermissions(0o500)
    defer { try? setPermissions(0o700) }
    #expect(try StoreMetadata(contentsOf: url) == made.metadata)
    let store = try PersistentStore.open(at: url, model: model, isReadOnly: true)
    #expect(try ManagedObjectContext(store: store).count("Note") == 0)
    try setPermissions(0o700)
    do {
      let writer = try Connection(path: url.path, mode: .readWrite, options: .inspecting)
      try writer.execute("UPDATE Z_METADATA SET Z_UUID = 'CHANGED'")
    }
    try FileManager.default.removeItem(atPath: url.path + "-shm")
    try setPermissions(0o500)
    #expect(problem(url) == .unreadableLog)
  }

  @Test func `what the app keeps in the metadata survives`() throws {
    let directory = try TemporaryDirectory()
    let values: [String: PropertyListValue] = [
      "NSStoreType": .string("SQLite"), "NSStoreModelVersionHashesVersion": .integer(3),
      "_NSAutoVacuumLevel": .string("2"),
      "NSStoreModelVersionHashes": .dictionary(["A": .data(Array(repeating: 7, count: 32))]),
      "NSStoreModelVersionIdentifiers": .array([.string("")]), "NSPersistenceFrameworkVersion": .integer(1251),
      "app.date": .date(12.5), "app.list": .array([.boolean(true), .real(0.5), .dictionary(["x": .data([1])])]),
      // Core Data would not write this, but it isn't ours to throw away.
      "NSStoreModelVersionHashesDigest": .integer(5),
    ]
    let file = try store(directory, .dictionary(values))
    var metadata = try StoreMetadata(contentsOf: file)
    #expect(metadata.frameworkVersion == 1251)
    #expect(metadata.versionIdentifiers == [""])
    #expect(metadata.versionHashesDigest == nil)
    #expect(try BinaryPropertyListReader(metadata.propertyList()).value() == .dictionary(values))
    metadata.generation = "G"
    let connection = try Connection(path: file.path, mode: .readWrite)
    try metadata.write(to: connection)
    #expect(try StoreMetadata(contentsOf: file) == metadata)
    #expect(try connection.firstInteger("SELECT COUNT(*) FROM Z_METADATA WHERE Z_VERSION = 1 AND Z_UUID = 'A'") == 1)
  }

  @Test func `a store fits a model with equal hashes in both directions`() throws {
    let one = try ManagedObjectModel(
      entities: [Make.entity("A"), Make.entity("B")],
      configurations: [ConfigurationDescription(name: "half", entityNames: ["A"])])
    let two = try ManagedObjectModel(entities: [Make.entity("A"), Make.entity("B"), Make.entity("C")])
    let other = try ManagedObjectModel(entities: [
      Make.entity("A"), Make.entity("B", [Make.attribute("x", .string)]),
    ])
    let metadata = StoreMetadata(model: one)
    #expect(metadata.isCompatible(with: one))
    #expect(!metadata.isCompatible(with: two))
    #expect(!StoreMetadata(model: two).isCompatible(with: one))
    #expect(!metadata.isCompatible(with: other))
    #expect(metadata.differingEntities(from: other) == ["B"])
    #expect(metadata.differingEntities(from: two) == ["C"])
    #expect(metadata.isCompatible(with: one, configuration: "half") && !metadata.names(one, configuration: "half"))
    // Parts outside the configuration may have changed.
    #expect(StoreMetadata(model: other).isCompatible(with: one, configuration: "half"))
    #expect(!StoreMetadata(model: other).isCompatible(with: one))
    #expect(!metadata.isCompatible(with: one, configuration: "unknown"))
  }
}
