import Foundation
import HeirloomFormats
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

struct VaultRecoveryTests {
  let system = POSIXFileOperations()
  static let identifier = "0123456789abcdef0123456789abcdef"
  static let keptName = "20261123T101500Z-01234567"

  private func folder(_ path: String) throws {
    if try system.status(of: path) == nil {
      try system.makeDirectory(path, attributes: FileAttributes(mode: 0o755))
    }
  }

  private func write(_ path: String, _ bytes: [UInt8]) throws {
    try system.writeNewFile(path, bytes: bytes, attributes: FileAttributes(mode: 0o644))
  }

  /// Makes the vault's folders and a manifest, as a process that died leaves them.
  @discardableResult
  private func prepare(
    _ fixture: VaultFixture, operation: VaultManifest.Operation = .migration, phase: VaultManifest.Phase = .linking,
    kept: String? = keptName
  ) throws -> (work: String, kept: String) {
    let location = fixture.location
    for path in [location.companion, location.previous, location.incoming] { try folder(path) }
    let work = location.incoming + "/" + Self.identifier
    try folder(work)
    let manifest = VaultManifest(
      identifier: Self.identifier, operation: operation, phase: phase, storeName: location.name, keptFolder: kept,
      oldGeneration: phase == .copying ? "generation 1" : nil, newGeneration: phase == .copying ? "generation 2" : nil,
      time: 0)
    try write(location.manifest, try manifest.encoded())
    return (work, location.previous + "/" + Self.keptName)
  }

  private func setVersion(_ version: Int, of path: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("PRAGMA user_version=\(version)")
    try VaultFixture.writeMetadata(generation: version, to: connection)
  }

  private func recover(_ fixture: VaultFixture) throws -> [VaultRecovery] {
    var found: [VaultRecovery] = []
    try fixture.vault { if case .recovered(let outcome, _) = $0 { found.append(outcome) } }.recover()
    return found
  }

  // MARK: Phases

  @Test func `a candidate that was being built is removed`() throws {
    let fixture = try VaultFixture(.wal)
    let bytes = try fixture.bytes()
    let (work, _) = try prepare(fixture)
    try write(work + "/Journal.sqlite", [1, 2, 3])
    try write(work + "/Journal.sqlite-journal", [1, 2, 3])
    try write(fixture.location.manifestDraft, [1])
    #expect(try StoreVault.hasUnfinishedOperation(at: fixture.location))
    #expect(try recover(fixture) == [.rolledBack])
    #expect(try !StoreVault.hasUnfinishedOperation(at: fixture.location))
    #expect(try fixture.bytes() == bytes)
    #expect(try recover(fixture) == [])
  }

  @Test func `a store that was only linked loses its second name, not its first`() throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 1)
    let bytes = try fixture.bytes()
    let (work, kept) = try prepare(fixture)
    try write(work + "/Journal.sqlite", [1, 2, 3])
    try folder(kept)
    try system.link(fixture.location.path, to: kept + "/Journal.sqlite")
    try write(kept + "/model.json.gz", [1])
    // Until then it is not a version.
    #expect(try fixture.vault().previousVersions().isEmpty)
    #expect(try recover(fixture) == [.rolledBack])
    #expect(try fixture.bytes() == bytes)
    #expect(try system.status(of: fixture.location.path)?.linkCount == 1)
  }

  @Test func `after the rename the rest is done and the old version stays`() throws {
    let fixture = try VaultFixture(.rollback)
    let old = try Data(contentsOf: fixture.url(fixture.location.path))
    let (work, kept) = try prepare(fixture)
    try folder(kept)
    try system.rename(fixture.location.path, to: kept + "/Journal.sqlite")
    let other = try VaultFixture(.rollback, rows: 2)
    try system.copyFile(other.location.path, to: fixture.location.path, attributes: FileAttributes(mode: 0o644))
    // The power failed between the two ends of the rename: the new store has a second name.
    try system.link(fixture.location.path, to: work + "/Journal.sqlite")
    let new = try Data(contentsOf: fixture.url(fixture.location.path))
    #expect(try recover(fixture) == [.rolledForward])
    #expect(try Data(contentsOf: fixture.url(fixture.location.path)) == new)
    #expect(try Data(contentsOf: fixture.url(kept + "/Journal.sqlite")) == old)
    #expect(try system.status(of: fixture.location.path)?.linkCount == 1)
    #expect(try system.names(in: fixture.location.incoming) == [])
    #expect(!fixture.exists(fixture.location.manifest))
  }

  @Test(arguments: [(1, VaultRecovery.rolledBack), (2, .rolledForward), (3, .undecided)])
  func `where links are refused the store's generation tells old from new`(
    _ generation: Int, _ expected: VaultRecovery
  ) throws {
    let fixture = try VaultFixture(.rollback)
    let (work, kept) = try prepare(fixture, phase: .copying)
    try folder(kept)
    try system.copyFile(
      fixture.location.path, to: kept + "/Journal.sqlite", attributes: FileAttributes(mode: 0o644))
    let copy = try Data(contentsOf: fixture.url(kept + "/Journal.sqlite"))
    try setVersion(generation, of: fixture.location.path)
    let store = try Data(contentsOf: fixture.url(fixture.location.path))
    #expect(try recover(fixture) == [expected])
    #expect(try Data(contentsOf: fixture.url(fixture.location.path)) == store)
    #expect(!fixture.exists(work) && !fixture.exists(fixture.location.manifest))
    // Only a copy that is known to be of the store in place may go.
    if expected == .rolledBack {
      #expect(!fixture.exists(kept))
    } else {
      #expect(try Data(contentsOf: fixture.url(kept + "/Journal.sqlite")) == copy)
    }
  }

  @Test func `external files that were added go again when the store is the old one`() throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 2)
    let bytes = try fixture.bytes()
    let (work, _) = try prepare(fixture)
    for path in ["", "/_EXTERNAL_DATA"] { try folder(work + "/.Journal_SUPPORT" + path) }
    try write(work + "/.Journal_SUPPORT/_EXTERNAL_DATA/NEW", [7])
    // A file of the app's own that has the same name as one of ours is not ours.
    try write(work + "/.Journal_SUPPORT/_EXTERNAL_DATA/FILE-0", [7])
    try system.link(
      work + "/.Journal_SUPPORT/_EXTERNAL_DATA/NEW", to: fixture.location.support + "/_EXTERNAL_DATA/NEW")
    #expect(try recover(fixture) == [.rolledBack])
    #expect(try fixture.bytes() == bytes)
  }

  // MARK: Doubt

  @Test func `a damaged manifest touches nothing until it is set aside`() throws {
    let fixture = try VaultFixture(.rollback)
    let (work, kept) = try prepare(fixture)
    try write(work + "/Journal.sqlite", [1, 2, 3])
    try folder(kept)
    try system.link(fixture.location.path, to: kept + "/Journal.sqlite")
    var manifest = try system.readFile(fixture.location.manifest, limit: 10_000)
    manifest[manifest.count / 2] ^= 1
    try Data(manifest).write(to: fixture.url(fixture.location.manifest))
    let bytes = try fixture.bytes()
    for _ in 0..<2 {
      let error = #expect(throws: VaultError.self) { try fixture.migrate(fixture.vault()) }
      guard case .damagedManifest = error else { throw try #require(error) }
      #expect(try fixture.bytes() == bytes)
    }
    let aside = try #require(try fixture.vault().repair())
    #expect(fixture.exists(aside))
    #expect(try fixture.vault().repair() == nil)
    #expect(try fixture.migrate(fixture.vault()) != nil)
    #expect(try fixture.content().version == 2)
    #expect(try fixture.vault().previousVersions().count == 1)
  }

  @Test func `without a store nothing is deleted and the versions are named`() throws {
    let fixture = try VaultFixture(.rollback)
    let previous = try #require(try fixture.migrate(fixture.vault()))
    try prepare(fixture)
    try write(fixture.location.incoming + "/" + Self.identifier + "/Journal.sqlite", [1, 2, 3])
    try system.unlink(fixture.location.path)
    let bytes = try fixture.bytes()
    for operation in 0..<3 {
      let error = #expect(throws: VaultError.self) {
        switch operation {
        case 0: try fixture.migrate(fixture.vault())
        case 1: try fixture.vault().recover()
        default: _ = try fixture.vault().setStoreAside()
        }
      }
      guard case .storeMissing(_, let names, _) = error else { throw try #require(error) }
      #expect(names == [previous.name.text])
      #expect(try fixture.bytes() == bytes)
    }
  }

  @Test(arguments: [false, true])
  func `what a program saved into a store that was about to be moved aside stays with it`(_ savesMore: Bool) throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 2)
    let path = fixture.location.path
    let death = Death(before: path)
    let files = FaultyFiles(.matching { death.comes($0, $1) })
    #expect(throws: (any Error).self) { try fixture.vault(files).setStoreAside() }
    #expect(fixture.exists(fixture.location.manifest) && fixture.exists(path))
    let before = try fixture.content()
    if savesMore {
      var options = Connection.Options()
      options.checkpointsOnClose = false
      try Connection.execute(
        "PRAGMA journal_mode=WAL", "INSERT INTO note(text) VALUES ('saved by an extension')", on: path, options: options
      )
    }
    try fixture.vault().recover()
    #expect(!fixture.exists(fixture.location.manifest))
    #expect(fixture.exists(path) == savesMore)
    let aside = try fixture.vault().setAsideStores()
    #expect(aside.count == (savesMore ? 0 : 1))
    if savesMore {
      #expect(try fixture.content().rows.count == before.rows.count + 1)
      #expect(fixture.externalNames() == ["FILE-0", "FILE-1"])
      // And it can be moved with all that it holds.
      _ = try fixture.vault().setStoreAside()
    }
    let set = try #require(try fixture.vault().setAsideStores().first)
    let rows = try fixture.content(set.storePath(named: fixture.location.name)).rows
    #expect(rows.count == before.rows.count + (savesMore ? 1 : 0))
  }

  @Test func `only names of our own patterns are swept`() throws {
    let fixture = try VaultFixture(.rollback)
    let location = fixture.location
    for path in [location.companion, location.previous, location.incoming] { try folder(path) }
    try folder(location.incoming + "/" + Self.identifier)
    try write(location.incoming + "/" + Self.identifier + "/x", [1])
    try folder(location.previous + "/.pruned-" + Self.keptName)
    let foreign = [
      location.incoming + "/notes.txt", location.incoming + "/0123456789ABCDEF0123456789ABCDEF",
      location.previous + "/.pruned-mine", location.previous + "/" + Self.keptName, location.companion + "/notes.txt",
      location.snapshot + ".mine.tmp",
    ]
    for path in foreign { try write(path, [1]) }
    // A link out of the vault is removed, not followed.
    try FileManager.default.createSymbolicLink(
      atPath: location.incoming + "/fedcba9876543210fedcba9876543210", withDestinationPath: location.directory)
    let draft = location.snapshot + "." + Self.identifier + ".tmp"
    try write(draft, [1])
    var events: [VaultEvent] = []
    try fixture.vault { events.append($0) }.recover()
    #expect(!fixture.exists(draft))
    for path in foreign { #expect(fixture.exists(path), "\(path)") }
    #expect(!fixture.exists(location.incoming + "/" + Self.identifier))
    #expect(!fixture.exists(location.previous + "/.pruned-" + Self.keptName))
    #expect(fixture.exists(location.path))
    let stale = location.incoming + "/" + Self.identifier
    #expect(events.contains(.foundStaleCandidate(path: stale)) && events.contains(.removedStaleCandidate(path: stale)))
  }

  // MARK: Places that are not fit

  @Test(arguments: ["folder", "pipe", "companion file", "companion link", "previous link", "hard link"])
  func `a place that is not fit is refused before anything is made`(_ kind: String) throws {
    let fixture = try VaultFixture(.rollback)
    let path = fixture.location.path
    switch kind {
    case "folder":
      try system.unlink(path)
      try folder(path)
    case "pipe":
      try system.unlink(path)
      #expect(mkfifo(path, 0o600) == 0)
    case "companion file": try write(fixture.location.companion, [1])
    case "companion link":
      try FileManager.default.createSymbolicLink(
        atPath: fixture.location.companion, withDestinationPath: fixture.location.directory)
    case "previous link":
      try folder(fixture.location.companion)
      try FileManager.default.createSymbolicLink(
        atPath: fixture.location.previous, withDestinationPath: fixture.location.directory)
    default: try system.link(path, to: path + ".backup")
    }
    let names = try system.names(in: fixture.location.directory)
    let status = try system.status(of: path)
    let error = #expect(throws: VaultError.self) {
      try fixture.vault().replaceStore(
        prepare: { StoreReplacement() }, build: { _, _ in Issue.record("built all the same") },
        prove: { _, _ in })
    }
    switch (kind, error) {
    case ("folder", .notAFile), ("pipe", .notAFile), ("hard link", .hardLinked(_, 2)),
      ("companion file", .unusableFolder),
      ("companion link", .unusableFolder), ("previous link", .unusableFolder):
      break
    default: throw try #require(error)
    }
    #expect(try system.status(of: path) == status)
    let made = kind == "hard link" ? [fixture.location.name + StoreLocation.companionSuffix] : []
    #expect(try system.names(in: fixture.location.directory) == (names + made).sorted())
  }

  @Test func `too little room is refused with the figures`() throws {
    let fixture = try VaultFixture(.wal)
    let bytes = try fixture.bytes()
    let error = #expect(throws: VaultError.self) {
      try fixture.vault().replaceStore(
        prepare: { StoreReplacement(bytesNeeded: 1 << 60) }, build: { _, _ in }, prove: { _, _ in })
    }
    guard case .notEnoughSpace(let shortage) = error else { throw try #require(error) }
    #expect(shortage.neededBytes > 1 << 60 && shortage.availableBytes < 1 << 60 && shortage.previousVersionBytes == 0)
    #expect(
      shortage.folder == fixture.location.directory
        && error?.description.contains(CountText.size(shortage.neededBytes)) == true)
    #expect(try fixture.bytes() == bytes)
    #expect(throws: VaultError.self) {
      try fixture.vault().replaceStore(
        prepare: { StoreReplacement(bytesNeeded: .max) }, build: { _, _ in }, prove: { _, _ in })
    }
  }

  @Test func `a folder that can't be written is refused before anything is made`() throws {
    let fixture = try VaultFixture(.rollback)
    let bytes = try fixture.bytes()
    let files = FaultyFiles(.matching { operation, _ in operation == .checkWritable }, code: EROFS)
    let error = #expect(throws: VaultError.self) { try fixture.migrate(fixture.vault(files)) }
    guard case .folderNotWritable(let underlying) = error else { throw try #require(error) }
    #expect(underlying.code == EROFS)
    #expect(try fixture.bytes() == bytes)
    #expect(!fixture.exists(fixture.location.companion))
  }

  @Test(arguments: [VolumeInformation.Kind.network, .fileAllocationTable, .userSpace])
  func `a volume whose promises can't be relied on is refused unless it is allowed`(
    _ kind: VolumeInformation.Kind
  ) throws {
    let fixture = try VaultFixture(.wal)
    let bytes = try fixture.bytes()
    let files = FaultyFiles(volumeKind: kind)
    let error = #expect(throws: VaultError.self) { try fixture.migrate(fixture.vault(files)) }
    guard case .unsafeVolume = error else { throw try #require(error) }
    #expect(try fixture.bytes() == bytes)
    #expect(!fixture.exists(fixture.location.companion))
    var configuration = VaultConfiguration()
    configuration.allowUnsafeVolume = true
    #expect(try fixture.migrate(StoreVault(fixture.location, files: files, configuration: configuration)) != nil)
  }

  @Test func `another assistant is waited for, then reported`() throws {
    let fixture = try VaultFixture(.rollback)
    try folder(fixture.location.companion)
    let lock = try #require(try system.lock(fixture.location.lock, timeout: .zero))
    var configuration = VaultConfiguration()
    configuration.lockTimeout = .milliseconds(30)
    let error = #expect(throws: VaultError.self) {
      try fixture.migrate(StoreVault(fixture.location, configuration: configuration))
    }
    guard case .vaultInUse = error else { throw try #require(error) }
    lock.close()
    #expect(try fixture.migrate(fixture.vault()) != nil)
  }

  @Test func `of many assistants at once exactly one migrates`() async throws {
    for round in 0..<5 {
      let fixture = try VaultFixture(round % 2 == 0 ? .wal : .rollback)
      let migrated = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<8 {
          group.addTask {
            try fixture.migrate(fixture.vault(holdTimeout: .seconds(10))) != nil
          }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(migrated == 1)
      #expect(try fixture.content().version == 2)
      #expect(try fixture.vault().previousVersions().count == 1)
      #expect(try fixture.leftovers() == [])
    }
  }
}

/// The end of a process before it removes a file's name: no call after it works.
private final class Death: Sendable {
  private let path: String
  private let hasCome = Locked(false)

  init(before path: String) { self.path = path }

  func comes(_ operation: FileError.Operation, _ path: String) -> Bool {
    hasCome.withLock { hasCome in
      if operation == .unlink, path == self.path { hasCome = true }
      return hasCome
    }
  }
}
