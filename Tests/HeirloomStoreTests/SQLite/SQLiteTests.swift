import Foundation
import HeirloomFormats
import HeirloomStore
import TestSupport
import Testing

struct SQLiteTests {
  @Test(arguments: [
    SQLiteValue.null, .integer(0), .integer(.min), .integer(.max), .real(-0.5), .real(.infinity), .text(""),
    .text("naïve \u{0} 🙂"), .blob([]), .blob([0, 255, 1]),
  ])
  func `a bound value comes back as it was`(value: SQLiteValue) throws {
    let connection = try Connection(path: "", mode: .memory)
    #expect(try connection.firstValue("SELECT ?1", [value]) == value)
  }

  @Test func `NaN is stored as no value`() throws {
    let connection = try Connection(path: "", mode: .memory)
    #expect(try connection.firstValue("SELECT ?1", [.real(.nan)]) == .null)
  }

  @Test(arguments: ["a", "a b", "a\"b", "\"", "a;--", "a'b", "naïve🙂", "select"])
  func `a quoted name is that name`(name: String) throws {
    let connection = try Connection(path: "", mode: .memory)
    try connection.execute("CREATE TABLE \(quote(name)) (\(quote(name)) INTEGER)")
    try connection.execute("INSERT INTO \(quote(name)) (\(quote(name))) VALUES (7)")
    #expect(try connection.firstValue("SELECT name FROM sqlite_schema") == .text(name))
    #expect(try connection.firstInteger("SELECT \(quote(name)) FROM \(quote(name))") == 7)
  }

  @Test func `a quoted name of no column is an error, not a text`() throws {
    let connection = try Connection(path: "", mode: .memory)
    #expect(throws: SQLiteError.self) { try connection.firstValue("SELECT \"ZMISSING\"") }
  }

  @Test(arguments: ["SELECT 1; SELECT 2", "", "  ", "SELECT", "-- nothing"])
  func `only exactly one statement is prepared`(sql: String) throws {
    let connection = try Connection(path: "", mode: .memory)
    #expect(throws: SQLiteError.self) { try connection.execute(sql) }
  }

  @Test(arguments: [0, -1, 2, Int.max, Int.min])
  func `a parameter that doesn't exist is refused`(position: Int) throws {
    let connection = try Connection(path: "", mode: .memory)
    let statement = try connection.prepare("SELECT ?1")
    var error: SQLiteError?
    do { try statement.bind(Int64(1), at: position) } catch let thrown { error = thrown }
    #expect(error?.code == 25)
  }

  @Test func `errors tell names and never values`() throws {
    let connection = try Connection(path: "", mode: .memory)
    try connection.execute("CREATE TABLE t (a UNIQUE)")
    try connection.execute("INSERT INTO t VALUES (?1)", [.text("secret")])
    let error = #expect(throws: SQLiteError.self) {
      try connection.execute("INSERT INTO t VALUES (?1)", [.text("secret")])
    }
    #expect(error?.extendedCode == 2067)
    #expect(error?.isConstraint == true)
    #expect(error?.description.contains("t.a") == true)
    #expect(error?.description.contains("secret") == false)
  }

  @Test func `a failed transaction leaves nothing and its own error`() throws {
    struct Stop: Error {}
    let connection = try Connection(path: "", mode: .memory)
    try connection.execute("CREATE TABLE t (a)")
    #expect(throws: Stop.self) {
      try connection.transaction(wrapping: { $0 as any Error }) { () throws(any Error) in
        try connection.execute("INSERT INTO t VALUES (1)")
        throw Stop()
      }
    }
    #expect(!connection.isInTransaction)
    #expect(try connection.firstInteger("SELECT COUNT(*) FROM t") == 0)
    try connection.transaction { () throws(SQLiteError) in try connection.execute("INSERT INTO t VALUES (1)") }
    #expect(try connection.firstInteger("SELECT COUNT(*) FROM t") == 1)
  }

  @Test func `a connection with a statement doesn't close`() throws {
    let connection = try Connection(path: "", mode: .memory)
    do {
      let statement = try connection.prepare("SELECT 1")
      #expect(throws: SQLiteError.self) { try connection.close() }
      #expect(try statement.step())
    }
    try connection.close()
    #expect(throws: SQLiteError.self) { try connection.execute("SELECT 1") }
  }

  @Test func `a new file is private and never overwrites one`() throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("a %?#é.sqlite")
    let connection = try Connection(path: file.path, mode: .createExclusively())
    try connection.execute("CREATE TABLE t (a)")
    try connection.close()
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    #expect(throws: SQLiteError.self) { try Connection(path: file.path, mode: .createExclusively()) }
    #expect(throws: SQLiteError.self) { try Connection(path: directory.file("none").path, mode: .readWrite) }
    #expect(throws: SQLiteError.self) { try Connection(path: directory.file("none").path, mode: .readOnly) }
    let reader = try Connection(path: file.path, mode: .readOnly)
    let error = #expect(throws: SQLiteError.self) { try reader.execute("INSERT INTO t VALUES (1)") }
    #expect(error?.isReadOnly == true)
  }

  @Test func `a path with a zero byte opens nothing`() throws {
    let directory = try TemporaryDirectory()
    for mode in [Connection.Mode.readOnly, .readWrite, .createExclusively()] {
      #expect(throws: SQLiteError.self) { try Connection(path: directory.url.path + "/a\u{0}b", mode: mode) }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == [])
  }

  @Test func `a link is refused if it isn't to be followed`() throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("a.sqlite")
    try Connection(path: file.path, mode: .createExclusively()).execute("CREATE TABLE t (a)")
    let link = directory.file("link.sqlite")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
    var options = Connection.Options()
    _ = try Connection(path: link.path, mode: .readOnly, options: options).rows("SELECT * FROM t")
    options.followsSymbolicLink = false
    _ = try Connection(path: file.path, mode: .readOnly, options: options).rows("SELECT * FROM t")
    #expect(throws: SQLiteError.self) {
      try Connection(path: link.path, mode: .readOnly, options: options).rows("SELECT * FROM t")
    }
  }

  @Test func `looking at a store in WAL mode changes neither of its files`() throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("a.sqlite")
    let log = directory.file("a.sqlite-wal")
    do {
      let writer = try Connection(path: file.path, mode: .createExclusively(), options: .inspecting)
      try writer.executeScript("PRAGMA journal_mode=WAL; CREATE TABLE t (a); INSERT INTO t VALUES (7)")
      try writer.close()
    }
    let before = [try Data(contentsOf: file), try Data(contentsOf: log)]
    #expect(before[1].count > 0)
    for mode in [Connection.Mode.readOnly, .readWrite] {
      let reader = try Connection(path: file.path, mode: mode, options: .inspecting)
      #expect(try reader.firstInteger("SELECT a FROM t") == 7)
      try reader.close()
      #expect(try [Data(contentsOf: file), Data(contentsOf: log)] == before)
    }
    // By contrast, a plain connection moves the content.
    let plain = try Connection(path: file.path, mode: .readWrite)
    #expect(try plain.firstInteger("SELECT a FROM t") == 7)
    try plain.close()
    #expect(try Data(contentsOf: file) != before[0])
  }

  @Test func `an attached file is written only if it is to be`() throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("a'b.sqlite")
    try Connection(path: file.path, mode: .createExclusively()).execute("CREATE TABLE t (a)")
    let connection = try Connection(path: "", mode: .memory)
    try connection.attach(path: file.path, as: "other")
    try connection.execute("INSERT INTO \"other\".t VALUES (1)")
    try connection.detach("other")
    try connection.attach(path: file.path, as: "other", mode: .readOnly)
    #expect(try connection.firstInteger("SELECT a FROM other.t") == 1)
    #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO other.t VALUES (2)") }
    #expect(throws: SQLiteError.self) { try connection.attach(path: directory.file("none").path, as: "none") }
  }

  @Test func `a long statement is interrupted when asked`() throws {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
    let connection = try Connection(path: "", mode: .memory)
    var calls = 0
    try connection.interrupt(every: 1000) {
      calls += 1
      return calls > 5
    }
    let error = #expect(throws: SQLiteError.self) { try connection.execute(endless) }
    #expect(error?.isInterrupt == true)
    #expect(calls == 6)
    try connection.removeInterruption()
    #expect(try connection.firstInteger("SELECT 1") == 1)
  }

  @Test func `functions take and give every kind of value and may fail`() throws {
    struct Refusal: Error, CustomStringConvertible {
      var description: String { "refused" }
    }
    let connection = try Connection(path: "", mode: .memory)
    try connection.registerFunction("same", argumentCount: 1, isDeterministic: true) { $0.value(at: 0) }
    for value in [SQLiteValue.null, .integer(-3), .real(1.5), .text("é"), .text(""), .blob([]), .blob([1])] {
      #expect(try connection.firstValue("SELECT same(?1)", [value]) == value)
    }
    try connection.registerFunction("refuse", argumentCount: -1) { _ in throw Refusal() }
    let error = #expect(throws: SQLiteError.self) { try connection.execute("SELECT refuse(1, 2)") }
    #expect(error?.message == "refused")
  }

  @Test func `triggers may call Core Data's functions although schemas aren't trusted`() throws {
    let connection = try Connection(path: "", mode: .memory)
    try connection.registerCoreDataFunctions()
    try connection.executeScript(
      """
      CREATE TABLE t (a, b);
      CREATE TRIGGER r AFTER INSERT ON t BEGIN
        UPDATE t SET b = NSCoreDataNow();
        SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('t', 1, 2, 'b', 3);
      END
      """)
    try connection.execute("INSERT INTO t (a) VALUES (1)")
    guard case .real(let seconds) = try connection.firstValue("SELECT b FROM t") else {
      Issue.record("the trigger did not run")
      return
    }
    #expect(abs(seconds - Date().timeIntervalSinceReferenceDate) < 60)
    try connection.setRunsTriggers(false)
    try connection.execute("DELETE FROM t")
    try connection.execute("INSERT INTO t (a) VALUES (1)")
    #expect(try connection.firstValue("SELECT b FROM t") == .null)
  }
}
