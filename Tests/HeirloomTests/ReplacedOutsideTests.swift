import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Stores that another program puts in a store's place: what the previous versions alone have is then kept.
struct ReplacedOutsideTests {
  private let directory: TemporaryDirectory
  private var store: URL { directory.file("Journal.sqlite") }

  init() throws { directory = try TemporaryDirectory() }

  /// The store that takes the place of the migrated one.
  enum Other: String, CaseIterable, Sendable {
    case empty, olderCopy, copyOfVersion, ofAnotherDevice
  }

  private static func model(_ version: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      Make.entity("Item", [Make.attribute("name")] + (1..<version).map { Make.attribute("new\($0)") })
    ])
  }

  private func run(_ sql: String) throws {
    try Connection.execute(sql, on: store.path)
  }

  private func make(_ url: URL, version: Int, names: [String]) throws {
    try PersistentStore.make(at: url, model: Self.model(version)) { context in
      for name in names { try context.insert("Item")["name"] = .string(name) }
    }
  }

  private func launch(_ version: Int, at url: URL? = nil) throws {
    let url = url ?? store
    let earlier = try (1..<version).map { (name: "\($0)", model: try Self.model($0)) }
    _ = try MigrationAssistant(url, ModelHistory(current: Self.model(version), name: "\(version)", earlier: earlier))
      .migrateStore()
    try ModelController(storeURL: url).archive(Self.model(version))
  }

  private func versions() throws -> [PreviousVersion] { try StoreArchive(storeURL: store).previousVersions() }

  private func isAnywhere(_ name: String) throws -> Bool {
    try ([store] + versions().map(\.storeURL)).contains { url in
      let connection = try Connection(reading: url)
      defer { try? connection.close() }
      return try connection.firstInteger("SELECT COUNT(*) FROM ZITEM WHERE ZNAME = '\(name)'") != 0
    }
  }

  private func copy(_ source: URL, to target: URL) throws {
    for end in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(at: URL(fileURLWithPath: target.path + end))
      let path = source.path + end
      guard FileManager.default.fileExists(atPath: path) else { continue }
      try FileManager.default.copyItem(atPath: path, toPath: target.path + end)
    }
  }

  @Test(arguments: Other.allCases, [false, true])
  func `no version is pruned that alone has a row when another store takes the place of the migrated one`(
    other: Other, isOfEarlierRelease: Bool
  ) throws {
    // Without a note of the store's generation, a store with one of its own can't be told from the migrated one.
    guard !isOfEarlierRelease || other == .olderCopy || other == .copyOfVersion else { return }
    try make(store, version: 1, names: ["first"])
    try copy(store, to: directory.file("Backup.sqlite"))
    try launch(2)
    try run("UPDATE ZITEM SET ZNAME = 'written' WHERE Z_PK = 1")
    try launch(3)
    for version in try versions() where isOfEarlierRelease {
      let manifest = version.storeURL.deletingLastPathComponent().appendingPathComponent("manifest.json")
      let lines = try String(contentsOf: manifest, encoding: .utf8).split(separator: "\n")
      #expect(lines.count { $0.contains("\"successor") } == 2)
      try Data(lines.filter { !$0.contains("\"successor") }.joined(separator: "\n").utf8).write(to: manifest)
    }
    switch other {
    case .empty:
      try FileManager.default.removeItem(at: store)
      try make(store, version: 3, names: [])
    case .olderCopy: try copy(directory.file("Backup.sqlite"), to: store)
    case .copyOfVersion: try copy(try #require(try versions().first).storeURL, to: store)
    case .ofAnotherDevice:
      try make(directory.file("Other.sqlite"), version: 1, names: ["other"])
      try launch(3, at: directory.file("Other.sqlite"))
      try copy(directory.file("Other.sqlite"), to: store)
    }
    for version in 4...6 {
      for _ in 0..<3 {
        try launch(version)
        #expect(try isAnywhere("written"), "\(other) after \(version)")
      }
    }
    let pinned = try versions().filter(\.isPinned)
    // A copy of the version has its rows, and so has the store that was made of it.
    let told = pinned.map { $0.alone.map { "\($0)" } }
    #expect(pinned.isEmpty == (other == .copyOfVersion), "\(other): \(told)")
    #expect(
      pinned.allSatisfy { $0.alone.contains { $0.kind == "objects" && $0.entity == "Item" && $0.rows == 1 } },
      "\(other): \(told)")
  }

  @Test func `versions of a store that stays in its place are pruned in their turn`() throws {
    try make(store, version: 1, names: ["first"])
    for version in 2...6 {
      try launch(version)
      try run("UPDATE ZITEM SET ZNAME = 'written \(version)' WHERE Z_PK = 1")
      try launch(version)
      #expect(try versions().count == 1 && versions().allSatisfy { !$0.isPinned })
    }
  }

  @Test func `a version stays while the store has its model, to which it went back`() throws {
    try make(store, version: 1, names: ["first"])
    try launch(2)
    let fitting = try #require(try versions().first).id
    // The earlier release knows the newer model from the store.
    for _ in 0..<3 {
      try launch(1)
      #expect(try versions().contains { $0.id == fitting } && versions().count == 2)
    }
    for version in [2, 3, 3] { try launch(version) }
    #expect(try versions().count == 1)
  }
}
