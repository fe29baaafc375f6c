import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

/// What `doctor` advises for stores that can't be opened: each command is run word for word, and none leads back to itself.
struct NextStepTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }
  private var store: URL { directory.file("Notebook.sqlite") }

  init() throws { directory = try TemporaryDirectory() }

  /// Of the second version, with two kept ones: the older of the first version.
  private func makeVersions() throws {
    _ = try Notebook.makeStore(in: directory, count: 20)
    for (number, model) in [try Notebook.adding(), try Notebook.first()].enumerated() {
      let path = try Notebook.write(model, "V\(number)", in: directory)
      let outcome = tool("migrate", store.path, "--to", path, "--keep", "3", "--accept-losses", "--accept-version")
      #expect(outcome.code == 0, "\(outcome.error)")
    }
    #expect(try versions().count == 2)
  }

  /// The newest first.
  private func versions() throws -> [PreviousVersion] { try StoreArchive(storeURL: store).previousVersions() }

  private func damage(_ url: URL) throws {
    let size = try #require(try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int)
    let handle = try FileHandle(forWritingTo: url)
    try handle.truncate(atOffset: UInt64(size / 2))
    try handle.close()
  }

  private func diagnosis() throws -> (next: String?, before: String?, text: String) {
    let json = try tool("doctor", store.path, "--json").json()
    return (json["next"] as? String, json["before"] as? String, tool("doctor", store.path).output)
  }

  private func run(_ command: String?) throws -> Int32 {
    let words = try #require(command).split(separator: " ").map(String.init)
    #expect(words.first == "heirloom" && !words.contains("MODEL") && !words.contains("FILE"), "\(words)")
    return Int32(tool.run(Array(words.dropFirst())).code)
  }

  @Test func `of a damaged store and a damaged newest version, the older one that is sound is restored`() throws {
    try makeVersions()
    let versions = try versions()
    try damage(store)
    try damage(versions[0].storeURL)
    let found = try diagnosis()
    #expect(found.next?.contains(versions[1].id) == true, "\(found)")
    #expect([0, 6].contains(try run(found.before)))
    #expect(try run(found.next) == 0)
    let after = try diagnosis()
    #expect(after.next != found.next && after.before == nil, "\(after)")
    #expect(tool("inspect", store.path).code == 0)
  }

  @Test func `where no kept version is sound, what can be read is salvaged`() throws {
    try makeVersions()
    try damage(store)
    for version in try versions() { try damage(version.storeURL) }
    let found = try diagnosis()
    #expect(found.next?.hasPrefix("heirloom salvage") == true && found.before == nil, "\(found)")
    #expect([0, 6].contains(try run(found.next)))
  }

  @Test(arguments: [true, false]) func `a log whose store is gone is read, and kept`(hasVersion: Bool) throws {
    if hasVersion {
      try makeVersions()
    } else {
      _ = try Notebook.makeStore(in: directory, count: 20)
      try ModelController(storeURL: store).archive(Notebook.first())
    }
    // Everything is in the log, as it is after a first launch that ended without closing the store.
    let copy = directory.file("Copy.sqlite")
    try FileManager.default.copyItem(at: store, to: copy)
    let connection = try Connection(path: copy.path, mode: .readWrite)
    _ = try connection.rows("PRAGMA journal_mode = WAL")
    try connection.execute("PRAGMA wal_autocheckpoint = 0")
    try connection.execute("VACUUM")
    for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + end) }
    try FileManager.default.copyItem(atPath: copy.path + "-wal", toPath: store.path + "-wal")
    try connection.close()
    let log = try Data(contentsOf: URL(fileURLWithPath: store.path + "-wal"))
    let found = try diagnosis()
    let salvage = hasVersion ? found.before : found.next
    #expect(salvage?.hasPrefix("heirloom salvage") == true, "\(found)")
    #expect([0, 6].contains(try run(salvage)))
    let made = try Connection(path: directory.file("Notebook.salvaged.sqlite").path, mode: .readOnly)
    #expect(try made.firstInteger("SELECT COUNT(*) FROM ZNOTE") == 20)
    try made.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.path + "-wal")) == log)
    if hasVersion { #expect(try run(found.next) == 0) }
  }

  struct Other: CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let word: String
  }

  private static let others = [
    Other(
      testDescription: "xml",
      bytes: Array("<?xml version=\"1.0\"?>\n<!DOCTYPE database SYSTEM \"file:///x.dtd\">\n<database/>".utf8),
      word: "XML"),
    Other(
      testDescription: "binary", bytes: Array("bplist00".utf8) + Array(repeating: 3, count: 4000), word: "binary type"),
    Other(
      testDescription: "realm",
      bytes: Array(repeating: 0, count: 16) + Array("T-DB".utf8) + Array(repeating: 9, count: 4000), word: "Realm"),
    Other(testDescription: "gzip", bytes: [0x1F, 0x8B, 8, 0] + Array(repeating: 7, count: 4000), word: "archive"),
    Other(
      testDescription: "encrypted",
      bytes: (0..<4096).map { UInt8(truncatingIfNeeded: ($0 &* 167 &+ $0 / 256 &* 13) & 255) }, word: "encrypted"),
    Other(testDescription: "empty", bytes: [], word: "nothing"),
  ]

  @Test(arguments: others) func `another file is named by its first bytes, and no command is advised`(_ other: Other)
    throws
  {
    try Data(other.bytes).write(to: store)
    let found = try diagnosis()
    #expect(found.next == nil && found.text.contains(other.word) && !found.text.contains("salvage"), "\(found.text)")
  }

  @Test func `another program's database gets no command`() throws {
    let connection = try Connection(path: store.path, mode: .createExclusively())
    try connection.execute("CREATE TABLE t (a)")
    try connection.close()
    let found = try diagnosis()
    #expect(found.next == nil && found.text.contains("another program's database"), "\(found.text)")
  }

  @Test func `a store in WAL mode that was copied without its log is told from the header`() throws {
    let copy = directory.file("Copy.sqlite")
    let connection = try Connection(path: copy.path, mode: .createExclusively())
    _ = try connection.rows("PRAGMA journal_mode = WAL")
    try connection.execute("CREATE TABLE t (a)")
    try FileManager.default.copyItem(at: copy, to: store)
    try connection.close()
    let found = try diagnosis()
    #expect(found.text.contains("WAL mode, and there is no \"-wal\""), "\(found.text)")
  }

  @Test func `a change that was interrupted is undone by the command that is advised`() throws {
    _ = try Notebook.makeStore(in: directory, count: 20)
    try ModelController(storeURL: store).archive(Notebook.first())
    let copy = directory.file("Copy.sqlite")
    let connection = try Connection(path: store.path, mode: .readWrite)
    _ = try connection.rows("PRAGMA journal_mode = DELETE")
    try connection.execute("PRAGMA cache_size = 1")
    try connection.execute("BEGIN IMMEDIATE")
    try connection.execute("UPDATE ZNOTE SET ZTITLE = hex(zeroblob(3000))")
    try FileManager.default.copyItem(at: store, to: copy)
    try FileManager.default.copyItem(atPath: store.path + "-journal", toPath: copy.path + "-journal")
    try connection.execute("ROLLBACK")
    try connection.close()
    try FileManager.default.removeItem(at: store)
    try FileManager.default.moveItem(at: copy, to: store)
    try FileManager.default.moveItem(atPath: copy.path + "-journal", toPath: store.path + "-journal")
    let found = try diagnosis()
    #expect(found.next?.hasPrefix("heirloom migrate") == true, "\(found)")
    #expect(try run(found.next) == 0)
    let after = try diagnosis()
    #expect(after.next != found.next && !after.text.contains("interrupted"), "\(after)")
  }
}
