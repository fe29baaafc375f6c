import Foundation
import HeirloomMigration
import HeirloomStore
import TestSupport
import Testing
import HeirloomVault

/// A second process that has the store open, by Python's SQLite.
final class OtherProcess {
  static let python: String? = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// Returns when the statements are done.
  init(_ path: String, statements: [String]) throws {
    process.executableURL = URL(fileURLWithPath: try #require(Self.python))
    let script = """
      import sqlite3, sys
      connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
      print("open", flush=True)
      for line in sys.stdin:
          try:
              print(len(connection.execute(line.strip()).fetchall()), flush=True)
          except Exception as error:
              print(error, flush=True)
      """
    process.arguments = ["-c", script, path]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    #expect(line() == "open")
    for statement in statements {
      let answer = try run(statement)
      #expect(Int(answer) != nil, "\(answer)")
    }
  }

  /// Returns the number of rows, or the error's text.
  func run(_ statement: String) throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data((statement + "\n").utf8))
    return line()
  }

  private func line() -> String {
    var bytes: [UInt8] = []
    while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  var identifier: pid_t { process.processIdentifier }

  /// Kills the process: only the system releases what it held.
  func end() {
    if process.isRunning { _ = kill(identifier, SIGKILL) }
    process.waitUntilExit()
  }

  deinit {
    end()
  }
}

@Suite(.enabled(if: OtherProcess.python != nil, "python3 is absent: no second process holds the store"))
struct VaultHoldTests {
  static let holders: [(VaultFixture.Shape, [String])] = [
    (.wal, ["SELECT count(*) FROM note"]),
    (.wal, ["BEGIN", "SELECT count(*) FROM note"]),
    (.wal, ["BEGIN IMMEDIATE", "INSERT INTO note(text) VALUES ('not committed')"]),
    (.rollback, ["BEGIN", "SELECT count(*) FROM note"]),
    (.rollback, ["BEGIN IMMEDIATE", "INSERT INTO note(text) VALUES ('not committed')"]),
    (.rollback, ["BEGIN EXCLUSIVE"]),
    (.persistedJournal, ["BEGIN", "SELECT count(*) FROM note"]),
  ]

  @Test(arguments: holders)
  func `a store that another process uses is refused byte for byte`(
    _ shape: VaultFixture.Shape, _ statements: [String]
  ) throws {
    let fixture = try VaultFixture(shape)
    let rows = try VaultFixture(shape).content().rows
    let other = try OtherProcess(fixture.location.path, statements: statements)
    func bytes() throws -> [String: Data] { try fixture.bytes().filter { !$0.key.hasSuffix("-shm") } }
    let before = try bytes()
    let start = ContinuousClock.now
    let error = #expect(throws: VaultError.self) {
      try fixture.vault().replaceStore(
        // The comparison with the seen state takes a lock of its own.
        prepare: { StoreReplacement(seen: StoreState(of: fixture.location.path, atRestFor: 0)) },
        build: { _, _ in Issue.record("built although the store is in use") }, prove: { _, _ in })
    }
    guard case .storeInUse = error else { throw try #require(error) }
    #expect(ContinuousClock.now - start < .seconds(2))
    #expect(try bytes() == before)
    // The refusal took nothing from the other process.
    #expect(Int(try other.run("SELECT count(*) FROM note")) != nil)
    other.end()
    let previous = try #require(try fixture.migrate(fixture.vault()))
    #expect(try fixture.content().rows == rows)
    let path = try #require(previous.storePath)
    #expect(try fixture.content(path).rows == rows)
  }

  @Test func `an idle connection in rollback mode goes on reading at most, and can't write any more`() throws {
    let fixture = try VaultFixture(.rollback)
    let rows = try fixture.content().rows
    let other = try OtherProcess(fixture.location.path, statements: ["SELECT count(*) FROM note"])
    let previous = try #require(try fixture.migrate(fixture.vault()))
    #if canImport(Darwin)
      // Apple's SQLite lets no connection do anything more with a file that was replaced.
      #expect(try other.run("SELECT * FROM note").contains("disk I/O error"))
      #expect(try other.run("INSERT INTO note(text) VALUES ('lost')").contains("disk I/O error"))
    #else
      #expect(try other.run("SELECT * FROM note") == "\(rows.count)")
      #expect(try other.run("INSERT INTO note(text) VALUES ('lost')").contains("readonly"))
    #endif
    let path = try #require(previous.storePath)
    #expect(try fixture.content(path).rows == rows)
    #expect(try fixture.content().rows == rows)
  }

  @Test func `a store that is let go in time is migrated`() throws {
    let fixture = try VaultFixture(.wal)
    let other = try OtherProcess(fixture.location.path, statements: ["SELECT count(*) FROM note"])
    let identifier = other.identifier
    let killer = Thread {
      Thread.sleep(forTimeInterval: 0.15)
      _ = kill(identifier, SIGKILL)
    }
    killer.start()
    #expect(try fixture.migrate(fixture.vault(holdTimeout: .seconds(20))) != nil)
  }

  @Test func `nobody gets in while the store is held`() throws {
    let fixture = try VaultFixture(.wal)
    var answers: [String] = []
    let vault = fixture.vault { event in
      switch event {
      case .held, .proven, .previousVersionKept:
        let other = try OtherProcess(fixture.location.path, statements: [])
        answers.append(try other.run("SELECT count(*) FROM note"))
        answers.append(try other.run("INSERT INTO note(text) VALUES ('x')"))
      case .swapped:
        let other = try OtherProcess(fixture.location.path, statements: [])
        answers.append(try other.run("SELECT added FROM note"))
      default: break
      }
    }
    let rows = try VaultFixture(.wal).content().rows.count
    try fixture.migrate(vault)
    #expect(answers == Array(repeating: "database is locked", count: 6) + ["\(rows)"])
  }

  @Test func `a hot journal is rolled back before anything is kept`() throws {
    let fixture = try VaultFixture(.rollback)
    let rows = try fixture.content().rows
    let other = try OtherProcess(
      fixture.location.path,
      statements: [
        // The cache is so small that pages go to the file before the commit.
        "PRAGMA cache_size=2", "BEGIN IMMEDIATE", "UPDATE note SET text = text || ' changed'",
        "INSERT INTO note(text) SELECT text FROM note", "INSERT INTO note(text) SELECT text FROM note",
      ])
    #expect(fixture.exists(fixture.location.path + "-journal"))
    other.end()
    #expect(fixture.exists(fixture.location.path + "-journal"))
    let previous = try #require(try fixture.migrate(fixture.vault()))
    let path = try #require(previous.storePath)
    #expect(try fixture.content(path).rows == rows)
    #expect(try fixture.content().rows == rows)
    #expect(try fixture.leftovers() == [])
  }

  @Test func `a file that is no database is refused byte for byte`() throws {
    let fixture = try VaultFixture(.rollback)
    try Data(repeating: 0x41, count: 5_000).write(to: fixture.url(fixture.location.path))
    let bytes = try fixture.bytes()
    let error = #expect(throws: VaultError.self) {
      try fixture.vault().replaceStore(
        prepare: { StoreReplacement() }, build: { _, _ in }, prove: { _, _ in })
    }
    guard case .unreadableStore = error else { throw try #require(error) }
    #expect(try fixture.bytes() == bytes)
  }
}
