import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// A damaged `-wal` in the tool: the loss, the consent, and the commands that read what only the log holds.
struct UnreadableLogCommandTests {
  private let directory: TemporaryDirectory
  private let tool: Tool
  private let store: URL
  private let models: (first: String, second: String)

  init() throws {
    directory = try TemporaryDirectory()
    tool = Tool(directory: directory.url)
    store = try Notebook.makeStore(in: directory, count: 10)
    models = (
      try Notebook.write(Notebook.first(), "Notebook", in: directory),
      try Notebook.write(Notebook.adding(), "Notebook 2", in: directory)
    )
    try damageLog()
  }

  /// Adds three notes to the ten, each by a commit of its own, the second of which has a damaged page in the log.
  private func damageLog() throws {
    let connection = try Connection(path: store.path, mode: .readWrite, options: .inspecting)
    _ = try connection.firstValue("PRAGMA journal_mode=WAL")
    for key in 11...13 {
      try connection.execute(
        "INSERT INTO ZNOTE(Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (\(key), 1, 1, 'late ' || hex(zeroblob(1200)))")
    }
    try connection.close()
    let log = URL(fileURLWithPath: store.path + "-wal")
    var bytes = [UInt8](try Data(contentsOf: log))
    let frame = 24 + (Int(bytes[10]) << 8 | Int(bytes[11]))
    let commits = (0..<(bytes.count - 32) / frame).filter { bytes[32 + $0 * frame + 7] != 0 }
    #expect(commits.count == 3)
    // SQLite reads the first of the three.
    bytes[32 + commits[1] * frame + 1000] ^= 1
    try Data(bytes).write(to: log)
  }

  private func count(in url: URL) throws -> Int64? {
    let connection = try Connection(reading: url)
    defer { try? connection.close() }
    return try connection.firstInteger("SELECT count(*) FROM ZNOTE")
  }

  /// Runs the command that the diagnosis names, word for word, and returns the number of notes that it has read.
  private func countAfterNextCommand() throws -> Int64? {
    let outcome = tool("doctor", store.path, "--json")
    let next = try #require(try outcome.json()["next"] as? String)
    #expect(tool("doctor", store.path).output.contains(next))
    var words = next.split(separator: " ").map { $0.trimmingCharacters(in: ["\'"]) }
    #expect(words.removeFirst() == "heirloom" && words.first == "salvage", "\(next)")
    let salvaged = tool.run(words)
    #expect(salvaged.code == 0 || salvaged.code == 6, "\(salvaged.output)\(salvaged.error)")
    return try count(in: URL(fileURLWithPath: try #require(words.last)))
  }

  @Test func `what only the log holds is told, stops a run, and is read by the command that is named`() throws {
    let bytes = try Data(contentsOf: store)
    for command in ["plan", "rehearse", "migrate"] {
      let refused = tool(command, store.path, "--to", models.second, "--json")
      #expect(refused.code == 3, "\(refused.output)")
      let json = try refused.json()
      let losses = json["losses"] as? [[String: Any]] ?? []
      #expect(losses.map { $0["entity"] as? String } == ["Notebook.sqlite-wal"], "\(refused.output)")
      #expect(losses.first?["rows"] as? Int ?? 0 > 0 && losses.first?["consented"] as? Bool == false)
      let text = tool(command, store.path, "--to", models.second)
      #expect(text.code == 3 && !text.output.contains("Nothing is lost"), "\(text.output)")
      #expect((text.output + text.error).contains("frames") && text.error.contains("heirloom doctor"), "\(text.error)")
      #expect(!text.error.contains("--acknowledge") && !text.error.contains("--skeleton"), "\(text.error)")
    }
    #expect(try Data(contentsOf: store) == bytes)
    // Of the three notes, the log has the first and the third; the second's page is damaged.
    #expect(try countAfterNextCommand() ?? 0 >= 12)
    #expect(try Data(contentsOf: store) == bytes)

    let rehearsed = try tool("rehearse", store.path, "--to", models.second, "--accept-losses", "--json").json()
    #expect((rehearsed["losses"] as? [[String: Any]])?.count == 1)
    let migrated = tool("migrate", store.path, "--to", models.second, "--accept-losses", "--json")
    #expect(migrated.code == 0, "\(migrated.output)")
    #expect(try (migrated.json()["losses"] as? [[String: Any]])?.first?["consented"] as? Bool == true)
    #expect(try count(in: store) == 11)
    let diagnosis = tool("doctor", store.path).output
    #expect(
      diagnosis.contains("frames of Notebook.sqlite-wal") && !diagnosis.contains("nothing is wrong"), "\(diagnosis)")
    #expect(try countAfterNextCommand() ?? 0 >= 12)
    // A second command has a new file.
    #expect(try countAfterNextCommand() ?? 0 >= 12)

    let id = try #require(try migrated.json()["retained"] as? String)
    #expect(tool("versions", store.path, "--release", id).code == 0)
    #expect(try tool("doctor", store.path, "--json").json()["next"] as? String == "heirloom versions \(store.path)")
  }

  @Test func `a store that has the model is told of a log that can't be read`() throws {
    let log = URL(fileURLWithPath: store.path + "-wal")
    let bytes = try Data(contentsOf: log)
    let outcome = tool("migrate", store.path, "--to", models.first)
    #expect(outcome.code == 0 && outcome.output.contains("nothing to do"), "\(outcome)")
    let printed = PrintedCommand.all(in: outcome.output)
    #expect(printed.map(\.words) == [["doctor", store.path]], "\(outcome)")
    #expect(try Data(contentsOf: log) == bytes)
    #expect(try countAfterNextCommand() ?? 0 >= 12)
    // Without the log there is nothing to tell.
    for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + end) }
    #expect(PrintedCommand.all(in: tool("migrate", store.path, "--to", models.first).output).isEmpty)
  }

  /// A way to open a store for writing, after which SQLite has dropped what it couldn't read.
  enum Way: CaseIterable, Sendable {
    case opening, openingWithoutMigration, cleaningUp, settingAside, settingAsideAndReturning, returning,
      openingWhereItLies
  }

  private func open(_ url: URL, migrates: Bool) throws {
    var options = PersistentStoreOptions()
    options.migratesAutomatically = migrates
    try PersistentStore.open(at: url, model: try Notebook.first(), options: options).close()
  }

  @Test(arguments: Way.allCases)
  func `a log that SQLite drops when the store is opened for writing is copied, and read by the command`(way: Way)
    throws
  {
    switch way {
    case .opening: try open(store, migrates: true)
    case .openingWithoutMigration: try open(store, migrates: false)
    case .cleaningUp:
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
      let dropping = try Notebook.write(Notebook.dropping(), "Dropping", in: directory)
      #expect(tool("migrate", store.path, "--to", dropping, "--accept-losses", "--defer").code == 0)
      for version in try StoreArchive(storeURL: store).previousVersions() {
        try FileManager.default.removeItem(at: version.storeURL.deletingLastPathComponent())
      }
      try damageLog()
      let cleaned = tool("migrate", store.path, "--to", dropping)
      #expect(cleaned.code == 0 && cleaned.output.contains("cleaned up"), "\(cleaned.output)")
      #expect(cleaned.error.contains("wal.unread"), "\(cleaned.error)")
    case .settingAside, .settingAsideAndReturning:
      let notice = try Notebook.setAside(store)
      try PersistentStore.create(at: store, model: try Notebook.first()).close()
      // The log is none of the new store's.
      let plan = tool("plan", store.path, "--to", models.second)
      #expect(plan.code == 0 && plan.output.contains("Nothing is lost"), "\(plan.output)\(plan.error)")
      if way == .settingAsideAndReturning {
        #expect(tool("restore", store.path, "--set-aside", notice.id, "--to", models.first).code == 0)
        #expect(try count(in: store) == 11)
      }
    case .returning, .openingWhereItLies:
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
      let notice = try Notebook.setAside(store)
      let place = store.deletingLastPathComponent()
      let aside = notice.folderURL.appendingPathComponent(store.lastPathComponent)
      try FileManager.default.moveItem(at: aside, to: store)
      try damageLog()
      for name in try FileManager.default.contentsOfDirectory(atPath: place.path)
      where name.hasPrefix(store.lastPathComponent) && !name.hasSuffix(".heirloom") {
        try FileManager.default.moveItem(
          at: place.appendingPathComponent(name), to: notice.folderURL.appendingPathComponent(name))
      }
      try PersistentStore.create(at: store, model: try Notebook.first()).close()
      if way == .openingWhereItLies {
        try open(aside, migrates: false)
        break
      }
      let returned = tool("restore", store.path, "--set-aside", notice.id, "--to", models.first)
      #expect(returned.code == 0 && returned.error.contains("wal.unread"), "\(returned.output)\(returned.error)")
      #expect(try count(in: store) == 11)
    }
    #expect((try? Data(contentsOf: URL(fileURLWithPath: store.path + "-wal")))?.isEmpty ?? true)
    #expect(try countAfterNextCommand() ?? 0 >= 12, "\(way)")
    // Opening it once more copies nothing, and the next migration keeps the copy.
    guard way == .opening else { return }
    try open(store, migrates: true)
    let companion = store.path + ".heirloom"
    #expect(try FileManager.default.contentsOfDirectory(atPath: companion).count { $0.hasPrefix("wal.unread") } == 1)
    let refused = tool("migrate", store.path, "--to", models.second)
    #expect(refused.code == 3 && (refused.output + refused.error).contains("frames"), "\(refused.output)")
    #expect(tool("migrate", store.path, "--to", models.second, "--accept-losses").code == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: companion).allSatisfy { !$0.hasPrefix("wal.unread") })
    #expect(try countAfterNextCommand() ?? 0 >= 12)
  }

  @Test func `a log that waits takes away no note that was saved after it was dropped`() throws {
    try open(store, migrates: true)
    let opened = try PersistentStore.open(at: store, model: try Notebook.first())
    let context = ManagedObjectContext(store: opened)
    for number in 0..<500 { try context.insert("Note").setValue(.string("later \(number)"), forAttribute: "title") }
    try context.save()
    try opened.close()
    #expect(try countAfterNextCommand() ?? 0 >= 511)
  }

  @Test func `an app that wants to stop at such a log doesn't open the store`() throws {
    let before = StoreBytes(of: store)
    let log = try Data(contentsOf: URL(fileURLWithPath: store.path + "-wal"))
    var options = PersistentStoreOptions()
    options.migration.stopsAtUnreadableLog = true
    for policy in [IncompatibleStorePolicy.throw, .setAside] {
      options.migration.incompatibleStore = policy
      #expect(throws: MigrationAssistantError.self) {
        try PersistentStore.open(at: store, model: try Notebook.first(), options: options)
      }
      #expect(throws: MigrationAssistantError.self) {
        try PersistentStore.open(at: store, model: try Notebook.converting(), options: options)
      }
    }
    #expect(StoreBytes(of: store) == before)
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.path + "-wal")) == log)
  }
}
