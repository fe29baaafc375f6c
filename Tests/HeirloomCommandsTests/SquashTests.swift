import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

/// The floor that `heirloom squash` sets, on the stores that Core Data made with each of five versions.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct SquashTests {
  private let directory: TemporaryDirectory
  private let tool: Tool
  private let bundle = "BookmarksModel.xcdatamodeld"

  init() throws {
    directory = try TemporaryDirectory()
    tool = Tool(directory: directory.url)
    let models = try Corpus.modelURL("BookmarksModel 6", in: "duckduckgo-bsk").deletingLastPathComponent()
    try FileManager.default.copyItem(at: models, to: directory.file(bundle))
    #expect(tool("snapshot", bundle, "--history", ".").code == 0)
    #expect(tool("check", ".", "--acknowledge", "BookmarkEntity.isFavorite", "--objects", "2").code <= 6)
  }

  private func store(_ version: Int) throws -> URL {
    let name = "Bookmarks_V\(version).sqlite"
    let url = try Corpus.copyStore("duckduckgo-bsk/stores/\(name)", to: directory)
    return url
  }

  /// The bytes of the store's files, the shared memory aside.
  private func state(_ store: URL) throws -> [String: Data?] {
    var result: [String: Data?] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    where name.hasPrefix(store.lastPathComponent) && !name.hasSuffix("-shm") {
      result[name] = FileManager.default.contents(atPath: directory.file(name).path)
    }
    return result
  }

  private func names(_ value: Any?) -> [String] { value as? [String] ?? [] }

  @Test func `stores before the floor are refused, and those from it on are migrated`() throws {
    let squashed = try tool("squash", bundle, "--floor", "BookmarksModel 4", "--json").json()
    #expect(names(squashed["refused"]) == ["BookmarksModel", "BookmarksModel 2", "BookmarksModel 3"])
    #expect(squashed["previousFloor"] is NSNull && names(squashed["needlessFiles"]).count == 6)
    let history = try ModelHistory(contentsOf: directory.file(bundle))
    #expect(history.floor == "BookmarksModel 4")
    for version in 1...5 {
      let url = try store(version)
      let before = try state(url)
      let assistant = MigrationAssistant(url, history)
      guard version < 4 else {
        #expect(try assistant.status() == .tooOld, "\(version)")
        #expect(tool("migrate", url.lastPathComponent, "--to", bundle, "--accept-losses").code == 0, "\(version)")
        #expect(try assistant.status() == .current, "\(version)")
        continue
      }
      let name = version == 1 ? "BookmarksModel" : "BookmarksModel \(version)"
      #expect(try assistant.status() == .belowFloor, "\(version)")
      let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
      guard case .belowFloor(url.path, name, "BookmarksModel 4")? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      for command in ["plan", "rehearse", "migrate"] {
        let refused = tool(command, url.lastPathComponent, "--to", bundle, "--json")
        #expect(try refused.code == 5 && refused.failure()["code"] as? String == "belowFloor", "\(command)")
        let accepted = tool(
          command, url.lastPathComponent, "--to", bundle, "--accept-version", "--accept-losses", "--json")
        #expect(try accepted.code == 5 && accepted.failure()["code"] as? String == "belowFloor", "\(command)")
      }
      #expect(try state(url) == before, "\(version)")
    }
  }

  @Test func `a store is refused by its version's name when the model is gone, or archived beside it`() throws {
    let url = try store(2)
    let model = try Corpus.model(at: directory.file(bundle).path + "/BookmarksModel 2.xcdatamodel")
    try ModelController(storeURL: url).archive(model)
    let squashed = try tool("squash", bundle, "--floor", "BookmarksModel 4", "--json").json()
    for file in names(squashed["needlessFiles"]) { try FileManager.default.removeItem(atPath: file) }
    let before = try state(url)
    let refused = tool("migrate", url.lastPathComponent, "--to", bundle)
    #expect(refused.code == 5 && refused.error.contains("the version \"BookmarksModel 2\", which comes before"))
    #expect(try state(url) == before)
    for path in [".", bundle] {
      let check = try tool("check", path, "--json", "--objects", "2").json()
      let findings = check["findings"] as? [[String: Any]] ?? []
      #expect(findings.allSatisfy { $0["rule"] as? String != "missing-version" }, "\(path)")
      #expect(findings.count { $0["rule"] as? String == "below-floor" } == 1, "\(path)")
    }
    // Without the models there is no way down again.
    let lower = tool("squash", bundle, "--floor", "BookmarksModel 2")
    #expect(lower.code == 1 && lower.error.contains("\"BookmarksModel 2\" is missing"), "\(lower.error)")
    #expect(try ModelHistory(contentsOf: directory.file(bundle)).floor == "BookmarksModel 4")
  }

  @Test func `check tries that stores are refused, and history says so`() throws {
    #expect(tool("squash", ".", "--floor", "BookmarksModel 3").code == 0)
    let check = try tool("check", ".", "--json", "--objects", "2").json()
    let versions = check["versions"] as? [[String: Any]] ?? []
    #expect(versions.map { $0["result"] as? String }.prefix(3) == ["refused", "refused", "kept"], "\(versions)")
    // Nothing before the floor is a loss of anybody's.
    let table = try tool("history", ".", "--json").json()["versions"] as? [[String: Any]] ?? []
    #expect(table.map { $0["isRefused"] as? Bool } == table.indices.map { $0 < 2 })
    #expect(table.prefix(2).allSatisfy { ($0["losses"] as? [Any])?.isEmpty == true && $0["toCurrent"] is NSNull })
  }

  @Test func `a second run changes nothing, and the first version as floor is none`() throws {
    let lock = directory.file("lock.json")
    let unlimited = try Data(contentsOf: lock)
    #expect(tool("squash", bundle, "--floor", "BookmarksModel 2").code == 0)
    let first = try Data(contentsOf: lock)
    let again = tool("squash", bundle, "--floor", "BookmarksModel 2")
    #expect(
      try again.code == 0 && again.output.contains("\"BookmarksModel 2\" already") && Data(contentsOf: lock) == first)
    for (arguments, code) in [
      (["squash", bundle], 2), (["squash", bundle, "--floor", "Other"], 2), (["squash", "Nowhere", "--floor", "A"], 1),
    ] {
      #expect(tool.run(arguments).code == code, "\(arguments)")
    }
    #expect(try Data(contentsOf: lock) == first)
    #expect(tool("squash", bundle, "--floor", "BookmarksModel").output.contains("there is no floor any more"))
    #expect(try Data(contentsOf: lock) == unlimited)
    try FileManager.default.removeItem(at: lock)
    let unlocked = tool("squash", bundle, "--floor", "BookmarksModel 2")
    #expect(unlocked.code == 1 && unlocked.error.contains("has no lock"), "\(unlocked.error)")
  }

  @Test func `a version shipped again under a later name is no earlier one`() throws {
    let path = directory.file("lock.json").path
    var lock = try VersionLock(path: path)
    let first = try #require(lock.versions.first)
    let position = try #require(lock.versions.firstIndex { $0.name == "BookmarksModel 5" })
    lock.versions.insert(
      VersionLock.Entry(name: "Again", checksum: first.checksum, entities: first.entities), at: position)
    lock.floor = "BookmarksModel 4"
    try Data(lock.encoded()).write(to: URL(fileURLWithPath: path))
    try FileManager.default.copyItem(
      at: directory.file(bundle + "/BookmarksModel.xcdatamodel"), to: directory.file(bundle + "/Again.xcdatamodel"))
    let history = try ModelHistory(contentsOf: directory.file(bundle))
    let hashes = try #require(try history.model(named: "BookmarksModel")).versionHashes()
    #expect(history.versionBelowFloor(withHashes: hashes) == nil)
  }

  @Test func `an app that asked for it sets such a store aside, whole`() throws {
    #expect(tool("squash", bundle, "--floor", "BookmarksModel 4").code == 0)
    let url = try store(1)
    let assistant = MigrationAssistant(
      url, try ModelHistory(contentsOf: directory.file(bundle)), .init(incompatibleStore: .setAside))
    guard case .setAside(let notice) = try assistant.migrateStore() else {
      Issue.record("not set aside")
      return
    }
    #expect("\(notice)".contains("BookmarksModel 4"))
    #expect(try StoreArchive(storeURL: url).setAsideStores().count == 1)
  }
}
