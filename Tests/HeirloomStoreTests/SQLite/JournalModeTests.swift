import Foundation
import HeirloomStore
import TestSupport
import Testing

struct JournalModeTests {
  // The format's versions are bytes 18 and 19 of the header: https://www.sqlite.org/fileformat2.html
  @Test(arguments: [(JournalMode.wal, UInt8(2)), (.rollback, 1)])
  func `a mode is written to the header, and read from it`(mode: JournalMode, version: UInt8) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("Store.sqlite").path
    let other: JournalMode = mode == .wal ? .rollback : .wal
    let connection = try Connection(path: path, mode: .createExclusively())
    try connection.execute("CREATE TABLE t (x)")
    try connection.setJournalMode(other)
    #expect(connection.headerJournalMode == other)
    try connection.setJournalMode(mode)
    try connection.close()
    let header = try Array(Data(contentsOf: URL(fileURLWithPath: path)).prefix(20))
    #expect(Array(header[18...]) == [version, version])
    #expect(JournalMode(header: header) == mode)
    let again = try Connection(path: path, mode: .readOnly)
    #expect(again.headerJournalMode == mode)
    #expect(try again.firstValue("PRAGMA journal_mode")?.text == (mode == .wal ? "wal" : "delete"))
  }

  @Test func `a file that ends before the header has no WAL mode`() {
    #expect(JournalMode(header: []) == .rollback)
    #expect(JournalMode(header: [UInt8](repeating: 2, count: 19)) == .rollback)
  }

  @Test func `a mode that SQLite refuses is an error`() throws {
    let connection = try Connection(path: "", mode: .memory)
    let error = try #require(throws: SQLiteError.self) { try connection.setJournalMode(.wal) }
    #expect(error.message == "SQLite keeps the journal mode memory instead of wal")
  }

  @Test func `WAL mode stays while another connection reads`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("Store.sqlite").path
    let connection = try Connection(path: path, mode: .createExclusively())
    try connection.execute("CREATE TABLE t (x)")
    try connection.setJournalMode(.wal)
    let reader = try Connection(path: path, mode: .readOnly)
    try reader.execute("BEGIN")
    _ = try reader.firstInteger("SELECT COUNT(*) FROM t")
    #expect(throws: SQLiteError.self) { try connection.setJournalMode(.rollback) }
    #expect(connection.headerJournalMode == .wal)
  }
}
