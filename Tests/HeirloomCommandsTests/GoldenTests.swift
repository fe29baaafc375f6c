import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import TestSupport
import Testing

/// What an earlier release wrote is opened, by library and tool, and nothing of it is lost: see `Tests/Goldens`.
struct GoldenTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Goldens/c3c5765")
  private static let plain = ["pinned", "released", "replaced", "aside", "quarantine", "deferred", "log"]
  private static let stopped = names.filter { !plain.contains($0) }
  private static let names =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasSuffix(".tar.gz") }.map {
      String($0.dropLast(7))
    }.sorted()

  /// By the names that `rows.json` has.
  private static let queries = [
    "notes": "SELECT COUNT(*) FROM ZNOTE", "bodies": "SELECT COUNT(ZBODY) FROM ZNOTE",
    "moods": "SELECT COUNT(ZMOOD) FROM ZNOTE", "tags": "SELECT COUNT(*) FROM ZTAG",
    "colors": "SELECT COUNT(ZCOLOR) FROM ZTAG", "links": "SELECT COUNT(*) FROM Z_1TAGS",
  ]

  private func unpack(_ name: String) throws -> URL {
    let folder = directory.file(name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "tar", "-xzf", Self.folder.appendingPathComponent(name + ".tar.gz").path, "-C", folder.path, "--no-same-owner",
    ]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return folder.appendingPathComponent("Journal.sqlite")
  }

  /// Of each store file but those of candidates, and the lines of quarantine files.
  private func rows(beside store: URL) throws -> [[String: Int]] {
    let folder = store.deletingLastPathComponent()
    var found: [[String: Int]] = []
    for case let name as String in FileManager.default.enumerator(atPath: folder.path) ?? .init() {
      let url = folder.appendingPathComponent(name)
      if name.hasSuffix(".jsonl") {
        found.append(["lines": try String(contentsOf: url, encoding: .utf8).split(separator: "\n").count])
      }
      guard url.lastPathComponent == "Journal.sqlite", !name.contains("/incoming/") else { continue }
      let connection = try Connection(reading: url)
      found.append(
        Self.queries.compactMapValues { sql in (try? connection.firstInteger(sql)).flatMap { $0 }.map(Int.init) })
      try connection.close()
    }
    return found
  }

  /// As noted when the golden was made, without candidates.
  private func noted(_ name: String) throws -> [[String: Int]] {
    let data = try Data(contentsOf: Self.folder.appendingPathComponent("rows.json"))
    let all = try #require(try JSONSerialization.jsonObject(with: data) as? [String: [String: [String: Int]]])
    return try #require(all[name]).filter { !$0.key.contains("/incoming/") }.map(\.value)
  }

  /// Each noted file's content must be in one file.
  private func expectWhole(_ name: String, _ store: URL, _ step: String) throws {
    let found = try rows(beside: store)
    for counts in try noted(name) {
      #expect(
        found.contains { file in counts.allSatisfy { file[$0.key, default: -1] >= $0.value } },
        "\(name), \(step): \(counts) is in none of \(found)")
    }
  }

  private func history() throws -> ModelHistory {
    let list = try ModelHistory(contentsOf: Self.folder.appendingPathComponent("history/Journal.xcdatamodeld"))
    func model(_ name: String) throws -> ManagedObjectModel { try #require(try list.model(named: name)) }
    return ModelHistory(
      current: try model("Journal 3"), name: "Journal 3",
      earlier: [("Journal", try model("Journal")), ("Journal 2", try model("Journal 2"))],
      later: [("Journal 4", try model("Journal 4"))])
  }

  @Test func `the goldens are there`() {
    #expect(Set(Self.plain).isSubset(of: Self.names) && Self.stopped.count == 44)
  }

  @Test(arguments: plain + LongTests.selection(of: stopped, every: 4))
  func `what was left is opened and migrated, and nothing of it is lost`(name: String) throws {
    let store = try unpack(name)
    try expectWhole(name, store, "before")
    let history = try history()
    let assistant = MigrationAssistant(store, history)
    let isThere = FileManager.default.fileExists(atPath: store.path)
    // A store of the fourth version is newer than this app.
    let isNewer = name == "quarantine"
    _ = try assistant.status()
    _ = try assistant.archive.previousVersions()
    try expectWhole(name, store, "looking")
    if isNewer {
      #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    } else {
      switch try assistant.migrateStore() {
      case .migrated(let report): #expect(isThere && report.plan.destination == history.current)
      case .noStore: #expect(name == "aside" || name.hasPrefix("setting-aside"))
      default: Issue.record("\(name) was not migrated")
      }
    }
    try expectWhole(name, store, "migrating")
  }

  @Test(arguments: plain) func `the tool shows and restores what was kept`(name: String) throws {
    let store = try unpack(name)
    let listed = try tool("versions", store.path, "--json").json()
    let versions = listed["versions"] as? [[String: Any]] ?? []
    let aside = listed["setAside"] as? [[String: Any]] ?? []
    #expect(versions.count + aside.count == ["quarantine": 2, "replaced": 2][name] ?? 1, "\(listed)")
    #expect(versions.allSatisfy { $0["pinned"] is NSNull } == ["released", "deferred", "aside", "log"].contains(name))
    guard name != "aside" else { return }
    #expect(tool("doctor", store.path).code == 0)
    #expect(tool("verify", store.path).code == 0)
    for version in versions {
      let identifier = try #require(version["id"] as? String)
      #expect(tool("restore", store.path, "--version", identifier).code == 0)
      try expectWhole(name, store, "restoring \(identifier)")
    }
  }

  @Test func `a version with a log that SQLite can't read stays, and salvage reads it`() throws {
    let store = try unpack("log")
    let archive = StoreArchive(storeURL: store)
    let id = try #require(try archive.previousVersions().first?.id)
    #expect(try archive.previousVersions().map(\.isPinned) == [false])
    let history = try history()
    // A migration, and launches that may remove what is over.
    for _ in 0..<3 {
      _ = try MigrationAssistant(store, history).migrateStore()
    }
    let version = try #require(try archive.previousVersions().first { $0.id == id })
    #expect(version.isPinned && version.alone.map(\.entity) == ["Journal.sqlite-wal"])
    let next = try #require(try tool("doctor", store.path, "--json").json()["next"] as? String)
    let words = next.split(separator: " ").map { $0.trimmingCharacters(in: ["\'"]) }
    #expect(words.prefix(2) == ["heirloom", "salvage"], "\(next)")
    let salvaged = tool.run(Array(words.dropFirst()))
    #expect(salvaged.code == 0 || salvaged.code == 6, "\(salvaged.output)\(salvaged.error)")
    let connection = try Connection(path: try #require(words.last), mode: .readOnly)
    #expect(try connection.firstInteger("SELECT COUNT(*) FROM ZNOTE WHERE ZBODY LIKE 'late 3%'") == 1)
    try connection.close()
  }

  @Test func `the lock is read whole, means what it meant, and is written byte for byte`() throws {
    let url = Self.folder.appendingPathComponent("history/lock.json")
    let lock = try VersionLock(path: url.path)
    #expect(Data(lock.encoded()) == (try Data(contentsOf: url)))
    #expect(lock.floor == "Journal 2" && lock.stepsByCode.map(\.source) == ["Journal 3"])
    let history = try ModelHistory(contentsOf: url.deletingLastPathComponent())
    #expect(history.floor == "Journal 2" && history.currentName == "Journal 4")
    // The entry from the floor on takes the kind that its models imply.
    let copy = directory.file("history")
    try FileManager.default.copyItem(at: url.deletingLastPathComponent(), to: copy)
    let check = tool("check", copy.path, "--json", "--objects", "2")
    let findings = try #require(try check.json()["findings"] as? [[String: Any]])
    #expect(findings.filter { $0["rule"] as? String == "loss" }.map { $0["severity"] as? String } == ["note"])
    #expect(try Data(contentsOf: copy.appendingPathComponent("lock.json")) == (try Data(contentsOf: url)))
  }
}
