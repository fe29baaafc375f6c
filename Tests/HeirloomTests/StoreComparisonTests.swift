import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import TestSupport
import Testing

/// Pairs of stores that differ in one place, whose comparison is held against plain SQL.
struct StoreComparisonTests {
  /// A store's values by plain SQL: each row of each table as SQL literals, files by their bytes.
  private struct Picture {
    private var rows: [String: [String: Int]] = [:]
    private let allFiles: Set<String>
    private let ownFiles: Set<String>

    /// Left out: how often an object was saved, Core Data's model copy and highest keys, SQLite's own tables; numbers of
    /// entities that follow from the table, or from the key beside them.
    init(_ store: URL) throws {
      let connection = try Connection(reading: store)
      let entities = try connection.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY")
      let alone = try connection.rows(
        "SELECT 'Z' || UPPER(Z_NAME) FROM Z_PRIMARYKEY AS e WHERE Z_SUPER = 0"
          + " AND NOT EXISTS (SELECT 1 FROM Z_PRIMARYKEY AS s WHERE s.Z_SUPER = e.Z_ENT)"
      ).compactMap(\.first?.text)
      let files = try KeptStoreScene.contents(of: store)
      var named: Set<String> = []
      for name in try connection.rows(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
      )
      .compactMap(\.first?.text) {
        if name.hasPrefix("sqlite_") || name == "Z_MODELCACHE" || name == "Z_METADATA" || name == "Z_PRIMARYKEY" {
          continue
        }
        let columns = try connection.rows("SELECT name FROM pragma_table_info('\(name)')").compactMap(\.first?.text)
          .filter { column in
            let isNumber = column == "Z_ENT" && alone.contains(name) || column.firstMatch(of: /^Z[0-9]+_/) != nil
            return !(name.hasPrefix("Z") && (column == "Z_OPT" || isNumber))
          }
        // Without a key of its own, a row has a hidden number, and one that is made WITHOUT ROWID has none.
        let hasNumber =
          try !name.hasPrefix("Z") && name != "keyed"
          && connection.rows("SELECT 1 FROM pragma_table_info('\(name)') WHERE pk > 0").isEmpty
        // quote() ends a text at a zero byte.
        let literals = (columns + (hasNumber ? ["rowid"] : [])).map {
          "CASE typeof(\"\($0)\") WHEN 'text' THEN 't' || hex(CAST(\"\($0)\" AS BLOB)) ELSE quote(\"\($0)\") END"
        }.joined(separator: ", ")
        var counts: [String: Int] = [:]
        for row in try connection.rows("SELECT \(literals) FROM \"\(name)\"") {
          var text = zip(columns + ["rowid"], row).map { column, value in
            let literal = value.text ?? ""
            guard column == "Z_ENT" else { return literal }
            return entities.first { "\($0[0].integer ?? 0)" == literal }?[1].text ?? literal
          }.joined(separator: ", ")
          for (file, bytes) in files {
            let reference = ExternalStorage.file(file).bytes.map { String(format: "%02X", $0) }.joined()
            guard text.contains("X'\(reference)'") else { continue }
            named.insert(file)
            text = text.replacing("X'\(reference)'", with: "file \(bytes.base64EncodedString())")
          }
          counts[text, default: 0] += 1
        }
        rows[name] = counts
      }
      for bytes in Set(files.values) { rows["files", default: [:]][bytes.base64EncodedString()] = 1 }
      // Files that no row names count with their names.
      allFiles = Set(files.map { "\($0.key) \($0.value.base64EncodedString())" })
      ownFiles = Set(
        files.filter { !named.contains($0.key) }.map { "\($0.key) \($0.value.base64EncodedString())" })
      let own = KeptStoreScene.folder(of: store).deletingLastPathComponent().appendingPathComponent("own")
      for file in (try? FileManager.default.contentsOfDirectory(at: own, includingPropertiesForKeys: nil)) ?? [] {
        rows["own files", default: [:]][
          "\(file.lastPathComponent) \(try Data(contentsOf: file).base64EncodedString())"] = 1
      }
      for pragma in ["user_version", "application_id"] {
        guard let number = try connection.firstInteger("PRAGMA \(pragma)"), number != 0 else { continue }
        rows["numbers", default: [:]]["\(pragma) \(number)"] = 1
      }
      let list = try connection.firstValue("SELECT Z_PLIST FROM Z_METADATA")?.blob ?? []
      var values = try PropertyListSerialization.propertyList(from: Data(list), format: nil) as? [String: Any] ?? [:]
      for key in values.keys where key.hasPrefix("NS") || key.hasPrefix("_NS") || key.hasPrefix("Heirloom") {
        values[key] = nil
      }
      for (key, value) in values {
        let bytes = try PropertyListSerialization.data(fromPropertyList: [value], format: .xml, options: 0)
        rows["metadata", default: [:]][key + bytes.base64EncodedString()] = 1
      }
      try connection.close()
    }

    func isHeld(by other: Picture) -> Bool {
      rows.allSatisfy { table, counts in
        counts.allSatisfy { (other.rows[table]?[$0.key] ?? 0) >= $0.value }
      } && ownFiles.isSubset(of: other.allFiles)
    }
  }

  private struct Scene {
    let directory: TemporaryDirectory
    let model: ManagedObjectModel
    var store: URL { directory.file("Journal.sqlite") }

    init() throws {
      directory = try TemporaryDirectory()
      let data = Make.attribute("data", .binary, external: true)
      let size = Make.attribute("size", .double)
      var item = Make.entity("Item", [Make.attribute("name"), data, size])
      func link(_ name: String, _ entity: String, _ inverse: String, _ maxCount: Int, isOrdered: Bool = false)
        -> RelationshipDescription
      {
        var link = RelationshipDescription(name: name, destinationEntity: entity)
        (link.inverseRelationship, link.maxCount, link.isOrdered, link.isOptional) = (
          inverse, maxCount, isOrdered, true
        )
        return link
      }
      item.relationships = [link("owner", "Person", "items", 1), link("tags", "Tag", "items", 0, isOrdered: true)]
      var person = Make.entity("Person", [Make.attribute("name")])
      person.relationships = [link("items", "Item", "owner", 0)]
      var friend = Make.entity("Friend", [Make.attribute("since")])
      friend.superentity = "Person"
      var tag = Make.entity("Tag", [Make.attribute("name")])
      tag.relationships = [link("items", "Item", "tags", 0)]
      model = try ManagedObjectModel(entities: [item, person, friend, tag])
      try StoreGenerator.makeStore(at: store, model: model, objects: 3, seed: 5, isFull: true)
      try write(
        """
        ALTER TABLE ZITEM ADD COLUMN ZOWN VARCHAR; UPDATE ZITEM SET ZOWN = 'mine';
        CREATE TABLE tags (name TEXT COLLATE NOCASE, size TEXT COLLATE RTRIM, n NUMERIC, b);
        INSERT INTO tags VALUES ('a', 'b', 1, x'00'), ('a', 'b', 1, x'00'), (NULL, '', 0.5, 0);
        CREATE TABLE keyed (name TEXT COLLATE NOCASE PRIMARY KEY, value) WITHOUT ROWID;
        INSERT INTO keyed VALUES ('a', 1), ('b', NULL);
        CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, ZENTITY INTEGER, ZENTITYPK INTEGER);
        INSERT INTO ACHANGE VALUES (1, 1, 1);
        CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES ('one two')
        """)
      let folder = KeptStoreScene.folder(of: store)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let own = folder.deletingLastPathComponent().appendingPathComponent("own")
      try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
      for name in ["on", "off"] { try Data(name.utf8).write(to: own.appendingPathComponent(name)) }
      let connection = try Connection(path: store.path, mode: .readWrite)
      for key in 1...3 {
        let name = UUID().uuidString
        try KeptStoreScene.data(key % 2).write(to: folder.appendingPathComponent(name))
        try connection.execute(
          "UPDATE ZITEM SET ZDATA = ?1 WHERE Z_PK = ?2",
          [.blob(ExternalStorage.file(name).bytes), .integer(Int64(key))])
      }
      var metadata = try StoreMetadata(contentsOf: store)
      metadata.otherValues["app"] = .dictionary(["n": .integer(1), "s": .string("e\u{301}")])
      try metadata.write(to: connection)
      try connection.close()
    }

    func write(_ sql: String, at url: URL? = nil) throws {
      let connection = try Connection(path: (url ?? store).path, mode: .readWrite, options: .building)
      try connection.registerCoreDataFunctions()
      try connection.executeScript(sql)
      try connection.close()
    }

    func copy(_ number: Int) throws -> URL {
      let url = directory.file("\(number)/Journal.sqlite")
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.copyItem(at: store, to: url)
      let support = KeptStoreScene.folder(of: store).deletingLastPathComponent()
      try FileManager.default.copyItem(
        at: support, to: KeptStoreScene.folder(of: url).deletingLastPathComponent())
      return url
    }

    func isHeld(_ url: URL, by other: URL) throws -> Bool {
      let missing = try StoreComparison.between(url.path, models: [model], and: other.path, models: [model]) {
        try $0.missing()
      }
      return try #require(missing).isEmpty
    }
  }

  /// Changes of one column's values, as SQL expressions of the column `c`.
  private static let changes = [
    "CASE WHEN c IS NULL THEN 0 END", "c || ' '", "CASE typeof(c) WHEN 'text' THEN upper(c) ELSE c || '' END",
    "CASE typeof(c) WHEN 'text' THEN CAST(c AS BLOB) WHEN 'blob' THEN CAST(c AS TEXT) ELSE c + 0.0 END",
    "CASE typeof(c) WHEN 'blob' THEN x'00' || c ELSE CAST(c AS INTEGER) + 1 END",
  ]

  @Test func `a row that is missing at the start or the end counts once, and the rows behind it don't`() throws {
    let scene = try Scene()
    for row in 1...3 {
      let copy = try scene.copy(row)
      try scene.write("DELETE FROM tags WHERE rowid = \(row)", at: copy)
      let missing = try StoreComparison.between(
        scene.store.path, models: [scene.model], and: copy.path, models: [scene.model]
      ) { try $0.missing() }
      #expect(try #require(missing).map(\.rows) == [1], "\(row)")
    }
  }

  @Test func `no difference between two stores counts as none, and no copy as different`() throws {
    let scene = try Scene()
    let before = try Picture(scene.store)
    var cases: [(note: String, change: (URL) throws -> Void)] = []
    let connection = try Connection(reading: scene.store)
    let columns = try connection.rows(
      "SELECT s.name, c.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c WHERE s.type = 'table'"
        + " AND s.name NOT IN ('Z_METADATA', 'Z_PRIMARYKEY', 'Z_MODELCACHE') AND s.name NOT LIKE 'sqlite%'"
        + " AND s.sql NOT LIKE 'CREATE VIRTUAL%'")
    try connection.close()
    #expect(columns.count > 30)
    for column in columns {
      guard let table = column[0].text, let name = column[1].text else { continue }
      for change in Self.changes {
        let expression = change.replacing(/\bc\b/, with: "\"\(name)\"")
        let row = table == "keyed" || table == "words_idx" || table == "words_config" ? "" : " WHERE rowid = 1"
        let sql = "UPDATE OR IGNORE \"\(table)\" SET \"\(name)\" = \(expression)\(row)"
        // What SQLite refuses changes nothing.
        cases.append((sql, { try? scene.write(sql, at: $0) }))
      }
    }
    for table in Set(columns.compactMap(\.first?.text)).sorted() {
      for sql in ["DELETE FROM \"\(table)\"", "INSERT OR IGNORE INTO \"\(table)\" SELECT * FROM \"\(table)\" LIMIT 1"] {
        cases.append((sql, { try? scene.write(sql, at: $0) }))
      }
    }
    cases = LongTests.selection(of: cases, every: 7)
    for sql in [
      "DELETE FROM tags WHERE rowid = 1", "UPDATE tags SET rowid = 9 WHERE rowid = 3", "PRAGMA user_version = 7",
      "PRAGMA application_id = -7", "UPDATE ACHANGE SET rowid = rowid",
      "UPDATE tags SET rowid = 4 WHERE rowid = 1; UPDATE tags SET rowid = 1 WHERE rowid = 2",
      "UPDATE tags SET rowid = -rowid; UPDATE tags SET rowid = 4 + rowid", "UPDATE ZPERSON SET Z_OPT = Z_OPT + 1",
      "UPDATE Z_PRIMARYKEY SET Z_MAX = 99",
      "DELETE FROM Z_MODELCACHE", "DROP TABLE tags", "VACUUM",
      "UPDATE ZPERSON SET Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person') WHERE Z_ENT ="
        + " (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Friend')",
    ] {
      cases.append((sql, { try scene.write(sql, at: $0) }))
    }
    let values: [PropertyListValue] = [
      .dictionary(["n": .real(1), "s": .string("e\u{301}")]), .dictionary(["n": .integer(1), "s": .string("\u{e9}")]),
      .dictionary(["n": .boolean(true), "s": .string("e\u{301}")]), .string("app"), .null,
    ]
    for value in values {
      cases.append(
        (
          "metadata \(value)",
          { url in
            let connection = try Connection(path: url.path, mode: .readWrite)
            var metadata = try StoreMetadata(contentsOf: url)
            metadata.otherValues["app"] = value == .null ? nil : value
            try metadata.write(to: connection)
            try connection.close()
          }
        ))
    }
    for number in 0..<3 {
      cases.append(
        ("file \(number) gone", { try FileManager.default.removeItem(at: KeptStoreScene.files(of: $0)[number]) }))
      cases.append(("file \(number) empty", { try Data().write(to: KeptStoreScene.files(of: $0)[number]) }))
      cases.append(
        (
          "file \(number) changed",
          { try KeptStoreScene.data(number + 9).write(to: KeptStoreScene.files(of: $0)[number]) }
        ))
    }
    for (name, content) in [("on", "off"), ("off", "on"), ("new", "on"), ("on", "on")] {
      cases.append(
        (
          "own file \(name) is \(content)",
          { url in
            let own = KeptStoreScene.folder(of: url).deletingLastPathComponent().appendingPathComponent("own")
            try Data(content.utf8).write(to: own.appendingPathComponent(name))
          }
        ))
    }
    cases.append(
      (
        "a file that a row names has another name",
        { url in
          let name = UUID().uuidString
          let data = try Connection(reading: url).firstValue("SELECT ZDATA FROM ZITEM WHERE Z_PK = 1")?.blob ?? []
          guard case .file(let named)? = ExternalStorage(data) else { throw CocoaError(.fileReadCorruptFile) }
          let file = KeptStoreScene.folder(of: url).appendingPathComponent(named)
          try FileManager.default.moveItem(
            at: file, to: file.deletingLastPathComponent().appendingPathComponent(name))
          let connection = try Connection(path: url.path, mode: .readWrite)
          try connection.execute(
            "UPDATE ZITEM SET ZDATA = ?1 WHERE ZDATA = ?2",
            [.blob(ExternalStorage.file(name).bytes), .blob(ExternalStorage.file(file.lastPathComponent).bytes)])
          try connection.close()
        }
      ))
    var (same, different) = (0, 0)
    for (number, change) in cases.enumerated() {
      let copy = try scene.copy(number)
      #expect(try number % 20 != 0 || scene.isHeld(copy, by: scene.store))
      try change.change(copy)
      let after = try Picture(copy)
      let (there, back) = (before.isHeld(by: after), after.isHeld(by: before))
      #expect(try scene.isHeld(scene.store, by: copy) == there, "\(change.note)")
      #expect(try scene.isHeld(copy, by: scene.store) == back, "\(change.note), the other way")
      if there && back { same += 1 } else { different += 1 }
    }
    #expect(same >= 4 && different > cases.count / 3, "\(same) same, \(different) different")
  }
}
