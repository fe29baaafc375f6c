import Foundation
import Heirloom
import HeirloomStore
import HeirloomVault
import TestSupport
import Testing

struct RepairTests {
  private func manifest(_ store: URL) -> String { store.path + ".heirloom/manifest.json" }

  @Test(arguments: ["{", "", "{\"format\": 99}"])
  func `a damaged record stops a migration until it is repaired, and nothing is lost`(record: String) throws {
    let directory = try TemporaryDirectory()
    let store = try VerifyTests.makeMigratedStore(in: directory)
    let tool = Tool(directory: directory.url)
    let versions = try tool("versions", store.path, "--json").json()["versions"] as? [[String: Any]]
    let bytes = try Data(contentsOf: store)
    try Data(record.utf8).write(to: URL(fileURLWithPath: manifest(store)))
    let stopped = tool("restore", store.path, "--json")
    #expect(stopped.code == 1)
    #expect(stopped.output.contains("heirloom repair"))
    #expect(tool("doctor", store.path).output.contains("heirloom repair"))
    #expect(try Data(contentsOf: store) == bytes)

    let repaired = tool("repair", store.path, "--json")
    #expect(repaired.code == 0, "\(repaired.output)")
    let moved = try #require(try repaired.json()["movedAside"] as? String)
    #expect(try Data(contentsOf: URL(fileURLWithPath: moved)) == Data(record.utf8))
    #expect(!FileManager.default.fileExists(atPath: manifest(store)))
    #expect(try Data(contentsOf: store) == bytes)
    let left = try tool("versions", store.path, "--json").json()["versions"] as? [[String: Any]]
    #expect(left?.count == versions?.count && left?.isEmpty == false)
    #expect(tool("restore", store.path).code == 0)

    let again = tool("repair", store.path, "--json")
    #expect(again.code == 0)
    #expect(try again.json()["movedAside"] is NSNull)
  }

  @Test(arguments: [false, true])
  func `a damaged or missing store with a damaged record comes back from its previous version`(isGone: Bool) throws {
    let directory = try TemporaryDirectory()
    let store = try VerifyTests.makeMigratedStore(in: directory)
    let tool = Tool(directory: directory.url)
    try Data("{".utf8).write(to: URL(fileURLWithPath: manifest(store)))
    try FileManager.default.removeItem(at: store)
    if !isGone { try Data("no store any more, whatever it was before".utf8).write(to: store) }
    #expect(tool("restore", store.path).code == 1)
    let repaired = tool("repair", store.path)
    #expect(repaired.code == 0, "\(repaired.output)")
    #expect(tool("restore", store.path).code == 0)
    #expect(tool("verify", store.path).code == 0)
  }

  @Test func `where a store is missing since a restoration failed, each command of the error works`() throws {
    for turn in 0..<2 {
      let directory = try TemporaryDirectory()
      let tool = Tool(directory: directory.url)
      let store = try VerifyTests.makeMigratedStore(in: directory)
      func rows(_ url: URL) throws -> [[SQLiteValue]] {
        return try Connection(reading: url).rows("SELECT * FROM ZNOTE ORDER BY Z_PK")
      }
      let before = try rows(store)
      _ = try StoreVault(StoreLocation(resolving: store.path, files: POSIXFileOperations())).setStoreAside(
        isReplaced: true)
      let models = Tool.snapshots.appendingPathComponent("Done").path
      let stopped = tool("migrate", store.path, "--to", models)
      #expect(stopped.code == 1 && !FileManager.default.fileExists(atPath: store.path), "\(stopped)")
      let commands = PrintedCommand.all(in: stopped.error)
      #expect(commands.map { $0.words[0] } == ["versions", "repair"], "\(stopped.error)")
      guard turn < commands.count else { continue }
      let outcome = tool.run(commands[turn].words)
      #expect(outcome.code == 0, "\(outcome)")
      if turn == 0 {
        #expect(outcome.output.contains("1 store moved aside"), "\(outcome.output)")
        #expect(tool("restore", store.path).code == 0 && FileManager.default.fileExists(atPath: store.path))
      } else {
        let set = try #require(try StoreArchive(storeURL: store).setAsideStores().first)
        #expect(try rows(set.storeURL) == before && !before.isEmpty)
        // Nothing waits any more.
        #expect(!tool("migrate", store.path, "--to", models).error.contains("repair"))
      }
    }
  }

  @Test func `repair needs a store, and writes nothing beside one that is well`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    #expect(tool("repair").code == 2)
    #expect(tool("repair", "nothing.sqlite").code == 1)
    let text = directory.file("text.sqlite")
    try Data("just words".utf8).write(to: text)
    #expect(tool("repair", text.path).code == 1)
    let store = try Notebook.makeStore(in: directory, count: 3)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    let outcome = tool("repair", store.path)
    #expect(outcome.code == 0 && outcome.output.contains("nothing to repair"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted() == names.sorted())
  }
}
