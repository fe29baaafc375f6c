import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import TestSupport
import Testing

/// Values that only a replaced store holds, of each kind that a comparison of stores could overlook.
struct PinnedContentTests {
  private struct Scene {
    let directory: TemporaryDirectory
    let first: ManagedObjectModel
    let second: ManagedObjectModel
    var store: URL { directory.file("Journal.sqlite") }
    var archive: StoreArchive { StoreArchive(storeURL: store) }

    init(_ second: (EntityDescription) -> EntityDescription = { $0 }) throws {
      directory = try TemporaryDirectory()
      let item = Make.entity("Item", [Make.attribute("name")])
      let note = Make.entity("Note", [Make.attribute("text")])
      var memo = Make.entity("Memo", [])
      memo.superentity = "Note"
      first = try ManagedObjectModel(entities: [item, note, memo])
      self.second = try ManagedObjectModel(entities: [
        second(Make.entity("Item", [Make.attribute("name"), Make.attribute("more")])), note, memo,
      ])
      try PersistentStore.make(at: store, model: first) { context in
        for number in 0..<6 {
          try context.insert("Item")["name"] = .string("item \(number)")
          try context.insert("Note")["text"] = .string("note \(number)")
        }
      }
      try write(
        """
        ALTER TABLE ZITEM ADD COLUMN ZOWN VARCHAR; UPDATE ZITEM SET ZOWN = 'mine';
        CREATE TABLE tags (name TEXT COLLATE NOCASE, size TEXT COLLATE RTRIM);
        INSERT INTO tags VALUES ('a', 'b'), ('c', 'd');
        CREATE TABLE names (name TEXT, "rowid" TEXT); INSERT INTO names (_rowid_, name) VALUES (1, 'a'), (2, 'b');
        CREATE TABLE keyed (name TEXT COLLATE NOCASE PRIMARY KEY, value) WITHOUT ROWID;
        INSERT INTO keyed VALUES ('a', 1);
        CREATE TABLE "Z odd" (ZPK INTEGER PRIMARY KEY, "rowid" TEXT); INSERT INTO "Z odd" VALUES (7, 'seven')
        """)
      for name in ["on", "off"] { try writeFile(name, name) }
      try launch()
    }

    func write(_ sql: String) throws {
      let connection = try Connection(path: store.path, mode: .readWrite)
      try connection.executeScript(sql)
      try connection.close()
    }

    /// No row names the file.
    func writeFile(_ name: String, _ content: String) throws {
      let folder = KeptStoreScene.folder(of: store).deletingLastPathComponent()
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
      try Data(content.utf8).write(to: folder.appendingPathComponent(name))
    }

    func writeMetadata(_ values: [String: PropertyListValue]) throws {
      let connection = try Connection(path: store.path, mode: .readWrite)
      var metadata = try StoreMetadata(contentsOf: store)
      metadata.otherValues.merge(values) { $1 }
      try metadata.write(to: connection)
      try connection.close()
    }

    @discardableResult
    func launch() throws -> MigrationOutcome {
      let outcome = try MigrationAssistant(store, from: first, to: second).migrateStore()
      try ModelController(storeURL: store).archive(second)
      return outcome
    }

    func restoreOldest() throws -> PreviousVersion {
      let oldest = try #require(archive.previousVersions().last)
      return try #require(try archive.restorePreviousVersion(oldest.id).previous)
    }
  }

  /// A change in the migrated store that the restored one doesn't have.
  enum Change: String, CaseIterable, Sendable {
    case unknownColumn = "UPDATE ZITEM SET ZOWN = 'other' WHERE Z_PK = 3"
    case newColumn = "ALTER TABLE ZITEM ADD COLUMN ZMORE2 BLOB; UPDATE ZITEM SET ZMORE2 = x'01' WHERE Z_PK = 2"
    case caseOfOwnRow = "UPDATE tags SET name = 'A' WHERE name = 'a'"
    case spacesInOwnRow = "UPDATE tags SET size = 'b  ' WHERE name = 'a'"
    case duplicateOwnRow = "INSERT INTO tags SELECT * FROM tags WHERE name = 'a'"
    case caseOfKey = "UPDATE keyed SET name = 'A'"
    case kindOfNumber = "UPDATE keyed SET value = 1.0"
    case kindOfText = "UPDATE keyed SET value = '1'"
    case bytesForText = "UPDATE tags SET name = CAST('a' AS BLOB) WHERE name = 'a'"
    case oddTable = "UPDATE \"Z odd\" SET \"rowid\" = 'eight'"
    case ownTable = "CREATE TABLE fresh (v); INSERT INTO fresh VALUES (NULL)"
    case bookkeepingColumn = "ALTER TABLE Z_PRIMARYKEY ADD COLUMN app TEXT; UPDATE Z_PRIMARYKEY SET app = 'x'"
    case otherEntity = "UPDATE ZNOTE SET Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Memo') WHERE Z_PK = 1"
    case value = "UPDATE ZNOTE SET ZTEXT = 'Note 1' WHERE ZTEXT = 'note 1'"
    case hiddenNumbers = "UPDATE names SET _rowid_ = -_rowid_; UPDATE names SET _rowid_ = 3 + _rowid_"
    case hiddenNumber = "UPDATE names SET _rowid_ = 500 WHERE name = 'b'"
    case userVersion = "PRAGMA user_version = 7"
    case applicationNumber = "PRAGMA application_id = 7"
    case metadataKey, metadataKind, metadataLetters, contentOfFile
  }

  @Test(arguments: Change.allCases)
  func `a version that alone holds a value stays pinned, whatever holds the value`(change: Change) throws {
    let scene = try Scene()
    if change == .metadataKind { try scene.writeMetadata(["app": .integer(1)]) }
    if change == .metadataLetters { try scene.writeMetadata(["app": .string("e\u{301}")]) }
    // Another copy without the change, from which the store is restored.
    let plain = scene.directory.file("plain.sqlite")
    try Data(contentsOf: scene.store).write(to: plain)
    switch change {
    case .metadataKey: try scene.writeMetadata(["app": .string("token")])
    case .metadataKind: try scene.writeMetadata(["app": .real(1)])
    case .metadataLetters: try scene.writeMetadata(["app": .string("\u{e9}")])
    case .contentOfFile: try scene.writeFile("off", "on")
    default: try scene.write(change.rawValue)
    }
    let kept = try scene.restoreOldest()
    #expect(kept.isPinned)
    for _ in 0..<3 { try scene.launch() }
    let left = try #require(try scene.archive.previousVersions().first { $0.id == kept.id }, "it is gone")
    #expect(left.isPinned && !left.alone.isEmpty, "\(left.alone)")
  }

  /// A newer version's change that leaves each value where it is.
  enum Addition: CaseIterable, Sendable {
    case attribute, rename, newDefault
  }

  @Test(arguments: Addition.allCases)
  func `a replaced store into which nothing was written isn't pinned`(
    addition: Addition
  ) throws {
    let scene = try Scene { entity in
      var entity = entity
      switch addition {
      case .attribute: break
      case .rename:
        entity.attributes[0] = Make.attribute("title")
        entity.attributes[0].renamingIdentifier = "name"
      case .newDefault: entity.attributes[1].defaultValue = .string("new")
      }
      return entity
    }
    let kept = try scene.restoreOldest()
    #expect(!kept.isPinned, "\(kept.alone)")
  }

  @Test func `two stores that each hold a part release no version`() throws {
    let scene = try Scene()
    try scene.write("UPDATE ZNOTE SET ZTEXT = 'left' WHERE Z_PK = 1; UPDATE ZNOTE SET ZTEXT = 'right' WHERE Z_PK = 2")
    let both = try scene.restoreOldest()
    try scene.launch()
    try scene.write("UPDATE ZNOTE SET ZTEXT = 'left' WHERE Z_PK = 1")
    _ = try scene.restoreOldest()
    try scene.launch()
    try scene.write("UPDATE ZNOTE SET ZTEXT = 'right' WHERE Z_PK = 2")
    _ = try scene.restoreOldest()
    let left = try #require(try scene.archive.previousVersions().first { $0.id == both.id })
    #expect(left.isPinned && left.alone.map { "\($0.entity) \($0.rows)" } == ["Note 2"])
  }

  @Test func `a store with a damaged structure releases no version`() throws {
    for isDamaged in [false, true] {
      let scene = try Scene()
      if isDamaged {
        // SQLite's check finds an entry of the wrong kind: the rows can be read all the same.
        let connection = try Connection(path: scene.store.path, mode: .readWrite, options: .building)
        try connection.executeScript(
          "PRAGMA writable_schema=ON; CREATE TABLE loose (n INTEGER); INSERT INTO loose VALUES (NULL);"
            + " UPDATE sqlite_schema SET sql = 'CREATE TABLE loose (n INTEGER NOT NULL)' WHERE name = 'loose'")
        try connection.close()
      }
      _ = try scene.archive.restorePreviousVersion(scene.archive.previousVersions()[0].id)
      // The newer store comes back, so that the version that was made of it holds nothing alone.
      let kept = try #require(try scene.archive.previousVersions().first)
      _ = try scene.archive.restorePreviousVersion(kept.id)
      let left = try #require(try scene.archive.previousVersions().first { $0.id == kept.id })
      #expect(left.isPinned == isDamaged)
    }
  }
}
