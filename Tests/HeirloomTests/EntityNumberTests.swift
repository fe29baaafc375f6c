import Foundation
import Heirloom
import HeirloomSupport
import TestSupport
import Testing

/// Entity numbers and highest keys that another program wrote wrong, where the store's rows tell them: what a migration
/// makes of them.
struct EntityNumberTests {
  private static let builders: [BuilderChoice] = [.always(.rebuild), .always(.cloneAndAlter)]

  private static func migrate(
    _ store: NumberedStore, _ builder: BuilderChoice, addsFirst: Bool
  ) throws -> MigrationPlan {
    let history = ModelHistory(
      current: try NumberedStore.model(addsFirst: addsFirst, addsColumn: true), name: "2",
      earlier: [("1", try NumberedStore.model())])
    let assistant = MigrationAssistant(store.url, history, .withBothProofs, builder: builder)
    let preview = try #require(try assistant.plan())
    let report = try assistant.migrate()
    #expect(preview.losses.isEmpty && report.plan.losses.isEmpty)
    return report.plan
  }

  private static func corrections(_ plan: MigrationPlan) -> [String] {
    plan.warnings.filter { $0.contains("entity number") || $0.hasPrefix("Z_PRIMARYKEY") }
  }

  @Test(arguments: LongTests.pairs(of: NumberedStore.wrongNumbers, builders, every: 3))
  func `a row that can be of one entity only is migrated with it, and counted`(
    literal: String, builder: BuilderChoice
  ) throws {
    for addsFirst in [false, true] {
      let store = try NumberedStore()
      let rows = try NumberedStore.rows(of: store.url)
      try store.change(NumberedStore.changeRows(to: literal))
      #expect(try NumberedStore.rows(of: store.url) != rows)
      let plan = try Self.migrate(store, builder, addsFirst: addsFirst)
      #expect(try NumberedStore.rows(of: store.url) == rows)
      #expect(
        Self.corrections(plan)
          == NumberedStore.sole.map { table, entity in
            // Keys of notes are 101 to 108, those of circles 2, 4 … 16.
            "\(entity == "Note" ? 2 : 4) rows of \(table) have no entity number of the table's, and are treated as \(entity),"
              + " the only entity that it can hold"
          })
      #expect(try NumberedStore.recordsBehind(in: store.url) == [])
    }
  }

  @Test(
    arguments: LongTests.pairs(
      of: NumberedStore.wrongNumbers + ["(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Poodle')"], builders, every: 3)
  )
  func `the number beside a key becomes that of the object, and is counted`(
    literal: String, builder: BuilderChoice
  ) throws {
    for addsFirst in [false, true] {
      let store = try NumberedStore()
      let rows = try NumberedStore.rows(of: store.url)
      try store.change(NumberedStore.changeLinks(to: literal))
      #expect(try NumberedStore.rows(of: store.url) != rows)
      let plan = try Self.migrate(store, builder, addsFirst: addsFirst)
      #expect(try NumberedStore.rows(of: store.url) == rows)
      #expect(Self.corrections(plan).count == NumberedStore.links.count, "\(Self.corrections(plan))")
      for link in NumberedStore.links {
        let words = "2 rows of \(link.table) have another entity number in"
        #expect(
          Self.corrections(plan).contains { $0.hasPrefix(words) && $0.contains("than the object of \(link.name)") })
      }
    }
  }

  @Test(arguments: NumberedStore.wrongMaxima + ["missing"], builders)
  func `the highest key is at least the one that is there`(literal: String, builder: BuilderChoice) throws {
    let store = try NumberedStore()
    let rows = try NumberedStore.rows(of: store.url)
    try store.change(
      literal == "missing"
        ? "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME IN ('Note', 'Animal', 'Dog')"
        : "UPDATE Z_PRIMARYKEY SET Z_MAX = \(literal) WHERE Z_NAME IN ('Note', 'Animal')")
    #expect(try NumberedStore.recordsBehind(in: store.url).sorted() == ["Animal", "Note"])
    let plan = try Self.migrate(store, builder, addsFirst: true)
    #expect(try NumberedStore.rows(of: store.url) == rows)
    #expect(try NumberedStore.recordsBehind(in: store.url) == [])
    let corrections = Self.corrections(plan)
    #expect(corrections.count { $0.contains("as the highest key of") } == 2, "\(corrections)")
    #expect(
      corrections.contains { $0.hasSuffix("the highest key of Note: it is changed to 108, the highest in ZNOTE") })
  }

  @Test(arguments: LongTests.pairs(of: NumberedStore.wrongNumbers, builders, every: 3))
  func `where several entities are possible, nothing is guessed`(literal: String, builder: BuilderChoice) throws {
    let store = try NumberedStore()
    // A fault of each kind that is corrected elsewhere, too.
    try store.change(
      "UPDATE ZANIMAL SET Z_ENT = \(literal) WHERE Z_PK = 3; UPDATE ZNOTE SET Z_ENT = NULL WHERE Z_PK = 101")
    let bytes = try Data(contentsOf: store.url)
    let error = #expect(throws: MigrationAssistantError.self) {
      try Self.migrate(store, builder, addsFirst: true)
    }
    #expect(
      "\(try #require(error))".contains("ZANIMAL has rows whose entity number"), "\(String(describing: error))")
    #expect(try Data(contentsOf: store.url) == bytes)
  }

  @Test(arguments: ["999", "NULL"]) func `a key without an object stays as it is`(key: String) throws {
    let store = try NumberedStore()
    try store.change("UPDATE ZVISIT SET ZANIMAL = \(key), Z1_ANIMAL = -1 WHERE Z_PK = 3")
    let rows = try NumberedStore.rows(of: store.url)
    let plan = try Self.migrate(store, .always(.cloneAndAlter), addsFirst: false)
    #expect(Self.corrections(plan) == [])
    #expect(try NumberedStore.rows(of: store.url) == rows)
  }

  /// A plan doesn't ask about tables whose rows stay as they are, so that only the run finds such a row.
  @Test func `what only the run finds is corrected all the same`() throws {
    for isLinked in [false, true] {
      let store = try NumberedStore()
      let rows = try NumberedStore.rows(of: store.url)
      try store.change(NumberedStore.changeRows(to: "NULL") + (isLinked ? "; UPDATE ZPHOTO SET Z1_SUBJECT = -1" : ""))
      let plan = try Self.migrate(store, .automatic, addsFirst: false)
      #expect(try NumberedStore.rows(of: store.url) == rows)
      #expect(Self.corrections(plan).count == (isLinked ? 3 : 2), "\(plan.warnings)")
      // The version that is kept is the store as it was.
      let kept = try #require(try StoreArchive(storeURL: store.url).previousVersions().first)
      #expect(try NumberedStore.rows(of: kept.storeURL) != rows)
      #expect(try StoreVerification.report(onStoreAt: store.url.path).findings.filter { $0.severity < .note } == [])
    }
  }

  @Test func `code of a stage sees the corrected rows`() throws {
    let (source, destination) = (
      try NumberedStore.model(), try NumberedStore.model(addsFirst: true, addsColumn: true)
    )
    let store = try NumberedStore()
    let rows = try NumberedStore.rows(of: store.url)
    try store.change("\(NumberedStore.changeRows(to: "'x'")); UPDATE ZPHOTO SET Z1_SUBJECT = 99")
    let seen = Locked<[Int]>([])
    let references = [source, destination].map {
      ManagedObjectModelReference(model: $0, versionChecksum: $0.versionChecksum())
    }
    let stage = CustomMigrationStage(migratingFrom: references[0], to: references[1])
    stage.willMigrateHandler = { context in
      let found = try ["Note", "Circle"].map { try context.count(ObjectFetchRequest($0)) }
      seen.withLock { $0 = found }
    }
    let history = ModelHistory(current: destination, name: "2", earlier: [("1", source)])
    let assistant = MigrationAssistant(store.url, history)
    assistant.stagedManager = try StagedMigrationManager([stage])
    let report = try assistant.migrate()
    #expect(seen.withLock { $0 } == [8, 8])
    #expect(Self.corrections(report.plan).count == 3, "\(report.plan.warnings)")
    #expect(try NumberedStore.rows(of: store.url) == rows)
  }

  @Test func `code that makes objects one by one gets the corrected rows`() throws {
    let (source, destination) = (
      try NumberedStore.model(), try NumberedStore.model(addsFirst: true, addsColumn: true)
    )
    var configuration = MigrationAssistant.Configuration()
    configuration.policies.register(EntityMigrationPolicy.self, named: "Standard")
    configuration.mappings = [try PolicyEquivalenceTests.mapping(from: source, to: destination, .all)]
    var made: [[String]] = []
    for isDamaged in [false, true] {
      let store = try NumberedStore()
      if isDamaged {
        try store.change("\(NumberedStore.changeRows(to: "'x'")); \(NumberedStore.changeLinks(to: "-1"))")
      }
      let assistant = MigrationAssistant(
        store.url, ModelHistory(current: destination, name: "2", earlier: [("1", source)]), configuration)
      let report = try assistant.migrate()
      #expect(!report.plan.mappingResults.isEmpty && report.plan.losses.isEmpty)
      #expect(Self.corrections(report.plan).count == (isDamaged ? 7 : 0), "\(report.plan.warnings)")
      made.append(try NumberedStore.rows(of: store.url))
    }
    #expect(made[0] == made[1] && made[0].count == 7 * 8)
  }

  // MARK: Use

  @Test(arguments: NumberedStore.wrongMaxima)
  func `a session never gives a key that is taken, whatever the record says`(literal: String) throws {
    let store = try NumberedStore()
    let rows = try NumberedStore.rows(of: store.url)
    try store.change("UPDATE Z_PRIMARYKEY SET Z_MAX = \(literal)")
    for number in 1...2 {
      let opened = try PersistentStore.open(at: store.url, model: NumberedStore.model())
      let context = ManagedObjectContext(store: opened)
      for entity in ["Note", "Poodle"] {
        try context.insert(entity).setValue(.string("new \(number)"), forAttribute: "title")
      }
      try context.save()
      try opened.close()
    }
    let all = try NumberedStore.rows(of: store.url)
    #expect(all.filter { !$0.contains("new ") } == rows && all.count == rows.count + 4)
    let connection = try Connection(reading: store.url)
    for (table, entity, keys) in [("ZNOTE", "Note", [109, 110]), ("ZANIMAL", "Animal", [Int64(9), 10])] {
      let found = try connection.rows("SELECT Z_PK FROM \(table) WHERE ZTITLE LIKE 'new%' ORDER BY 1")
      #expect(found == keys.map { [.integer($0)] })
      let record = try connection.firstInteger("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)'")
      #expect(record == keys.last)
    }
  }

  @Test(arguments: NumberedStore.wrongNumbers)
  func `a row in a table of one entity is read, followed, changed and deleted as one`(literal: String) throws {
    let store = try NumberedStore()
    try store.change(
      "\(NumberedStore.changeRows(to: literal)); UPDATE ZVISIT SET Z_ENT = \(literal); UPDATE ZPHOTO SET Z_ENT = \(literal)"
    )
    let opened = try PersistentStore.open(at: store.url, model: NumberedStore.model())
    let context = ManagedObjectContext(store: opened)
    let titles = try context.fetch(ObjectFetchRequest("Note")).map { try $0.value(forAttribute: "title") }
    #expect(titles == (0..<8).map { .string("Note \($0)") })
    let animals = try context.fetch(ObjectFetchRequest("Animal"))
    let photos = try animals.map { try $0.objects(forRelationship: "photos").count }
    #expect(animals.count == 8 && photos == Array(repeating: 1, count: 8))
    #expect(try animals.map { try $0.objects(forRelationship: "visits").count } == photos)
    let note = try #require(
      try context.fetch(ObjectFetchRequest("Note", where: "title == %@", "Note 1")).first)
    try note.setValue(.string("changed"), forAttribute: "title")
    try context.delete(#require(try context.fetch(ObjectFetchRequest("Note", where: "title == %@", "Note 5")).first))
    try context.save()
    try opened.close()
    let connection = try Connection(reading: store.url)
    #expect(
      try connection.rows("SELECT Z_PK, ZTITLE FROM ZNOTE WHERE Z_PK IN (101, 102, 106) ORDER BY 1")
        == [[.integer(101), .text("Note 0")], [.integer(102), .text("changed")]])
  }
}
