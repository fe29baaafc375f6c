import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

struct PlanTests {
  private static let keys: Set<String> = [
    "verdict", "changes", "obstacles", "renames", "steps", "losses", "blockers", "decisions", "rowsRewritten",
    "deferred",
    "configuration", "bytesNeeded", "bytesReserved", "fromName", "toName", "seconds", "builder", "warnings",
  ]

  @Test(arguments: ["plan", "rehearse"])
  func `losses are counted and nothing is changed`(command: String) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory)
    let model = try Notebook.write(Notebook.dropping(), "Dropping", in: directory)
    let bytes = StoreBytes(of: store)
    let tool = Tool(directory: directory.url)
    let outcome = tool(command, "Notebook.sqlite", "--to", model, "--accept-losses", "--json")
    #expect(outcome.code == 0, "\(outcome.output)")
    let json = try outcome.json()
    #expect(Set(json.keys) == Self.keys)
    #expect(json["verdict"] as? String == "lightweight")
    #expect(json["builder"] as? String == "cloneAndAlter")
    #expect(json["rowsRewritten"] as? Int == 1234)
    #expect(json["bytesNeeded"] as? Int ?? 0 > 0)
    #expect(json["seconds"] as? Double ?? 0 > 0)
    #expect((json["blockers"] as? [Any])?.isEmpty == true)
    #expect((json["steps"] as? [[String: Any]])?.isEmpty == false)
    let losses = try #require(json["losses"] as? [[String: Any]])
    #expect(losses.count == 1)
    #expect(Set(losses[0].keys) == ["kind", "entity", "property", "rows", "links", "consented", "consent"])
    #expect(losses[0]["entity"] as? String == "Note")
    #expect(losses[0]["property"] as? String == "mood")
    #expect(losses[0]["rows"] as? Int == 617)

    let text = tool(command, "Notebook.sqlite", "--to", model, "--accept-losses")
    #expect(text.output.contains("617 rows: \"Note.mood\" is removed"))
    #expect(text.output.contains("1,234"))
    #expect(StoreBytes(of: store) == bytes)
  }

  @Test func `a plan opens with a person's data and ends with its steps`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory)
    var entities = try Notebook.first().entities
    let title = try #require(entities[0].attributes.firstIndex { $0.name == "title" })
    (entities[0].attributes[title].name, entities[0].attributes[title].renamingIdentifier) = ("heading", "title")
    entities[0].attributes.removeAll { $0.name == "mood" }
    entities[0].attributes.append(AttributeDescription(name: "author", type: .string))
    let model = try Notebook.write(ManagedObjectModel(entities: entities), "Renamed", in: directory)
    let outcome = Tool(directory: directory.url)("plan", store.path, "--to", model)
    let titles = [
      "What stays:", "What is lost (the previous version keeps it):", "What is renamed:", "What you must decide:",
      "It takes about", "Nothing was changed.", "Steps",
    ]
    let lines = outcome.output.split(separator: "\n")
    let found = titles.map { title in lines.firstIndex { $0.hasPrefix(title) } }
    #expect(!found.contains(nil) && found.compactMap(\.self) == found.compactMap(\.self).sorted(), "\(outcome.output)")
    let words = [
      "Note     1,234  1,234", "617 rows: \"Note.mood\" is removed", "heading: renamed from \"title\"",
      "1,234 rows: \"Note.author\"", "--decide Note.author=fill:unknown or --decide Note.author=quarantine",
      "(needs consent)", "1 loss above needs consent, or a mapping that keeps the content",
    ]
    for text in words { #expect(outcome.output.contains(text), "\(text): \(outcome.output)") }
    // The store's own bookkeeping is made anew each time, and is told once.
    #expect(!outcome.output.contains("Drop Z_") && !outcome.output.contains("1. Drop"), "\(outcome.output)")
  }

  @Test func `what an app's delegate prints of a plan ends with its steps, and a migration tells as a plan does`()
    throws
  {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 10)
    func lines(to model: ManagedObjectModel) throws -> [String] {
      let history = ModelHistory(current: model, earlier: [("1", try Notebook.first())])
      let assistant = MigrationAssistant(store, history)
      return try #require(try assistant.plan()).description.split(separator: "\n").map(String.init)
    }
    let (dropping, adding) = (try lines(to: Notebook.dropping()), try lines(to: Notebook.adding()))
    #expect(dropping.first == "lost: 5 rows of Note.mood" && dropping.last?.hasPrefix("Migration by") == true)
    #expect(adding.first == "Nothing of 10 objects is lost." && adding.count == 2)

    var entities = try Notebook.dropping().entities
    (entities[0].attributes[0].name, entities[0].attributes[0].renamingIdentifier) = ("heading", "title")
    let model = try Notebook.write(ManagedObjectModel(entities: entities), "Renamed", in: directory)
    let text = Tool(directory: directory.url)("migrate", store.path, "--to", model, "--accept-losses").output
    let told = ["What stays:", "What is lost", "5 rows: \"Note.mood\" is removed", "What is renamed:", "is kept as"]
    let places = told.map { text.range(of: $0)?.lowerBound }
    #expect(!places.contains(nil) && places.compactMap(\.self) == places.compactMap(\.self).sorted(), "\(text)")
  }

  @Test func `the space that is told is what this store needs`() throws {
    let directory = try TemporaryDirectory()
    _ = try Notebook.makeStore(in: directory, count: 10)
    _ = try Notebook.makeStore(in: directory, count: 20_000, name: "Large.sqlite")
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let tool = Tool(directory: directory.url)
    for name in ["Notebook.sqlite", "Large.sqlite"] {
      let size = try #require(try directory.file(name).resourceValues(forKeys: [.fileSizeKey]).fileSize)
      let json = try tool("plan", name, "--to", model, "--json").json()
      let (needed, reserved) = (json["bytesNeeded"] as? Int ?? 0, json["bytesReserved"] as? Int ?? 0)
      #expect(reserved == 64 << 20 && needed - reserved >= size && needed - reserved <= size + size / 4)
      let text = tool("plan", name, "--to", model).output
      let told = "\(CountText.size(Int64(needed - reserved))) of free space"
      #expect(text.contains(told) && text.contains("another 67.1 MB must stay free"), "\(text)")
    }
  }

  @Test func `all that the store holds is listed on request, hop by hop`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory)
    let model = try Notebook.write(Notebook.dropping(), "Dropping", in: directory)
    let connection = try Connection(path: store.path, mode: .readWrite)
    for statement in [
      "CREATE TABLE settings (name TEXT)", "INSERT INTO settings VALUES ('a'), ('b')",
      "ALTER TABLE ZNOTE ADD COLUMN ZMINE TEXT", "UPDATE ZNOTE SET ZMINE = 'x' WHERE Z_PK <= 5",
    ] { try connection.execute(statement) }
    try connection.close()
    let tool = Tool(directory: directory.url)
    let outcome = tool("plan", store.path, "--to", model, "--accept-losses", "--account", "--json")
    let lines = try #require(try outcome.json()["account"] as? [[String: Any]])
    func line(_ name: String) -> String? {
      lines.first { $0["name"] as? String == name }.map { line in
        let parts = (line["parts"] as? [[String: Any]] ?? []).map { part in
          let places = (part["places"] as? [String] ?? []).joined(separator: ",")
          return "\(part["fate"] ?? "") \(part["count"] ?? "") \(places)"
        }
        return "\(line["hop"] ?? "") \(line["kind"] ?? "") \(line["count"] ?? ""): " + parts.joined(separator: "; ")
      }
    }
    #expect(line("Note") == "1 objects 1234: carried 1234 Note")
    #expect(line("ZNOTE.ZMOOD") == "1 cells 617: lost 617 ")
    #expect(line("ZNOTE.ZMINE") == "1 cells 5: carried 5 ZNOTE.ZMINE")
    #expect(line("settings") == "1 rows 2: carried 2 settings")
    #expect(line("NSStoreModelVersionHashes") == "1 metadata 1: remade 1 ")
    let text = tool("plan", store.path, "--to", model, "--accept-losses", "--account").output
    let row = text.split(separator: "\n").first { $0.contains("ZNOTE.ZMOOD") }
    #expect(row?.contains("Note.mood") == true && row?.contains("617  lost: ") == true, "\(text)")
  }

  @Test(arguments: ["plan", "rehearse"])
  func `a store with another name is refused as by a migration`(command: String) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let other = directory.file("Other.sqlite")
    try FileManager.default.linkItem(at: store, to: other)
    let tool = Tool(directory: directory.url)
    let (plan, migration) = (tool(command, store.path, "--to", model), tool("migrate", store.path, "--to", model))
    #expect(plan.code == 1 && migration.code == 1 && plan.error == migration.error, "\(plan.error)\(migration.error)")
    try FileManager.default.removeItem(at: other)
    #expect(tool(command, store.path, "--to", model).code == 0)
    #expect(tool("migrate", store.path, "--to", model).code == 0)
  }

  @Test func `the statements are shown on request`() throws {
    let directory = try TemporaryDirectory()
    _ = try Notebook.makeStore(in: directory, count: 3)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let tool = Tool(directory: directory.url)
    let text = tool("plan", "Notebook.sqlite", "--to", model, "--sql").output
    #expect(text.contains("INSERT INTO"))
    #expect(text.contains("UPDATE \"candidate\".sqlite_schema"))
    #expect(text.hasPrefix("-- "))
    let json = try tool("plan", "Notebook.sqlite", "--to", model, "--sql", "--json").json()
    let steps = try #require(json["steps"] as? [[String: Any]])
    #expect(steps.allSatisfy { ($0["sql"] as? String)?.isEmpty == false })
  }

  @Test(arguments: ["plan", "rehearse"])
  func `models that need a mapping are told with every obstacle`(command: String) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 3)
    let model = try Notebook.write(Notebook.converting(), "Converting", in: directory)
    let bytes = StoreBytes(of: store)
    let outcome = Tool(directory: directory.url)(command, "Notebook.sqlite", "--to", model, "--json")
    #expect(outcome.code == 3)
    let json = try outcome.json()
    #expect(Set(json.keys) == Self.keys.union(["error"]))
    #expect(json["verdict"] as? String == "needsMapping")
    #expect((json["obstacles"] as? [[String: Any]])?.compactMap { $0["property"] as? String } == ["mood", "title"])
    let failure = try outcome.failure()
    #expect(failure["code"] as? String == "mappingNeeded")
    #expect(failure["coreDataCode"] as? Int == 134_190)
    #expect(failure["storeAt"] as? String == store.path)
    let tool = Tool(directory: directory.url)
    // The store's model has no name but its checksum.
    let name = try Notebook.first().versionChecksum()
    let skeleton = try #require(failure["skeleton"] as? String)
    #expect(skeleton.contains("try step(from: \"\(name)\", to: \"Converting\")"), "\(skeleton)")
    let compared = tool("compare", "Notebook.sqlite", model, "--skeleton").output
    func mappings(_ text: String) -> Substring? { text.firstRange(of: "EntityMapping").map { text[$0.lowerBound...] } }
    #expect(mappings(skeleton) == mappings(compared) && mappings(skeleton) != nil)
    let told = tool(command, "Notebook.sqlite", "--to", model).error
    #expect(told.contains("heirloom compare \(store.path) \(model) --skeleton"))
    #expect(StoreBytes(of: store) == bytes)
  }

  @Test(arguments: ["plan", "rehearse"])
  func `rows that need a decision are counted`(command: String) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 42)
    let model = try Notebook.write(Notebook.requiring(), "Requiring", in: directory)
    let bytes = StoreBytes(of: store)
    let outcome = Tool(directory: directory.url)(command, "Notebook.sqlite", "--to", model, "--json")
    #expect(outcome.code == 3)
    let blockers = try #require(try outcome.json()["blockers"] as? [[String: Any]])
    #expect(blockers.count == 1)
    #expect(Set(blockers[0].keys) == ["kind", "entity", "property", "reason", "rows", "choices"])
    #expect(blockers[0]["choices"] as? [String] == ["fill", "quarantine"])
    #expect(blockers[0]["kind"] as? String == "missingValue")
    #expect(blockers[0]["rows"] as? Int == 42)
    #expect(try outcome.failure()["code"] as? String == "decisionNeeded")
    #expect(StoreBytes(of: store) == bytes)
  }

  @Test(arguments: ["plan", "rehearse"])
  func `a store that has the model has nothing to do`(command: String) throws {
    let directory = try TemporaryDirectory()
    _ = try Notebook.makeStore(in: directory, count: 3)
    let model = try Notebook.write(Notebook.first(), "First", in: directory)
    let tool = Tool(directory: directory.url)
    let outcome = tool(command, "Notebook.sqlite", "--to", model, "--json")
    #expect(outcome.code == 0)
    let json = try outcome.json()
    #expect(Set(json.keys) == Self.keys)
    #expect(json["verdict"] as? String == "identical")
    #expect((json["steps"] as? [Any])?.isEmpty == true)
    #expect(tool(command, "Notebook.sqlite", "--to", model).output.contains("nothing to do"))
  }

  @Test func `a rehearsal reads what is only in the log, and leaves no copy`() throws {
    let directory = try TemporaryDirectory()
    let url = try Notebook.makeStore(in: directory, count: 10)
    let model = try Notebook.write(Notebook.dropping(), "Dropping", in: directory)
    let temporary = try TemporaryDirectory()
    // The app has the store open and has just saved.
    let store = try PersistentStore.open(at: url, model: Notebook.first())
    let context = ManagedObjectContext(store: store)
    for number in 0..<5 { try context.insert("Note").setValue(.string("late \(number)"), forAttribute: "title") }
    try context.save()
    let bytes = StoreBytes(of: url)
    #expect(try Data(contentsOf: URL(fileURLWithPath: url.path + "-wal")).count > 0)
    let tool = Tool(directory: directory.url, environment: ["TMPDIR": temporary.url.path])
    let outcome = tool("rehearse", "Notebook.sqlite", "--to", model, "--accept-losses", "--json")
    #expect(outcome.code == 0, "\(outcome.output)")
    #expect(try outcome.json()["rowsRewritten"] as? Int == 15)
    #expect(StoreBytes(of: url) == bytes)
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.url.path).isEmpty)
    try store.close()
    #expect(try StoreMetadata(contentsOf: url).isCompatible(with: Notebook.first()))
  }

  @Test func `a rehearsal that is stopped says so and leaves no copy`() throws {
    let directory = try TemporaryDirectory()
    let url = try Notebook.makeStore(in: directory, count: 10)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let temporary = try TemporaryDirectory()
    let tool = Tool(directory: directory.url, environment: ["TMPDIR": temporary.url.path])
    tool.interruption.interrupt()
    let outcome = tool("rehearse", "Notebook.sqlite", "--to", model, "--json")
    #expect(outcome.code == 130)
    #expect(try outcome.failure()["code"] as? String == "cancelled")
    #expect(try outcome.failure()["storeAt"] as? String == url.path)
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.url.path).isEmpty)
  }
}
