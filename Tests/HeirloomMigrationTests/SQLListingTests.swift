import Foundation
import HeirloomMigration
import TestSupport
import Testing

struct SQLListingTests {
  /// Statements as they may stand in a schema, with the text that is shown.
  static let plain: [(sql: String, text: String)] = [
    ("CREATE TABLE \"a;b\" (x)", "CREATE TABLE \"a;b\" (x);"),
    ("CREATE TABLE a (x,\r\n\ty)", "CREATE TABLE a (x, \n y);"),
    ("CREATE TABLE a (x DEFAULT 'it''s; -- /*')", "CREATE TABLE a (x DEFAULT 'it''s; -- /*');"),
    ("CREATE VIEW v AS SELECT 1 -- one", "CREATE VIEW v AS SELECT 1 -- one\n;"),
    ("CREATE VIEW v AS SELECT /* a\n.shell x */ 1", "CREATE VIEW v AS SELECT /* a .shell x */ 1;"),
    ("CREATE VIEW v AS SELECT 1; -- end", "CREATE VIEW v AS SELECT 1 -- end\n;"),
    (
      "CREATE TRIGGER t AFTER DELETE ON a BEGIN SELECT 1; SELECT CASE 1 WHEN 2 THEN 3 END; END",
      "CREATE TRIGGER t AFTER DELETE ON a BEGIN SELECT 1; SELECT CASE 1 WHEN 2 THEN 3 END; END;"
    ),
    ("CREATE TABLE TRIGGER (END)", "CREATE TABLE TRIGGER (END);"), ("SELECT a$b, [x]]", "SELECT a$b, [x]];"),
    ("INSERT INTO a VALUES (?1, ?2)", "INSERT INTO a VALUES (?1, ?2);"),
  ]

  @Test(arguments: plain.indices) func `one statement is shown as it is, with its end`(index: Int) {
    let (sql, text) = Self.plain[index]
    #expect(SQLListing.text(of: sql) == text)
  }

  /// Texts that a shell would take for several statements, for less than one, or for a command of its own.
  ///
  /// `COMMAND` stands for a command that leaves a trace.
  static let attacks = [
    "CREATE TABLE a (x);\nCOMMAND", "CREATE TABLE a (x)\n;\nCOMMAND\n", "CREATE TABLE a (x); DROP TABLE b",
    "CREATE TABLE \"a\nCOMMAND\n\" (x)", "CREATE TABLE a (x DEFAULT '\nCOMMAND\n')", "CREATE TABLE a (x) /*",
    "CREATE TABLE a (x) /* */ ;\nCOMMAND", "CREATE TABLE a (x DEFAULT 'x)", "CREATE TABLE a (x DEFAULT \"x)",
    "CREATE TABLE [a (x)", "CREATE TABLE a (x)\ngo\nCOMMAND", "CREATE TABLE a (x)\n  /\nCOMMAND",
    "CREATE TABLE a (x) -- b\nCOMMAND", "CREATE TABLE a (x DEFAULT $v(')) ;\nCOMMAND\n--')", "-- only a comment", "",
    "CREATE TRIGGER t AFTER DELETE ON a BEGIN SELECT 1; END;\nCOMMAND", "CREATE TABLE \"a\0\" (x);\nCOMMAND",
    "CREATE TRIGGER t AFTER DELETE ON a BEGIN SELECT 1;", "CREATE TRIGGER t AFTER DELETE ON a BEGIN SELECT 1; END; x",
    "CREATE TEMP TRIGGER t AFTER DELETE ON a BEGIN SELECT 1; END\n;\n.COMMAND", "CREATE TABLE \"a\u{202E}\" (x)",
    "CREATE TABLE TRIGGER (x); END;\nCOMMAND", "; COMMAND", "CREATE TABLE \"a\u{1B}[2J\" (x)", "SELECT 1\n#COMMAND",
    "CREATE TABLE a (\"" + String(repeating: "x", count: 2 << 20) + "\")", "/* x\nCOMMAND\n*/ ;\nCOMMAND",
  ]

  @Test(arguments: attacks.indices) func `what is more or less than one statement is a comment of one line`(
    index: Int
  ) {
    let text = SQLListing.text(of: Self.attacks[index].replacingOccurrences(of: "COMMAND", with: ".shell x"))
    #expect(text.hasPrefix("-- left out"), "\(text)")
    #expect(!text.contains("\n"))
    #expect(text.utf8.count < 10_000)
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3"), "there is no sqlite3 here"))
  func `no schema makes the shell run what is none of its statements`() throws {
    let directory = try TemporaryDirectory()
    let trace = directory.file("trace").path
    // The shell does run such a command; otherwise the test would show nothing.
    #expect(try run("SELECT 1;\n.shell touch '\(trace)'\n", in: directory) == "1\n")
    #expect(FileManager.default.fileExists(atPath: trace))
    try FileManager.default.removeItem(atPath: trace)
    for command in [".shell touch '\(trace)'", "ATTACH '\(trace)' AS x; CREATE TABLE x.y (z);"] {
      let statements = (Self.attacks + Self.plain.map(\.sql)).map {
        $0.replacingOccurrences(of: "COMMAND", with: command)
      }
      // Each is alone between two others, and then all follow each other.
      for list in statements.map({ ["SELECT 1", $0, "SELECT '*/ ''\n\(command)\n'", "SELECT 2"] }) + [statements] {
        let text = list.map {
          "-- \($0.prefix(9).replacingOccurrences(of: "\n", with: " "))\n\(SQLListing.text(of: $0))\n"
        }
        let output = try run(text.joined(), in: directory)
        #expect(!FileManager.default.fileExists(atPath: trace), "\(list)")
        if list.count == 4 { #expect(output.hasPrefix("1\n") && output.hasSuffix("2\n"), "\(list): \(output)") }
      }
    }
  }

  private func run(_ text: String, in directory: TemporaryDirectory) throws -> String {
    let input = directory.file("input.sql")
    try Data(text.utf8).write(to: input)
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
    shell.arguments = [directory.file("copy.sqlite").path]
    shell.currentDirectoryURL = directory.url
    shell.standardInput = try FileHandle(forReadingFrom: input)
    let output = Pipe()
    shell.standardOutput = output
    shell.standardError = FileHandle.nullDevice
    try shell.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    shell.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self)
  }
}
