import Foundation
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

/// The counts of a store before it was held, and whether they still hold then.
struct VaultSeenTests {
  typealias Fixture = VaultFixture

  /// The action of another process between the inspection and the hold.
  enum Change: CaseIterable, Sendable {
    case nothing
    case read
    /// It writes a row, and moves it into the main file.
    case write
    /// It writes a row and leaves it in the `-wal`, if there is one.
    case writeWithoutCheckpoint
    /// It writes the same bytes again.
    case writeTheSame
    /// It puts a copy in the store's place.
    case replace
  }

  @Test(arguments: Fixture.Shape.allCases, Change.allCases)
  func `a store is as it was seen only if nobody wrote`(shape: Fixture.Shape, change: Change) throws {
    let fixture = try Fixture(shape)
    let path = fixture.location.path
    // This is longer than the resolution of the file system's times here; an app's store rests longer than that.
    Thread.sleep(forTimeInterval: 0.03)
    let rest = 0.02
    var isAsSeen: Bool?
    let rows = try fixture.vault().replaceStore(
      prepare: {
        let seen = try #require(StoreState(of: path, atRestFor: rest))
        try change.make(at: path)
        return StoreReplacement(seen: seen)
      },
      build: { hold, candidate in
        isAsSeen = hold.isAsSeen
        try hold.duplicateStore(to: candidate)
        #expect(try hold.connection.firstValue("PRAGMA journal_mode")?.text == "delete")
        #expect(!fixture.exists(path + "-wal") && !fixture.exists(path + "-journal"))
      }, prove: { _, _ in })
    #expect(isAsSeen == (change == .nothing || change == .read))
    #expect(rows != nil)
    let count = try fixture.content().rows.count
    #expect(count == (change == .write || change == .writeWithoutCheckpoint ? 41 : 40))
  }

  @Test(
    arguments: ["", "previous", "incoming", "incompatible", "quarantine"], ["file", "link", "dangling", "unreadable"])
  func `whatever lies where the vault's folders are is a finding`(_ name: String, _ kind: String) throws {
    let fixture = try Fixture(.rollback)
    let path = name.isEmpty ? fixture.location.companion : fixture.location.companion + "/" + name
    if !name.isEmpty {
      try FileManager.default.createDirectory(atPath: fixture.location.companion, withIntermediateDirectories: true)
    }
    var files = FaultyFiles()
    switch kind {
    case "file": try Data().write(to: fixture.url(path))
    case "unreadable":
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      files = FaultyFiles(.matching { operation, found in operation == .list && found == path }, code: EACCES)
    default:
      let target = fixture.location.directory + "/elsewhere"
      if kind == "link" {
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
      }
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }
    let findings = try fixture.vault(files).findings()
    #expect(findings.map(\.kind.rawValue) == ["unusableFolder"] && findings.first?.severity == .error, "\(findings)")
    #expect(findings.first?.message.contains("\"\(path)\"") == true, "\(findings)")
  }

  @Test func `a store that was written a moment ago is not at rest`() throws {
    let fixture = try Fixture(.rollback)
    let path = fixture.location.path
    #expect(StoreState(of: path, atRestFor: 60) == nil)
    let state = try #require(StoreState(of: path, atRestFor: 0))
    #expect(state.isStill(at: path))
    // A file's time may be set; the time of setting it may not.
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: path)
    #expect(StoreState(of: path, atRestFor: 60) == nil)
    #expect(!state.isStill(at: path))
    #expect(StoreState(of: path + "-missing", atRestFor: 0) == nil)
    #expect(!state.isStill(at: path + "-missing"))
  }

  @Test func `nothing is as seen when nothing was seen`() throws {
    let fixture = try Fixture(.wal)
    _ = try fixture.vault().replaceStore(
      prepare: { StoreReplacement() },
      build: { hold, candidate in
        #expect(!hold.isAsSeen)
        try hold.duplicateStore(to: candidate)
      }, prove: { _, _ in })
  }
}

extension VaultSeenTests.Change {
  fileprivate func make(at path: String) throws {
    switch self {
    case .nothing: return
    case .read:
      let connection = try Connection(path: path, mode: .readOnly, options: .inspecting)
      #expect(try connection.firstInteger("SELECT COUNT(*) FROM note") == 40)
      try connection.close()
    case .write, .writeWithoutCheckpoint:
      let options: Connection.Options = self == .write ? Connection.Options() : .inspecting
      try Connection.execute("INSERT INTO note(text) VALUES ('meanwhile')", on: path, options: options)
    case .writeTheSame:
      let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      let byte = try #require(try handle.read(upToCount: 1))
      try handle.seek(toOffset: 0)
      try handle.write(contentsOf: byte)
      try handle.close()
    case .replace:
      let copy = path + "-copy"
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      _ = rename(copy, path)
    }
  }
}
