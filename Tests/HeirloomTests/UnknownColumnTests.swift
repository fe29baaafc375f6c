import Foundation
import Heirloom
import HeirloomStore
import HeirloomSupport
import TestSupport
import Testing

/// Columns with values that no model knows: they go where their rows go, or they are told as a loss.
struct UnknownColumnTests {
  private static let builders: [BuilderChoice] = [.always(.rebuild), .always(.cloneAndAlter)]

  private static func open(_ url: URL) throws -> Connection { try Connection(path: url.path, mode: .readWrite) }

  private static func tables(_ connection: Connection) throws -> [String] {
    try connection.rows(
      "SELECT m.name FROM sqlite_schema AS m WHERE m.type = 'table' AND m.name <> 'Z_PRIMARYKEY'"
        + " AND 3 = (SELECT COUNT(*) FROM pragma_table_info(m.name) WHERE name IN ('Z_PK', 'Z_ENT', 'Z_OPT'))"
    ).compactMap { $0[0].text }
  }

  private static func plant(in url: URL) throws -> [String: [[SQLiteValue]]] {
    let connection = try open(url)
    for table in try tables(connection) {
      for statement in [
        "ALTER TABLE \"\(table)\" ADD COLUMN ZLEFTOVER VARCHAR",
        "ALTER TABLE \"\(table)\" ADD COLUMN \"odd name\" numeric(10, 2)",
        "UPDATE \"\(table)\" SET ZLEFTOVER = 'kept ' || Z_PK,"
          + " \"odd name\" = CASE Z_PK % 3 WHEN 0 THEN Z_PK + 0.5 WHEN 1 THEN x'00ff' END",
      ] { try connection.execute(statement) }
    }
    return try planted(in: url)
  }

  private static func planted(in url: URL) throws -> [String: [[SQLiteValue]]] {
    let connection = try open(url)
    var found: [String: [[SQLiteValue]]] = [:]
    for table in try tables(connection) {
      let names = try connection.rows("SELECT name FROM pragma_table_info(?1)", [.text(table)]).compactMap {
        $0[0].text
      }
      guard names.contains("ZLEFTOVER") else { continue }
      found[table] = try connection.rows("SELECT Z_PK, ZLEFTOVER, \"odd name\" FROM \"\(table)\" ORDER BY Z_PK")
    }
    return found
  }

  private static func migrate(_ url: URL, _ history: ModelHistory, _ builder: BuilderChoice) throws -> MigrationReport {
    let assistant = MigrationAssistant(url, history, .withBothProofs, builder: builder)
    return try assistant.migrate()
  }

  @Test(
    .enabled(if: Corpus.isPresent, Corpus.absence), .slow("real stores, each migrated three times by both builders"),
    arguments: LongTests.selection(of: Corpus.storePaths, every: 9),
    builders)
  func `values that no model knows are there after three releases`(path: String, builder: BuilderChoice) throws {
    try Corpus.withCopy(of: path) { url in
      guard var model = try StoreModelCache.model(inStoreAt: url) else { return }
      let before = Set(try StoreVerification.report(onStoreAt: url.path).findings.map(\.kind))
      let expected = try Self.plant(in: url)
      // Some stores have tables and no objects.
      #expect(!expected.isEmpty)
      // The first renumbers all entities, and the tables of the others stay where they are.
      for name in ["AAAdded", "ZzAdded", "MmAdded"] {
        let entity = Make.entity(name, [AttributeDescription(name: "name", type: .string)])
        let next = try ManagedObjectModel(entities: model.entities + [entity])
        let report = try Self.migrate(url, ModelHistory(current: next, earlier: [("before", model)]), builder)
        #expect(report.plan.losses.isEmpty)
        #expect(report.plan.warnings.contains { $0.contains("ZLEFTOVER belongs to no property of the model") })
        #expect(try Self.planted(in: url) == expected, "\(path)")
        model = next
      }
      let kinds = try StoreVerification.report(onStoreAt: url.path).findings.filter { $0.severity < .note }.map(\.kind)
      #expect(Set(kinds).subtracting(before) == [.extraColumn], "\(path)")
    }
  }

  /// A next version of a model of notes with tags, and what it loses of columns that no model knew.
  enum Release: CaseIterable, Sendable {
    case dropped, needsTheName, renumbersLinks

    var lost: [String: Int64] {
      switch self {
      case .dropped: ["Note.ZLEFTOVER": 2, "Note.odd name": 1, "Note.ZWHEN": 1, "Note": 2, "Tag.notes": 1]
      case .needsTheName: ["Note.ZLEFTOVER": 2]
      case .renumbersLinks: [:]
      }
    }
  }

  private static func model(_ release: Release?) throws -> ManagedObjectModel {
    let tags = Make.toMany("tags", "Tag", "notes")
    let notes = Make.toMany("notes", "Note", "tags")
    let title = Make.attribute("title")
    return switch release {
    case .dropped: try ManagedObjectModel(entities: [Make.entity("Tag", [title])])
    case .needsTheName:
      try ManagedObjectModel(entities: [
        Make.entity("Note", [title, Make.attribute("leftover")], [tags]), Make.entity("Tag", [title], [notes]),
      ])
    case .renumbersLinks, nil:
      try ManagedObjectModel(
        entities: [Make.entity("Note", [title], [tags]), Make.entity("Tag", [title], [notes])]
          + (release == nil ? [] : [Make.entity("AAAdded", [title])]))
    }
  }

  @Test(arguments: Release.allCases, builders)
  func `values that no table can take are a loss, counted`(release: Release, builder: BuilderChoice) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Notes.sqlite")
    let before = try Self.model(nil)
    try Self.fill(url, before)
    let planted = try Self.plant(in: url)
    for statement in ["ALTER TABLE Z_1TAGS ADD COLUMN ZWHEN TIMESTAMP", "UPDATE Z_1TAGS SET ZWHEN = 7"] {
      try Self.open(url).execute(statement)
    }
    let history = ModelHistory(current: try Self.model(release), earlier: [("before", before)])
    let report = try Self.migrate(url, history, builder)
    var lost: [String: Int64] = [:]
    for loss in report.plan.losses { lost[loss.name] = loss.rows }
    #expect(lost == release.lost)
    let joins = ["Z_1TAGS", "Z_2TAGS"].compactMap { try? Self.open(url).rows("SELECT ZWHEN FROM \($0)") }
    #expect(joins == (release == .dropped ? [] : [[[.integer(7)]]]))
    let after = try Self.planted(in: url)
    switch release {
    case .dropped: #expect(after == planted.filter { $0.key == "ZTAG" })
    case .needsTheName:
      #expect(after["ZTAG"] == planted["ZTAG"] && after["ZNOTE"]?.allSatisfy { $0[1] == .null } == true)
    case .renumbersLinks: #expect(after == planted)
    }
  }

  @Test(arguments: builders)
  func `values in the rows of links that go are a loss, counted`(builder: BuilderChoice) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Notes.sqlite")
    func model(_ more: [EntityDescription]) throws -> ManagedObjectModel {
      try ManagedObjectModel(
        entities: [
          Make.entity("Note", [Make.attribute("title")], [Make.toMany("tags", "Tag", "notes")]),
          Make.entity("Tag", [Make.attribute("title")], [Make.toMany("notes", "Note", "tags")]),
        ] + more)
    }
    let before = try model([Make.entity("TagOfOld", parent: "Tag")])
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: before))
      let tags = try ["Tag", "TagOfOld", "TagOfOld"].map { try context.insert($0) }
      try context.insert("Note")[toMany: "tags"] = tags
      try context.save()
    }
    // One of the two links that go has no value.
    for statement in [
      "ALTER TABLE Z_1TAGS ADD COLUMN ZWHEN TIMESTAMP",
      "UPDATE Z_1TAGS SET ZWHEN = 7 WHERE Z_2TAGS <> (SELECT MAX(Z_PK) FROM ZTAG WHERE Z_ENT = 3)",
    ] { try Self.open(url).execute(statement) }
    let report = try Self.migrate(url, ModelHistory(current: try model([]), earlier: [("before", before)]), builder)
    #expect(
      report.plan.losses.map { "\($0.kind) \($0.name) \($0.rows)" }.sorted()
        == ["linksWithoutRoom Note.tags 1", "objects TagOfOld 2", "unknownContent Note.ZWHEN 1"])
    #expect(try Self.open(url).rows("SELECT ZWHEN FROM Z_1TAGS") == [[.integer(7)]])
  }

  @Test(arguments: builders)
  func `a version that alone has a value beside a link is pinned`(builder: BuilderChoice) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Notes.sqlite")
    let before = try Self.model(nil)
    try Self.fill(url, before)
    for statement in ["ALTER TABLE Z_1TAGS ADD COLUMN ZWHEN TIMESTAMP", "UPDATE Z_1TAGS SET ZWHEN = 7"] {
      try Self.open(url).execute(statement)
    }
    // The one link becomes a key.
    let title = Make.attribute("title")
    let next = try ManagedObjectModel(entities: [
      Make.entity("Note", [title], [Make.toMany("tags", "Tag", "notes")]),
      Make.entity("Tag", [title], [Make.toOne("notes", "Note", "tags")]),
    ])
    let report = try Self.migrate(url, ModelHistory(current: next, earlier: [("before", before)]), builder)
    #expect(report.plan.losses.map { "\($0.kind) \($0.name) \($0.rows)" } == ["unknownContent Note.ZWHEN 1"])
    let kept = try #require(try StoreArchive(storeURL: url).previousVersions().first)
    #expect(kept.isPinned && kept.alone.map(\.property) == ["ZWHEN"])
    #expect(try Self.open(kept.storeURL).rows("SELECT ZWHEN FROM Z_1TAGS") == [[.integer(7)]])
  }

  private static func fill(_ url: URL, _ model: ManagedObjectModel) throws {
    let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: model))
    var objects: [ManagedObject] = []
    for entity in ["Note", "Note", "Tag", "Tag"] {
      let object = try context.insert(entity)
      try object.set("\(entity) \(objects.count)", for: "title")
      objects.append(object)
    }
    objects[0][toMany: "tags"] = [objects[2]]
    try context.save()
  }
}
