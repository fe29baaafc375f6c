import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// The account of a store where decisions and code take part, and of what isn't in the tables of objects.
///
/// The tests' accountant counts the rest; see `Accountant.imbalances(of:isByCode:)`.
struct StoreAccountTests {
  private typealias Make = InferableChangeTests

  private let directory: TemporaryDirectory
  private var url: URL { directory.file("Store.sqlite") }

  init() throws { directory = try TemporaryDirectory() }

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
    let store = try PersistentStore.create(at: url, model: Self.model(isLater: false))
    let context = ManagedObjectContext(store: store)
    let author = try context.insert("Author")
    for number in 0..<6 {
      let note = try context.insert("Note")
      note["text"] = number < 2 ? nil : .string("\(number)")
      note["code"] = .string(number < 4 ? "same" : "\(number)")
      note["data"] = .binary([7])
      if number % 2 == 0 { note[toOne: "author"] = author }
    }
    try context.save()
    try store.close()
    let connection = try Connection(path: url.path, mode: .readWrite)
    // Core Data writes 02 before the name of a file.
    try connection.execute("UPDATE ZNOTE SET ZDATA = CAST(X'02' || 'A' AS BLOB) WHERE Z_PK = 4")
    try connection.close()
  }

  /// Returns the lines of a plan, as `kind name count: fate count places; …`.
  private func lines(
    _ destination: ManagedObjectModel, decisions: [DataDecision] = [], mappings: [MappingModel] = []
  ) throws -> [String] {
    var configuration = MigrationAssistant.Configuration()
    (configuration.decisions, configuration.mappings) = (decisions, mappings)
    let accounts = StoreAccounts()
    configuration.account = accounts.add
    let assistant = MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url),
      history: ModelHistory(current: destination, earlier: [("1", try Self.model(isLater: false))]),
      configuration: configuration)
    let plan = try #require(try assistant.plan())
    return accounts[plan].map { line in
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
      "files ZNOTE.ZDATA 1: carried 1 beside the store",
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
      "objects Note 6: code 6 \(name)", "cells ZNOTE.ZCODE 6: code 6 \(name)",
      "links Author.notes 3: code 3 \(name)", "cells ZAUTHOR.ZNAME 0: ",
    ] {
      #expect(found.contains(line), "\(line)\n\(found.joined(separator: "\n"))")
    }
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
  }
}
