import Foundation
import HeirloomFormats
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

struct PersistentStoreTests {
  @Test func `a new store has the file-level facts of Core Data's`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("New.sqlite")
    let model = try Models.everything()
    let store = try PersistentStore.create(at: url, model: model)
    for (pragma, expected) in [
      ("page_size", SQLiteValue.integer(4096)), ("auto_vacuum", .integer(2)), ("journal_mode", .text("wal")),
      ("encoding", .text("UTF-8")), ("user_version", .integer(0)), ("application_id", .integer(0)),
    ] {
      #expect(try store.connection.firstValue("PRAGMA \(pragma)") == expected)
    }
    #expect(try ActualSchema(of: store.connection).drift(from: store.schema) == [])
    #expect(try store.connection.firstInteger("SELECT COUNT(*) FROM Z_PRIMARYKEY") == 6)
    try store.close()
    // A cleanly closed store is one file; beside it, Apple's SQLite leaves side files that hold nothing.
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    let log = URL(fileURLWithPath: url.path + "-wal")
    #expect(names.filter { $0 != "New.sqlite-shm" && $0 != log.lastPathComponent } == ["New.sqlite"])
    if names.count > 1 { #expect(try Data(contentsOf: log).isEmpty) }
    #expect(try StoreModelCache.model(inStoreAt: url) == model)
    let metadata = try StoreMetadata(contentsOf: url)
    #expect(metadata == store.metadata)
    #expect(metadata.isCompatible(with: model))
    #expect(metadata.frameworkVersion == 1344)
    #expect(metadata.identifier == metadata.identifier.uppercased())
    #expect(UUID(uuidString: metadata.identifier) != nil)
    #expect(metadata.otherValues["_NSAutoVacuumLevel"] == .string("2"))
    #expect(metadata.versionChecksum == model.versionChecksum())
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test func `a new store replaces nothing`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("New.sqlite")
    try Data("mine".utf8).write(to: url)
    let error = #expect(throws: StoreError.self) { try PersistentStore.create(at: url, model: Models.everything()) }
    #expect(error?.problem == .alreadyExists)
    #expect(try Data(contentsOf: url) == Data("mine".utf8))
  }

  @Test(arguments: ["-wal", "-journal"])
  func `a new store isn't made beside the changes of one that is gone`(suffix: String) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("New.sqlite")
    let side = URL(fileURLWithPath: url.path + suffix)
    try Data("changes".utf8).write(to: side)
    let error = #expect(throws: StoreError.self) { try PersistentStore.create(at: url, model: Models.everything()) }
    #expect(error?.problem == .straySideFile(side.path))
    #expect(try Data(contentsOf: side) == Data("changes".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["New.sqlite" + suffix])
  }

  @Test func `a store that can't be made leaves no file`() throws {
    let directory = try TemporaryDirectory()
    // These are more columns than SQLite allows.
    let attributes = (0..<2100).map { Make.attribute("a\($0)", .integer16) }
    let model = try ManagedObjectModel(entities: [Make.entity("Wide", attributes)])
    #expect(throws: StoreError.self) { try PersistentStore.create(at: directory.file("New.sqlite"), model: model) }
    #expect(throws: StoreError.self) {
      try PersistentStore.create(at: directory.file("none/New.sqlite"), model: Models.everything())
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == [])
  }

  @Test func `a store of another version is refused and left alone`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let model = try Models.everything()
    try PersistentStore.create(at: url, model: model).close()
    let before = try Data(contentsOf: url)
    var entities = model.entities
    entities[0].attributes.append(Make.attribute("added", .string))
    let other = try ManagedObjectModel(entities: entities)
    let error = #expect(throws: StoreError.self) { try PersistentStore.open(at: url, model: other) }
    #expect(error?.problem == .incompatible(entities: [entities[0].name]))
    #expect(error?.coreDataCode == 134_100)
    #expect(try Data(contentsOf: url) == before)
    let unknown = #expect(throws: StoreError.self) {
      try PersistentStore.open(at: url, model: model, configuration: "none")
    }
    #expect(unknown?.problem == .unknownConfiguration("none"))
  }

  @Test(arguments: [
    ("ALTER TABLE ZNOTE DROP COLUMN ZTEXT", "column ZNOTE.ZTEXT"),
    ("DROP TABLE ZCOVER", "table ZCOVER"),
    ("UPDATE Z_PRIMARYKEY SET Z_SUPER = 1 WHERE Z_NAME = 'Note'", "entity Note under number 2"),
    ("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 6", "entity Boss under number 6"),
  ])
  func `a store that lacks what its model asks for is refused`(change: String, missing: String) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let model = try Models.everything()
    let store = try PersistentStore.create(at: url, model: model)
    try store.connection.execute(change)
    try store.close()
    let error = #expect(throws: StoreError.self) { try PersistentStore.open(at: url, model: model) }
    #expect(error?.problem == .differentSchema(missing: [missing]))
  }

  @Test func `a store opened for reading can't be changed`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let model = try Models.everything()
    try PersistentStore.create(at: url, model: model).close()
    let store = try PersistentStore.open(at: url, model: model, isReadOnly: true)
    let context = ManagedObjectContext(store: store)
    let refusal = ManagedObjectError.store(StoreError(path: url.path, problem: .readOnly))
    #expect(throws: refusal) { try context.insert("Note") }
    #expect(!context.hasChanges)
    #expect(try PersistentStore.open(at: url, model: model).connection.firstInteger("SELECT COUNT(*) FROM ZNOTE") == 0)
  }

  @Test func `metadata given for a new store keep the app's values`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let model = try Models.everything()
    var metadata = StoreMetadata(model: try ManagedObjectModel(entities: []), identifier: "ABC")
    metadata.otherValues["app"] = .string("kept")
    try PersistentStore.create(at: url, model: model, metadata: metadata).close()
    let found = try StoreMetadata(contentsOf: url)
    #expect(found.identifier == "ABC" && found.otherValues["app"] == .string("kept"))
    #expect(found.isCompatible(with: model))
  }
}
