import Foundation
import HeirloomStore
import TestSupport
import Testing

/// The options that SQLite was built with, as it lists them; `nil` for the system's SQLite.
private let builtOptions = ProcessInfo.processInfo.environment["HEIRLOOM_APPLE_SQLITE"].map {
  $0.split(separator: " ").map(String.init)
}

/// Proof that `.ci/apple-sqlite` runs the tests with the SQLite that it has built, and that it has Apple's habits.
@Suite(.enabled(if: builtOptions != nil, "only with .ci/apple-sqlite"))
struct AppleSQLiteTests {
  @Test func `Heirloom's connections are to the SQLite that was built`() throws {
    let connection = try Connection(path: "", mode: .memory)
    let found = Set(try connection.rows("PRAGMA compile_options").compactMap(\.first?.text))
    let expected = try #require(builtOptions)
    #expect(expected.count > 20 && expected.contains("OMIT_AUTORESET"))
    #expect(expected.filter { !found.contains($0) } == [])
  }

  @Test func `side files stay, and a connection that only reads makes none`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.sqlite").path
    let connection = try Connection(path: path, mode: .createExclusively())
    try connection.execute("PRAGMA journal_mode=WAL")
    try connection.execute("CREATE TABLE a (b)")
    try connection.close()
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted() }
    #expect(try names() == ["a.sqlite", "a.sqlite-shm", "a.sqlite-wal"])
    #expect(try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int == 0)
    for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + suffix) }
    // Attached, the file is read in the same way, but without the help that Heirloom gives its own main database.
    let memory = try Connection(path: "", mode: .memory)
    let error = #expect(throws: SQLiteError.self) {
      try memory.execute("ATTACH 'file:\(path)?mode=ro' AS other")
      _ = try memory.firstInteger("SELECT count(*) FROM other.a")
    }
    #expect(error?.code == 14)
    #expect(try names() == ["a.sqlite"])
  }
  @Test func `a file that got another name, or lost its own, is of no use to the connection that has it open`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.sqlite").path
    let made = try Connection(path: path, mode: .createExclusively())
    try made.execute("CREATE TABLE a (b)")
    try made.close()
    for change in ["link", "rename over"] {
      let connection = try Connection(path: path, mode: .readWrite)
      #expect(try connection.firstInteger("SELECT count(*) FROM a") == 0)
      if change == "link" {
        #expect(linkat(AT_FDCWD, path, AT_FDCWD, path + ".2", 0) == 0)
        #expect(unlinkat(AT_FDCWD, path + ".2", 0) == 0)
      } else {
        try FileManager.default.copyItem(atPath: path, toPath: path + ".new")
        #expect(renameat(AT_FDCWD, path + ".new", AT_FDCWD, path) == 0)
      }
      let error = #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO a VALUES (1)") }
      #expect(error?.extendedCode == 6922)
      try? connection.close()
    }
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("INSERT INTO a VALUES (1)")
  }
}
