import Foundation
import Heirloom
import HeirloomMapping
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

/// A policy × what becomes of its links' other ends: links that neither the default nor code takes along are told.
struct CodeLinkTests {
  enum Code: String, CaseIterable, Sendable {
    case byDefault, relatesNothing, readsAuthor, readsNotes, makesAll

    var policy: EntityMigrationPolicy.Type {
      switch self {
      case .byDefault: EntityMigrationPolicy.self
      case .relatesNothing: RelatesNothing.self
      case .readsAuthor: ReadsAuthor.self
      case .readsNotes: ReadsNotes.self
      case .makesAll: MakesAll.self
      }
    }
  }

  class RelatesNothing: EntityMigrationPolicy {
    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {}
  }

  final class ReadsAuthor: RelatesNothing {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      _ = try source.object(forRelationship: "author")
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }
  }

  final class ReadsNotes: RelatesNothing {
    override func begin(_ mapping: EntityMapping, manager: MigrationManager) throws {
      for author in try manager.sourceContext.fetch("Author") { _ = try author.objects(forRelationship: "notes") }
    }
  }

  /// Makes the objects without the default, which relates them.
  final class MakesAll: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let note = try manager.destinationContext.insert("Note")
      note["title"] = source["title"]
      try manager.associate(source: source, destination: note, for: mapping)
    }
  }

  enum Target: String, CaseIterable, Sendable {
    case kept, gone, relationshipGone
  }

  private static func model(_ target: Target?) throws -> ManagedObjectModel {
    let links: [RelationshipDescription]
    switch target {
    case nil, .kept: links = [Make.toOne("author", "Author", "notes"), Make.toOne("editor", "Author")]
    // The relationships go on and lead to others.
    case .gone: links = [Make.toOne("author", "Person"), Make.toOne("editor", "Person")]
    case .relationshipGone: links = []
    }
    let isLinked = links.contains { $0.inverseRelationship != nil }
    return try ManagedObjectModel(entities: [
      Make.entity("Note", [Make.attribute("title")] + (target == nil ? [] : [Make.attribute("mood")]), links),
      target == .gone
        ? Make.entity("Person", [Make.attribute("name")])
        : Make.entity("Author", [Make.attribute("name")], isLinked ? [Make.toMany("notes", "Note", "author")] : []),
    ])
  }

  private static func losses(
    ofMigrating url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel,
    _ policy: EntityMigrationPolicy.Type, of entities: [String] = ["Note"]
  ) throws -> [MigrationLoss] {
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [
      try MappingModel.inferred(from: source, to: destination) {
        for entity in entities { EntityMapping(from: entity, to: entity, policy: policy) }
      }
    ]
    let assistant = MigrationAssistant(url, from: source, to: destination, configuration)
    guard case .migrated(let report) = try assistant.migrateStore() else {
      Issue.record("not migrated")
      return []
    }
    return report.plan.losses
  }

  @Test(arguments: Code.allCases, Target.allCases)
  func `links that nobody takes along are told`(_ code: Code, _ target: Target) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let (source, destination) = (try Self.model(nil), try Self.model(target))
    try StoreGenerator.makeStore(at: url, model: source, objects: 20, seed: 5)
    let plain = try Connection(reading: url)
    let authored = try plain.firstInteger("SELECT COUNT(ZAUTHOR) FROM ZNOTE") ?? 0
    let edited = try plain.firstInteger("SELECT COUNT(ZEDITOR) FROM ZNOTE") ?? 0
    let authors = try plain.firstInteger("SELECT COUNT(*) FROM ZAUTHOR") ?? 0
    try plain.close()
    #expect(authored > 0 && edited > 0)
    let losses = try Self.losses(ofMigrating: url, from: source, to: destination, code.policy)
    var expected: [String] = []
    if target == .gone { expected.append("objects Author \(authors)") }
    let kind = target == .gone ? "linksWithoutRoom" : "links"
    // The other side, whose mapping runs as SQL, takes the links of authors along, whatever code does.
    if target != .kept, code != .readsAuthor, code != .readsNotes { expected.append("\(kind) Note.author \(authored)") }
    let isEditorTaken = target == .kept && (code == .byDefault || code == .makesAll)
    if !isEditorTaken { expected.append("\(kind) Note.editor \(edited)") }
    #expect(losses.map { "\($0.kind) \($0.name) \($0.links ?? $0.rows)" }.sorted() == expected.sorted())
    let kept = try StoreArchive(storeURL: url).previousVersions()
    #expect(kept.map(\.isPinned) == [!expected.isEmpty])
    guard target == .kept else { return }
    let after = try Connection(reading: url)
    #expect(try after.firstInteger("SELECT COUNT(ZAUTHOR) FROM ZNOTE") == authored)
    #expect(try after.firstInteger("SELECT COUNT(ZEDITOR) FROM ZNOTE") == (isEditorTaken ? edited : 0))
    try after.close()
  }

  @Test func `links that code leaves at both ends are told by both names`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let (source, destination) = (try Self.model(nil), try Self.model(.kept))
    try StoreGenerator.makeStore(at: url, model: source, objects: 20, seed: 5)
    let plain = try Connection(reading: url)
    let authored = try plain.firstInteger("SELECT COUNT(ZAUTHOR) FROM ZNOTE") ?? 0
    let edited = try plain.firstInteger("SELECT COUNT(ZEDITOR) FROM ZNOTE") ?? 0
    try plain.close()
    let losses = try Self.losses(
      ofMigrating: url, from: source, to: destination, RelatesNothing.self, of: ["Author", "Note"])
    #expect(
      losses.map { "\($0.kind) \($0.name) \($0.links ?? $0.rows)" }.sorted()
        == ["links Author.notes \(authored)", "links Note.author \(authored)", "links Note.editor \(edited)"])
  }

  final class MakesOne: EntityMigrationPolicy {
    private var made: ManagedObject?

    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      if let made { return try manager.associate(source: source, destination: made, for: mapping) }
      made = try manager.createDestinationInstance(forSource: source, in: mapping)
    }
  }

  @Test func `an object that several became has the links of all`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(_ more: [AttributeDescription]) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Make.entity("Note", [Make.attribute("title")] + more, [Make.toMany("tags", "Tag")]), Make.entity("Tag"),
      ])
    }
    let (source, destination) = (try model([]), try model([Make.attribute("mood")]))
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: source))
      for _ in 0..<3 { try context.insert("Note")[toMany: "tags"] = [try context.insert("Tag")] }
      try context.save()
    }
    #expect(try Self.losses(ofMigrating: url, from: source, to: destination, MakesOne.self).isEmpty)
    let store = try PersistentStore.open(at: url, model: destination, isReadOnly: true)
    let notes = try ManagedObjectContext(store: store).fetch("Note")
    #expect(notes.map { $0[toMany: "tags"].count } == [3])
    try store.close()
  }

  /// A relationship without an inverse, of objects whose mapping runs as SQL, to objects that code makes.
  @Test(arguments: [false, true])
  func `one-way links to objects of code are told`(isRead: Bool) throws {
    final class ReadsFavourites: EntityMigrationPolicy {
      override func begin(_ mapping: EntityMapping, manager: MigrationManager) throws {
        for author in try manager.sourceContext.fetch("Author") { _ = try author.object(forRelationship: "favourite") }
      }
    }
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(_ isLinked: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Make.entity("Note", [Make.attribute("title")]),
        Make.entity("Author", [Make.attribute("name")], isLinked ? [Make.toOne("favourite", "Note")] : []),
      ])
    }
    let (source, destination) = (try model(true), try model(false))
    try StoreGenerator.makeStore(at: url, model: source, objects: 20, seed: 5)
    let favourites = try Connection(reading: url).firstInteger("SELECT COUNT(ZFAVOURITE) FROM ZAUTHOR") ?? 0
    #expect(favourites > 0)
    let losses = try Self.losses(
      ofMigrating: url, from: source, to: destination, isRead ? ReadsFavourites.self : EntityMigrationPolicy.self)
    #expect(
      losses.map { "\($0.kind) \($0.name) \($0.rows)" }
        == (isRead ? [] : ["links Author.favourite \(favourites)"]))
  }
}
