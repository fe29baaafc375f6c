import Foundation
import HeirloomFormats
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct StoreCorpusTests {
  @Test(arguments: CorpusStore.paths)
  func `every object of every real store is read`(path: String) throws {
    let corpus = try CorpusStore(path)
    let before = try Data(contentsOf: corpus.url)
    let store = try PersistentStore.open(at: corpus.url, model: corpus.model, isReadOnly: true)
    let context = ManagedObjectContext(store: store)
    for entity in store.schema.entities {
      let expected = try corpus.connection.firstInteger(
        "SELECT COUNT(*) FROM \(quote(entity.table)) WHERE Z_ENT = ?1", [.integer(Int64(entity.number))])
      #expect(try Int64(context.count(entity.name, includesSubentities: false)) == expected)
      let attributes = store.model.attributes(of: entity.name).filter { $0.composite == nil && !$0.isTransient }
      let relationships = store.model.relationships(of: entity.name).filter { !$0.isTransient }
      var count: Int64 = 0
      try context.forEach(entity.name, includesSubentities: false) { object throws(ManagedObjectError) in
        count += 1
        for attribute in attributes {
          do throws(ManagedObjectError) {
            _ = try object.value(forAttribute: attribute.name)
          } catch .missingExternalFile {
            // The files are in a folder that was not shipped with the store.
          }
        }
        for column in store.model.attributes(of: entity.name).flatMap({
          store.schema.columns(ofAttribute: $0.name, in: entity.name)
        }) {
          if column.path.count > 1 { _ = try object.value(forAttribute: column.path.joined(separator: ".")) }
        }
        for relationship in relationships {
          if relationship.isToMany {
            let objects = try object.objects(forRelationship: relationship.name)
            for other in objects {
              #expect(store.model.isEntity(other.entityName, kindOf: relationship.destinationEntity))
            }
            try checkInverse(of: relationship, from: object, to: objects, store)
          } else if let other = try object.object(forRelationship: relationship.name) {
            #expect(store.model.isEntity(other.entityName, kindOf: relationship.destinationEntity))
            // Lists of thousands are not searched for each of their members.
            if count % 100 <= 3 { try checkInverse(of: relationship, from: object, to: [other], store) }
          }
        }
        return true
      }
      #expect(count == expected)
    }
    #expect(!context.hasChanges)
    #expect(try Data(contentsOf: corpus.url) == before)
  }

  private func checkInverse(
    of relationship: RelationshipDescription, from object: ManagedObject, to others: [ManagedObject],
    _ store: PersistentStore
  ) throws(ManagedObjectError) {
    guard let inverse = store.model.inverse(of: relationship)?.relationship, !inverse.isTransient else { return }
    for other in others.prefix(3) {
      if inverse.isToMany {
        #expect(try other.objects(forRelationship: inverse.name).contains(object))
      } else {
        #expect(try other.object(forRelationship: inverse.name) == object)
      }
    }
  }

  @Test func `a damaged store gives errors and values, and is never changed`() throws {
    let corpus = try CorpusStore(try #require(CorpusStore.paths.first { $0.hasSuffix("Example_2.sqlite") }))
    let directory = try TemporaryDirectory()
    // This makes one file, without a log that would cover the damage.
    try corpus.connection.execute("VACUUM INTO ?1", [.text(directory.file("Whole.sqlite").path)])
    let whole = try Data(contentsOf: directory.file("Whole.sqlite"))
    let file = directory.file("Damaged.sqlite")
    var generator = SystemRandomNumberGenerator()
    var refused = 0
    for _ in 0..<300 {
      var damaged = whole
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        damaged[Int.random(in: 100..<damaged.count, using: &generator)] ^=
          1 << UInt8.random(in: 0..<8, using: &generator)
      }
      try damaged.write(to: file)
      do {
        let store = try PersistentStore.open(at: file, model: corpus.model, isReadOnly: true)
        let context = ManagedObjectContext(store: store)
        for entity in store.schema.entities {
          for object in try context.fetch(entity.name) {
            for attribute in store.model.attributes(of: object.entityName) { _ = object[attribute.name] }
            for relationship in store.model.relationships(of: object.entityName) {
              if relationship.isToMany {
                _ = object[toMany: relationship.name]
              } else {
                _ = object[toOne: relationship.name]
              }
            }
          }
        }
      } catch is StoreError {
        refused += 1
      } catch is ManagedObjectError {
        refused += 1
      }
      #expect(try Data(contentsOf: file) == damaged)
    }
    #expect(refused < 300)
  }

  @Test func `ordered relationships come in the order of their places`() throws {
    // Message.… of the wire stores and favorites of the bookmarks are ordered.
    let corpus = try CorpusStore(try #require(CorpusStore.paths.first { $0.hasSuffix("Bookmarks_V5.sqlite") }))
    let store = try PersistentStore.open(at: corpus.url, model: corpus.model, isReadOnly: true)
    let context = ManagedObjectContext(store: store)
    var compared = 0
    try context.forEach("BookmarkEntity") { object throws(ManagedObjectError) in
      let key = object.objectID?.primaryKey ?? 0
      let children = try object.objects(forRelationship: "children").map { $0.objectID?.primaryKey }
      let favorites = try object.objects(forRelationship: "favorites").map { $0.objectID?.primaryKey }
      #expect(throws: Never.self) {
        let expected = try corpus.connection.rows(
          "SELECT Z_PK FROM ZBOOKMARKENTITY WHERE ZPARENT = ?1 ORDER BY Z_FOK_PARENT", [.integer(key)])
        #expect(children == expected.map { $0[0].integer })
        let links = try corpus.connection.rows(
          "SELECT Z_1FAVORITES FROM Z_1FAVORITES WHERE Z_1FAVORITEFOLDERS = ?1 ORDER BY Z_FOK_1FAVORITES",
          [.integer(key)])
        #expect(favorites == links.map { $0[0].integer })
        compared += expected.count + links.count
      }
      return true
    }
    #expect(compared > 0)
  }

  /// Stores that Core Data made at once, not by migration, with a framework that names indexes as today.
  private static let fresh = CorpusStore.paths.filter { path in
    ["duckduckgo", "coredataplus", "waterme", "core-data-migration-revised", "metacocktails"].contains(
      where: path.hasPrefix)
      && !path.contains("SampleModel_V2") && !path.contains("SampleModelV2") && !path.contains("@6739d000")
  }

  @Test(arguments: Self.fresh)
  func `a store made from a real model is the one that Core Data made`(path: String) throws {
    let corpus = try CorpusStore(path)
    let directory = try TemporaryDirectory()
    let store = try PersistentStore.create(at: directory.file("New.sqlite"), model: corpus.model)
    func statements(_ connection: Connection) throws -> [String: String] {
      let actual = try ActualSchema(of: connection)
      let mine = actual.ownership(under: store.schema).filter { [.model, .bookkeeping].contains($0.ownership) }
      return Dictionary(
        uniqueKeysWithValues: mine.map { ($0.object.name, $0.object.normalizedSQL ?? "") })
    }
    let made = try statements(store.connection)
    var found = try statements(corpus.connection)
    // Framework 1044 spelled triggers differently.
    if corpus.frameworkVersion < 1300 { found = found.filter { !$0.key.hasPrefix("Z_DA_") } }
    for (name, sql) in found { #expect(made[name] == sql) }
    #expect(
      Set(made.keys).subtracting(found.keys).allSatisfy { $0.hasPrefix("Z_DA_") && corpus.frameworkVersion < 1300 })
    let rows = "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT"
    #expect(try store.connection.rows(rows) == corpus.connection.rows(rows))
    let metadata = try StoreMetadata(contentsOf: corpus.url)
    #expect(store.metadata.versionHashes == metadata.versionHashes)
    #expect(store.metadata.versionIdentifiers == metadata.versionIdentifiers)
  }

  @Test func `the statements of a new store come in Core Data's order`() throws {
    for path in CorpusStore.paths where path.contains("SampleModel2_V2") || path.contains("Bookmarks_V5") {
      let corpus = try CorpusStore(path)
      let actual = try ActualSchema(of: corpus.connection)
      let schema = PhysicalSchema(model: corpus.model)
      let names = Set(schema.tables.map(\.name) + schema.indexes.map(\.name) + schema.triggers.map(\.name))
      let expected = actual.objects.filter { names.contains($0.name) }.compactMap(\.sql)
      // The order of an entity's fetch indexes is the model's.
      #expect(schema.creationStatements.dropLast(3).count == expected.count)
      #expect(Array(schema.creationStatements.dropLast(3)) == expected)
    }
  }
}
