import Foundation
import HeirloomFormats
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

struct VaultReplacingTests {
  @Test(arguments: VaultFixture.Shape.allCases)
  func `a store whose protection class can't be kept is left alone, unless the app allows it`(
    _ shape: VaultFixture.Shape
  ) throws {
    let fixture = try VaultFixture(shape)
    let before = try fixture.content()
    let files = FaultyFiles(losesProtection: true)
    let error = #expect(throws: VaultError.self) { try fixture.migrate(fixture.vault(files)) }
    guard case .protectionLost = error else {
      Issue.record("\(error.map { "\($0)" } ?? "no error")")
      return
    }
    #expect(error?.advice.contains("allowsLostProtection") == true)
    #expect(try fixture.content() == before)
    #expect(try fixture.leftovers() == [] && fixture.vault().previousVersions().isEmpty)
    var told: [String] = []
    let vault = fixture.vault(files, allowsLostProtection: true) {
      if case .attributesLeftOut(let path, _, "the protection class") = $0 { told.append(path) }
    }
    #expect(try fixture.migrate(vault) != nil)
    #expect(told.contains { $0.hasSuffix(".heirloom") } && told.count == 3)
  }

  @Test func `of a clone, one part in a hundred is compared, and a small one whole`() {
    #expect(CloneSample.left(ofByteCount: 0) == [] && CloneSample.left(ofByteCount: 65_536) == [])
    #expect(CloneSample.left(ofByteCount: 65_537) == [65_536..<65_537])
    let size: Int64 = 1_000_000_001
    let ranges = CloneSample.left(ofByteCount: size)
    let left = ranges.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
    #expect(ranges.last?.upperBound == size && Double(size - left) / Double(size) < 0.0101)
    #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $1.lowerBound - $0.upperBound == 65_536 })
    #expect(ranges.allSatisfy { $0.lowerBound % 65_536 == 0 })
  }

  @Test(arguments: VaultFixture.Shape.allCases)
  func `puts the new store in place and keeps the old one whole`(_ shape: VaultFixture.Shape) throws {
    let fixture = try VaultFixture(shape, externalFiles: 3)
    let before = try VaultFixture(shape, externalFiles: 3).content()
    let original = try Data(contentsOf: fixture.url(fixture.location.path))
    var events: [VaultEvent] = []
    let previous = try #require(try fixture.migrate(fixture.vault { events.append($0) }, addsExternalFile: true))
    #expect(try fixture.leftovers() == [])
    #expect(!StoreLocation.sideSuffixes.contains { fixture.exists(fixture.location.path + $0) })
    let after = try fixture.content()
    #expect(after.version == 2)
    #expect(after.rows == before.rows)
    #expect(after.journalMode == (shape == .wal ? "wal" : "delete"))
    let mode = try POSIXFileOperations().status(of: fixture.location.path)?.mode
    #expect(mode == 0o640)
    #expect(fixture.externalNames() == ["FILE-0", "FILE-1", "FILE-2", "NEW"])

    let path = try #require(previous.storePath)
    if shape != .wal { #expect(try Data(contentsOf: fixture.url(path)) == original) }
    #expect(try POSIXFileOperations().status(of: path)?.linkCount == 1)
    let kept = try fixture.content(path)
    #expect(kept.version == 1)
    #expect(kept.rows == before.rows)
    #expect(kept.journalMode == "delete")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: previous.path + "/.Journal_SUPPORT/_EXTERNAL_DATA").sorted()
        == ["FILE-0", "FILE-1", "FILE-2"])
    #expect(try Data(contentsOf: fixture.url(previous.path + "/model.json.gz")) == Data(VaultFixture.snapshot))
    let manifest = try #require(previous.manifest)
    #expect(manifest.versionChecksum == VaultFixture.checksum)
    #expect(manifest.supportFileCount == 3)
    #expect(manifest.supportByteCount == 3_000)
    #expect(manifest.mode == (shape == .wal ? .wal : .rollback))
    #expect(manifest.generation == "generation 1")
    #expect(try fixture.vault().previousVersions() == [previous])

    let kinds = events.map { String(describing: $0).prefix { $0 != "(" } }
    #expect(
      kinds == [
        "locked", "held", "manifestWritten", "built", "proven", "candidateSynchronized", "previousVersionKept",
        "swapped",
        "finished",
      ])
  }

  @Test func `a second run finds nothing to do and changes nothing`() throws {
    let fixture = try VaultFixture(.wal)
    try fixture.migrate(fixture.vault())
    #expect(try !StoreVault.hasUnfinishedOperation(at: fixture.location))
    let bytes = try fixture.bytes().filter { !$0.key.hasSuffix("-shm") && !$0.key.hasSuffix("-wal") }
    #expect(try fixture.migrate(fixture.vault()) == nil)
    #expect(try fixture.bytes().filter { !$0.key.hasSuffix("-shm") && !$0.key.hasSuffix("-wal") } == bytes)
  }

  @Test func `asking whether something is unfinished makes no calls but reads of names`() throws {
    let fixture = try VaultFixture()
    let files = FaultyFiles()
    #expect(try !StoreVault.hasUnfinishedOperation(at: fixture.location, files: files))
    #expect(files.calls.allSatisfy { $0.operation == .status || $0.operation == .list })
    #expect(files.calls.count <= 3)
    #expect(!fixture.exists(fixture.location.companion))
  }

  /// The syncs of a migration from a log, whose store SQLite has brought to the disk; Apple's SQLite has only ordered it.
  private static let syncsFromLog: Int = {
    #if canImport(Darwin)
      13
    #else
      12
    #endif
  }()

  @Test(arguments: [(VaultFixture.Shape.rollback, 13), (.wal, syncsFromLog)])
  func `costs thirteen syncs of its own at most`(_ shape: VaultFixture.Shape, _ expected: Int) throws {
    let fixture = try VaultFixture(shape)
    let files = FaultyFiles()
    try fixture.migrate(fixture.vault(files))
    #expect(syncs(of: files).count == expected, "\(syncs(of: files))")
  }

  @Test func `a model that is archived beside a kept version needs no sync of the store's folder`() throws {
    let fixture = try VaultFixture()
    let first = FaultyFiles()
    try fixture.vault(first).writeSnapshot([1])
    #expect(syncs(of: first).contains { $0.path == fixture.location.directory })
    let other = try VaultFixture()
    try other.migrate(other.vault())
    let second = FaultyFiles()
    try other.vault(second).writeSnapshot([1])
    #expect(syncs(of: second).count == 2, "\(syncs(of: second))")
    #expect(!syncs(of: second).contains { $0.path == other.location.directory })
  }

  private func syncs(of files: FaultyFiles) -> [(operation: FileError.Operation, path: String)] {
    files.calls.filter {
      // A new file's content is synced with its writing; the candidate's empty file is not.
      [.synchronizeFile, .synchronizeDirectory].contains($0.operation)
        || $0.operation == .write && !$0.path.contains("/incoming/")
    }
  }

  @Test func `versions keep their order when the clock stands still`() throws {
    let fixture = try VaultFixture()
    var names: [VersionName] = []
    for _ in 0..<4 {
      let previous = try #require(try fixture.migrate(fixture.vault()))
      names.append(previous.name)
      let connection = try Connection(path: fixture.location.path, mode: .readWrite)
      try connection.execute("PRAGMA user_version=1")
      try connection.execute("ALTER TABLE note DROP COLUMN added")
    }
    #expect(names == names.sorted())
    #expect(Set(names.map(\.time)).count == 4)
    #expect(try fixture.vault().previousVersions().map(\.name) == names)
  }

  @Test func `without links the old store is kept as a copy`() throws {
    let fixture = try VaultFixture(.wal, externalFiles: 2)
    let before = try VaultFixture(.wal).content()
    let files = FaultyFiles(refusesLinks: true)
    let previous = try #require(try fixture.migrate(fixture.vault(files), addsExternalFile: true))
    #expect(try fixture.leftovers() == [])
    #expect(try fixture.content().version == 2)
    let path = try #require(previous.storePath)
    #expect(try fixture.content(path).rows == before.rows)
    #expect(fixture.externalNames() == ["FILE-0", "FILE-1", "NEW"])
    #expect(previous.manifest?.supportFileCount == 2)
  }

  @Test func `a builder can begin with a copy of the store`() throws {
    let fixture = try VaultFixture()
    let before = try fixture.bytes()["Journal.sqlite"]
    _ = try fixture.vault().replaceStore(
      prepare: { StoreReplacement() },
      build: { hold, candidate in
        try hold.duplicateStore(to: candidate)
        #expect(try Data(contentsOf: fixture.url(candidate)) == before)
        let connection = try Connection(path: candidate, mode: .readWrite)
        try connection.execute("CREATE TABLE IF NOT EXISTS note(id INTEGER PRIMARY KEY, text TEXT)")
      }, prove: { _, _ in })
    #expect(try fixture.leftovers() == [])
  }

  // MARK: Giving up

  struct Refusal: Error {}

  @Test(arguments: VaultFixture.Shape.allCases)
  func `a refusal before the store is held leaves every byte`(_ shape: VaultFixture.Shape) throws {
    let fixture = try VaultFixture(shape, externalFiles: 1)
    let bytes = try fixture.bytes()
    #expect(throws: Refusal.self) {
      try fixture.vault().replaceStore(prepare: { throw Refusal() }, build: { _, _ in }, prove: { _, _ in })
    }
    #expect(try fixture.bytes() == bytes)
  }

  @Test(arguments: VaultFixture.Shape.allCases, 0..<7)
  func `giving up later leaves the rows, the journal mode and no trace`(
    _ shape: VaultFixture.Shape, _ stop: Int
  ) throws {
    let fixture = try VaultFixture(shape, externalFiles: 2)
    let before = try VaultFixture(shape).content()
    let original = try Data(contentsOf: fixture.url(fixture.location.path))
    var seen = 0
    let vault = fixture.vault { _ in
      // The lock's event comes first, that of the previous version last.
      if seen == stop { throw Refusal() }
      seen += 1
    }
    #expect(throws: Refusal.self) { try fixture.migrate(vault, addsExternalFile: true) }
    if shape != .wal {
      #expect(try Data(contentsOf: fixture.url(fixture.location.path)) == original)
    }
    #expect(try fixture.leftovers() == [])
    #expect(fixture.externalNames() == ["FILE-0", "FILE-1"])
    #expect(try fixture.content() == before)
    #expect(try fixture.vault().previousVersions().isEmpty)
    #expect(try fixture.migrate(fixture.vault()) != nil)
  }

  @Test func `a candidate that is still attached, or empty, is refused`() throws {
    let fixture = try VaultFixture()
    let bytes = try fixture.bytes()
    for attaches in [true, false] {
      let error = #expect(throws: VaultError.self) {
        try fixture.vault().replaceStore(
          prepare: { StoreReplacement() },
          build: { hold, candidate in if attaches { try hold.connection.attach(path: candidate, as: "candidate") } },
          prove: { _, _ in })
      }
      guard case .unfitCandidate = error else { throw try #require(error) }
      #expect(try fixture.bytes() == bytes)
    }
  }

  @Test func `a swap that is dropped lets go of the lock and the store, and the next run settles the rest`() throws {
    let fixture = try VaultFixture(.wal)
    let rows = try fixture.content().rows
    func begin() throws {
      let swap = try fixture.vault().begin()
      let store = try swap.hold(StoreReplacement(bytesNeeded: 10_000))
      try store.duplicateStore(to: swap.candidatePath)
      withExtendedLifetime(swap) {}
    }
    try begin()
    #expect(try StoreVault.hasUnfinishedOperation(at: fixture.location))
    #expect(try fixture.content().rows == rows)
    #expect(try fixture.migrate(fixture.vault()) != nil)
    #expect(try fixture.content().rows == rows)
    #expect(try fixture.leftovers().isEmpty)
  }

  @Test func `a swap that holds no store proves and commits nothing`() throws {
    let fixture = try VaultFixture(.rollback)
    let bytes = try fixture.bytes()
    let swap = try fixture.vault().begin()
    #expect(throws: VaultError.self) { try swap.prove { Issue.record("nothing is there to prove") } }
    #expect(throws: VaultError.self) { try swap.commit() }
    #expect(try fixture.bytes() == bytes)
  }
}
