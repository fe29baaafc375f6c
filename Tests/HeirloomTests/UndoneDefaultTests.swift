import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Code that calls the default and then undoes it: what is not there in the end, and what code never read, is told.
struct UndoneDefaultTests {
  /// The ways to undo the default's work, of every third object unless another number is said.
  enum Code: String, CaseIterable, Sendable {
    case deletes, deletesKnowing, deletesAtEnd, deletesAtEndKnowing, deletesOneOfTwo
    case overwrites, overwritesKnowing, overwritesAtEnd, restores, setsAnother
    case unlinks, unlinksMany, unlinksKnowing, relinks, relinksBack, unlinksFromAuthor, unlinksFromTopic, deletesAuthors

    /// The losses among twelve objects, as `kind name rows`, by plain counting.
    var expected: [String] {
      switch self {
      case .deletes, .deletesAtEnd: ["objects Note 4"]
      // Code looked at "a", and so knew of the object; what else it held, nobody looked at.
      case .deletesKnowing, .deletesAtEndKnowing: ["values Note.b 4", "links Note.author 4", "links Note.topics 4"]
      case .overwrites, .overwritesAtEnd: ["values Note.b 4"]
      case .unlinks, .relinks: ["links Note.author 4"]
      case .unlinksMany: ["links Note.topics 4"]
      case .unlinksFromAuthor: ["links Note.author 12"]
      case .unlinksFromTopic: ["links Note.topics 12"]
      case .deletesAuthors: ["objects Author 1", "links Note.author 12"]
      case .deletesOneOfTwo, .overwritesKnowing, .restores, .setsAnother, .unlinksKnowing, .relinksBack: []
      }
    }
  }

  static func isThird(_ object: ManagedObject) -> Bool { (object.objectID?.primaryKey ?? 0) % 3 == 0 }

  final class Undoing: EntityMigrationPolicy {
    private var code = Code.setsAnother

    override func begin(_ mapping: EntityMapping, manager: MigrationManager) throws {
      code = mapping.userInfo["code"].flatMap { Code(rawValue: $0) } ?? .setsAnother
    }

    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let note = try manager.createDestinationInstance(forSource: source, in: mapping)
      guard UndoneDefaultTests.isThird(source) else { return }
      switch code {
      case .deletes: try manager.destinationContext.delete(note)
      case .deletesKnowing:
        guard try source.string("a") != nil else { return }
        try manager.destinationContext.delete(note)
      case .deletesOneOfTwo:
        _ = try manager.createDestinationInstance(forSource: source, in: mapping)
        try manager.destinationContext.delete(note)
      case .overwrites: note["b"] = .string("x")
      case .overwritesKnowing: try note.set(note.string("b").map { $0 + "!" }, for: "b")
      case .restores:
        note["b"] = nil
        try note.set("b\(source.objectID?.primaryKey ?? 0)", for: "b")
      case .setsAnother: note["mood"] = .string("x")
      default: return
      }
    }

    override func createRelationships(
      forDestination note: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createRelationships(forDestination: note, in: mapping, manager: manager)
      guard UndoneDefaultTests.isThird(note) else { return }
      switch code {
      case .unlinks: try note.setObject(nil, forRelationship: "author")
      case .unlinksMany: try note.setObjects([], forRelationship: "topics")
      case .unlinksKnowing where try note.object(forRelationship: "author") != nil:
        try note.setObject(nil, forRelationship: "author")
      case .relinks: note[toOne: "author"] = try manager.destinationContext.insert("Author")
      case .relinksBack:
        try note.setObject(nil, forRelationship: "author")
        note[toOne: "author"] = try manager.destinationContext.fetch("Author").first
      default: return
      }
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
      let context = manager.destinationContext
      switch code {
      case .deletesAtEnd, .deletesAtEndKnowing, .overwritesAtEnd:
        for note in try context.fetch("Note") where UndoneDefaultTests.isThird(note) {
          if code == .overwritesAtEnd {
            note["b"] = nil
          } else if try code == .deletesAtEnd || note.string("a") != nil {
            try context.delete(note)
          }
        }
      case .unlinksFromAuthor: for author in try context.fetch("Author") { author[toMany: "notes"] = [] }
      case .unlinksFromTopic: try context.fetch("Topic").first?.setObjects([], forRelationship: "notes")
      case .deletesAuthors: for author in try context.fetch("Author") { try context.delete(author) }
      default: break
      }
      try context.save()
    }
  }

  private static func model(isLater: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      Make.entity(
        "Note", (isLater ? ["a", "b", "mood"] : ["a", "b"]).map { Make.attribute($0) },
        [Make.toOne("author", "Author", "notes"), Make.toMany("topics", "Topic", "notes")]),
      Make.entity("Author", [Make.attribute("name")], [Make.toMany("notes", "Note", "author")]),
      Make.entity("Topic", [Make.attribute("name")], [Make.toMany("notes", "Note", "topics")]),
    ])
  }

  @Test(arguments: Code.allCases)
  func `what code undoes of the default's work is told and pins the previous version`(_ code: Code) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let (source, destination) = (try Self.model(isLater: false), try Self.model(isLater: true))
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: source))
      let author = try context.insert("Author")
      let topics = try (0..<2).map { _ in try context.insert("Topic") }
      for number in 1...12 {
        let note = try context.insert("Note")
        (note["a"], note["b"]) = (.string("a"), .string("b\(number)"))
        note[toOne: "author"] = author
        note[toMany: "topics"] = topics
      }
      try context.save()
    }
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [
      try MappingModel.inferred(from: source, to: destination) {
        EntityMapping(from: "Note", to: "Note", policy: Undoing.self, userInfo: ["code": code.rawValue])
      }
    ]
    let outcome = try MigrationAssistant(url, from: source, to: destination, configuration).migrateStore()
    let report = try #require(outcome.report)
    #expect(report.plan.losses.map { "\($0.kind) \($0.name) \($0.rows)" } == code.expected)
    let kept = try StoreArchive(storeURL: url).previousVersions()
    #expect(kept.map(\.isPinned) == [!code.expected.isEmpty])
  }
}
