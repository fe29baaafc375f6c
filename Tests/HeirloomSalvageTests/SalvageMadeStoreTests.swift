import CHeirloomFiles
import Foundation
import Heirloom
import TestSupport
import Testing
import HeirloomSalvage
import HeirloomSupport

/// Salvage of stores that are made here: external data, relationships, constraints, permissions, crashes.
struct SalvageMadeStoreTests {
  private static let model = Result {
    try ManagedObjectModel(entities: [
      Make.entity("Author", [Make.attribute("name")], [Make.toMany("notes", "Note", "author")], unique: [["name"]]),
      Make.entity(
        "Note", [Make.attribute("photo", .binary, external: true), Make.attribute("text")],
        [Make.toOne("author", "Author", "notes")]),
    ])
  }

  private static let photos = ["0A000000-0000-4000-8000-000000000001", "0A000000-0000-4000-8000-000000000002"]

  /// A store of 20 authors and 600 notes, two of which have a photo in a file.
  private final class Place {
    let directory: TemporaryDirectory
    let url: URL
    let output: URL
    let model: ManagedObjectModel

    init(in parent: URL = FileManager.default.temporaryDirectory) throws {
      directory = try TemporaryDirectory(in: parent)
      url = directory.file("Diary.sqlite")
      output = directory.file("Salvaged.sqlite")
      model = try SalvageMadeStoreTests.model.get()
      let store = try PersistentStore.create(at: url, model: model, permissions: 0o640)
      let connection = store.connection
      try connection.execute("BEGIN")
      for key in 1...20 {
        try connection.execute(
          "INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?1, 1, 1, 'author ' || ?1)",
          [
            .integer(Int64(key))
          ])
      }
      for key in 1...600 {
        try connection.execute(
          "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZTEXT) VALUES (?1, 2, 1, ?1 % 20 + 1, ?2)",
          [.integer(Int64(key)), .text(String(repeating: "Dear diary \(key). ", count: key % 300 == 7 ? 900 : 9))])
      }
      try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 700 WHERE Z_NAME = 'Note'")
      try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 20 WHERE Z_NAME = 'Author'")
      let files = URL(fileURLWithPath: ExternalStorage.folder(forStoreAt: url.path))
      try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
      for (index, name) in SalvageMadeStoreTests.photos.enumerated() {
        try Data(repeating: UInt8(index), count: 5000).write(to: files.appendingPathComponent(name))
        try connection.execute(
          "UPDATE ZNOTE SET ZPHOTO = ?2 WHERE Z_PK = ?1",
          [.integer(Int64(index + 1)), .blob(ExternalStorage.file(name).bytes)])
      }
      try connection.execute("COMMIT")
      try connection.execute("PRAGMA journal_mode = DELETE")
      try store.close()
    }

    func salvage() throws -> SalvageReport {
      try StoreSalvage(storeURL: url, models: [model]).run(to: output)
    }

    func change(_ sql: String) throws {
      let connection = try Connection(path: url.path, mode: .readWrite, options: .building)
      try connection.executeScript(sql)
      try connection.close()
    }

    func rows(_ sql: String) throws -> [[SQLiteValue]] {
      try Connection(reading: output).rows(sql)
    }

    func errors() throws -> [StoreFinding] {
      try StoreVerification.report(onStoreAt: output.path).findings.filter { $0.severity < .note }
    }

    var cuts: [String] {
      let text = (try? String(contentsOf: URL(fileURLWithPath: output.path + ".cuts.jsonl"), encoding: .utf8)) ?? ""
      return text.split(separator: "\n").map(String.init)
    }
  }

  @Test(arguments: [false, true])
  func `files of external data come along, and one that is missing or empty is told`(isEmpty: Bool) throws {
    let place = try Place()
    let report = try place.salvage()
    #expect(report.isComplete && report.cutsPath == nil, "\(report)")
    let folder = URL(fileURLWithPath: ExternalStorage.folder(forStoreAt: place.output.path))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == Self.photos)
    for (index, name) in names.enumerated() {
      #expect(try Data(contentsOf: folder.appendingPathComponent(name)) == Data(repeating: UInt8(index), count: 5000))
    }
    #expect(try place.errors() == [])
    #expect(try place.rows("SELECT Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT") == [[.integer(20)], [.integer(700)]])
    let mode = try FileManager.default.attributesOfItem(atPath: place.output.path)[.posixPermissions] as? Int
    #expect(mode == 0o640)
    // A file that is missing beside the damaged store is missing beside the new one.
    let second = try Place()
    let files = ExternalStorage.folder(forStoreAt: second.url.path)
    try FileManager.default.removeItem(atPath: files + "/" + Self.photos[1])
    if isEmpty { try Data().write(to: URL(fileURLWithPath: files + "/" + Self.photos[1])) }
    let cut = try second.salvage()
    #expect(cut.missingFiles == [Self.photos[1]] && !cut.isComplete)
    #expect(cut.cuts.map(\.description) == ["1 value of Note.photo whose file is missing"])
    #expect(second.cuts.count == 1 && second.cuts[0].contains("\"key\":2"))
    #expect(try second.rows("SELECT Z_PK FROM ZNOTE WHERE ZPHOTO NOT NULL") == [[.integer(1)]])
    #expect(try second.errors() == [])
  }

  #if os(Linux)
    private static func set(_ name: String, _ value: [UInt8], _ path: String) -> Bool {
      lsetxattr(path, name, value, value.count, 0) == 0
    }

    private static func value(_ name: String, _ path: String) -> [UInt8]? {
      var value = [UInt8](repeating: 0, count: 256)
      let size = lgetxattr(path, name, &value, value.count)
      return size < 0 ? nil : Array(value.prefix(size))
    }

    @Test func `the new store has the rights and attributes of the damaged one`() throws {
      let place = try Place()
      let folder = ExternalStorage.folder(forStoreAt: place.url.path)
      // Of linux/posix_acl_xattr.h: the owner and the user 54321 may read and write, nobody else may; the mask says 6.
      let list: [UInt8] =
        [2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 6, 0, 0x31, 0xd4, 0, 0, 4, 0, 0, 0, 255, 255, 255, 255]
        + [0x10, 0, 6, 0, 255, 255, 255, 255, 0x20, 0, 0, 0, 255, 255, 255, 255]
      try #require(Self.set("user.heirloom", [1, 2], place.url.path), "no extended attributes on this volume")
      try #require(Self.set("user.heirloom", [3], folder + "/" + Self.photos[1]))
      try #require(Self.set("system.posix_acl_access", list, place.url.path), "no access lists on this volume")
      try #require(Self.set("system.posix_acl_access", list, folder))
      try place.change("UPDATE ZNOTE SET ZAUTHOR = 99 WHERE Z_PK = 5")
      let report = try place.salvage()
      #expect(report.notes == [] && report.cuts.count == 1)
      #expect(Self.value("user.heirloom", place.output.path) == [1, 2])
      #expect(Self.value("system.posix_acl_access", place.output.path) == list)
      let copies = ExternalStorage.folder(forStoreAt: place.output.path)
      #expect(Self.value("user.heirloom", copies + "/" + Self.photos[1]) == [3])
      // Without the list, the mask's bits would be rights of the group.
      let files = POSIXFileOperations()
      #expect(try files.status(of: try #require(report.cutsPath))?.mode == 0o600)
      #expect(try files.status(of: copies)?.mode == 0o700)
    }

    @Test(.enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm"), "no folder in memory"))
    func `attributes that can't be carried over are told, and nothing else is lost`() throws {
      let place = try Place(in: URL(fileURLWithPath: "/dev/shm"))
      let photo = ExternalStorage.folder(forStoreAt: place.url.path) + "/" + Self.photos[0]
      let large = [UInt8](repeating: 3, count: 60_000)
      for path in [place.url.path, photo] {
        try #require((0..<20).allSatisfy { Self.set("user.\($0)", large, path) }, "no MiB of attributes in memory here")
      }
      let report = try place.salvage()
      #expect(report.isComplete && report.objects == ["Author": 20, "Note": 600])
      // A MiB is carried at most: 17 of these.
      #expect(report.notes.count == 2)
      let told = ["1 file of external data could not be given all attributes, such as user.", place.output.path]
      for (note, words) in zip(report.notes, told) { #expect(note.hasPrefix(words), "\(report.notes)") }
      #expect(report.notes.last?.contains(" could not be given 3 attributes of the original file") == true)
    }
  #endif

  @Test func `a file of external data that the disk can't read costs its value alone`() throws {
    let place = try Place()
    let salvage = StoreSalvage(
      storeURL: place.url, candidates: [StoreModelCandidate(source: .file("test"), model: place.model)],
      files: StoppingFiles(unreadable: Self.photos[0]))
    let report = try salvage.run(to: place.output)
    #expect(report.missingFiles == [Self.photos[0]] && report.objects == ["Author": 20, "Note": 600])
    #expect(try place.rows("SELECT Z_PK FROM ZNOTE WHERE ZPHOTO NOT NULL") == [[.integer(2)]])
    let names = try FileManager.default.contentsOfDirectory(
      atPath: ExternalStorage.folder(forStoreAt: place.output.path))
    #expect(names == [Self.photos[1]])
    #expect(try place.errors() == [])
  }

  @Test func `what would keep an app from opening the store is cut and told row by row`() throws {
    let place = try Place()
    try place.change(
      """
      DELETE FROM ZAUTHOR WHERE Z_PK = 3;
      DROP INDEX Z_Author_UNIQUE_name;
      UPDATE ZAUTHOR SET ZNAME = 'author 5' WHERE Z_PK = 9;
      INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (650, 77, 1, 'of no entity');
      """)
    let report = try place.salvage()
    #expect(
      Set(report.cuts.map(\.description)) == [
        "60 links by Note.author to missing objects",
        "1 object of Author that must differ from another",
      ])
    #expect(place.cuts.count == 61)
    #expect(try place.errors() == [])
    // The table of notes holds nothing else.
    #expect(report.objects == ["Author": 18, "Note": 601])
    #expect(
      report.notes.count == 1 && report.notes[0].hasPrefix("1 row of ZNOTE has no entity number"), "\(report.notes)")
  }

  @Test func `a text that goes on in lost pages is cut, its row is kept and its beginning told`() throws {
    let place = try Place()
    // This page holds the rest of the text of note 7: it is the fourth of its chain.
    let connection = try Connection(path: place.url.path, mode: .immutable)
    let page = try #require(
      try connection.firstInteger(
        "SELECT pageno FROM dbstat WHERE name = 'ZNOTE' AND pagetype = 'overflow' AND path LIKE '%+000002' ORDER BY path"
      ))
    try connection.close()
    var data = try Data(contentsOf: place.url)
    data.replaceSubrange((Int(page) - 1) * 4096..<Int(page) * 4096, with: Data(count: 4096))
    try data.write(to: place.url)
    let report = try place.salvage()
    #expect(report.cuts.map(\.description) == ["1 value of Note.text that can't be read"])
    #expect(report.objects["Note"] == 600)
    #expect(place.cuts.first?.contains("Dear diary 7. Dear diary 7.") == true)
    #expect(try place.rows("SELECT Z_PK FROM ZNOTE WHERE ZTEXT IS NULL") == [[.integer(7)]])
    #expect(try place.errors() == [])
  }

  @Test func `a text with bytes that are no characters keeps the others`() throws {
    let place = try Place()
    var data = try Data(contentsOf: place.url)
    let range = try #require(data.range(of: Data("Dear diary 42. ".utf8)))
    data[range.lowerBound + 2] = 0xff
    try data.write(to: place.url)
    let report = try place.salvage()
    #expect(report.cuts.map(\.description) == ["1 text of Note.text with unreadable characters"])
    let text = try place.rows("SELECT ZTEXT FROM ZNOTE WHERE Z_PK = 42").first?.first?.text
    #expect(text?.hasPrefix("De\u{FFFD}r diary 42. Dear diary 42. ") == true)
    #expect(try place.errors() == [])
  }

  @Test func `tables of the app's come along as long as they are whole`() throws {
    let place = try Place()
    try place.change(
      """
      CREATE TABLE settings (name TEXT PRIMARY KEY, value);
      INSERT INTO settings VALUES ('theme', 'dark'), ('size', 12);
      CREATE INDEX settings_value ON settings (value);
      """)
    let report = try place.salvage()
    #expect(report.isComplete)
    #expect(
      try place.rows("SELECT * FROM settings ORDER BY name") == [
        [.text("size"), .integer(12)], [.text("theme"), .text("dark")],
      ])
    #expect(try place.rows("PRAGMA integrity_check") == [[.text("ok")]])
  }

  @Test func `without a map of pages deleted rows stay away unless they are asked for`() throws {
    let place = try Place()
    try place.change(
      "PRAGMA auto_vacuum = 0; VACUUM; PRAGMA secure_delete = OFF; DELETE FROM ZNOTE WHERE Z_PK BETWEEN 101 AND 500;")
    let connection = try Connection(path: place.url.path, mode: .immutable)
    #expect((try connection.firstInteger("PRAGMA freelist_count") ?? 0) > 5)
    let root = try #require(try connection.firstInteger("SELECT rootpage FROM sqlite_schema WHERE name = 'ZNOTE'"))
    try connection.close()
    func zero(_ range: Range<Int>) throws {
      var data = try Data(contentsOf: place.url)
      data.replaceSubrange(range, with: Data(count: range.count))
      try data.write(to: place.url)
    }
    func counts(_ includesUncertain: Bool) throws -> (notes: Int64, apart: Int64, uncertain: Int) {
      for suffix in ["", ".cuts.jsonl", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: place.output.path + suffix)
      }
      try? FileManager.default.removeItem(at: place.directory.file(".Salvaged_SUPPORT"))
      var salvage = StoreSalvage(storeURL: place.url, models: [place.model])
      salvage.includesUncertainPages = includesUncertain
      let report = try salvage.run(to: place.output)
      #expect(try place.errors().filter { $0.severity == .error } == [])
      let table = try #require(report.tables.first { $0.table == "ZNOTE" })
      return (table.rows, table.rowsFoundApart, report.uncertainPageCount)
    }
    // The list of free pages tells which of the unreachable leaves are in use.
    try zero((Int(root) - 1) * 4096..<Int(root) * 4096)
    let known = try counts(false)
    #expect(known == (200, 200, 0))
    // Without the header there is no list: possibly deleted rows are left to the caller.
    try zero(0..<100)
    let unknown = try counts(false)
    #expect(unknown.notes == 0 && unknown.uncertain > 5)
    let all = try counts(true)
    #expect(all.notes > 400 && all.uncertain == 0)
  }

  @Test func `rows are asked for where nothing is left that tells which pages are in use`() throws {
    let place = try Place()
    var data = try Data(contentsOf: place.url)
    // The header, the schema and the map of pages are gone.
    data.replaceSubrange(0..<2 * 4096, with: Data(repeating: 0x58, count: 2 * 4096))
    try data.write(to: place.url)
    var salvage = StoreSalvage(storeURL: place.url, models: [place.model])
    let report = try salvage.run(to: place.output)
    #expect(!report.isComplete && report.uncertainPageCount > 5, "\(report)")
    salvage.includesUncertainPages = true
    let all = try salvage.run(to: place.directory.file("All.sqlite"))
    #expect(all.uncertainPageCount == 0 && all.objects["Note"] ?? 0 > 500, "\(all)")
  }

  @Test func `a salvage that dies at any call leaves the store, and no half of a new one`() throws {
    let place = try Place()
    var data = try Data(contentsOf: place.url)
    // It is damaged, so that every part has something to do.
    data.replaceSubrange(0..<100, with: Data(count: 100))
    try data.write(to: place.url)
    var count = 0
    while true {
      let names = try Set(FileManager.default.contentsOfDirectory(atPath: place.directory.url.path))
      let candidates = [StoreModelCandidate(source: .file("test"), model: place.model)]
      let salvage = StoreSalvage(
        storeURL: place.url, candidates: candidates, files: StoppingFiles(after: count))
      let isDone = (try? salvage.run(to: place.output)) != nil
      #expect(try Data(contentsOf: place.url) == data)
      let new = try Set(FileManager.default.contentsOfDirectory(atPath: place.directory.url.path)).subtracting(names)
      if isDone { break }
      if FileManager.default.fileExists(atPath: place.output.path) {
        // Only the sync of the name was left.
        #expect(try place.errors() == [])
        try FileManager.default.removeItem(at: place.output)
      }
      // A dead process leaves a folder of its own, and files of external data that no store has yet.
      for name in new where name != place.output.lastPathComponent {
        #expect(name.hasPrefix(".salvage-") || name == ".Salvaged_SUPPORT", "\(name) after \(count) calls")
        try? FileManager.default.removeItem(at: place.directory.file(name))
      }
      count += 1
      try #require(count < 500)
    }
    #expect(count > 30)
    #expect(try place.errors() == [])
  }

  @Test func `a change that was interrupted is undone in the copy alone`() throws {
    let place = try Place()
    // This is the journal of a process that dies in the middle of a change.
    let connection = try Connection(path: place.url.path, mode: .readWrite)
    try connection.execute("PRAGMA cache_size = 5")
    try connection.execute("BEGIN")
    try connection.execute("UPDATE ZNOTE SET ZTEXT = 'half done'")
    let (main, journal) = (
      try Data(contentsOf: place.url), try Data(contentsOf: URL(fileURLWithPath: place.url.path + "-journal"))
    )
    try connection.execute("ROLLBACK")
    try connection.close()
    try main.write(to: place.url)
    try journal.write(to: URL(fileURLWithPath: place.url.path + "-journal"))
    let report = try place.salvage()
    #expect(report.isComplete, "\(report)")
    #expect(try place.rows("SELECT COUNT(*) FROM ZNOTE WHERE ZTEXT = 'half done'") == [[.integer(0)]])
    #expect(try Data(contentsOf: place.url) == main)
    #expect(FileManager.default.fileExists(atPath: place.url.path + "-journal"))
  }
}
