import Foundation
import HeirloomFormats
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

/// Names that are bytes and not text, and folders deeper than a stack.
struct ByteNameTests {
  let files = POSIXFileOperations(followsLinks: false)

  /// Bytes of names that no text has, and of texts that stand for such names.
  static let names: [[UInt8]] = [
    [0xFF], [0x80, 0x41], Array("a".utf8) + [0xC3], [0xE2, 0x82, 0x41], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
    [0xC0, 0xAF], Array("\u{10FFFF}".utf8), Array("x\u{10FF80}y".utf8), Array("\u{10FF7F}".utf8),
    Array("e\u{301}".utf8), Array("\u{E9}".utf8), Array("\u{301}".utf8), Array("FILE\u{10FF00}".utf8),
    [0xF4, 0x8F, 0xBF], Array("\u{10FFFF}".utf8) + [0xFF], [UInt8](repeating: 0xFE, count: 250),
  ]

  private static func make(_ name: [UInt8], in folder: String) throws {
    let path = (Array(folder.utf8) + [UInt8(ascii: "/")] + name + [0]).map(CChar.init(bitPattern:))
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, mode_t(0o600))
    try #require(descriptor >= 0)
    close(descriptor)
  }

  @Test func `every name has a text of its own that leads back to it`() throws {
    let directory = try QuickDirectory()
    for name in Self.names { try Self.make(name, in: directory.url.path) }
    let texts = try files.names(in: directory.url.path)
    #expect(Set(texts.map { Array($0.utf8) }).count == Self.names.count)
    for text in texts {
      let path = PathText.join(directory.url.path, text)
      #expect(try files.status(of: path)?.kind == .regular)
      try files.link(path, to: path + ".2")
      #expect(try files.readFile(path + ".2", limit: 9) == [])
      try files.rename(path + ".2", to: path + ".3")
      try files.unlink(path + ".3")
      try files.unlink(path)
    }
    #expect(try files.names(in: directory.url.path) == [])
  }

  @Test(arguments: [
    ("Journal.sqlite", ".Journal_SUPPORT"), ("Journal", ".Journal_SUPPORT"), (".sqlite", "..sqlite_SUPPORT"),
    ("a.", ".a._SUPPORT"), ("a.b.c", ".a.b_SUPPORT"), ("a.\u{301}b", ".a_SUPPORT"), ("e\u{301}.x", ".e\u{301}_SUPPORT"),
  ])
  func `the folder of external data is found by the bytes of the name`(_ name: String, _ support: String) {
    #expect(StoreLocation.supportName(forStore: name).utf8.elementsEqual(support.utf8))
  }

  @Test func `a store whose name begins with a mark that a slash would take is found, kept and brought back`() throws {
    let fixture = try VaultFixture(.rollback)
    let path = fixture.location.directory + "/\u{301}Journal.\u{301}sqlite"
    try files.rename(fixture.location.path, to: path)
    let location = try StoreLocation(resolving: path, files: files)
    #expect(location.directory == fixture.location.directory)
    #expect(location.supportName.utf8.elementsEqual(".\u{301}Journal_SUPPORT".utf8))
    let vault = StoreVault(location)
    let kept = try #require(
      try vault.replaceStore(
        prepare: { StoreReplacement() }, build: { hold, candidate in try hold.duplicateStore(to: candidate) },
        prove: { _, _ in }))
    _ = try vault.restore(kept.name.text)
    #expect(try fixture.content(location.path).version == 1)
  }

  @Test(arguments: [false, true])
  func `external files with such names are kept, counted, brought back and removed`(refusesLinks: Bool) throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 1)
    let folder = fixture.location.support + "/_EXTERNAL_DATA"
    for name in Self.names where name.count < 200 { try Self.make(name, in: folder) }
    let names = try files.names(in: folder)
    let vault = fixture.vault(FaultyFiles(refusesLinks: refusesLinks))
    let kept = try #require(try fixture.migrate(vault))
    #expect(kept.manifest?.supportFileCount == Self.names.count)
    #expect(try files.names(in: kept.path + "/" + fixture.location.supportName + "/_EXTERNAL_DATA") == names)
    for name in names { try files.unlink(PathText.join(folder, name)) }
    let (_, newer) = try vault.restore(kept.name.text)
    #expect(try files.names(in: folder) == names)
    let newest = try #require(newer)
    _ = try vault.restore(newest.name.text)
    _ = try vault.release(newest.name.text)
    #expect(try !vault.prune(keeping: 1).isEmpty)
    #expect(try fixture.leftovers() == [])
  }

  @Test func `folders as deep as are kept are removed, and deeper ones are refused before anything is lost`() throws {
    let fixture = try VaultFixture(.rollback, externalFiles: 1)
    func deepen(_ count: Int) throws {
      let path = fixture.location.support + "/_EXTERNAL_DATA" + String(repeating: "/d", count: count)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      if try files.status(of: path + "/file") == nil {
        try files.writeNewFile(path + "/file", bytes: [7], attributes: FileAttributes(mode: 0o600))
      }
    }
    try deepen(90)
    let kept = try #require(try fixture.migrate(fixture.vault()))
    #expect(kept.manifest?.supportFileCount == 2)
    let newer = try #require(try fixture.vault().restore(kept.name.text).previous)
    _ = try fixture.vault().release(newer.name.text)
    #expect(try fixture.vault().prune(keeping: 1) == [kept.name.text])
    #expect(!fixture.exists(kept.path))

    try deepen(520)
    let error = #expect(throws: VaultError.self) { try fixture.migrate(fixture.vault()) }
    #expect(error?.description.contains("more than 512 deep") == true)
    #expect(try fixture.leftovers() == [])
    #expect(try fixture.content().version == 1)
  }

  @Test func `a path that SQLite could not open is told before the store is held`() throws {
    let directory = try QuickDirectory()
    var folder = directory.url.path
    while folder.utf8.count < 430 { folder += "/" + String(repeating: "d", count: 40) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // The store itself can be opened, and the new one could not.
    let path = folder + "/Journal.sqlite"
    let connection = try Connection(path: path, mode: .createExclusively(permissions: 0o600))
    try connection.execute("CREATE TABLE note(id INTEGER PRIMARY KEY)")
    try connection.close()
    let vault = StoreVault(try StoreLocation(resolving: path, files: files)) { event in
      if case .held = event { Issue.record("it was held") }
    }
    // An operation that needs no such path still works.
    try vault.writeSnapshot([1])
    let error = #expect(throws: VaultError.self) {
      try vault.replaceStore(prepare: { StoreReplacement() }, build: { _, _ in }, prove: { _, _ in })
    }
    guard case .file(let reason) = error else { throw try #require(error) }
    #expect("\(reason)".contains("SQLite opens paths of \(Connection.pathByteLimit) at most"))
  }

  @Test func `the limit is SQLite's own`() throws {
    let directory = try QuickDirectory()
    var folder = directory.url.path
    while folder.utf8.count < Connection.pathByteLimit - 60 { folder += "/" + String(repeating: "d", count: 40) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (length, opens) in [(Connection.pathByteLimit, true), (Connection.pathByteLimit + 1, false)] {
      let path = folder + "/" + String(repeating: "n", count: length - folder.utf8.count - 1)
      try files.makeEmptyFile(path, attributes: FileAttributes(mode: 0o600))
      let made: Void? = try? Connection(path: path, mode: .readWrite).execute("CREATE TABLE t(a)")
      #expect((made != nil) == opens, "\(length) bytes")
    }
  }
}
