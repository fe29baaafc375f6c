import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// The account of a store where decisions and code take part, and of what isn't in the tables of objects.
///
/// The tests' accountant counts the rest; see `Accountant.imbalances(of:isByCode:)`.
struct StoreAccountTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("Store.sqlite") }

  init() throws { directory = try TemporaryDirectory() }

  private func makeStore(_ model: ManagedObjectModel, _ fill: (ManagedObjectContext) throws -> Void) throws {
    try PersistentStore.make(at: url, model: model) { context in
      try fill(context)
    }
  }

  private static func model(isLater: Bool, unique: Bool = false) throws -> ManagedObjectModel {
    var data = Make.attribute("data", .binary)
    data.allowsExternalBinaryDataStorage = true
    var note = Make.entity(
      "Note", [Make.attribute("text", optional: !isLater), Make.attribute("code"), data],
      [Make.toOne("author", "Author", "notes")])
    if unique { note.uniquenessConstraints = [["code"]] }
    let name = isLater ? [Make.attribute("name"), Make.attribute("more")] : [Make.attribute("name")]
    return try ManagedObjectModel(entities: [
      note, Make.entity("Author", name, [Make.toMany("notes", "Note", "author")]),
    ])
  }

  private func makeStore() throws {
    try makeStore(Self.model(isLater: false)) { context in
      let author = try context.insert("Author")
      for number in 0..<6 {
        let note = try context.insert("Note")
        note["text"] = number < 2 ? nil : .string("\(number)")
        note["code"] = .string(number < 4 ? "same" : "\(number)")
        note["data"] = .binary([7])
        if number % 2 == 0 { note[toOne: "author"] = author }
      }
    }
    let connection = try Connection(path: url.path, mode: .readWrite)
    // Core Data writes 02 before the name of a file, and 00 behind it. Two notes name one file, and a third has none.
    let names = [0, 0, 1].map { "0000000\($0)-0000-0000-0000-000000000000" }
    for (key, name) in zip(4..., names) {
      try connection.execute("UPDATE ZNOTE SET ZDATA = CAST(X'02' || '\(name)' || X'00' AS BLOB) WHERE Z_PK = \(key)")
    }
    try connection.close()
    let folder = directory.file(".Store_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data([7]).write(to: folder.appendingPathComponent(names[0]))
  }

  /// Returns the lines of a plan, as `kind name count: fate count places; …`.
  private func lines(
    _ destination: ManagedObjectModel, from source: ManagedObjectModel? = nil, decisions: [DataDecision] = [],
    mappings: [MappingModel] = []
  ) throws -> [String] {
    var configuration = MigrationAssistant.Configuration()
    (configuration.decisions, configuration.mappings) = (decisions, mappings)
    let accounts = StoreAccounts()
    configuration.account = accounts.add
    let assistant = MigrationAssistant(
      url, from: try source ?? Self.model(isLater: false), to: destination, configuration)
    _ = try #require(try assistant.plan())
    return accounts.hops.flatMap(\.lines).map { line in
      let parts = line.parts.map { "\($0.fate.rawValue) \($0.count) \($0.places.joined(separator: ","))" }
      return "\(line.kind.rawValue) \(line.name) \(line.count): \(parts.joined(separator: "; "))"
    }
  }

  @Test func `the cells and links of objects that a decision sets aside go with them`() throws {
    try makeStore()
    let found = try lines(
      Self.model(isLater: true), decisions: [DataDecision(entity: "Note", property: "text", .quarantine)])
    for line in [
      "objects Note 6: decided 2 ; carried 4 Note", "cells ZNOTE.ZCODE 6: withObjects 2 ; carried 4 ZNOTE.ZCODE",
      "cells ZNOTE.ZTEXT 4: carried 4 ZNOTE.ZTEXT", "cells ZNOTE.ZDATA 6: withObjects 2 ; carried 4 ZNOTE.ZDATA",
      "files ZNOTE.ZDATA 2: carried 1 .Store_SUPPORT; missing 1 ",
      "bookkeeping ZNOTE.Z_PK 6: withObjects 2 ; carried 4 ZNOTE.Z_PK",
      "bookkeeping ZNOTE.Z_ENT 6: withObjects 2 ; carried 4 ZNOTE.Z_ENT",
      "bookkeeping ZNOTE.ZAUTHOR 3: links 3 Author.notes",
      "links Author.notes 3: decided 1 Author.notes; carried 2 Author.notes",
    ] {
      #expect(found.contains(line), "\(line)\n\(found.joined(separator: "\n"))")
    }
  }

  @Test func `the cells of objects that are merged go with them`() throws {
    try makeStore()
    let found = try lines(
      Self.model(isLater: false, unique: true),
      decisions: [DataDecision(entity: "Note", constraint: ["code"], .merge(by: nil))])
    #expect(found.contains("objects Note 6: decided 3 ; carried 3 Note"), "\(found.joined(separator: "\n"))")
    #expect(found.contains("cells ZNOTE.ZCODE 6: withObjects 3 ; carried 3 ZNOTE.ZCODE"))
  }

  @Test func `what code gets is its own, by the name of the mapping`() throws {
    try makeStore()
    let (source, destination) = (try Self.model(isLater: false), try Self.model(isLater: true))
    let mapping = try MappingModel.inferred(from: source, to: destination) {
      EntityMapping(from: "Note", to: "Note", policy: EntityMigrationPolicy.self) {}
    }
    let found = try lines(destination, mappings: [mapping])
    let name = try #require(mapping.entityMappings.first { $0.sourceEntityName == "Note" }).name
    for line in [
      "objects Note 6: code 6 \(name)", "bookkeeping ZNOTE.Z_PK 6: code 6 \(name)",
      "cells ZNOTE.ZCODE 6: code 6 \(name)",
      "links Author.notes 3: code 3 \(name)", "cells ZAUTHOR.ZNAME 0: ",
    ] {
      #expect(found.contains(line), "\(line)\n\(found.joined(separator: "\n"))")
    }
  }

  @Test func `what changes or is dropped in objects that a decision removes is counted once`() throws {
    func model(_ type: AttributeType, isLater: Bool) throws -> ManagedObjectModel {
      let rest = isLater ? [] : [Make.attribute("note")]
      var item = Make.entity("Item", [Make.attribute("code"), Make.attribute("size", type)] + rest, [])
      if isLater { item.uniquenessConstraints = [["code"]] }
      return try ManagedObjectModel(entities: [item])
    }
    let source = try model(.double, isLater: false)
    try makeStore(source) { context in
      for (code, size) in [("same", 1.5), ("same", 2.5), ("other", 3), ("third", 70_000)] {
        let item = try context.insert("Item")
        (item["code"], item["size"], item["note"]) = (.string(code), .double(size), .string("x"))
      }
    }
    let found = try lines(
      model(.integer16, isLater: true), from: source,
      decisions: [
        DataDecision(entity: "Item", constraint: ["code"], .keepNewest(by: nil)),
        DataDecision(entity: "Item", property: "size", .fill(.integer(5))),
      ])
    for line in [
      "objects Item 4: decided 1 ; carried 3 Item", "cells ZITEM.ZNOTE 4: lost 4 ",
      "cells ZITEM.ZSIZE 4: withObjects 1 ; changed 2 ZITEM.ZSIZE; carried 1 ZITEM.ZSIZE",
    ] {
      #expect(found.contains(line), "\(line)\n\(found.joined(separator: "\n"))")
    }
  }

  @Test func `values that two mappings change are all counted`() throws {
    func model(_ type: AttributeType, _ names: String...) throws -> ManagedObjectModel {
      try ManagedObjectModel(
        entities: names.map { Make.entity($0, [Make.attribute("size", type), Make.attribute("kind")], []) })
    }
    let (source, destination) = (try model(.double, "Item"), try model(.integer32, "Large", "Small"))
    try makeStore(source) { context in
      for (kind, size) in [("s", 1.5), ("l", 2.5), ("l", 3.0), ("s", 4.5)] {
        let item = try context.insert("Item")
        (item["kind"], item["size"]) = (.string(kind), .double(size))
      }
    }
    let mapping = try MappingModel.inferred(from: source, to: destination) {
      EntityMapping(from: "Item", to: "Small", where: "kind == 's'") {
        PropertyMapping("kind", copying: "kind")
        PropertyMapping("size", copying: "size")
      }
      EntityMapping(from: "Item", to: "Large", where: "kind == 'l'") {
        PropertyMapping("kind", copying: "kind")
        PropertyMapping("size", copying: "size")
      }
    }
    let found = try lines(destination, from: source, mappings: [mapping])
    let line = found.first { $0.hasPrefix("cells ZITEM.ZSIZE 4: ") }
    #expect(line?.contains("changed 3 ") == true, "\(found.joined(separator: "\n"))")
  }

  @Test func `values that change by SQL and one by one in a table are all counted`() throws {
    func model(_ type: AttributeType) throws -> ManagedObjectModel {
      var (left, right) = (Make.entity("Left", [], []), Make.entity("Right", [Make.attribute("kind")], []))
      (left.superentity, right.superentity) = ("Base", "Base")
      return try ManagedObjectModel(entities: [Make.entity("Base", [Make.attribute("size", type)], []), left, right])
    }
    let (source, destination) = (try model(.double), try model(.integer32))
    try makeStore(source) { context in
      for (name, size) in [("Left", 1.5), ("Left", 2), ("Right", 2.5), ("Right", 3)] {
        let item = try context.insert(name)
        item["size"] = .double(size)
        if name == "Right" { item["kind"] = .string("k") }
      }
    }
    let mapping = try MappingModel.inferred(from: source, to: destination) {
      EntityMapping(from: "Right", to: "Right", where: "kind == 'k'") {
        PropertyMapping("kind", copying: "kind")
        PropertyMapping("size", copying: "size")
      }
    }
    let found = try lines(destination, from: source, mappings: [mapping])
    let line = found.first { $0.hasPrefix("cells ZBASE.ZSIZE 4: ") }
    #expect(line?.contains("changed 2 ") == true, "\(found.joined(separator: "\n"))")
  }

  @Test func `cells that SQL carries and cells that code gets are parts of one line`() throws {
    func model(isLater: Bool) throws -> ManagedObjectModel {
      var (left, right) = (Make.entity("Left", [], []), Make.entity("Right", [], []))
      (left.superentity, right.superentity) = ("Base", "Base")
      let names = isLater ? ["name", "more"] : ["name"]
      return try ManagedObjectModel(entities: [Make.entity("Base", names.map { Make.attribute($0) }, []), left, right])
    }
    let (source, destination) = (try model(isLater: false), try model(isLater: true))
    try makeStore(source) { context in
      for name in ["Left", "Left", "Right"] { try context.insert(name)["name"] = .string("x") }
    }
    let mapping = try MappingModel.inferred(from: source, to: destination) {
      EntityMapping(from: "Right", to: "Right", policy: EntityMigrationPolicy.self) {}
    }
    let found = try lines(destination, from: source, mappings: [mapping])
    let name = try #require(mapping.entityMappings.first { $0.sourceEntityName == "Right" }).name
    for line in [
      "cells ZBASE.ZNAME 3: code 1 \(name); carried 2 ZBASE.ZNAME",
      "bookkeeping ZBASE.Z_PK 3: code 1 \(name); carried 2 ZBASE.Z_PK",
    ] {
      #expect(found.contains(line), "\(line)\n\(found.joined(separator: "\n"))")
    }
  }

  @Test func `cells of a renamed attribute that change, and of no attribute, are on the line of their column`() throws {
    func model(isLater: Bool) throws -> ManagedObjectModel {
      var size = Make.attribute(isLater ? "length" : "size", isLater ? .integer32 : .double)
      if isLater { size.renamingIdentifier = "size" }
      var (left, right) = (Make.entity("Left", [], []), Make.entity("Right", [], []))
      (left.superentity, right.superentity) = ("Base", "Base")
      return try ManagedObjectModel(entities: [Make.entity("Base", [size], []), right] + (isLater ? [] : [left]))
    }
    let source = try model(isLater: false)
    try makeStore(source) { context in
      for (name, size) in [("Left", 1.5), ("Right", 2.5), ("Right", 3)] {
        try context.insert(name)["size"] = .double(size)
      }
    }
    try Connection.execute("ALTER TABLE ZBASE ADD COLUMN mine TEXT", "UPDATE ZBASE SET mine = 'x'", on: url.path)
    let found = try lines(model(isLater: true), from: source)
    for line in [
      "cells ZBASE.ZSIZE 3: withObjects 1 ; changed 1 ZBASE.ZLENGTH; carried 1 ZBASE.ZLENGTH",
      "cells ZBASE.mine 3: lost 1 ; carried 2 ZBASE.mine",
    ] {
      #expect(found.contains(line), "\(line)\n\(found.joined(separator: "\n"))")
    }
  }

  @Test func `an order that goes, a key of no object, and what an expression reads have their parts`() throws {
    func model(isLater: Bool) throws -> ManagedObjectModel {
      var notes = Make.toMany("notes", "Note", "author")
      notes.isOrdered = !isLater
      return try ManagedObjectModel(entities: [
        Make.entity("Note", [Make.attribute("text")], [Make.toOne("author", "Author", "notes")]),
        Make.entity("Author", [Make.attribute("name")], [notes]),
      ])
    }
    let source = try model(isLater: false)
    try makeStore(source) { context in
      let author = try context.insert("Author")
      for _ in 0..<3 { try context.insert("Note")[toOne: "author"] = author }
    }
    try Connection.execute("UPDATE ZNOTE SET ZAUTHOR = 99 WHERE Z_PK = 3", on: url.path)
    let found = try lines(model(isLater: true), from: source)
    for line in [
      "bookkeeping ZNOTE.Z_FOK_AUTHOR 3: lost 3 ", "bookkeeping ZNOTE.ZAUTHOR 3: links 2 Author.notes; leftOut 1 ",
      "links Author.notes 2: carried 2 Author.notes",
    ] {
      #expect(found.contains(line), "\(line)\n\(found.joined(separator: "\n"))")
    }
  }

  @Test func `a default that Core Data wrote into a sibling's row is left out`() throws {
    func model(isLater: Bool) throws -> ManagedObjectModel {
      var size = Make.attribute("size", .integer16)
      size.defaultValue = .integer(7)
      var (left, right) = (Make.entity("Left", isLater ? [] : [size], []), Make.entity("Right", [], []))
      (left.superentity, right.superentity) = ("Base", "Base")
      return try ManagedObjectModel(entities: [Make.entity("Base", [Make.attribute("name")], []), left, right])
    }
    let source = try model(isLater: false)
    try makeStore(source) { context in
      for name in ["Left", "Right", "Right"] { _ = try context.insert(name) }
    }
    try Connection.execute("UPDATE ZBASE SET ZSIZE = 7", on: url.path)
    let found = try lines(model(isLater: true), from: source)
    #expect(found.contains("cells ZBASE.ZSIZE 3: lost 1 ; leftOut 2 "), "\(found.joined(separator: "\n"))")
  }

  @Test func `each hop has its account, and links that an expression reads go to its mapping`() throws {
    try makeStore()
    let first = try Self.model(isLater: false)
    let second = try ManagedObjectModel(entities: [
      Make.entity("Note", [Make.attribute("text"), Make.attribute("writer")], [])
    ])
    let third = try ManagedObjectModel(entities: [
      Make.entity("Note", [Make.attribute("text"), Make.attribute("writer"), Make.attribute("more")], [])
    ])
    var configuration = MigrationAssistant.Configuration()
    configuration.losses = .accept
    configuration.mappings = [
      try MappingModel.inferred(from: first, to: second) {
        EntityMapping(from: "Note", to: "Note") { PropertyMapping("writer", expression: "author.name") }
      }
    ]
    let accounts = StoreAccounts()
    configuration.account = accounts.add
    let assistant = MigrationAssistant(
      url, ModelHistory(current: third, earlier: [("1", first), ("2", second)]), configuration)
    try assistant.migrate()
    #expect(accounts.hops.map(\.source) == [first, second] && accounts.hops.map(\.destination) == [second, third])
    let links = accounts.hops.first?.lines.filter { $0.kind == .links } ?? []
    #expect(links.map(\.name) == ["Author.notes"] && links.flatMap(\.parts).map(\.fate) == [.code])
    let notes = accounts.hops.map { $0.lines.first { $0.kind == .objects && $0.name == "Note" }?.count }
    #expect(notes == [6, 6])
  }

  @Test func `metadata, the framework's tables and columns of others have lines`() throws {
    try makeStore()
    let connection = try Connection(path: url.path, mode: .readWrite)
    for statement in [
      "ALTER TABLE Z_PRIMARYKEY ADD COLUMN mine TEXT", "UPDATE Z_PRIMARYKEY SET mine = 'x' WHERE Z_NAME = 'Note'",
      "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER)",
      "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER)",
      "INSERT INTO ACHANGE VALUES (1, 16002, 1, 2, 1), (2, 16002, 1, 1, 1)",
    ] { try connection.execute(statement) }
    try connection.close()
    let author = try Self.model(isLater: true).entities.filter { $0.name == "Author" }.map { entity in
      var entity = entity
      entity.relationships = []
      return entity
    }
    let found = try lines(ManagedObjectModel(entities: author))
    for line in [
      "objects Note 6: lost 6 ", "cells ZNOTE.ZCODE 6: withObjects 6 ", "links Author.notes 3: lost 3 ",
      "cells Z_PRIMARYKEY.mine 1: lost 1 ", "rows ACHANGE 2: carried 1 ACHANGE; leftOut 1 ",
      "rows Z_METADATA 1: remade 1 ", "metadata NSStoreModelVersionHashes 1: remade 1 ",
      "metadata NSStoreType 1: carried 1 NSStoreType",
    ] {
      #expect(found.contains(line), "\(line)\n\(found.joined(separator: "\n"))")
    }
    // The number of the entity that stays follows from the names.
    let note = try Self.model(isLater: false).entities.filter { $0.name == "Note" }.map { entity in
      var entity = entity
      entity.relationships = []
      return entity
    }
    let others = try lines(ManagedObjectModel(entities: note))
    for line in ["rows ACHANGE 2: changed 1 ACHANGE; leftOut 1 ", "bookkeeping ZNOTE.Z_ENT 6: remade 6 "] {
      #expect(others.contains(line), "\(line)\n\(others.joined(separator: "\n"))")
    }
  }
}
