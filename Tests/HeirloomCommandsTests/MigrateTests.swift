import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

struct MigrateTests {
  private static let keys: Set<String> = ["outcome", "from", "to", "rows", "retained", "seconds"]

  @Test func `a store is migrated, its version kept and brought back`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory)
    let model = try Notebook.write(Notebook.dropping(), "Dropping", in: directory)
    let tool = Tool(directory: directory.url)
    let outcome = tool("migrate", "Notebook.sqlite", "--to", model, "--accept-losses", "--json")
    #expect(outcome.code == 0, "\(outcome.output)")
    let json = try outcome.json()
    #expect(Self.keys.isSubset(of: json.keys))
    #expect(json["outcome"] as? String == "migrated")
    #expect(json["from"] as? String == (try Notebook.first()).versionChecksum())
    #expect(json["to"] as? String == (try Notebook.dropping()).versionChecksum())
    let rows = try #require(json["rows"] as? [[String: Any]])
    #expect(rows.map { $0["entity"] as? String } == ["Note"])
    #expect(rows[0]["before"] as? Int == 1234)
    #expect(rows[0]["after"] as? Int == 1234)
    let previous = try #require(json["retained"] as? String)
    #expect(try StoreMetadata(contentsOf: store).isCompatible(with: Notebook.dropping()))
    #expect(try ModelController(storeURL: store).snapshot()?.model == Notebook.dropping())

    let again = try tool("migrate", "Notebook.sqlite", "--to", model, "--json").json()
    #expect(again["outcome"] as? String == "upToDate")
    #expect(again["from"] as? String == again["to"] as? String)
    #expect(again["retained"] is NSNull)

    let listed = try tool("versions", "Notebook.sqlite", "--json").json()
    #expect(Set(listed.keys) == ["quarantine", "released", "setAside", "versions"])
    let versions = try #require(listed["versions"] as? [[String: Any]])
    #expect(versions.count == 1)
    #expect(
      Set(versions[0].keys) == ["id", "path", "checksum", "date", "bytes", "pinned", "interrupted", "versionName"])
    #expect(versions[0]["id"] as? String == previous)
    #expect(versions[0]["checksum"] as? String == (try Notebook.first()).versionChecksum())
    let kept = try #require(versions[0]["path"] as? String)
    let inspected = try tool("inspect", kept, "--json").json()
    #expect(inspected["modelSource"] as? String == "snapshot")
    #expect((inspected["entities"] as? [[String: Any]])?.first?["rows"] as? Int == 1234)

    let restored = try tool("restore", "Notebook.sqlite", "--version", String(previous.prefix(18)), "--json").json()
    #expect(Set(restored.keys) == ["restored", "restoredName", "retained", "pinned", "movedAside", "warnings"])
    // Its rows are in the restored store, and nothing was lost: there is nothing to pin.
    #expect(restored["pinned"] as? Bool == false)
    #expect(restored["restored"] as? String == previous)
    #expect(restored["retained"] as? String != previous)
    #expect(try StoreMetadata(contentsOf: store).isCompatible(with: Notebook.first()))
    // The store's model is beside it again.
    let back = try tool("inspect", "Notebook.sqlite", "--json").json()
    #expect(back["modelSource"] as? String == "snapshot")
    let both = try #require(try tool("versions", "Notebook.sqlite", "--json").json()["versions"] as? [[String: Any]])
    #expect(both.count == 2)
    #expect(both.allSatisfy { $0["checksum"] is String })
  }

  @Test(arguments: ["migrate", "migrate --accept-version", "repair"], [false, true])
  func `a command that writes refuses a store in a folder of kept ones`(command: String, isLinked: Bool) throws {
    let directory = try TemporaryDirectory()
    let store = try VerifyTests.makeMigratedStore(in: directory)
    let version = try #require(try StoreArchive(storeURL: store).previousVersions().first)
    let kept = version.storeURL
    let folder = kept.deletingLastPathComponent().path
    var named = kept
    if isLinked {
      named = directory.file("link.sqlite")
      try FileManager.default.createSymbolicLink(at: named, withDestinationURL: kept)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    let bytes = StoreBytes(of: kept)
    let words = command.split(separator: " ").map(String.init)
    let model = words[0] == "migrate" ? ["--to", directory.file("Adding.json").path] : []
    let outcome = Tool(directory: directory.url).run(words + [named.path, "--json"] + model)
    #expect(outcome.code == 1)
    #expect(try outcome.failure()["code"] as? String == "unfitLocation", "\(outcome.output)")
    let message = try #require(try outcome.failure()["message"] as? String)
    #expect(message.contains("is kept in the folder \"previous\""), "\(message)")
    #expect(StoreBytes(of: kept) == bytes)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == names)
    #expect(Tool(directory: directory.url)("verify", named.path).code == 0)
  }

  @Test func `more versions are kept on request, and older ones go with a later run`() throws {
    let directory = try TemporaryDirectory()
    _ = try Notebook.makeStore(in: directory, count: 3)
    let adding = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let dropping = try Notebook.write(Notebook.dropping(), "Dropping", in: directory)
    let tool = Tool(directory: directory.url)
    func versionCount() throws -> Int? {
      (try tool("versions", "Notebook.sqlite", "--json").json()["versions"] as? [Any])?.count
    }
    for model in [adding, dropping, dropping] {
      #expect(tool("migrate", "Notebook.sqlite", "--to", model, "--accept-losses", "--keep", "2").code == 0)
    }
    #expect(try versionCount() == 2)
    #expect(tool("migrate", "Notebook.sqlite", "--to", dropping).code == 0)
    #expect(try versionCount() == 1)
  }

  @Test func `several stores are migrated, whatever becomes of one`() throws {
    let directory = try TemporaryDirectory()
    _ = try Notebook.makeStore(in: directory, count: 3, name: "A.sqlite")
    _ = try Notebook.makeStore(in: directory, count: 4, name: "C.sqlite")
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let outcome = Tool(directory: directory.url)(
      "migrate", "A.sqlite", "B.sqlite", "C.sqlite", "--to", model, "--json")
    #expect(outcome.code == 1)
    let stores = try #require(try outcome.json()["stores"] as? [[String: Any]])
    #expect(stores.map { $0["outcome"] as? String } == ["migrated", "noStore", "migrated"])
    #expect(stores.map { $0["error"] != nil } == [false, true, false])
    #expect(try outcome.failure()["code"] as? String == "missing")
    let text = Tool(directory: directory.url)("migrate", "A.sqlite", "B.sqlite", "--to", model)
    #expect(text.code == 1)
    #expect(text.output.contains("nothing to do"))
    #expect(text.error.components(separatedBy: "heirloom:").count == 2)
  }

  @Test(arguments: ["plan", "rehearse", "migrate"])
  func `a newer store is left alone unless its version and its losses are accepted`(command: String) throws {
    let directory = try TemporaryDirectory()
    let story = Tool.snapshots.appendingPathComponent("Done/Done.xcdatamodeld")
    let url = directory.file("Done.sqlite")
    let model = try ModelHistory(contentsOf: story).current
    try PersistentStore.make(at: url, model: model) { context in
      try context.insert("User").setValue(.string("Ada"), forAttribute: "name")
    }
    let bytes = StoreBytes(of: url)
    let tool = Tool(directory: directory.url)
    let second = story.appendingPathComponent("Done 2.xcdatamodel").path
    let third = Tool.snapshots.appendingPathComponent("Done/Done 3.json").path
    for more in [[], ["--model", story.path], ["--model", third]] {
      let refused = tool.run([command, "Done.sqlite", "--to", second, "--json"] + more)
      #expect(refused.code == 5)
      #expect(try refused.failure()["code"] as? String == "newerVersion")
      #expect(try refused.failure()["coreDataCode"] as? Int == 134_100)
      #expect(StoreBytes(of: url) == bytes)
    }
    for flag in ["--accept-losses", "--accept-version"] {
      // One flag doesn't imply the other: whose store it is, and what it loses.
      #expect(tool(command, "Done.sqlite", "--to", second, flag).code == (flag == "--accept-losses" ? 5 : 3))
    }
    let accepted = tool(
      command, "Done.sqlite", "--to", second, "--accept-version", "--accept-losses", "--json")
    #expect(accepted.code == 0, "\(accepted.output)")
    if command == "migrate" {
      #expect(try accepted.json()["outcome"] as? String == "migrated")
    } else {
      let losses = try #require(try accepted.json()["losses"] as? [[String: Any]])
      #expect(losses.map { $0["entity"] as? String } == ["User"])
    }
  }

  @Test func `a refused migration lists everything that is to be settled`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 42)
    let converting = try Notebook.write(Notebook.converting(), "Converting", in: directory)
    let requiring = try Notebook.write(Notebook.requiring(), "Requiring", in: directory)
    let bytes = StoreBytes(of: store)
    let tool = Tool(directory: directory.url)
    let mapping = tool("migrate", "Notebook.sqlite", "--to", converting, "--json")
    #expect(mapping.code == 3)
    #expect((try mapping.json()["obstacles"] as? [Any])?.count == 2)
    let text = tool("migrate", "Notebook.sqlite", "--to", converting)
    #expect(text.code == 3)
    #expect(text.error.components(separatedBy: "\n  – ").count == 3)
    let decision = tool("migrate", "Notebook.sqlite", "--to", requiring, "--json")
    #expect(decision.code == 3)
    let blockers = try #require(try decision.json()["blockers"] as? [[String: Any]])
    #expect(blockers.map { $0["rows"] as? Int } == [42])
    #expect(tool("migrate", "Notebook.sqlite", "--to", requiring).error.contains("42 rows"))
    #expect(StoreBytes(of: store) == bytes)
  }

  @Test func `a store that is lost is found among the versions that are kept`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 42)
    let adding = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let tool = Tool(directory: directory.url)
    #expect(tool("migrate", "Notebook.sqlite", "--to", adding).code == 0)
    try FileManager.default.removeItem(at: store)
    let lost = tool("migrate", "Notebook.sqlite", "--to", adding, "--json")
    #expect(lost.code == 1)
    #expect(try lost.json()["outcome"] as? String == "noStore")
    #expect((try lost.failure()["suggestion"] as? String)?.contains("heirloom restore") == true)
    let restored = try tool("restore", "Notebook.sqlite", "--json").json()
    #expect(restored["retained"] is NSNull)
    let entities = try tool("inspect", "Notebook.sqlite", "--json").json()["entities"] as? [[String: Any]]
    #expect(entities?.first?["rows"] as? Int == 42)
  }

  @Test func `a migration that is stopped leaves the store as it was`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, archives: false)
    // The wrong snapshot makes the assistant say something, at which the user stops it.
    try ModelController(snapshotURL: directory.file("wrong.json.gz")).archive(Notebook.adding())
    let companion = store.path + ".heirloom"
    try FileManager.default.createDirectory(atPath: companion, withIntermediateDirectories: false)
    try FileManager.default.copyItem(
      atPath: directory.file("wrong.json.gz").path, toPath: companion + "/model.json.gz")
    let dropping = try Notebook.write(Notebook.dropping(), "Dropping", in: directory)
    let first = try Notebook.write(Notebook.first(), "First", in: directory)
    let bytes = StoreBytes(of: store)
    var tool = Tool(directory: directory.url)
    let interruption = tool.interruption
    tool.onError = { _ in interruption.interrupt() }
    let outcome = tool("migrate", "Notebook.sqlite", "--to", dropping, "--model", first, "--accept-losses", "--json")
    #expect(outcome.error.contains("snapshot is of another version"))
    #expect(outcome.code == 130)
    #expect(try outcome.failure()["code"] as? String == "cancelled")
    #expect(StoreBytes(of: store) == bytes)
    let later = Tool(directory: directory.url)(
      "migrate", "Notebook.sqlite", "--to", dropping, "--model", first, "--accept-losses", "--json")
    #expect(try later.json()["outcome"] as? String == "migrated")
  }
}

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct MigrateCorpusTests {
  @Test func `a store of Wire is migrated to what Core Data made of it`() throws {
    let directory = try TemporaryDirectory()
    let project = "wire-ios-data-model"
    let store = try Corpus.copyStore("\(project)/stores/store2-30-0.wiredatabase", to: directory)
    let model = try Corpus.modelURL("zmessaging2.31.0", in: project)
    let tool = Tool(directory: directory.url)
    let outcome = tool("migrate", store.path, "--to", model.path, "--accept-losses", "--json")
    #expect(outcome.code == 0, "\(outcome.output)")
    let rows = try #require(try outcome.json()["rows"] as? [[String: Any]])
    func count(_ key: String) -> Int { rows.reduce(0) { $0 + ($1[key] as? Int ?? 0) } }
    #expect(count("before") == 99)
    #expect(count("after") == 99)

    let other = try TemporaryDirectory()
    let expected = try Corpus.copyStore("\(project)/stores/store2-31-0.wiredatabase", to: other)
    func entities(_ url: URL) throws -> NSArray {
      try #require(try tool("inspect", url.path, "--json").json()["entities"] as? NSArray)
    }
    #expect(try entities(store) == entities(expected))
    let again = try tool("migrate", store.path, "--to", model.path, "--json").json()
    #expect(again["outcome"] as? String == "upToDate")
    let versions = try #require(try tool("versions", store.path, "--json").json()["versions"] as? [[String: Any]])
    let kept = try #require(versions.first?["path"] as? String)
    let original = try Corpus.copyStore("\(project)/stores/store2-30-0.wiredatabase", to: other)
    #expect(try entities(URL(fileURLWithPath: kept)) == entities(original))
  }

  @Test func `an unknown store that would lose something is left alone unless that is accepted`() throws {
    let directory = try TemporaryDirectory()
    let store = try Corpus.copyStore("wire-ios-data-model/stores/store2-30-0.wiredatabase", to: directory)
    let own = try #require(try StoreModelCache.model(inStoreAt: store))
    var entities = own.entities
    let user = try #require(entities.firstIndex { $0.name == "User" })
    entities[user].attributes.removeAll { $0.name == "name" }
    let lesser = try ManagedObjectModel(entities: entities, versionIdentifiers: own.versionIdentifiers)
    let model = try Notebook.write(lesser, "Lesser", in: directory)
    let bytes = StoreBytes(of: store)
    let tool = Tool(directory: directory.url)
    for command in ["plan", "rehearse", "migrate"] {
      let refused = tool(command, store.path, "--to", model, "--json")
      #expect(refused.code == 5, "\(refused.output)")
      let failure = try refused.failure()
      #expect(failure["code"] as? String == "unknownVersion")
      #expect(failure["storeAt"] as? String == store.path)
      #expect((failure["suggestion"] as? String)?.contains("--accept-version") == true)
      #expect(StoreBytes(of: store) == bytes)
    }
    let accepted = tool(
      "migrate", store.path, "--to", model, "--accept-version", "--accept-losses", "--json")
    #expect(accepted.code == 0, "\(accepted.output)")
    #expect(try accepted.json()["outcome"] as? String == "migrated")
  }

  @Test func `version names stand beside checksums, and in their place where people read`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 3, archives: false)
    let tool = Tool(directory: directory.url)
    let first = try Notebook.write(Notebook.first(), "Notebook", in: directory)
    let second = try Notebook.write(Notebook.adding(), "Notebook 2", in: directory)
    let planned = try tool("plan", store.path, "--to", second, "--model", first, "--json").json()
    #expect(planned["fromName"] as? String == "Notebook" && planned["toName"] as? String == "Notebook 2")
    let migrated = try tool("migrate", store.path, "--to", second, "--model", first, "--json").json()
    #expect(migrated["fromName"] as? String == "Notebook" && migrated["toName"] as? String == "Notebook 2")
    let checksum = try Notebook.first().versionChecksum()
    #expect(migrated["from"] as? String == checksum)
    func versions(_ more: String...) throws -> (text: String, json: [[String: Any]]) {
      let json = try tool.run(["versions", store.path, "--json"] + more).json()
      return (tool.run(["versions", store.path] + more).output, json["versions"] as? [[String: Any]] ?? [])
    }
    let listed = try versions()
    #expect(listed.text.contains("\"Notebook\"") && !listed.text.contains(checksum), "\(listed.text)")
    #expect(listed.json.map { $0["versionName"] as? String } == ["Notebook"])
    #expect(listed.json.map { $0["checksum"] as? String } == [checksum])
    #expect(tool("doctor", store.path).output.contains("\"Notebook\""))
    // A version that was kept before names were, or without a history, has its model's name from --model.
    let manifest = URL(fileURLWithPath: try #require(listed.json[0]["path"] as? String))
      .deletingLastPathComponent().appendingPathComponent("manifest.json")
    let text = try String(contentsOf: manifest, encoding: .utf8)
    try Data(text.replacing(/"versionName\w*"\s*:\s*"[^"]*",?/, with: "").utf8).write(to: manifest)
    let unnamed = try versions()
    #expect(unnamed.text.contains("\(checksum.prefix(8))…") && !unnamed.text.contains(checksum), "\(unnamed.text)")
    #expect(unnamed.json.map { $0["versionName"] is NSNull } == [true])
    #expect(try versions("--model", first).text.contains("\"Notebook\""))
    let restored = tool("restore", store.path, "--json")
    #expect(try restored.json()["restored"] as? String == listed.json[0]["id"] as? String, "\(restored.output)")
  }
}
