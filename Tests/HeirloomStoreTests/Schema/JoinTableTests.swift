import Foundation
import HeirloomModel
import HeirloomStore
import HeirloomSupport
import TestSupport
import Testing

/// Tables of links for which the order of names and that of numbers disagree.
struct JoinTableTests {
  /// Labels are records with the number 6, but sort before their kinds, which have 2.
  ///
  /// Stores of this shape tell the two rules apart: a message below a record, number 6, and its
  /// display types, 2.
  static func model(ordered: Set<String> = []) throws -> ManagedObjectModel {
    func many(_ name: String, _ entity: String, _ inverse: String) -> RelationshipDescription {
      Make.toMany(name, entity, inverse, ordered: ordered.contains(name))
    }
    let name = Make.attribute("name", .string)
    return try ManagedObjectModel(entities: [
      Make.entity("Attachment", [name]), Make.entity("LabelKind", [name], [many("labels", "Label", "kinds")]),
      Make.entity("Person"), Make.entity("Place"), Make.entity("Record", [name]),
      Make.entity("Label", [], [many("kinds", "LabelKind", "labels")], parent: "Record"),
    ])
  }

  @Test(
    arguments: [
      ([], ""), (["kinds"], "Z_FOK_2KINDS INTEGER, "), (["labels"], "Z_FOK_6LABELS INTEGER, "),
      (["kinds", "labels"], "Z_FOK_6LABELS INTEGER, Z_FOK_2KINDS INTEGER, "),
    ] as [(Set<String>, String)])
  func `a fresh table is named by the entity whose name comes first`(ordered: Set<String>, orders: String) throws {
    let schema = PhysicalSchema(model: try Self.model(ordered: ordered))
    #expect(schema.entity(named: "Label")?.number == 6 && schema.entity(named: "LabelKind")?.number == 2)
    #expect(
      schema.tables.filter(\.isJoin).map(\.sql) == [
        "CREATE TABLE Z_6KINDS ( Z_6LABELS INTEGER, Z_2KINDS INTEGER, \(orders)PRIMARY KEY (Z_6LABELS, Z_2KINDS) )"
      ])
    #expect(
      schema.indexes.filter { $0.table == "Z_6KINDS" }.map(\.sql) == [
        "CREATE INDEX Z_6KINDS_Z_2KINDS_INDEX ON Z_6KINDS (Z_2KINDS, Z_6LABELS)"
      ])
    #expect(schema.misnamedJoins == [:])
  }

  @Test func `capitals come before small letters in names, though not in numbers`() throws {
    let model = try ManagedObjectModel(entities: [
      Make.entity("aTag", [], [Make.toMany("boxes", "Box", "tags")]),
      Make.entity("Box", [], [Make.toMany("tags", "aTag", "boxes")]),
    ])
    #expect(PhysicalSchema(model: model).tables.filter(\.isJoin).map(\.name) == ["Z_2TAGS"])
  }

  @Test func `a store with the other name is read, changed and saved under it, and verified with a note`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let model = try Self.model(ordered: ["kinds"])
    try PersistentStore.create(at: url, model: model).close()
    #expect(try OtherJoinNames.give(to: url, relationships: ["labels", "kinds"]) == ["Z_6KINDS": "Z_2LABELS"])

    var store = try PersistentStore.open(at: url, model: model)
    var context = ManagedObjectContext(store: store)
    let label = try context.insert("Label")
    let kinds = try ["a", "b", "c"].map { name in
      let kind = try context.insert("LabelKind")
      kind["name"] = .string(name)
      return kind
    }
    try label.setObjects([kinds[2], kinds[0], kinds[1]], forRelationship: "kinds")
    try context.save()
    try store.close()

    store = try PersistentStore.open(at: url, model: model)
    context = ManagedObjectContext(store: store)
    let found = try #require(try context.fetch(ObjectFetchRequest("Label", where: #"ANY kinds.name == "b""#)).first)
    let names = try found.objects(forRelationship: "kinds").compactMap(\.["name"])
    #expect(names == [.string("c"), .string("a"), .string("b")])
    try found.setObjects([], forRelationship: "kinds")
    try context.save()
    #expect(try store.connection.firstInteger("SELECT COUNT(*) FROM Z_2LABELS") == 0)
    try store.close()

    let findings = try StoreVerification.report(onStoreAt: url.path).findings
    #expect(findings.map(\.kind) == [.otherTableName] && findings.map(\.severity) == [.note], "\(findings)")
    #expect(findings.first?.message.contains("Z_2LABELS") == true && findings.first?.entity == "LabelKind")
    #expect(findings.first?.message.contains("Z_6KINDS") == true)
  }

  @Test func `where a store has both tables, Core Data's counts`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let model = try Self.model()
    let store = try PersistentStore.create(at: url, model: model)
    try store.connection.execute("CREATE TABLE Z_2LABELS ( Z_2KINDS INTEGER, Z_6LABELS INTEGER )")
    let schema = PhysicalSchema(model: model, actual: try ActualSchema(of: store.connection))
    #expect(schema.tables.filter(\.isJoin).map(\.name) == ["Z_6KINDS"])
    try store.close()
  }

  @Test func `columns of links without a type are a note`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let model = try Self.model()
    let store = try PersistentStore.create(at: url, model: model)
    let context = ManagedObjectContext(store: store)
    let label = try context.insert("Label")
    try label.setObjects([context.insert("LabelKind"), context.insert("LabelKind")], forRelationship: "kinds")
    try context.save()
    try store.connection.executeScript(
      """
      ALTER TABLE Z_6KINDS RENAME TO old;
      CREATE TABLE Z_6KINDS ( Z_6LABELS, Z_2KINDS, PRIMARY KEY (Z_6LABELS, Z_2KINDS) );
      INSERT INTO Z_6KINDS SELECT * FROM old;
      DROP TABLE old;
      CREATE INDEX Z_6KINDS_Z_2KINDS_INDEX ON Z_6KINDS (Z_2KINDS, Z_6LABELS);
      """)
    try store.close()
    let report = try StoreVerification.report(onStoreAt: url.path)
    #expect(!report.hasFaults)
    #expect(report.findings.map(\.kind) == [.differentColumnType, .differentColumnType], "\(report.findings)")
    #expect(report.findings.map(\.severity) == [.note, .note])
    // A column of objects without a type is a different case.
    let connection = try Connection(path: url.path, mode: .readWrite)
    try connection.executeScript("ALTER TABLE ZRECORD DROP COLUMN ZNAME; ALTER TABLE ZRECORD ADD COLUMN ZNAME;")
    try connection.close()
    #expect(try StoreVerification.report(onStoreAt: url.path).findings.map(\.severity) == [.error, .note, .note])
  }
}

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct JoinTableCorpusTests {
  @Test(arguments: CorpusStore.paths)
  func `a table of links between two entities has the name that follows from theirs`(path: String) throws {
    let store = try CorpusStore(path)
    let actual = try ActualSchema(of: store.connection)
    let schema = PhysicalSchema(model: store.model, actual: actual)
    #expect(schema.misnamedJoins == [:])
    // The file is not read, except for tables within one entity.
    let derived = Set(PhysicalSchema(model: store.model).tables.filter(\.isJoin).map(\.name))
    for table in schema.tables where table.isJoin {
      let numbers = Set(table.columns.prefix(2).map { $0.name.dropFirst(2).prefix(while: \.isNumber) })
      #expect(numbers.count == 1 || derived.contains(table.name), "\(table.name)")
    }
  }
}
