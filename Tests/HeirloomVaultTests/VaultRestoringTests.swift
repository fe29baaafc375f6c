import Foundation
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

struct VaultRestoringTests {
  let system = POSIXFileOperations()

  private func makeMigrated(_ shape: VaultFixture.Shape, externalFiles: Int = 3) throws -> (
    VaultFixture, PreviousVersionFiles
  ) {
    let fixture = try VaultFixture(shape, externalFiles: externalFiles)
    let previous = try #require(try fixture.migrate(fixture.vault()))
    return (fixture, previous)
  }

  /// The outcome of a run with faults: all that the checks after it depend on.
  ///
  /// Many faults leave the same files: what is found there, and what the next run makes of them, is checked once.
  private struct Outcome: Hashable {
    var failed: Bool
    var state: VaultFixture.State
  }

  // MARK: Restoring

  @Test(arguments: [VaultFixture.Shape.rollback, .wal], [false, true])
  func `brings the old version back and keeps the new one`(_ shape: VaultFixture.Shape, _ refusesLinks: Bool) throws {
    let before = try VaultFixture(shape).content()
    let (fixture, previous) = try makeMigrated(shape)
    try Data(VaultFixture.snapshot.reversed()).write(to: fixture.url(fixture.location.snapshot))
    try fixture.addRow("written after the migration")
    let migrated = try fixture.content()
    // The app deletes a file that only the previous version needs.
    try system.unlink(fixture.location.support + "/_EXTERNAL_DATA/FILE-1")
    #expect(fixture.externalNames() == ["FILE-0", "FILE-2"])

    let files = FaultyFiles(refusesLinks: refusesLinks)
    let (restored, kept) = try fixture.vault(files).restore(previous.name.text)
    #expect(restored == previous)
    #expect(try fixture.content() == before)
    #expect(fixture.externalNames() == ["FILE-0", "FILE-1", "FILE-2"])
    #expect(try fixture.leftovers() == [])
    #expect(try system.status(of: fixture.location.path)?.mode == 0o640)

    let newer = try #require(kept)
    let path = try #require(newer.storePath)
    #expect(try fixture.content(path).rows == migrated.rows)
    #expect(try fixture.content(path).version == 2)
    #expect(try Data(contentsOf: fixture.url(newer.path + "/model.json.gz")) == Data(VaultFixture.snapshot.reversed()))
    #expect(try fixture.vault().previousVersions().map(\.name) == [previous.name, newer.name])

    // The app's new rows reach neither of the versions.
    #expect(try system.status(of: fixture.location.path)?.linkCount == 1)
    let oldPath = try #require(previous.storePath)
    let oldBytes = try Data(contentsOf: fixture.url(oldPath))
    try fixture.addRow("written after the restoration")
    try Data([1]).write(to: fixture.url(fixture.location.support + "/_EXTERNAL_DATA/FILE-1"))
    #expect(try Data(contentsOf: fixture.url(oldPath)) == oldBytes)
    #expect(
      try Data(contentsOf: fixture.url(previous.path + "/.Journal_SUPPORT/_EXTERNAL_DATA/FILE-1"))
        == Data(repeating: 1, count: 1_000))

    // The newer version comes back too.
    _ = try fixture.vault(files).restore(newer.name.text)
    #expect(try fixture.content().rows == migrated.rows)
  }

  @Test func `rows that someone wrote into a previous version come along`() throws {
    let (fixture, previous) = try makeMigrated(.rollback)
    let path = try #require(previous.storePath)
    var options = Connection.Options()
    options.checkpointsOnClose = false
    try Connection.execute(
      "PRAGMA journal_mode=WAL", "INSERT INTO note(text) VALUES ('in the -wal')", on: path, options: options)
    #expect(fixture.exists(path + "-wal"))
    _ = try fixture.vault().restore(previous.name.text)
    #expect(try fixture.content().rows.last?.last == .text("in the -wal"))
  }

  @Test func `a version that can't be read is refused and the store stays`() throws {
    let (fixture, previous) = try makeMigrated(.rollback)
    let path = try #require(previous.storePath)
    let content = try fixture.content()
    for bytes in [Data(repeating: 0x41, count: 4_096), Data()] {
      try bytes.write(to: fixture.url(path))
      let error = #expect(throws: VaultError.self) { _ = try fixture.vault().restore(previous.name.text) }
      guard case .unusableVersion = error else { throw try #require(error) }
      #expect(try fixture.content() == content)
      #expect(try fixture.leftovers() == [])
      #expect(try fixture.vault().previousVersions().count == 1)
    }
  }

  @Test func `the caller's own proof counts`() throws {
    struct Refusal: Error {}
    let (fixture, previous) = try makeMigrated(.wal)
    let content = try fixture.content()
    #expect(throws: Refusal.self) {
      _ = try fixture.vault().restore(previous.name.text) { connection in
        #expect(try connection.firstInteger("PRAGMA user_version") == 1)
        throw Refusal()
      }
    }
    #expect(try fixture.content() == content)
    #expect(try fixture.leftovers() == [])
  }

  @Test func `a restoration that fails where no store is can be tried again, and no app takes the place for empty`()
    throws
  {
    struct Refusal: Error {}
    let before = try VaultFixture(.wal).content()
    let (fixture, previous) = try makeMigrated(.wal)
    try system.unlink(fixture.location.path)
    var told: [VaultEvent] = []
    #expect(throws: Refusal.self) {
      _ = try fixture.vault { told.append($0) }.restore(previous.name.text) { _ in throw Refusal() }
    }
    #expect(told.contains { if case .rolledBack = $0 { true } else { false } })
    #expect(!fixture.exists(fixture.location.path))
    #expect(try fixture.leftovers() == ["manifest.json"])
    #expect(throws: VaultError.self) { try fixture.vault().createStore { _ in } }
    _ = try fixture.vault().restore(previous.name.text)
    #expect(try fixture.content() == before)
    #expect(try fixture.leftovers() == [])
  }

  @Test(arguments: [false, true])
  func `a restoration that fails at any call leaves the record and the candidate of an interrupted operation`(
    _ refusesLinks: Bool
  ) throws {
    let (template, previous) = try makeMigrated(.rollback, externalFiles: 1)
    // The process dies at the rename, which the crash model leaves undone; then the store vanishes.
    let isDead = Locked(false)
    let dying = FaultyFiles(
      .matching { operation, path in
        isDead.withLock { isDead in
          if operation == .rename, path.contains("/incoming/") { isDead = true }
          return isDead
        }
      }, refusesLinks: refusesLinks)
    #expect(throws: VaultError.self) { _ = try template.vault(dying).restore(previous.name.text) }
    try system.unlink(template.location.path)
    let candidates = try template.bytes().keys.filter { $0.contains("/incoming/") && $0.hasSuffix("/Journal.sqlite") }
    #expect(candidates.count == 1)
    var number = 0
    while true {
      number += 1
      let note: Comment = "call \(number)"
      let fixture = try VaultFixture(copyOf: template)
      let files = FaultyFiles(.once(number), refusesLinks: refusesLinks)
      let isRestored = (try? fixture.vault(files).restore(previous.name.text)) != nil
      if files.hits == 0 {
        #expect(isRestored, note)
        break
      }
      guard !fixture.exists(fixture.location.path) else { continue }
      #expect(!isRestored && fixture.exists(fixture.location.manifest), note)
      #expect(try candidates.allSatisfy { try fixture.bytes()[$0] == template.bytes()[$0] }, note)
      #expect(throws: VaultError.self, note) { try fixture.vault().createStore { _ in } }
      _ = try fixture.vault().restore(previous.name.text)
      #expect(try fixture.content().version == 1, note)
    }
    #expect(number > 50)
  }

  @Test func `a name must fit exactly one version`() throws {
    let (fixture, previous) = try makeMigrated(.rollback)
    _ = try fixture.vault().restore(String(previous.name.text.dropLast()))
    let names = try fixture.vault().previousVersions().map(\.name.text)
    for (prefix, candidates) in [("", names), ("2026", names), ("1999", names)] {
      let error = #expect(throws: VaultError.self) { _ = try fixture.vault().restore(prefix) }
      guard case .unknownVersion(prefix, candidates) = error else { throw try #require(error) }
    }
  }

  @Test func `a version whose own manifest is damaged can still be restored`() throws {
    let before = try VaultFixture(.rollback).content()
    let (fixture, previous) = try makeMigrated(.rollback)
    try Data("{}".utf8).write(to: fixture.url(previous.path + "/manifest.json"))
    let listed = try #require(try fixture.vault().previousVersions().first)
    #expect(listed.manifest == nil && listed.storePath == previous.storePath)
    _ = try fixture.vault().restore(previous.name.text)
    #expect(try fixture.content() == before)
  }

  /// A difference between a previous version and its manifest.
  enum Contradiction: String, CaseIterable, Sendable {
    case none
    case damagedManifest = "has a damaged manifest"
    case otherLength = "bytes when it was kept"
    case missingExternalFile = "had 3 files of external data and has 2 now"
    case otherExternalData = "had 3000 bytes of external data and has 3001 now"
  }

  @Test(arguments: Contradiction.allCases, [false, true])
  func `a restoration says how a version differs from its manifest`(
    _ contradiction: Contradiction, _ isStoreGone: Bool
  ) throws {
    let (fixture, previous) = try makeMigrated(.rollback)
    let external = previous.path + "/.Journal_SUPPORT/_EXTERNAL_DATA/FILE-1"
    switch contradiction {
    case .none: break
    case .damagedManifest: try Data("{".utf8).write(to: fixture.url(previous.path + "/manifest.json"))
    case .otherLength:
      try Connection.execute("CREATE TABLE more(id INTEGER PRIMARY KEY)", on: try #require(previous.storePath))
    case .missingExternalFile: try system.unlink(external)
    case .otherExternalData: try Data(repeating: 1, count: 1_001).write(to: fixture.url(external))
    }
    if isStoreGone { try system.unlink(fixture.location.path) }
    var faults: [String] = []
    let vault = fixture.vault { event in
      guard case .restoredWithFaults(previous.name.text, let reason) = event else { return }
      faults.append(reason)
    }
    _ = try vault.restore(previous.name.text)
    #expect(try fixture.content().version == 1)
    #expect(faults.count == (contradiction == .none ? 0 : 1), "\(faults)")
    if contradiction != .none { #expect(faults.first?.contains(contradiction.rawValue) == true, "\(faults)") }
  }

  @Test func `a lost store is put back, and old side files can't spoil it`() throws {
    let before = try VaultFixture(.rollback).content()
    let (fixture, previous) = try makeMigrated(.rollback)
    // The main file is lost while its -wal stays: SQLite would read that as part of any file put in place.
    let stale = try VaultFixture(.wal, rows: 90)
    try system.unlink(fixture.location.path)
    for suffix in ["-wal", "-shm"] {
      try system.copyFile(
        stale.location.path + suffix, to: fixture.location.path + suffix, attributes: FileAttributes(mode: 0o644))
    }
    let wal = try Data(contentsOf: fixture.url(fixture.location.path + "-wal"))
    let (_, kept) = try fixture.vault().restore(previous.name.text)
    #expect(kept == nil)
    #expect(try fixture.content() == before)
    #expect(try fixture.leftovers() == [])
    #expect(try system.status(of: fixture.location.path)?.linkCount == 1)
    let folder = try #require(try system.names(in: fixture.location.incompatible).first)
    #expect(
      try Data(contentsOf: fixture.url("\(fixture.location.incompatible)/\(folder)/Journal.sqlite-wal")) == wal)
  }

  @Test(arguments: LongTests.areOn ? [false, true] : [true], [false, true])
  func `a fault at any call of a restoration loses nothing`(_ isSticky: Bool, _ isMissing: Bool) throws {
    let (template, previous) = try makeMigrated(.rollback, externalFiles: 1)
    // The store's external file is another one than the version's, which takes its place.
    let (good, other) = (Data(repeating: 0, count: 1_000), Data("of the store".utf8))
    let external = "/.Journal_SUPPORT/_EXTERNAL_DATA/FILE-0"
    try other.write(to: template.url(template.location.directory + external), options: .atomic)
    let migrated = try template.content()
    let old = try template.content(previous.storePath)
    var checked: Set<Outcome> = []
    var number = 0
    while true {
      number += 1
      let note: Comment = "call \(number)"
      let fixture = try VaultFixture(copyOf: template)
      let path = "\(fixture.location.previous)/\(previous.name.text)/Journal.sqlite"
      if isMissing { try system.unlink(fixture.location.path) }
      let files = FaultyFiles(isSticky ? .forever(number) : .once(number))
      var failure: (any Error)?
      do {
        _ = try fixture.vault(files).restore(previous.name.text)
      } catch {
        failure = error
      }
      guard try checked.insert(Outcome(failed: failure != nil, state: fixture.state())).inserted else {
        try fixture.checkLetGo(note)
        if files.hits == 0 { break }
        continue
      }
      if fixture.exists(fixture.location.path) {
        let seen = try fixture.content()
        #expect(seen.rows == migrated.rows && [1, 2].contains(seen.version), note)
        if failure == nil { #expect(seen.version == 1, note) }
        if isMissing { #expect(seen == old, note) }
      } else {
        #expect(isMissing && failure != nil, note)
      }
      // The version itself is untouched, and the next run completes.
      #expect(try fixture.content(path) == old, note)
      let file = fixture.location.directory + external
      func isKept(_ data: Data) throws -> Bool { try fixture.bytes().values.contains(data) }
      #expect(
        try Data(contentsOf: fixture.url("\(fixture.location.previous)/\(previous.name.text)\(external)")) == good)
      #expect(try isKept(other), note)
      // Once the version's store is there, the next run brings its file, whatever the run before did of it.
      if fixture.exists(fixture.location.path), try fixture.content().version == 1 {
        try fixture.vault().recover()
        #expect(try Data(contentsOf: fixture.url(file)) == good, note)
      }
      _ = try fixture.vault().restore(previous.name.text)
      #expect(try Data(contentsOf: fixture.url(file)) == good, note)
      #expect(try isKept(other) && !fixture.externalNames().contains { $0 != "FILE-0" }, note)
      #expect(try fixture.content().version == 1, note)
      #expect(try fixture.leftovers() == [], note)
      for path in try fixture.vault().previousVersions().compactMap(\.storePath) + [fixture.location.path] {
        #expect(try system.status(of: path)?.linkCount == 1, note)
      }
      if files.hits == 0 { break }
    }
    #expect(number > 50 && checked.count > 5, "\(number) calls, \(checked.count) outcomes")
  }

  // MARK: Pruning

  private func makeVersions(_ count: Int) throws -> (VaultFixture, [String]) {
    let fixture = try VaultFixture(.rollback, rows: 3, externalFiles: 1)
    var first = ""
    for number in 0..<count {
      if number == 0 {
        first = try #require(try fixture.migrate(fixture.vault())).name.text
      } else {
        // Pinned until somebody lets it go: no other store holds its rows.
        let kept = try #require(try fixture.vault().restore(first).previous)
        #expect(kept.manifest?.isPinned == true)
        _ = try fixture.vault().release(kept.name.text)
      }
    }
    return (fixture, try fixture.vault().previousVersions().map(\.name.text))
  }

  @Test(arguments: [(4, 1), (4, 3), (4, 4), (4, 9), (4, 0), (4, -1), (1, 1), (0, 1)])
  func `keeps the newest versions, and always one`(_ made: Int, _ kept: Int) throws {
    let (fixture, names) = try makeVersions(made)
    let content = try fixture.content()
    let removed = try fixture.vault().prune(keeping: kept)
    #expect(removed == names.dropLast(max(1, kept)))
    #expect(try fixture.vault().previousVersions().map(\.name.text) == names.suffix(max(1, kept)))
    #expect(try fixture.content() == content)
    #expect(fixture.externalNames() == ["FILE-0"])
    #expect(try fixture.leftovers() == [])
    #expect(try fixture.vault().prune(keeping: kept) == [])
  }

  @Test func `a version whose manifest is damaged is not pruned and does not count`() throws {
    let (fixture, names) = try makeVersions(3)
    let newest = "\(fixture.location.previous)/\(names[2])/manifest.json"
    try Data("{}".utf8).write(to: fixture.url(newest))
    #expect(try fixture.vault().prune(keeping: 1) == [names[0]])
    #expect(try fixture.vault().previousVersions().map(\.name.text) == [names[1], names[2]])
  }

  @Test(arguments: [false, true])
  func `a fault at any call of pruning leaves whole versions`(_ isSticky: Bool) throws {
    let (template, names) = try makeVersions(3)
    var checked: Set<VaultFixture.State> = []
    var number = 0
    while true {
      number += 1
      let note: Comment = "call \(number)"
      let fixture = try VaultFixture(copyOf: template)
      fixture.vault().testVersions()
      let files = FaultyFiles(isSticky ? .forever(number) : .once(number))
      _ = try? fixture.vault(files).prune(keeping: 1)
      guard try checked.insert(fixture.state()).inserted else {
        try fixture.checkLetGo(note)
        if files.hits == 0 { break }
        continue
      }
      let left = try fixture.vault().previousVersions()
      #expect(left.last?.name.text == names.last, note)
      for version in left {
        #expect(version.manifest != nil, note)
        let path = try #require(version.storePath, note)
        #expect(try fixture.content(path).rows.count == 3, note)
        #expect(fixture.exists(version.path + "/.Journal_SUPPORT/_EXTERNAL_DATA/FILE-0"), note)
      }
      // A renamed version is removed by the next run that takes the lock.
      try fixture.vault().recover()
      // Copies have other times than the files that were tested.
      fixture.vault().testVersions()
      _ = try fixture.vault().prune(keeping: 1)
      #expect(try fixture.vault().previousVersions().map(\.name.text) == names.suffix(1), note)
      #expect(try fixture.leftovers() == [], note)
      if files.hits == 0 { break }
    }
    #expect(number > 20 && checked.count > 10)
  }

  // MARK: Moving aside

  @Test(arguments: [VaultFixture.Shape.rollback, .wal], [false, true])
  func `moves the whole set aside`(_ shape: VaultFixture.Shape, _ refusesLinks: Bool) throws {
    let fixture = try VaultFixture(shape, externalFiles: 2)
    let before = try VaultFixture(shape).content()
    let folder = try #require(try fixture.vault(FaultyFiles(refusesLinks: refusesLinks)).setStoreAside())
    #expect(folder.hasPrefix(fixture.location.incompatible + "/2026-11-23-10-15-00-"))
    #expect(!fixture.exists(fixture.location.path))
    #expect(!StoreLocation.sideSuffixes.contains { fixture.exists(fixture.location.path + $0) })
    #expect(try fixture.content(folder + "/Journal.sqlite").rows == before.rows)
    #expect(
      try system.names(in: folder + "/.Journal_SUPPORT/_EXTERNAL_DATA") == ["FILE-0", "FILE-1"])
    #expect(try fixture.leftovers() == [])
    #expect(try !StoreVault.hasUnfinishedOperation(at: fixture.location))
  }

  @Test(arguments: [true, false])
  func `a store that shares its folder of external data leaves the other store its files`(_ isReadable: Bool) throws {
    let fixture = try VaultFixture(externalFiles: 2)
    // Core Data names the folder by the store's name without its extension.
    let other = fixture.location.directory + "/Journal.db"
    try system.copyFile(fixture.location.path, to: other, attributes: FileAttributes(mode: 0o640))
    if !isReadable { try Data("no store any more".utf8).write(to: fixture.url(other)) }
    let folder = try #require(try fixture.vault().setStoreAside())
    #expect(!fixture.exists(fixture.location.path) && fixture.exists(other))
    #expect(fixture.externalNames() == ["FILE-0", "FILE-1"])
    #expect(try system.names(in: folder + "/.Journal_SUPPORT/_EXTERNAL_DATA").sorted() == ["FILE-0", "FILE-1"])
    #expect(try fixture.leftovers() == [])
  }

  @Test func `a store that can't be read is moved with its side files, byte for byte`() throws {
    let fixture = try VaultFixture(.rollback)
    let garbage = Data((0..<9_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
    try garbage.write(to: fixture.url(fixture.location.path))
    try Data([1, 2, 3]).write(to: fixture.url(fixture.location.path + "-wal"))
    let folder = try #require(try fixture.vault().setStoreAside())
    #expect(try Data(contentsOf: fixture.url(folder + "/Journal.sqlite")) == garbage)
    #expect(try Data(contentsOf: fixture.url(folder + "/Journal.sqlite-wal")) == Data([1, 2, 3]))
    #expect(try system.names(in: fixture.location.directory) == ["Journal.sqlite.heirloom"])
  }

  @Test(arguments: [false, true], [VaultFixture.Shape.rollback, .wal])
  func `a fault at any call of moving aside loses nothing`(_ isSticky: Bool, _ shape: VaultFixture.Shape) throws {
    let template = try VaultFixture(shape, rows: 3, externalFiles: 1)
    let before = try VaultFixture(copyOf: template).content()
    var checked: Set<Outcome> = []
    var number = 0
    while true {
      number += 1
      let note: Comment = "call \(number)"
      let fixture = try VaultFixture(copyOf: template)
      let files = FaultyFiles(isSticky ? .forever(number) : .once(number))
      var isDone = true
      do {
        _ = try fixture.vault(files).setStoreAside()
      } catch {
        isDone = false
      }
      guard try checked.insert(Outcome(failed: !isDone, state: fixture.state())).inserted else {
        try fixture.checkLetGo(note)
        if files.hits == 0 { break }
        continue
      }
      // At each moment the store is whole in its place or whole aside.
      let wasThere = fixture.exists(fixture.location.path)
      if wasThere { #expect(try fixture.content().rows == before.rows, note) }
      try fixture.vault().recover()
      let isThere = fixture.exists(fixture.location.path)
      if isDone { #expect(!isThere, note) }
      if isThere {
        #expect(try fixture.content().rows == before.rows, note)
        #expect(fixture.externalNames() == ["FILE-0"], note)
        _ = try fixture.vault().setStoreAside()
      }
      let folders = try system.names(in: fixture.location.incompatible)
      #expect(folders.count == 1, note)
      let folder = "\(fixture.location.incompatible)/\(folders.first ?? "")"
      #expect(try fixture.content(folder + "/Journal.sqlite").rows == before.rows, note)
      #expect(fixture.exists(folder + "/.Journal_SUPPORT/_EXTERNAL_DATA/FILE-0"), note)
      #expect(try fixture.leftovers() == [], note)
      if files.hits == 0 { break }
    }
    #expect(number > 40 && checked.count > 5)
  }

  @Test func `a store that an app changed after a crash stays, where its copy was moved aside`() throws {
    let fixture = try VaultFixture(.rollback)
    let isDead = Locked(false)
    let store = fixture.location.path
    let dying = FaultyFiles(
      .matching { operation, path in
        isDead.withLock { isDead in
          if operation == .unlink, path == store { isDead = true }
          return isDead
        }
      }, refusesLinks: true)
    #expect(throws: VaultError.self) { _ = try fixture.vault(dying).setStoreAside() }
    #expect(isDead.withLock { $0 })
    // In WAL mode SQLite changes pages without a note in the header, and a checkpoint leaves no side file.
    var changed = try Data(contentsOf: fixture.url(store))
    changed[changed.count - 1] ^= 1
    try changed.write(to: fixture.url(store))
    try fixture.vault().recover()
    #expect(try Data(contentsOf: fixture.url(store)) == changed)
  }

  @Test func `a new store that an app made after a crash is not touched by the rest of a moving aside`() throws {
    let fixture = try VaultFixture(.rollback)
    let files = FaultyFiles(.matching { operation, path in operation == .unlink && path.hasSuffix("manifest.json") })
    #expect(throws: VaultError.self) { _ = try fixture.vault(files).setStoreAside() }
    #expect(!fixture.exists(fixture.location.path))
    let new = try VaultFixture(.wal, rows: 5)
    let content = try VaultFixture(.wal, rows: 5).content()
    for suffix in ["", "-wal"] {
      try system.copyFile(
        new.location.path + suffix, to: fixture.location.path + suffix, attributes: FileAttributes(mode: 0o644))
    }
    try fixture.vault().recover()
    #expect(try fixture.content() == content)
    #expect(try fixture.leftovers() == [])
  }
}

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct VaultCorpusTests {
  private func tables(_ path: String) throws -> [String: [[SQLiteValue]]] {
    let connection = try Connection(path: path, mode: .readWrite)
    #expect(try connection.firstValue("PRAGMA integrity_check")?.text == "ok")
    let names = try connection.rows("SELECT name FROM sqlite_schema WHERE type='table'").compactMap { $0.first?.text }
    var tables: [String: [[SQLiteValue]]] = [:]
    for name in names { tables[name] = try connection.rows("SELECT * FROM \(quote(name))") }
    return tables
  }

  @Test func `a store of Core Data with most rows in its -wal is kept with all of them`() throws {
    let store = "waterme/stores/StarterData.sqlite"
    let plain = try TemporaryDirectory()
    let expected = try tables(try Corpus.copyStore(store, to: plain).path)
    #expect(expected.values.reduce(0) { $0 + $1.count } > 0)

    let directory = try TemporaryDirectory()
    let url = try Corpus.copyStore(store, to: directory)
    let location = try StoreLocation(resolving: url.path, files: POSIXFileOperations())
    let original = try Data(contentsOf: url)
    let previous = try #require(
      try StoreVault(location).replaceStore(
        prepare: { StoreReplacement(bytesNeeded: UInt64(original.count)) },
        build: { hold, candidate in
          // The store's mode is gone, and so is its -wal: all content is now in the main file.
          #expect(hold.previousMode == .wal)
          try hold.connection.attach(path: candidate, as: "candidate")
          defer { try? hold.connection.detach("candidate") }
          try hold.connection.execute("CREATE TABLE candidate.new(x)")
        }, prove: { _, _ in }))
    let path = try #require(previous.storePath)
    #expect(try tables(path) == expected)
    #expect(try tables(location.path).keys.sorted() == ["new"])
    let (_, kept) = try StoreVault(location).restore(previous.name.text)
    #expect(kept != nil)
    let restored = try tables(location.path)
    #expect(restored == expected)
    #expect(try Connection(path: location.path, mode: .readOnly).firstValue("PRAGMA journal_mode")?.text == "wal")
  }
}
