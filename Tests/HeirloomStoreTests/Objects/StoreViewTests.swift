import Foundation
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

/// Stores that are read through someone else's connection, as in a migration.
struct StoreViewTests {
  private let directory: TemporaryDirectory
  private let model: ManagedObjectModel
  private let connection: Connection

  /// One empty store is `main`, another is attached as `candidate`.
  init() throws {
    directory = try TemporaryDirectory()
    model = try Models.everything()
    for name in ["Main.sqlite", "Candidate.sqlite", "Twin.sqlite"] {
      try PersistentStore.create(at: directory.file(name), model: model).close()
    }
    connection = try Connection(path: directory.file("Main.sqlite").path, mode: .readWrite)
    try connection.registerCoreDataFunctions()
    try connection.attach(path: directory.file("Candidate.sqlite").path, as: "candidate")
  }

  private func view(_ database: String, isReadOnly: Bool = false) throws -> PersistentStore {
    let path = directory.file(database == "main" ? "Main.sqlite" : "Candidate.sqlite").path
    return PersistentStore(
      viewing: connection, database: database, path: path, schema: PhysicalSchema(model: model),
      metadata: try StoreMetadata(connection: connection, database: database, path: path), isReadOnly: isReadOnly)
  }

  /// As a program does, in the same way on equal stores.
  private static func change(_ context: ManagedObjectContext, _ random: inout SplitMix64) throws {
    func pick(_ entity: String, _ random: inout SplitMix64) throws -> ManagedObject? {
      let objects = try context.fetch(entity)
      return objects.isEmpty ? nil : objects[random.below(objects.count)]
    }
    func some(_ entity: String, _ random: inout SplitMix64) throws -> [ManagedObject] {
      var chosen: [ManagedObject] = []
      for object in try context.fetch(entity) where random.below(3) == 0 {
        chosen.insert(object, at: random.below(chosen.count + 1))
      }
      return chosen
    }
    switch random.below(9) {
    case 0...2:
      let entity = ["Note", "Note", "Cover", "Person", "Worker", "Boss", "Artist"][random.below(7)]
      let object = try context.insert(entity)
      if entity == "Note" { object["text"] = .string("new") }
    case 3:
      let note = try pick("Note", &random)
      note?["a64"] = .integer(Int64(random.below(1000)))
      note?["photo"] = .binary(Array(repeating: 7, count: random.below(4)))
      note?["place.geo.latitude"] = random.below(2) == 0 ? nil : .double(1.5)
    case 4:
      let person = try pick("Person", &random)
      try pick("Note", &random)?.setObject(person, forRelationship: "author")
    case 5:
      let cover = try pick("Cover", &random)
      try pick("Note", &random)?.setObject(cover, forRelationship: "cover")
    case 6:
      let people = try some("Person", &random)
      try pick("Note", &random)?.setObjects(people, forRelationship: "editors")
    case 7:
      let notes = try some("Note", &random)
      let name = ["friends", "sources", "uses"][random.below(3)]
      try pick("Note", &random)?.setObjects(notes, forRelationship: name)
    default:
      let covers = try some("Cover", &random)
      try pick("Note", &random)?.setObjects(covers, forRelationship: "attachments")
      let notes = try some("Note", &random)
      try pick("Person", &random)?.setObjects(notes, forRelationship: "notes")
    }
  }

  private static func picture(_ connection: Connection, _ database: String) throws -> [String: [[SQLiteValue]]] {
    var picture: [String: [[SQLiteValue]]] = [:]
    let tables = try connection.rows(
      "SELECT name FROM \(database).sqlite_schema WHERE type = 'table' AND name NOT IN ('Z_METADATA', 'Z_MODELCACHE')")
    for table in tables.compactMap(\.first?.text) {
      let columns = try connection.rows("SELECT name FROM pragma_table_info(?1, ?2)", [.text(table), .text(database)])
      // A row that is written in parts is still saved once.
      let list = columns.compactMap(\.first?.text).filter { $0 != "Z_OPT" }.map(quote).joined(separator: ", ")
      picture[table] = try connection.rows("SELECT \(list) FROM \(database).\(quote(table)) ORDER BY 1, 2")
    }
    return picture
  }

  @Test(arguments: 1...12)
  func `an attached store is written as one with a connection of its own, and nothing else is`(seed: UInt64) throws {
    let twin = try PersistentStore.open(at: directory.file("Twin.sqlite"), model: model)
    let untouched = try Self.picture(connection, "main")
    let (saving, writing) = (
      ManagedObjectContext(store: twin), ManagedObjectContext(streamingInto: try view("candidate"))
    )
    var (first, second) = (SplitMix64(seed: seed), SplitMix64(seed: seed))
    try connection.execute("BEGIN IMMEDIATE")
    for step in 1...60 {
      try Self.change(saving, &first)
      try Self.change(writing, &second)
      if step % 7 == 0 {
        try saving.save()
        try writing.writePendingChanges()
        #expect(connection.isInTransaction)
      }
    }
    try saving.save()
    try writing.writePendingChanges()
    try writing.writeKeyCounters()
    try connection.execute("COMMIT")
    let (expected, found) = (try Self.picture(twin.connection, "main"), try Self.picture(connection, "candidate"))
    for table in expected.keys { #expect(found[table] == expected[table], "\(table)") }
    #expect(expected["ZNOTE"]?.isEmpty == false)
    #expect(try connection.rows("SELECT DISTINCT Z_OPT FROM candidate.ZNOTE") == [[.integer(1)]])
    #expect(try Self.picture(connection, "main") == untouched)
  }

  @Test func `keys go on above the counter and above the rows, whichever is higher`() throws {
    try connection.execute("UPDATE candidate.Z_PRIMARYKEY SET Z_MAX = 40 WHERE Z_NAME = 'Note'")
    try connection.execute("INSERT INTO candidate.ZCOVER (Z_PK, Z_ENT, Z_OPT) VALUES (70, 1, 1)")
    let context = ManagedObjectContext(streamingInto: try view("candidate"))
    #expect(try context.insert("Note").key == 41)
    #expect(try context.insert("Cover").key == 71)
    #expect(try context.insert("Boss").key == 1)
    #expect(try context.insert("Worker").key == 2)
    #expect(try context.insert("Note").key == 42)
    try context.writePendingChanges()
    try context.writeKeyCounters()
    let counters = try connection.rows("SELECT Z_NAME, Z_MAX FROM candidate.Z_PRIMARYKEY WHERE Z_MAX > 0 ORDER BY 1")
    #expect(
      counters == [
        [.text("Cover"), .integer(71)], [.text("Note"), .integer(42)], [.text("Person"), .integer(2)],
      ])
  }

  @Test func `a view for reading refuses every change and stays as it is`() throws {
    let writable = ManagedObjectContext(streamingInto: try view("main"))
    let note = try writable.insert("Note")
    note["text"] = .string("kept")
    try writable.writePendingChanges()
    let store = try view("main", isReadOnly: true)
    let context = ManagedObjectContext(store: store)
    let object = try #require(try context.fetch("Note").first)
    let refusal = ManagedObjectError.store(StoreError(path: store.path, problem: .readOnly))
    #expect(throws: refusal) { try object.setValue(nil, forAttribute: "text") }
    #expect(throws: refusal) { try object.setObject(nil, forRelationship: "author") }
    #expect(throws: refusal) { try object.setObjects([], forRelationship: "editors") }
    #expect(throws: refusal) { try context.insert("Note") }
    #expect(throws: refusal) { try context.delete(object) }
    object["text"] = nil
    #expect(throws: refusal) { try context.save() }
    #expect(!context.hasChanges)
    #expect(object["text"] == .string("kept"))
    #expect(try connection.rows("SELECT ZTEXT, Z_OPT FROM main.ZNOTE") == [[.text("kept"), .integer(1)]])
  }

  @Test func `a closed view leaves the connection to its owner`() throws {
    let store = try view("candidate")
    let context = ManagedObjectContext(streamingInto: store)
    _ = try context.insert("Note")
    try context.writePendingChanges()
    try store.close()
    #expect(try connection.firstInteger("SELECT COUNT(*) FROM candidate.ZNOTE") == 1)
    try connection.detach("candidate")
    try connection.close()
  }

  @Test func `selected rows come in the wanted order and number`() throws {
    let context = ManagedObjectContext(streamingInto: try view("candidate"))
    for index in 0..<20 {
      let object = try context.insert(["Person", "Worker", "Boss", "Artist"][index % 4])
      object["name"] = .string("n\(index % 7)")
    }
    try context.writePendingChanges()
    let alias = RowSelection.alias
    var selection = RowSelection(
      where: "\(alias).\"ZNAME\" <> ?1", bindings: [.text("n3")], order: "\(alias).\"ZNAME\" DESC", limit: 4, offset: 1)
    var found: [String] = []
    let collect = { (object: ManagedObject) throws(ManagedObjectError) -> Bool in
      found.append("\(object.entityName) \(object.key)")
      return true
    }
    try context.forEachStored("Worker", selection, collect)
    let rows = try connection.rows(
      "SELECT Z_ENT, Z_PK FROM candidate.ZPERSON WHERE ZNAME <> 'n3' AND Z_ENT BETWEEN 5 AND 6 OR Z_ENT = -1"
        + " ORDER BY ZNAME DESC, Z_PK LIMIT 4 OFFSET 1")
    let schema = PhysicalSchema(model: model)
    let names = rows.map { row in
      "\(schema.entity(numbered: Int(row[0].integer ?? 0))?.name ?? "") \(row[1].integer ?? 0)"
    }
    #expect(names.count == 4)
    #expect(schema.entity(named: "Worker")?.treeNumbers == 5...6)
    #expect(found == names)
    #expect(try context.countStored("Worker", selection) == 4)
    selection = RowSelection(includesSubentities: false)
    #expect(try context.countStored("Worker", selection) == 5)
    _ = try context.insert("Boss")
    #expect(try context.countStored("Boss", RowSelection()) == 5)
    #expect(try context.changedObjects(of: "Worker").map(\.entityName) == ["Boss"])
    #expect(try context.changedObjects(of: "Worker", includesSubentities: false).isEmpty)
  }
}
