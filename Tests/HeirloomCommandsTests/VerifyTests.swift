import Foundation
import Heirloom
import TestSupport
import Testing

struct VerifyTests {
  /// Notes at the first version, migrated to one with a rating.
  static func makeMigratedStore(in directory: TemporaryDirectory) throws -> URL {
    let store = try Notebook.makeStore(in: directory, count: 20)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    #expect(Tool(directory: directory.url)("migrate", store.path, "--to", model).code == 0)
    return store
  }

  private func kinds(_ outcome: Tool.Outcome, _ severities: Set<String> = ["error", "warning"]) throws -> [String] {
    let findings = try #require(try outcome.json()["findings"] as? [[String: Any]], "\(outcome.output)")
    for finding in findings { #expect(Set(finding.keys) == ["severity", "kind", "entity", "message"]) }
    return findings.filter { severities.contains($0["severity"] as? String ?? "") }.compactMap { $0["kind"] as? String }
  }

  private func path(_ store: URL, _ name: String) -> URL {
    URL(fileURLWithPath: store.path + ".heirloom").appendingPathComponent(name)
  }

  @Test func `a sound store and its previous version have no findings`() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.makeMigratedStore(in: directory)
    let tool = Tool(directory: directory.url)
    let bytes = StoreBytes(of: store)
    let outcome = tool("verify", store.path, "--json")
    #expect(outcome.code == 0, "\(outcome.output)")
    #expect(try kinds(outcome, ["error", "warning", "note"]) == [])
    #expect(try outcome.json()["modelSource"] as? String == "snapshot")
    #expect(try outcome.json()["error"] == nil)
    #expect(tool("verify", store.path).output.contains("no findings"))
    #expect(StoreBytes(of: store) == bytes)
    let versions = try FileManager.default.contentsOfDirectory(atPath: path(store, "previous").path)
    let kept = path(store, "previous/\(try #require(versions.first))/\(store.lastPathComponent)")
    let old = tool("verify", kept.path, "--json")
    #expect(old.code == 0, "\(old.output)")
    #expect(try old.json()["modelSource"] as? String == "snapshot")
  }

  @Test func `findings give exit code 6 and notes do not`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 20)
    let tool = Tool(directory: directory.url)
    func change(_ sql: String) throws {
      let connection = try Connection(path: store.path, mode: .readWrite)
      try connection.executeScript(sql)
      try connection.close()
    }
    try change("CREATE TABLE settings (name)")
    #expect(tool("verify", store.path).code == 0)
    try change("UPDATE ZNOTE SET Z_OPT = NULL WHERE Z_PK = 3")
    let warned = tool("verify", store.path)
    #expect(warned.code == 6)
    #expect(warned.output.contains("warning") && warned.output.contains("Z_PK 3"))
    #expect(warned.error == "")
    try change("UPDATE ZNOTE SET Z_ENT = 9 WHERE Z_PK = 3")
    let outcome = tool("verify", store.path, "--json")
    #expect(outcome.code == 6)
    #expect(try kinds(outcome) == ["unknownEntityNumber", "invalidLockCount"])
    #expect(try outcome.failure()["code"] as? String == "findings")
    #expect(try outcome.failure()["storeAt"] as? String == store.path)
  }

  @Test func `tables of links that Core Data would make otherwise today are notes`() throws {
    func entity(_ name: String, _ relationship: String, _ destination: String, _ inverse: String) -> EntityDescription {
      let link = Make.toMany(relationship, destination, inverse)
      return Make.entity(name, [], [link])
    }
    let model = try ManagedObjectModel(entities: [
      entity("aTag", "boxes", "Box", "tags"), entity("Box", "tags", "aTag", "boxes"),
    ])
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    try PersistentStore.create(at: store, model: model).close()
    let tool = Tool(directory: directory.url)
    #expect(try OtherJoinNames.give(to: store, relationships: ["tags", "boxes"]) == ["Z_2TAGS": "Z_1BOXES"])
    let named = tool("verify", store.path, "--json")
    #expect(named.code == 0)
    #expect(try kinds(named, ["error", "warning", "note"]) == ["otherTableName"])
    #expect(tool("verify", store.path).output.contains("Z_1BOXES holds links that Core Data looks for in Z_2TAGS"))

    let connection = try Connection(path: store.path, mode: .readWrite)
    try connection.executeScript(
      """
      DROP TABLE Z_1BOXES;
      CREATE TABLE Z_2TAGS ( Z_2BOXES, Z_1TAGS, PRIMARY KEY (Z_2BOXES, Z_1TAGS) );
      CREATE INDEX Z_2TAGS_Z_1TAGS_INDEX ON Z_2TAGS (Z_1TAGS, Z_2BOXES);
      """)
    try connection.close()
    let untyped = tool("verify", store.path, "--json")
    #expect(untyped.code == 0)
    #expect(try kinds(untyped, ["error", "warning", "note"]) == ["differentColumnType", "differentColumnType"])
    #expect(tool("verify", store.path).output.contains("Z_2TAGS.Z_1TAGS is declared without a type"))
  }

  @Test func `a model that fits makes a store without one whole`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 20, archives: false)
    let tool = Tool(directory: directory.url)
    let right = try Notebook.write(Notebook.first(), "First", in: directory)
    let wrong = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    #expect(try kinds(tool("verify", store.path, "--json")) == ["unknownModel"])
    let both = tool("verify", store.path, "--model", wrong, "--model", right, "--json")
    #expect(both.code == 0, "\(both.output)")
    #expect(try both.json()["modelSource"] as? String == "file")
    let other = tool("verify", store.path, "--model", wrong, "--json")
    #expect(other.code == 6)
    #expect(try kinds(other).contains("differentHash"))
    #expect(try other.json()["modelFits"] as? Bool == false)
  }

  @Test(arguments: [true, false])
  func `the versions beside the one that made the store are no finding`(archives: Bool) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 20, archives: archives)
    let tool = Tool(directory: directory.url)
    for (name, model) in [("V1", try Notebook.first()), ("V2", try Notebook.adding()), ("V3", try Notebook.dropping())]
    {
      #expect(tool("snapshot", try Notebook.write(model, name, in: directory), "--history", "History").code == 0)
    }
    let outcome = tool("verify", store.path, "--model", "History", "--json")
    #expect(outcome.code == 0, "\(outcome.output)")
    #expect(try kinds(outcome).isEmpty)
    #expect(try outcome.json()["modelSource"] as? String == (archives ? "snapshot" : "file"))
  }

  @Test func `an unfinished or damaged record beside the store is found`() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.makeMigratedStore(in: directory)
    let tool = Tool(directory: directory.url)
    let record = path(store, "manifest.json")
    try Data("{".utf8).write(to: record)
    #expect(try kinds(tool("verify", store.path, "--json")) == ["damagedManifest"])
    let identifier = String(repeating: "ab", count: 16)
    let manifest = VaultManifest(
      identifier: identifier, operation: .migration, storeName: store.lastPathComponent,
      keptFolder: VersionName(time: 1_795_000_000, identifier: identifier).text, oldGeneration: nil,
      newGeneration: nil, time: 1_795_000_000)
    try Data(manifest.encoded()).write(to: record)
    #expect(try kinds(tool("verify", store.path, "--json")) == ["unfinishedOperation"])
    try FileManager.default.removeItem(at: record)
    let folder = path(store, "incoming/\(identifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let outcome = tool("verify", store.path, "--json")
    #expect(outcome.code == 0)
    #expect(try kinds(outcome, ["note"]) == ["leftover"])
  }

  @Test func `a damaged previous version is found`() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.makeMigratedStore(in: directory)
    let tool = Tool(directory: directory.url)
    let versions = try FileManager.default.contentsOfDirectory(atPath: path(store, "previous").path)
    let folder = path(store, "previous/\(try #require(versions.first))")
    let kept = folder.appendingPathComponent(store.lastPathComponent)
    let bytes = try Data(contentsOf: kept)
    func severities() throws -> [String] {
      let outcome = tool("verify", store.path, "--json")
      let findings = try #require(try outcome.json()["findings"] as? [[String: Any]])
      #expect(findings.allSatisfy { $0["kind"] as? String == "damagedVersion" }, "\(findings)")
      return findings.compactMap { $0["severity"] as? String }
    }
    try (bytes + Data(repeating: 0, count: 4096)).write(to: kept)
    #expect(try severities() == ["warning"])
    try Data(repeating: 7, count: bytes.count).write(to: kept)
    #expect(try severities() == ["error"])
    try FileManager.default.removeItem(at: kept)
    #expect(try severities() == ["error"])
    try bytes.write(to: kept)
    #expect(try severities() == [])
    try Data("{}".utf8).write(to: folder.appendingPathComponent("manifest.json"))
    #expect(try severities() == ["warning"])
  }

  @Test func `a snapshot that disagrees or is damaged is found, and the store counts`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 20)
    let tool = Tool(directory: directory.url)
    let other = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let snapshot = path(store, "model.json.gz")
    try Data(contentsOf: URL(fileURLWithPath: other)).write(to: snapshot)
    let outcome = tool("verify", store.path, "--json")
    #expect(try kinds(outcome) == ["differentSnapshot"])
    #expect(try outcome.json()["modelSource"] as? String == "cache")
    try Data("nothing".utf8).write(to: snapshot)
    #expect(try kinds(tool("verify", store.path, "--json")) == ["damagedSnapshot"])
  }

  @Test func `a store in a folder that can't be written to is verified, and nothing is made beside it`() throws {
    let directory = try TemporaryDirectory()
    let folder = directory.file("fixed")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let store = try Notebook.makeStore(in: directory, count: 20, archives: false, name: "fixed/Notebook.sqlite")
    try Connection.execute("PRAGMA journal_mode = WAL", on: store.path)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path) }
    let model = try Notebook.write(Notebook.first(), "First", in: directory)
    let outcome = Tool(directory: directory.url)("verify", store.path, "--model", model)
    #expect(outcome.code == 0, "\(outcome.output) \(outcome.error)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
  }

  @Test func `no lock is needed`() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.makeMigratedStore(in: directory)
    let files = POSIXFileOperations()
    let lock = try #require(try files.lock(path(store, "lock").path, timeout: .seconds(1)))
    defer { lock.close() }
    #expect(Tool(directory: directory.url)("verify", store.path).code == 0)
    #expect(Tool(directory: directory.url)("doctor", store.path).code == 0)
  }
}
