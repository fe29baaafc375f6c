import Foundation
import HeirloomFormats
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

@Suite(.enabled(if: geteuid() == 0, "only the superuser can act as several users"))
struct VaultSharedFolderTests {
  let files = POSIXFileOperations(followsLinks: false)

  /// The user who owns the store.
  static let app: UInt32 = 65_001
  static let stranger: UInt32 = 65_002
  static let group: UInt32 = 65_009

  private static func give(_ path: String, to owner: UInt32, group: UInt32? = nil) throws {
    for path in [path]
      + ((FileManager.default.enumerator(atPath: path)?.allObjects as? [String]) ?? []).map({ "\(path)/\($0)" })
    {
      try #require(lchown(path, owner, group ?? owner) == 0)
    }
  }

  /// Becomes another user for good; use it only in a process of its own.
  static func become(_ user: UInt32, group: UInt32) {
    guard setgroups(0, nil) == 0, setgid(group) == 0, setuid(user) == 0 else { Foundation.exit(90) }
  }

  static func vault(at path: String) throws -> StoreVault {
    var configuration = VaultConfiguration()
    configuration.holdTimeout = .milliseconds(60)
    return StoreVault(try StoreLocation(resolving: path, files: POSIXFileOperations()), configuration: configuration)
  }

  static func grow(_ vault: StoreVault) throws -> PreviousVersionFiles? {
    try vault.replaceStore(
      prepare: { StoreReplacement() },
      build: { hold, candidate in
        try hold.duplicateStore(to: candidate)
        try hold.connection.attach(path: candidate, as: "candidate")
        try hold.connection.execute("PRAGMA candidate.journal_mode=OFF")
        try hold.connection.execute("INSERT INTO candidate.note(text) VALUES ('one more')")
        try hold.connection.detach("candidate")
      }, prove: { _, _ in })
  }

  static func exit(after work: () throws -> Void) -> Never {
    do {
      try work()
      Foundation.exit(0)
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      Foundation.exit(1)
    }
  }

  // MARK: A stranger's things

  @Test(arguments: [
    "", "/previous", "/incoming", "/incompatible", "/quarantine", "/lock", "/manifest.json", "/model.json.gz",
  ])
  func `what a stranger has put beside a store is refused with a sentence`(_ place: String) throws {
    let fixture = try VaultFixture(.rollback)
    #expect(chmod(fixture.location.directory, 0o1777) == 0)
    let path = fixture.location.companion + place
    if !place.isEmpty {
      try FileManager.default.createDirectory(atPath: fixture.location.companion, withIntermediateDirectories: false)
    }
    if place.contains(".") || place == "/lock" {
      try files.writeNewFile(path, bytes: [1], attributes: FileAttributes(mode: 0o666))
    } else {
      try files.makeDirectory(path, attributes: FileAttributes(mode: 0o777))
    }
    try Self.give(path, to: Self.stranger)
    let bytes = try fixture.bytes()
    for work: () throws -> Void in [
      { try fixture.migrate(fixture.vault()) }, { _ = try fixture.vault().setStoreAside() },
      { _ = try fixture.vault().restore("2") }, { _ = try fixture.vault().recover() },
      { try fixture.vault().writeSnapshot([1]) },
    ] {
      let error = #expect(throws: VaultError.self) { try work() }
      guard case .foreignOwner(path, Self.stranger) = error else { throw try #require(error) }
      #expect(error?.description.contains("belongs to the user \(Self.stranger)") == true)
    }
    #expect(try fixture.bytes() == bytes)
  }

  @Test func `a stranger's version is neither restored nor lets another one be pruned`() throws {
    let fixture = try VaultFixture(.rollback)
    let kept = try #require(try fixture.migrate(fixture.vault()))
    let planted = fixture.location.previous + "/20990101T000000Z-0123abcd"
    try FileManager.default.copyItem(atPath: kept.path, toPath: planted)
    try Self.give(planted, to: Self.stranger)
    #expect(try fixture.vault().prune(keeping: 1) == [])
    #expect(fixture.exists(kept.path))
    let error = #expect(throws: VaultError.self) { try fixture.vault().restore("2099") }
    guard case .unusableVersion(_, let reason) = error else { throw try #require(error) }
    #expect(reason.contains("stranger"))
    #expect(try fixture.vault().findings().contains { $0.message.contains("a stranger to the store") })
    _ = try fixture.vault().restore(kept.name.text)
    #expect(try fixture.content().version == 1)
  }

  @Test func `in a folder where only owners remove names, nobody else puts anything into ours`() throws {
    let fixture = try VaultFixture(.rollback)
    #expect(chmod(fixture.location.directory, 0o1777) == 0)
    try fixture.migrate(fixture.vault())
    for path in [fixture.location.companion, fixture.location.previous, fixture.location.incoming] {
      #expect(try files.status(of: path)?.mode == 0o1755)
    }
  }

  // MARK: The superuser

  @Test func `after a run of the superuser the store's owner migrates, prunes and restores`() async throws {
    let fixture = try VaultFixture(.wal, externalFiles: 2)
    #expect(chmod(fixture.location.path, 0o600) == 0)
    try Self.give(fixture.location.directory, to: Self.app)
    let kept = try #require(try fixture.migrate(fixture.vault(), addsExternalFile: true))
    try fixture.vault().writeSnapshot([1, 2, 3])
    _ = try fixture.vault().restore(kept.name.text)
    let all = FileManager.default.enumerator(atPath: fixture.location.directory)?.allObjects as? [String] ?? []
    #expect(all.contains { $0.hasSuffix("heirloom/lock") })
    for path in all where !path.hasSuffix("NEW") {
      let status = try files.status(of: fixture.location.directory + "/" + path)
      #expect(status?.owner == Self.app && status?.group == Self.app, "\(path)")
      if path.hasSuffix("Journal.sqlite") { #expect(status?.mode == 0o600, "\(path)") }
    }
    await #expect(processExitsWith: .success) {
      [path = fixture.location.path as String, id = kept.name.text as String] in
      VaultSharedFolderTests.become(VaultSharedFolderTests.app, group: VaultSharedFolderTests.app)
      VaultSharedFolderTests.exit {
        let vault = try VaultSharedFolderTests.vault(at: path)
        guard try VaultSharedFolderTests.grow(vault) != nil else { Foundation.exit(2) }
        _ = try vault.restore(id)
        try vault.writeSnapshot([4])
        guard try !vault.prune(keeping: 1).isEmpty else { Foundation.exit(3) }
      }
    }
    #expect(try fixture.leftovers() == [])
  }

  @Test(arguments: ["", "/_EXTERNAL_DATA"])
  func `a user's link does not lead the superuser into a folder that is not the user's`(_ place: String) throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 1)
    let secret = try QuickDirectory()
    try files.writeNewFile(secret.file("FILE-0").path, bytes: [1], attributes: FileAttributes(mode: 0o644))
    #expect(chmod(secret.url.path, 0o700) == 0)
    try FileManager.default.removeItem(atPath: fixture.location.support + place)
    try FileManager.default.createSymbolicLink(
      atPath: fixture.location.support + place, withDestinationPath: secret.url.path)
    try Self.give(fixture.location.directory, to: Self.app)
    let error = #expect(throws: VaultError.self) { try fixture.migrate(fixture.vault()) }
    #expect(error?.description.contains("is not followed") == true)
    #expect(throws: VaultError.self) { try fixture.vault().setStoreAside() }
    #expect(try files.status(of: secret.file("FILE-0").path)?.linkCount == 1)
    #expect(try files.names(in: secret.url.path) == ["FILE-0"])
    #expect(try fixture.content().version == 1)
    // The user's own folder is followed, and so is a link that the superuser made.
    #expect(lchown(secret.url.path, Self.app, Self.app) == 0)
    #expect(try fixture.migrate(fixture.vault()) != nil)
    // Folders further up still hide what they hid from others.
    let inner =
      try #require(try fixture.vault().previousVersions().first).path + "/" + fixture.location.supportName + place
    #expect(try files.status(of: inner).map { $0.mode & 0o077 } == 0)
  }

  @Test func `members of a group that shares a folder go on with each other's stores, and no one else`() async throws {
    let fixture = try VaultFixture(.rollback)
    #expect(lchown(fixture.location.directory, Self.app, Self.group) == 0)
    #expect(chmod(fixture.location.directory, 0o2770) == 0)
    #expect(lchown(fixture.location.path, Self.app, Self.group) == 0 && chmod(fixture.location.path, 0o660) == 0)
    for user in [Self.app, Self.stranger, Self.app] {
      await #expect(processExitsWith: .success) { [path = fixture.location.path as String, user = user as UInt32] in
        VaultSharedFolderTests.become(user, group: VaultSharedFolderTests.group)
        VaultSharedFolderTests.exit {
          let vault = try VaultSharedFolderTests.vault(at: path)
          let before = try vault.previousVersions().last
          guard try VaultSharedFolderTests.grow(vault) != nil else { Foundation.exit(2) }
          if let before { _ = try vault.restore(before.name.text) }
        }
      }
    }
    #expect(try fixture.vault().previousVersions().count == 5)
    #expect(try files.status(of: fixture.location.path).map { [$0.mode, $0.group] } == [0o660, Self.group])
  }

  @Test func `a copy that can't have its group gives the bits of the group to nobody`() async throws {
    let directory = try QuickDirectory()
    let path = directory.file("a").path
    try files.writeNewFile(
      path, bytes: [1], attributes: FileAttributes(mode: 0o664, owner: Self.app, group: Self.group))
    try Self.give(directory.url.path, to: Self.app)
    #expect(lchown(path, Self.app, Self.group) == 0)
    await #expect(processExitsWith: .success) { [path = path as String] in
      VaultSharedFolderTests.become(VaultSharedFolderTests.app, group: VaultSharedFolderTests.app)
      VaultSharedFolderTests.exit {
        let files = POSIXFileOperations(followsLinks: false)
        for (mode, expected) in [(0o664 as UInt32, 0o644 as UInt32), (0o640, 0o600), (0o600, 0o600)] {
          let copy = path + String(mode)
          let attributes = FileAttributes(
            mode: mode, owner: VaultSharedFolderTests.app, group: VaultSharedFolderTests.group)
          try files.copyFile(path, to: copy, attributes: attributes)
          guard try files.status(of: copy)?.mode == expected else { Foundation.exit(Int32(mode & 0x7F)) }
        }
      }
    }
  }
}
