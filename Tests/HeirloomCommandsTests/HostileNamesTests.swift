import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Names that SQL, file systems and terminals could misread, on the path from a model to a migrated store.
struct HostileNamesTests {
  static let names = [
    "a\"b'c]d[e`f;--", "'; DROP TABLE Z_METADATA; --", "\u{1F469}\u{200D}\u{1F469} 日本語", "\u{202E}desrever",
    "sqlite_schema", "Z_METADATA", "PK", "ent", "select", "%s %n %@", "$(id)", "..", "a/../../b", "a b", "e\u{301}",
    String(repeating: "n", count: 255), "-- x", "*/", "?1", "main.x", "x.y", "İıß",
  ]

  /// With a dot the name would be the path of a composite's element.
  private static func property(_ name: String) -> String { name.replacingOccurrences(of: ".", with: "_") }

  private static func model(_ name: String, adding: Bool) throws -> ManagedObjectModel {
    var entity = Make.entity(name, [AttributeDescription(name: property(name), type: .string)])
    entity.indexes = [FetchIndexDescription(name: name, elements: [.init(property: property(name))])]
    let inverse = Make.toMany("r\(property(name).prefix(250))", "Other", "back")
    entity.relationships = [inverse]
    var other = EntityDescription(name: "Other")
    let back = Make.toMany("back", name, inverse.name)
    other.relationships = [back]
    var entities = [entity, other]
    if adding {
      let new = Make.attribute("2" + String(property(name).prefix(250)))
      entities[0].attributes.append(new)
      entities.append(EntityDescription(name: "3" + String(name.prefix(250))))
    }
    return try ManagedObjectModel(entities: entities)
  }

  @Test(arguments: LongTests.areOn ? names : Array(names.prefix(2)))
  func `whatever an entity is called, its store is made, shown, migrated and kept`(name: String) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let first = try Self.model(name, adding: false)
    try PersistentStore.make(at: url, model: first) { context in
      try context.insert(name).setValue(.string(name), forAttribute: Self.property(name))
    }
    let models = directory.file("models")
    try FileManager.default.createDirectory(at: models, withIntermediateDirectories: false)
    for (file, model) in [("1", first), ("2", try Self.model(name, adding: true))] {
      let snapshot = ModelSnapshot(model: model, archivedAt: Date(timeIntervalSince1970: 0))
      try snapshot.encoded(.readable).write(to: models.appendingPathComponent(file + ".json"))
    }
    let tool = Tool(directory: directory.url)
    let to = models.appendingPathComponent("2.json").path
    let from = models.appendingPathComponent("1.json").path
    for words in [
      ["inspect", url.path, "--properties"], ["inspect", to], ["doctor", url.path, "--model", from],
      ["verify", url.path],
      ["compare", url.path, to], ["compare", from, to, "--skeleton"], ["plan", url.path, "--to", to],
      ["plan", url.path, "--to", to, "--sql"],
      ["migrate", url.path, "--to", to],
      ["verify", url.path], ["versions", url.path],
    ] {
      for more in [[], ["--json"]] where words[0] != "migrate" || more.isEmpty {
        let outcome = tool.run(words + more)
        let known = [0, 2].contains(outcome.code) && words.contains("--sql") || outcome.code == 0
        #expect(known, "\(words): \(outcome.output) \(outcome.error)")
        #expect(Self.commands(in: outcome.output + outcome.error).isEmpty, "\(words)")
        if !more.isEmpty { _ = try outcome.json() }
      }
    }
    let migrated = try PersistentStore.open(at: url, model: Self.model(name, adding: true))
    let objects = try ManagedObjectContext(store: migrated).fetch(name)
    #expect(try objects.map { try $0.value(forAttribute: Self.property(name)) } == [.string(name)])
    try migrated.close()
    withExtendedLifetime(directory) {}
  }

  @Test func `an attribute whose name is a path is told, and the store stays as it was`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    var entity = Make.entity("Entity", [AttributeDescription(name: "x.y", type: .string)])
    let store = try PersistentStore.create(at: url, model: ManagedObjectModel(entities: [entity]))
    try ManagedObjectContext(store: store).save()
    try store.close()
    entity.attributes.append(AttributeDescription(name: "z", type: .string))
    entity.attributes[1].isOptional = true
    let to = directory.file("2.json")
    try ModelSnapshot(model: ManagedObjectModel(entities: [entity]), archivedAt: Date(timeIntervalSince1970: 0))
      .encoded(.readable).write(to: to)
    let bytes = try Data(contentsOf: url)
    let outcome = Tool(directory: directory.url)("migrate", url.path, "--to", to.path, "--json")
    #expect(outcome.code == 1)
    #expect((try outcome.failure()["message"] as? String)?.contains("x.y") == true)
    #expect(try Data(contentsOf: url) == bytes)
  }

  /// Characters that a terminal would obey.
  private static func commands(in text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.filter {
      $0.properties.generalCategory == .control && $0 != "\n" || (0x202A...0x202E).contains($0.value)
        || (0x2066...0x2069).contains($0.value)
    }
  }

  @Test(
    arguments: [
      "", "a\0b", "\u{1B}[2J", "\u{9B}2J", "a\nb", String(repeating: "x", count: 100_000),
      "e" + String(repeating: "\u{301}", count: 50_000),
    ])
  func `a name that is none is refused with the model`(name: String) throws {
    #expect(throws: ModelError.invalidName(name)) { try ManagedObjectModel(entities: [EntityDescription(name: name)]) }
    let entity = Make.entity("Entity", [AttributeDescription(name: name, type: .string)])
    #expect(throws: ModelError.invalidName(name)) { try ManagedObjectModel(entities: [entity]) }
  }

  @Test(arguments: [false, true])
  func `names in a store's schema and metadata can't command the terminal`(isTerminal: Bool) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 3)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let name = "\u{1B}[2J\u{1B}]0;x\u{7}\u{9B}31m\u{202E}\r\u{7F}"
    let connection = try Connection(path: store.path, mode: .readWrite, options: .building)
    try connection.execute("CREATE TABLE \(quote("Z" + name)) (\(quote(name)))")
    try connection.execute("ALTER TABLE ZNOTE ADD COLUMN \(quote(name))")
    try connection.execute("CREATE TRIGGER \(quote(name)) AFTER DELETE ON ZNOTE BEGIN SELECT 1; END")
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_NAME = Z_NAME || ?1", [.text(name)])
    try connection.close()
    var tool = Tool(directory: directory.url)
    tool.isTerminal = isTerminal
    for words in [
      ["inspect", store.path, "--properties"], ["doctor", store.path], ["verify", store.path],
      ["plan", store.path, "--to", model], ["rehearse", store.path, "--to", model],
      ["migrate", store.path, "--to", model],
      ["inspect", directory.file(name).path], [name], ["inspect", "--" + name],
    ] {
      for more in [[], ["--json"]] {
        let outcome = tool.run(words + more)
        // The tool's own colours, and the line that shows progress, are allowed.
        let text = (outcome.output + outcome.error).replacing(/\u{1B}\[([0-2]|3[1-3])m|\r\u{1B}\[K/, with: "")
        #expect(Self.commands(in: text).isEmpty, "\(words): \(text.debugDescription)")
        if !more.isEmpty { _ = try outcome.json() }
      }
    }
    withExtendedLifetime(directory) {}
  }

  /// Entities with attributes whose tables or columns would share a name, or have one of Core Data's own.
  static let collisions: [[String: [String]]] = [
    ["item": ["name", "NAME", "Name1", "nAME1"]], ["item": ["name"], "ITEM": ["name"]],
    ["item": ["pk", "z_pk", "_pk"]],
    ["_METADATA": ["version"]], ["_primarykey": ["name"]], ["_MODELCACHE": ["content"]],
    ["item": ["_ENT", "_opt", "_PK"]],
    ["ß": ["ß", "ss", "SS"]], ["İ": ["ı", "i", "I", "İ"]], ["e\u{301}": ["e\u{301}", "É"]],
  ]

  @Test(arguments: collisions)
  func `names that come to be one keep their values apart, or are refused before anything is written`(
    names: [String: [String]]
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let entities = names.sorted { $0.key < $1.key }.map { name, attributes in
      return Make.entity(name, attributes.map { Make.attribute($0) })
    }
    let store: PersistentStore
    let model: ManagedObjectModel
    do {
      model = try ManagedObjectModel(entities: entities)
      store = try PersistentStore.create(at: url, model: model)
    } catch {
      #expect(error is StoreError || error is ModelError)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == [], "\(error)")
      return
    }
    let context = ManagedObjectContext(store: store)
    for entity in entities {
      let object = try context.insert(entity.name)
      for attribute in entity.attributes {
        try object.setValue(.string(entity.name + attribute.name), forAttribute: attribute.name)
      }
    }
    try context.save()
    try store.close()
    let again = try PersistentStore.open(at: url, model: model)
    for entity in entities {
      let objects = try ManagedObjectContext(store: again).fetch(entity.name)
      #expect(objects.count == 1)
      for attribute in entity.attributes {
        #expect(try objects.first?.value(forAttribute: attribute.name) == .string(entity.name + attribute.name))
      }
    }
    try again.close()
    withExtendedLifetime(directory) {}
  }

  @Test func `an entity that comes to differ from another by case only loses nothing`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 5)
    let entities = try Notebook.first().entities + [EntityDescription(name: "NOTE")]
    let model = try Notebook.write(ManagedObjectModel(entities: entities), "Both", in: directory)
    try checkRefusedOrKept(store, model, in: directory)
    withExtendedLifetime(directory) {}
  }

  @Test(.slow("a model of two thousand attributes"))
  func `more columns than SQLite has are refused, and the store stays as it is`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 5)
    var entities = try Notebook.first().entities
    entities[0].attributes += (0..<2001).map { Make.attribute("a\($0)", .integer16) }
    let model = try Notebook.write(ManagedObjectModel(entities: entities), "Wide", in: directory)
    #expect(try checkRefusedOrKept(store, model, in: directory) == 1)
    withExtendedLifetime(directory) {}
  }

  @discardableResult
  private func checkRefusedOrKept(_ store: URL, _ model: String, in directory: TemporaryDirectory) throws -> Int32 {
    let before = StoreBytes(of: store)
    let tool = Tool(directory: directory.url)
    let planned = tool("plan", store.path, "--to", model)
    let outcome = tool("migrate", store.path, "--to", model, "--json")
    if outcome.code == 0 {
      #expect(planned.code == 0)
      let read = try ModelSnapshot(contentsOf: URL(fileURLWithPath: model)).model
      let migrated = try PersistentStore.open(at: store, model: read)
      #expect(try ManagedObjectContext(store: migrated).count("Note") == 5)
      try migrated.close()
    } else {
      #expect(outcome.code == 1, "\(outcome.output)")
      #expect((try outcome.failure()["message"] as? String)?.isEmpty == false)
      #expect(StoreBytes(of: store) == before, "\(outcome.output)")
      let incoming = store.path + ".heirloom/incoming"
      #expect(((try? FileManager.default.contentsOfDirectory(atPath: incoming)) ?? []) == [])
    }
    return outcome.code
  }
}
