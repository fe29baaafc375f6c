import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Names from a store and from the command line that speak in the tool's name, or that never end.
struct HostileTextTests {
  /// Names with lines of their own, which begin with a mark that no line of ours has.
  private static let mark = "EVIL"
  static let names = [
    "a\n\(mark): all is well", "a\r\(mark)", "a\u{2028}\(mark)\u{85}\(mark)", "\n::error file=x::\(mark)",
    "::error::\(mark)",
    "##[add-mask]\(mark)", "*/ \n.shell \(mark)", "a\n-- \(mark)", "\u{202E}\(mark)\u{200B}",
  ]

  /// The schema and bookkeeping hold the name wherever one may stand.
  private static func store(_ name: String, in directory: TemporaryDirectory) throws -> URL {
    let store = try Notebook.makeStore(in: directory, count: 3)
    let connection = try Connection(path: store.path, mode: .readWrite, options: .building)
    try connection.execute("CREATE TABLE \(quote("Z" + name)) (\(quote(name)))")
    try connection.execute("ALTER TABLE ZNOTE ADD COLUMN \(quote(name))")
    try connection.execute("CREATE TRIGGER \(quote(name)) AFTER DELETE ON ZNOTE BEGIN SELECT 1; END")
    try connection.execute("CREATE VIEW \(quote("v" + name)) AS SELECT 1")
    try connection.execute("INSERT INTO Z_PRIMARYKEY VALUES (99, ?1, 0, 0)", [.text(name)])
    try connection.close()
    return store
  }

  private static func commands(_ store: URL, _ model: String) -> [[String]] {
    [
      ["inspect", store.path, "--properties"], ["doctor", store.path], ["verify", store.path],
      ["plan", store.path, "--to", model], ["plan", store.path, "--to", model, "--sql"],
      ["rehearse", store.path, "--to", model], ["migrate", store.path, "--to", model],
      ["migrate", store.path, "--jobs", "1", "--to", model], ["versions", store.path], ["restore", store.path],
      ["check", model, "--annotations"], ["salvage", store.path, "--output", store.path + ".salvaged"],
    ]
  }

  @Test(arguments: names) func `no name makes a line of its own`(name: String) throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(name, in: directory)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let tool = Tool(directory: directory.url)
    let more = [
      ["inspect", directory.file(name).path], [name], ["inspect", "--" + name], ["doctor", name], ["help", name],
      ["restore", store.path, "--version", name], ["migrate", store.path, "--to", name],
      ["migrate", "--files-from", name, "--to", model], ["diagram", model, "--output", name],
    ]
    for words in Self.commands(store, model) + more {
      for json in [[], ["--json"]] {
        let outcome = tool.run(words + json)
        for line in (outcome.output + outcome.error).split(whereSeparator: \.isNewline) {
          let start = line.drop { $0 == " " }
          #expect(!start.hasPrefix(Self.mark) && !start.hasPrefix("::") && !line.contains("##["), "\(words): \(line)")
          #expect(!start.hasPrefix(".") && !start.hasPrefix("-- \(Self.mark)"), "\(words): \(line)")
        }
        if !json.isEmpty, !words.contains("--jobs") { _ = try outcome.json() }
      }
    }
    withExtendedLifetime(directory) {}
  }

  @Test func `a name of megabytes is cut wherever it would be shown`() throws {
    let directory = try TemporaryDirectory()
    let name = String(repeating: "n", count: LongTests.areOn ? 50_000_000 : 900_000)
    let store = try Notebook.makeStore(in: directory, count: 3)
    let connection = try Connection(path: store.path, mode: .readWrite, options: .building)
    try connection.execute("INSERT INTO Z_PRIMARYKEY VALUES (99, ?1, 0, 0)", [.text(name)])
    try connection.execute("CREATE TABLE \(quote(name.prefix(900_000) + "x")) (x)")
    try connection.close()
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let tool = Tool(directory: directory.url)
    for words in Self.commands(store, model) {
      for json in [[], ["--json"]] {
        let outcome = tool.run(words + json)
        let limit = words.contains("--sql") ? 2_500_000 : 1_000_000
        #expect((outcome.output + outcome.error).utf8.count < limit, "\(words + json)")
        #expect((outcome.output + outcome.error).split(separator: "\n").allSatisfy { $0.utf8.count < limit })
        if !json.isEmpty, !words.contains("--jobs") { _ = try outcome.json() }
      }
    }
    withExtendedLifetime(directory) {}
  }

  @Test func `the errors and events that an app shows or logs are lines of bounded length`() throws {
    let directory = try TemporaryDirectory()
    let name = "a\nEVIL" + String(repeating: "n", count: 100_000)
    let url = directory.file("Store.sqlite")
    for problem: StoreError.Problem in [
      .notStore(tables: [name]), .damaged(reason: name), .database(code: 1, message: name), .straySideFile(name),
      .differentSchema(missing: [name]), .incompatible(entities: [name]), .invalidMetadata(reason: name),
    ] {
      let error = StoreError(path: url.path, problem: problem)
      let wrapped = MigrationAssistantError.unreadableStore(error)
      let texts = [
        error.description, error.recoverySuggestion, error.localizedDescription, wrapped.description,
        wrapped.recoverySuggestion, wrapped.logLine.message, (wrapped as NSError).localizedDescription,
      ]
      for text in texts.compactMap(\.self) { #expect(!text.contains("\n") && text.utf8.count < 30_000) }
    }
    for event: MigrationEvent in [
      .foundStaleCandidate(path: name), .snapshotUnreadable(reason: name), .movedAside(path: name),
      .pinned(id: name, losses: [name]), .started(from: name, to: name),
      .attributesLeftOut(path: name, count: 1, first: name),
    ] {
      let line = event.logLine
      for text in [line.message] + line.metadata.values { #expect(!text.contains("\n") && text.utf8.count < 30_000) }
    }
    let sql = SQLiteError(extendedCode: 1, message: "no such table: \(name)", sql: "SELECT \"\(name)\"")
    #expect(!sql.description.contains("\n") && sql.description.utf8.count < 30_000)
  }
}
