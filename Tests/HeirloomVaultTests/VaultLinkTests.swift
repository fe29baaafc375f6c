import Foundation
import HeirloomFormats
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

struct VaultLinkTests {
  let files = POSIXFileOperations(followsLinks: false)

  /// Things that don't belong to the store.
  struct Outside {
    let directory: QuickDirectory
    private let before: [String]

    init() throws {
      directory = try QuickDirectory()
      try Data("not yours".utf8).write(to: directory.file("FILE-0"))
      try Data("nor this".utf8).write(to: directory.file("Journal.sqlite"))
      let inner = directory.file("folder").path
      try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
      try Data("nor that".utf8).write(to: URL(fileURLWithPath: inner + "/FILE-0"))
      before = try Self.picture(directory.url.path)
    }

    var path: String { directory.url.path }
    var isUnchanged: Bool { (try? Self.picture(path)) == before }

    private static func picture(_ folder: String) throws -> [String] {
      let files = POSIXFileOperations()
      return try files.names(in: folder).flatMap { name -> [String] in
        let path = folder + "/" + name
        guard let status = try files.status(of: path) else { return [] }
        let line =
          "\(path) \(status.identity.inode) \(status.linkCount) \(status.mode) \(status.owner) \(status.modificationTime) "
        if status.kind == .directory { return try [line] + picture(path) }
        return [line + String(decoding: try files.readFile(path, limit: 1 << 20), as: UTF8.self)]
      }
    }
  }

  private func link(_ path: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
  }

  // MARK: The two that may be links

  @Test(arguments: ["", "/_EXTERNAL_DATA"])
  func `external data behind a link are kept as files and come back through it`(_ place: String) throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 3)
    let elsewhere = try QuickDirectory()
    let target = elsewhere.file("moved").path
    try files.rename(fixture.location.support + place, to: target)
    try link(fixture.location.support + place, to: target)
    let kept = try #require(try fixture.migrate(fixture.vault(), addsExternalFile: true))
    #expect(kept.manifest?.supportFileCount == 3)
    let inner = kept.path + "/" + fixture.location.supportName + "/_EXTERNAL_DATA"
    #expect(try files.status(of: inner)?.kind == .directory)
    #expect(try files.names(in: inner) == ["FILE-0", "FILE-1", "FILE-2"])
    #expect(fixture.externalNames() == ["FILE-0", "FILE-1", "FILE-2", "NEW"])
    try files.unlink(target + (place.isEmpty ? "/_EXTERNAL_DATA/FILE-1" : "/FILE-1"))
    _ = try fixture.vault().restore(kept.name.text)
    #expect(fixture.externalNames() == ["FILE-0", "FILE-1", "FILE-2", "NEW"])
    #expect(try files.status(of: fixture.location.support + place)?.kind == .symbolicLink)
    // The app's files and the kept ones are no longer the same.
    #expect(try files.status(of: inner + "/FILE-0")?.linkCount == 2)
    #expect(try fixture.leftovers() == [])
  }

  @Test(arguments: ["", "/_EXTERNAL_DATA"], ["nowhere", "file"])
  func `a link that leads to no folder is refused, since what it should lead to would not be kept`(
    _ place: String, _ kind: String
  ) throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 1)
    let elsewhere = try QuickDirectory()
    try files.rename(fixture.location.support + place, to: elsewhere.file("moved").path)
    try Data().write(to: elsewhere.file("file"))
    try link(fixture.location.support + place, to: elsewhere.file(kind).path)
    let error = #expect(throws: VaultError.self) { try fixture.migrate(fixture.vault()) }
    let words =
      kind == "nowhere" ? "it is a broken symbolic link" : "it is a symbolic link whose target is not a folder"
    #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    #expect(try fixture.content().version == 1)
    #expect(try fixture.vault().findings().contains { $0.kind == .unkeptExternalFile && $0.severity == .error })
  }

  // MARK: Further in

  @Test func `what is a link further in is passed over with a word`() throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 2)
    let outside = try Outside()
    let folder = fixture.location.support + "/_EXTERNAL_DATA"
    try link(folder + "/LINK", to: outside.path + "/FILE-0")
    try link(folder + "/FOLDER", to: outside.path + "/folder")
    try link(fixture.location.support + "/OTHER", to: outside.path + "/folder")
    #expect(mkfifo(folder + "/PIPE", 0o600) == 0)
    var told: [VaultEvent] = []
    let vault = fixture.vault { told.append($0) }
    let kept = try #require(try fixture.migrate(vault))
    #expect(kept.manifest?.supportFileCount == 2)
    #expect(told.contains(.passedOver(count: 4, first: fixture.location.support + "/OTHER")))
    #expect(try files.names(in: kept.path + "/" + fixture.location.supportName) == ["_EXTERNAL_DATA"])
    #expect(try vault.findings().contains { $0.kind == .unkeptExternalFile && $0.message.hasPrefix("4 names") })
    _ = try vault.restore(kept.name.text)
    #expect(try fixture.content().version == 1)
    #expect(outside.isUnchanged)
  }

  @Test(arguments: [false, true])
  func `a file is made one's own only if it is a kept one's second name`(refusesLinks: Bool) throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 1)
    let outside = try Outside()
    let path = fixture.location.support + "/_EXTERNAL_DATA/FILE-0"
    try files.link(path, to: outside.path + "/second")
    let before = try #require(try files.status(of: path)?.identity)
    let vault = fixture.vault(FaultyFiles(refusesLinks: refusesLinks))
    let kept = try #require(try fixture.migrate(vault))
    _ = try vault.restore(kept.name.text)
    // A version that was copied shares nothing with the store.
    #expect((try files.status(of: path)?.identity == before) == refusesLinks)
    #expect(try files.status(of: outside.path + "/second")?.identity == before)
  }

  /// The places, from the companion folder, where a link or a pipe is put after a version was kept.
  static let places = [
    "", "/previous", "/previous/V", "/previous/V/Journal.sqlite", "/previous/V/manifest.json",
    "/previous/V/.Journal_SUPPORT", "/previous/V/.Journal_SUPPORT/_EXTERNAL_DATA",
    "/previous/V/.Journal_SUPPORT/_EXTERNAL_DATA/FILE-0", "/incoming", "/lock", "/manifest.json", "/model.json.gz",
  ]

  @Test(arguments: places, ["link", "pipe"])
  func `through what was planted beside a store nothing is read in or changed`(_ place: String, _ kind: String) throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 2)
    let outside = try Outside()
    let kept = try #require(try fixture.migrate(fixture.vault()))
    try files.unlink(fixture.location.support + "/_EXTERNAL_DATA/FILE-0")
    let path = fixture.location.companion + place.replacing("V", with: kept.name.text, maxReplacements: 1)
    // A folder is moved out whole, so that the link looks right.
    let status = try files.status(of: path)
    let target = outside.directory.file("moved").path
    var sibling: Outside?
    if let status, status.kind == .directory {
      sibling = try Outside()
      try files.rename(path, to: try #require(sibling).path + "/moved")
    } else if status != nil {
      try files.unlink(path)
    }
    if kind == "pipe" {
      #expect(mkfifo(path, 0o600) == 0)
    } else {
      try link(path, to: sibling.map { $0.path + "/moved" } ?? outside.path + "/FILE-0")
    }
    let moved = try sibling.map { try Self.listing($0.path) }
    let before = try fixture.content()
    let start = ContinuousClock.now
    let vault = fixture.vault()
    for work: () throws -> Void in [
      { _ = try vault.restore(kept.name.text) }, { _ = try vault.recover() }, { _ = try vault.prune(keeping: 1) },
      { try vault.writeSnapshot([1, 2, 3]) }, { _ = try vault.findings() }, { _ = try vault.release(kept.name.text) },
      { _ = try vault.setStoreAside() },
    ] { _ = try? work() }
    #expect(start.duration(to: .now) < .seconds(20))
    #expect(outside.isUnchanged)
    if let sibling { #expect(try Self.listing(sibling.path) == moved) }
    #expect(!fixture.exists(target))
    // The store is one of the two, whole, in its place or set aside.
    let aside = try? vault.setAsideStores().first?.storePath(named: fixture.location.name)
    let now = try fixture.content(fixture.exists(fixture.location.path) ? nil : aside)
    #expect(now.rows == before.rows)
  }

  private static func listing(_ folder: String) throws -> [String] {
    let files = POSIXFileOperations()
    return try files.names(in: folder).flatMap { name -> [String] in
      let path = folder + "/" + name
      guard let status = try files.status(of: path) else { return [] }
      return [path + " \(status.identity.inode) \(status.linkCount) \(status.size)"]
        + (status.kind == .directory ? try listing(path) : [])
    }
  }

  @Test func `of a version whose external data were made a link the store comes back, and the link is told`() throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 1)
    let outside = try Outside()
    let kept = try #require(try fixture.migrate(fixture.vault()))
    let folder = kept.path + "/" + fixture.location.supportName + "/_EXTERNAL_DATA"
    try FileManager.default.removeItem(atPath: folder)
    try link(folder, to: outside.path)
    #expect(try fixture.vault().findings().contains { $0.message.contains("added after it was kept") })
    var told: [VaultEvent] = []
    _ = try fixture.vault { told.append($0) }.restore(kept.name.text)
    #expect(told.contains(.passedOver(count: 1, first: folder)))
    #expect(try fixture.content().version == 1 && fixture.externalNames() == ["FILE-0"])
    #expect(outside.isUnchanged)
  }

  // MARK: On the way

  @Test func `without links none is entered on the way, by any call`() throws {
    let outside = try Outside()
    let directory = try QuickDirectory()
    let path = directory.url.path + "/link"
    try link(path, to: outside.path)
    let attributes = FileAttributes(mode: 0o600)
    #expect(try POSIXFileOperations().readFile(path + "/FILE-0", limit: 99) == Array("not yours".utf8))
    #expect(try files.status(of: path + "/FILE-0") == nil)
    #expect(try files.status(of: path)?.kind == .symbolicLink)
    try files.writeNewFile(directory.url.path + "/own", bytes: [1], attributes: attributes)
    let own = directory.url.path + "/own"
    let calls: [() throws -> Void] = [
      { _ = try files.names(in: path) }, { _ = try files.names(in: path + "/folder") },
      { try files.makeDirectory(path + "/new", attributes: attributes) },
      { try files.removeDirectory(path + "/folder") },
      { try files.makeEmptyFile(path + "/new", attributes: attributes) },
      { try files.writeNewFile(path + "/new", bytes: [], attributes: attributes) },
      { try files.synchronizeFile(path + "/FILE-0") }, { try files.synchronizeDirectory(path) },
      { try files.synchronizeDirectory(path + "/folder") }, { try files.link(path + "/FILE-0", to: own + "2") },
      { try files.link(own, to: path + "/new") },
      { try files.copyFile(path + "/FILE-0", to: own + "2", attributes: attributes) },
      { try files.copyFile(own, to: path + "/new", attributes: attributes) },
      { try files.rename(own, to: path + "/new") },
      { try files.rename(path + "/FILE-0", to: own) }, { try files.unlink(path + "/FILE-0") },
      { try files.setMode(0o777, of: path + "/FILE-0") }, { _ = try files.readFile(path + "/FILE-0", limit: 99) },
      { _ = try files.readStart(of: path + "/FILE-0", count: 1) },
      { _ = try files.lock(path + "/lock", timeout: .zero) },
      { _ = try files.hold(path + "/FILE-0") }, { try files.checkWritable(path + "/folder") },
    ]
    for (number, call) in calls.enumerated() {
      #expect(throws: FileError.self, "call \(number)") { try call() }
    }
    #expect(outside.isUnchanged)
    #expect(try files.names(in: directory.url.path) == ["link", "own"])
  }
}
