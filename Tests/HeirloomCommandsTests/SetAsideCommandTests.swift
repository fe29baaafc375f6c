import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

struct SetAsideCommandTests {
  private struct Scene {
    let directory: TemporaryDirectory
    let store: URL
    var tool: Tool { Tool(directory: directory.url) }
    let adding: String
    let id: String

    init() throws {
      directory = try TemporaryDirectory()
      store = try Notebook.makeStore(in: directory, count: 40)
      adding = try Notebook.write(Notebook.adding(), "Adding", in: directory)
      id = try Notebook.setAside(store).id
    }

    func count() throws -> Int {
      let opened = try PersistentStore.open(at: store, model: try Notebook.adding(), isReadOnly: true)
      defer { try? opened.close() }
      return try ManagedObjectContext(store: opened).count(ObjectFetchRequest("Note"))
    }
  }

  @Test func `a store that was moved aside is listed, brought back once, and what was there is kept`() throws {
    let scene = try Scene()
    let listed = try scene.tool("versions", "Notebook.sqlite", "--json").json()
    let sets = try #require(listed["setAside"] as? [[String: Any]])
    #expect(sets.count == 1)
    #expect(
      Set(sets[0].keys) == ["id", "path", "checksum", "date", "code", "reason", "returned", "replaced", "versionName"])
    #expect(sets[0]["id"] as? String == scene.id)
    #expect(sets[0]["checksum"] as? String == (try Notebook.first()).versionChecksum())
    #expect(sets[0]["code"] as? String == "mappingNeeded")
    #expect(sets[0]["returned"] as? Bool == false)
    #expect(scene.tool("versions", "Notebook.sqlite").output.contains("--set-aside"))

    try PersistentStore.create(at: scene.store, model: try Notebook.adding()).close()
    // A model that does not help changes nothing.
    let converting = try Notebook.write(Notebook.converting(), "Converting", in: scene.directory)
    let refused = scene.tool("restore", "Notebook.sqlite", "--set-aside", scene.id, "--to", converting)
    #expect(refused.code == 3, "\(refused.output)")
    #expect(try scene.count() == 0)

    let prefix = String(scene.id.prefix(10))
    let back = try scene.tool(
      "restore", "Notebook.sqlite", "--set-aside", prefix, "--to", scene.adding, "--json"
    ).json()
    #expect(back["outcome"] as? String == "returned")
    #expect(back["restored"] as? String == scene.id)
    let previous = try #require(back["retained"] as? String)
    #expect(try scene.count() == 40)
    let again = try scene.tool(
      "restore", "Notebook.sqlite", "--set-aside", prefix, "--to", scene.adding, "--json"
    ).json()
    #expect(again["outcome"] as? String == "returnedBefore")
    #expect(again["retained"] as? String == previous)
    let after = try scene.tool("versions", "Notebook.sqlite", "--json").json()
    #expect((after["versions"] as? [[String: Any]])?.map { $0["id"] as? String } == [previous])
    let returned = try #require(after["setAside"] as? [[String: Any]]).first
    #expect(returned?["returned"] as? Bool == true)
    #expect(returned?["replaced"] as? String == previous)
    #expect(scene.tool("restore", "Notebook.sqlite", "--version", previous).code == 0)
    #expect(try scene.count() == 0)
  }

  @Test func `says what is wrong with the arguments`() throws {
    let scene = try Scene()
    #expect(scene.tool("restore", "Notebook.sqlite", "--set-aside", "1999", "--to", scene.adding).code == 1)
    #expect(scene.tool("restore", "Notebook.sqlite", "--set-aside", scene.id).code == 2)
    #expect(scene.tool("restore", "Notebook.sqlite", "--to", scene.adding).code == 2)
    #expect(
      scene.tool("restore", "Notebook.sqlite", "--set-aside", scene.id, "--version", "2", "--to", scene.adding).code
        == 2)
    #expect(!FileManager.default.fileExists(atPath: scene.store.path))
  }
}
