import Foundation
import Heirloom
import TestSupport
import Testing

struct InspectTests {
  @Test func `a store is shown with its model, hashes and rows`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory)
    let json = try Tool(directory: directory.url)("inspect", "Notebook.sqlite", "--json").json()
    #expect(json["kind"] as? String == "store")
    #expect(json["modelSource"] as? String == "snapshot")
    let model = try Notebook.first()
    #expect(json["versionChecksum"] as? String == model.versionChecksum())
    #expect(json["versionIdentifiers"] as? [String] == [])
    let entities = try #require(json["entities"] as? [[String: Any]])
    #expect(entities.count == 1)
    #expect(Set(entities[0].keys) == ["name", "superentity", "versionHash", "storedHash", "rows"])
    #expect(entities[0]["rows"] as? Int == 1234)
    #expect(entities[0]["versionHash"] as? String == model.versionHashes()["Note"]?.description)
    #expect(entities[0]["storedHash"] as? String == model.versionHashes()["Note"]?.description)
    #expect(entities[0]["superentity"] is NSNull)

    let text = Tool(directory: directory.url)("inspect", store.path)
    #expect(text.code == 0)
    #expect(text.output.contains("holds        1,234 objects in 1 entity"))
    #expect(text.output.contains("1 of 1 computed hashes equal the stored ones"))
    #expect(!text.output.contains("\u{1B}"))
    #expect(text.error.isEmpty)
  }

  @Test func `a store without a model shows what its metadata have`() throws {
    let directory = try TemporaryDirectory()
    _ = try Notebook.makeStore(in: directory, count: 7, archives: false)
    let tool = Tool(directory: directory.url)
    let json = try tool("inspect", "Notebook.sqlite", "--json").json()
    #expect(json["modelSource"] as? String == "none")
    let entities = try #require(json["entities"] as? [[String: Any]])
    #expect(entities.map { $0["rows"] as? Int } == [7])
    #expect(entities[0]["versionHash"] is NSNull)
    #expect(entities[0]["storedHash"] as? String == (try Notebook.first()).versionHashes()["Note"]?.description)

    // A given model helps only if it fits.
    _ = try Notebook.write(Notebook.first(), "First", in: directory)
    _ = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let fitting = try tool("inspect", "Notebook.sqlite", "--model", "Adding.json", "--model=First.json", "--json")
      .json()
    #expect(fitting["modelSource"] as? String == "file")
    #expect(fitting["versionName"] as? String == "First")
    let other = try tool("inspect", "Notebook.sqlite", "--model", "Adding.json", "--json").json()
    #expect(other["modelSource"] as? String == "none")
  }

  @Test func `a snapshot of another version than the store is told of and not used`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 1, archives: false)
    let companion = URL(fileURLWithPath: store.path + ".heirloom")
    try FileManager.default.createDirectory(at: companion, withIntermediateDirectories: false)
    try ModelSnapshot(model: Notebook.adding()).encoded(.compressed)
      .write(to: companion.appendingPathComponent("model.json.gz"))
    let outcome = Tool(directory: directory.url)("inspect", "Notebook.sqlite")
    #expect(outcome.code == 0)
    #expect(outcome.output.contains("is of another version than the store"))
    #expect(outcome.output.contains("none found that fits"))
  }

  @Test func `looking at a store leaves nothing beside it`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory)
    _ = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
    let bytes = StoreBytes(of: store)
    let tool = Tool(directory: directory.url, environment: ["TMPDIR": NSTemporaryDirectory()])
    for arguments in [
      ["inspect", "Notebook.sqlite"], ["compare", "Notebook.sqlite", "Adding.json"],
      ["plan", "Notebook.sqlite", "--to", "Adding.json"], ["rehearse", "Notebook.sqlite", "--to", "Adding.json"],
      ["versions", "Notebook.sqlite"],
    ] {
      #expect(tool.run(arguments).code == 0, "\(arguments)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted() == names, "\(arguments)")
      #expect(StoreBytes(of: store) == bytes, "\(arguments)")
    }
  }

  @Test(arguments: [
    ("Done/Done.xcdatamodeld", "xcdatamodel", "file"),
    ("Done/Done.xcdatamodeld/Done 2.xcdatamodel", "xcdatamodel", "file"), ("Done/Done.json", "snapshot", "snapshot"),
    ("Done", "snapshot", "file"),
  ])
  func `models of each kind are shown`(path: String, kind: String, source: String) throws {
    let json = try Tool(directory: Tool.snapshots)("inspect", path, "--json").json()
    #expect(json["kind"] as? String == kind)
    #expect(json["modelSource"] as? String == source)
    let entities = try #require(json["entities"] as? [[String: Any]])
    let item = try #require(entities.first { $0["name"] as? String == "Item" })
    #expect((item["versionHash"] as? String)?.count == 64)
    #expect(item["rows"] is NSNull)
    #expect((item["storedHash"] is NSNull) == (path != "Done/Done.json"))
    #expect(Tool(directory: Tool.snapshots)("inspect", path).output.contains("Item"))
  }
}

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct InspectCorpusTests {
  @Test func `computed hashes equal those of every store that holds its model`() throws {
    var (stores, withCache, equal, total, digests, checksums) = (0, 0, 0, 0, 0, 0)
    for path in Corpus.storePaths {
      let directory = try TemporaryDirectory()
      let url = try Corpus.copyStore(path, to: directory)
      let outcome = Tool(directory: directory.url)("inspect", url.path, "--json")
      #expect(outcome.code == 0, "\(path): \(outcome.output)")
      let json = try outcome.json()
      stores += 1
      let entities = try #require(json["entities"] as? [[String: Any]])
      #expect(entities.allSatisfy { $0["storedHash"] is String && $0["rows"] is Int }, "\(path)")
      guard json["modelSource"] as? String == "cache" else {
        #expect(json["modelSource"] as? String == "none", "\(path)")
        continue
      }
      withCache += 1
      total += entities.count
      equal += entities.count { $0["versionHash"] as? String == $0["storedHash"] as? String }
      if let stored = json["storedDigest"] as? String {
        #expect(json["versionHashesDigest"] as? String == stored, "\(path)")
        digests += 1
      }
      if let stored = json["storedChecksum"] as? String {
        #expect(json["versionChecksum"] as? String == stored, "\(path)")
        checksums += 1
      }
    }
    print(
      "inspect: \(equal) of \(total) entity hashes are right in \(withCache) of \(stores) stores;"
        + " \(digests) digests and \(checksums) checksums as stored")
    #expect(stores == 57)
    #expect(withCache == 56)
    #expect(equal == 496)
    #expect(total == 496)
    #expect(digests > 0)
    #expect(checksums > 0)
  }

  @Test func `the tutorial's hash is found in its model`() throws {
    let url = try Corpus.modelURL("Done", in: "tutsplus-done")
    let json = try Tool(directory: url)("inspect", url.path, "--json").json()
    let entities = try #require(json["entities"] as? [[String: Any]])
    let item = try #require(entities.first { $0["name"] as? String == "Item" })
    #expect(item["versionHash"] as? String == "4c8802263219fc66283b28c554f026dc7f95af5fc19fb76e255a26a72a2a79f5")
  }

  @Test func `a store's hashes come from the model's source as well`() throws {
    let directory = try TemporaryDirectory()
    let store = try Corpus.copyStore("wire-ios-data-model/stores/store2-30-0.wiredatabase", to: directory)
    let model = try Corpus.modelURL("zmessaging2.30.0", in: "wire-ios-data-model")
    let json = try Tool(directory: directory.url)("inspect", store.path, "--model", model.path, "--json").json()
    #expect(json["modelSource"] as? String == "file")
    #expect(json["versionName"] as? String == "zmessaging2.30.0")
    let entities = try #require(json["entities"] as? [[String: Any]])
    #expect(entities.count == 18)
    #expect(entities.allSatisfy { $0["versionHash"] as? String == $0["storedHash"] as? String })
  }

  @Test func `compiled models are shown`() throws {
    let path = try #require(Corpus.compiledModelPaths.first { $0.contains(".momd/") })
    for path in [path, (path as NSString).deletingLastPathComponent] {
      let json = try Tool(directory: Corpus.folder)("inspect", path, "--json").json()
      #expect(json["kind"] as? String == "compiledModel")
      #expect(json["modelSource"] as? String == "file")
      #expect((json["entities"] as? [Any])?.isEmpty == false)
    }
  }

  @Test(arguments: [
    ("magicalrecord/models/Recipes.xcdatamodeld/Recipes.xcdatamodel", "Xcode before 4.3"),
    ("magicalrecord/models/Recipes.xcdatamodeld", "Xcode before 4.3"),
  ])
  func `old binary models are refused with what to use instead`(path: String, words: String) throws {
    let outcome = Tool(directory: Corpus.folder)("inspect", path, "--json")
    #expect(outcome.code == 1)
    let failure = try outcome.failure()
    #expect((failure["message"] as? String)?.contains(words) == true)
    #expect((failure["suggestion"] as? String)?.contains(".mom") == true)
  }
}
