import Foundation
import Heirloom
import HeirloomFormats
import TestSupport
import Testing
import HeirloomSalvage

/// Salvage of stores with single wrong bytes in the schema, in trees, chains and keys.
struct SalvageHostilePageTests {
  private typealias Place = SalvageHostileStoreTests.Place

  private static let isRight = "ZNAME = 'record ' || Z_PK AND ZNOTE = 'note ' || Z_PK AND ZTAG = 'tag ' || Z_PK"
  private static let withoutMap = "PRAGMA auto_vacuum = 0; VACUUM;"

  private func page(_ place: Place, _ query: String) throws -> Int {
    let connection = try Connection(path: place.url.path, mode: .immutable)
    return Int(try #require(try connection.firstInteger(query)))
  }

  /// Those of records, in the order of the keys.
  private func pages(_ place: Place, _ kind: String) throws -> [Int] {
    try place.found("SELECT pageno FROM dbstat WHERE name = 'ZRECORD' AND pagetype = '\(kind)' ORDER BY path")
      .compactMap { $0[0].integer.map { Int($0) } }
  }

  // MARK: Names

  @Test(arguments: [
    ("ZNAME", "ZNAMD"), ("ZNAME", "XQWER"), ("Z_PK", "Z_PJ"), ("Z_ENT", "Z_EMT"), ("Z_OPT", "Z]OPT"),
    ("INTEGER PRIMARY", "INTEGER PQIMARY"), ("VARCHAR", "VARCHAS"), ("ZRECORD", "ZRECORE"),
    ("ZNAME", "ZN\u{FF}ME"), ("ZRECORD", "ZREC\u{FF}RD"),
  ])
  func `a name that the schema lost costs no value, and a guess is told`(name: String, damaged: String) throws {
    let place = try Place()
    try place.edit { data in
      let table = try #require(data.range(of: Data("CREATE TABLE ZRECORD ".utf8)))
      let range = try #require(data.range(of: Data(name.utf8), in: table.lowerBound..<table.lowerBound + 200))
      data.replaceSubrange(range, with: Data(damaged.unicodeScalars.prefix(range.count).map { UInt8($0.value) }))
    }
    let report = try place.salvage()
    #expect(try place.count(Self.isRight) == 40, "\(report)")
    #expect(report.objects == ["Record": 40])
    let isGuess = name != "VARCHAR" && name != "INTEGER PRIMARY"
    if isGuess { #expect(!report.isComplete && report.leftOut.count == 1, "\(report.leftOut)") }
  }

  @Test(arguments: ["ALTER TABLE ZRECORD DROP COLUMN ZTAG", "ALTER TABLE ZRECORD ADD COLUMN more DEFAULT 7"])
  func `a column that is left out is told`(change: String) throws {
    let place = try Place(change)
    let report = try place.salvage()
    #expect(report.isStructureSound && !report.isComplete && report.leftOut.count == 1, "\(report.leftOut)")
    #expect(try place.count("ZNAME = 'record ' || Z_PK AND ZNOTE = 'note ' || Z_PK") == 40)
  }

  @Test func `the values of a column that is left out are in the list of cuts`() throws {
    let place = try Place(
      """
      ALTER TABLE ZRECORD ADD COLUMN more; ALTER TABLE ZRECORD ADD COLUMN other;
      UPDATE ZRECORD SET more = 'more ' || Z_PK WHERE Z_PK <= 30; UPDATE ZRECORD SET other = x'00FF' WHERE Z_PK = 7;
      """)
    let report = try place.salvage()
    #expect(report.objects == ["Record": 40] && !report.isComplete)
    let told = report.cuts.filter { $0.kind.rawValue == "leftOutColumn" }.sorted { $0.subject < $1.subject }
    #expect(told.map(\.subject) == ["ZRECORD.more", "ZRECORD.other"] && told.map(\.count) == [30, 1])
    var found: [Int: [String: Any]] = [:]
    for line in place.cuts.split(separator: "\n") {
      let cut = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      #expect(cut["cut"] as? String == "leftOutColumn" && cut["table"] as? String == "ZRECORD")
      let key = try #require(cut["key"] as? Int)
      found[key] = try #require(cut["values"] as? [String: Any])
    }
    #expect(found.count == 30)
    for key in 1...30 { #expect(found[key]?["more"] as? String == "more \(key)") }
    #expect((found[7]?["other"] as? [String: String]) == ["base64": "AP8="] && found[8]?["other"] == nil)
  }

  @Test func `a table that the schema calls otherwise is the model's`() throws {
    let place = try Place(
      """
      PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'ZRECORD';
      UPDATE sqlite_schema SET name = 'ZRECORE', tbl_name = 'ZRECORE', sql = replace(sql, 'ZRECORD', 'ZRECORE')
        WHERE name = 'ZRECORD';
      """)
    let report = try place.salvage()
    #expect(try place.count(Self.isRight) == 40, "\(report)")
    #expect(!report.isComplete && report.leftOut.count == 1, "\(report.leftOut)")
    #expect(try place.rows("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'ZRECORE'") == [[.integer(0)]])
  }

  // MARK: Entities

  @Test func `without metadata the store's own list of entities tells which rows are whose`() throws {
    let place = try Place("DELETE FROM Z_METADATA; DELETE FROM Z_MODELCACHE;")
    let newer = try ManagedObjectModel(
      entities: [Make.entity("Album", [Make.attribute("name")])] + place.model.entities)
    let report = try place.salvage(models: [newer])
    #expect(report.objects["Record"] == 40, "\(report)")
    #expect(try place.count(Self.isRight + " AND Z_ENT = 2") == 40)
  }

  // MARK: Circles

  @Test
  func `an index whose pages lead to one page again and again is read to an end`() throws {
    let place = try Place("CREATE INDEX ZRECORD_Z_ENT_INDEX ON ZRECORD (Z_ENT)")
    let root = try page(place, "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'ZRECORD'")
    try place.edit { data in
      let leaf = data.subdata(in: (root - 1) * 4096..<root * 4096)
      let count = data.count / 4096
      // There are three pages, each with two thousand entries that lead to the next, and then the leaf.
      for (number, child) in [(root, count + 1), (count + 1, count + 2), (count + 2, count + 3)] {
        var bytes = Data(count: 4096)
        let (entries, start) = (2000, 4080)
        func put(_ value: Int, _ size: Int, at offset: Int) {
          for index in 0..<size { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - index))) }
        }
        bytes[0] = 2
        put(entries, 2, at: 3)
        put(start, 2, at: 5)
        put(child, 4, at: 8)
        for index in 0..<entries { put(start, 2, at: 12 + 2 * index) }
        put(child, 4, at: start)
        bytes.replaceSubrange(start + 4..<start + 9, with: [4, 3, 9, 1, 5])
        if number == root {
          data.replaceSubrange((root - 1) * 4096..<root * 4096, with: bytes)
        } else {
          data.append(bytes)
        }
      }
      data.append(leaf)
      for index in 0..<4 { data[28 + index] = UInt8(truncatingIfNeeded: (count + 3) >> (24 - 8 * index)) }
    }
    // Each way to the leaf once would take days. A test's own time limit counts the time that others take, too.
    let start = ContinuousClock.now
    let report = try place.salvage()
    #expect(ContinuousClock.now - start < .seconds(60))
    #expect(try place.count(Self.isRight) == 40 && !report.isStructureSound, "\(report)")
  }

  @Test(arguments: [0, 3])
  func `a chain of pages that leads back is no value`(place number: Int) throws {
    let place = try Place(
      Self.withoutMap + "UPDATE ZRECORD SET ZPHOTO = CAST(printf('%.*c', 40000, 'x') AS BLOB) WHERE Z_PK IN (3, 4)")
    let chain = try pages(place, "overflow")
    try place.edit { data in
      let offset = (chain[number] - 1) * 4096
      for index in 0..<4 { data[offset + index] = UInt8(truncatingIfNeeded: chain[number] >> (24 - 8 * index)) }
    }
    let report = try place.salvage()
    #expect(report.cuts.map(\.description) == ["1 value of Record.photo that can't be read"], "\(report)")
    #expect(try place.count("ZPHOTO IS NULL AND Z_PK = 3 OR length(ZPHOTO) = 40000 AND Z_PK = 4") == 2)
    #expect(try place.count(Self.isRight) == 40)
  }

  // MARK: Zeros

  @Test(arguments: ["", withoutMap])
  func `a value of bytes that ends in zeros is a value`(prepare: String) throws {
    let photo = [UInt8](repeating: 7, count: 20_000) + [UInt8](repeating: 0, count: 20_000)
    let place = try Place(prepare)
    try place.change("UPDATE ZRECORD SET ZPHOTO = x'\(photo.map { $0 == 0 ? "00" : "07" }.joined())' WHERE Z_PK = 3")
    let report = try place.salvage()
    #expect(report.isComplete && report.isStructureSound && report.notes.count == 1, "\(report)")
    #expect(try place.rows("SELECT ZPHOTO FROM ZRECORD WHERE ZPHOTO NOT NULL") == [[.blob(photo)]])
    #expect(try place.count(Self.isRight) == 40)
  }

  @Test(arguments: ["", withoutMap])
  func `a text whose last page is empty is cut`(prepare: String) throws {
    let place = try Place(prepare)
    try place.change("UPDATE ZRECORD SET ZNOTE = printf('%.*c', 9000, 'x'), ZTAG = NULL WHERE Z_PK = 3")
    let last = try #require(try pages(place, "overflow").last)
    try place.edit { $0.replaceSubrange((last - 1) * 4096..<last * 4096, with: Data(count: 4096)) }
    let report = try place.salvage()
    #expect(report.cuts.map(\.description) == ["1 value of Record.note that can't be read"], "\(report)")
    #expect(try place.count(Self.isRight) == 39 && !report.isComplete)
  }

  @Test func `the readable part of a value comes into the list of cuts byte by byte`() throws {
    let photo = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 7 | 0x80) }
    let place = try Place()
    let hex = photo.map { String($0, radix: 16) }.joined()
    try place.change("UPDATE ZRECORD SET ZPHOTO = x'\(hex)' WHERE Z_PK = 3")
    let chain = try pages(place, "overflow")
    try place.edit { $0.replaceSubrange((chain[5] - 1) * 4096..<chain[5] * 4096, with: Data(count: 4096)) }
    _ = try place.salvage()
    let line = try #require(try JSONSerialization.jsonObject(with: Data(place.cuts.utf8)) as? [String: Any])
    let value = (line["values"] as? [String: Any])?["ZPHOTO"] as? [String: Any]
    let bytes = try #require((value?["readableBase64"] as? String).flatMap { Data(base64Encoded: $0) })
    #expect(bytes.count > 20_000 && bytes.elementsEqual(photo.prefix(bytes.count)))
  }

  // MARK: Keys

  @Test func `a row whose key was changed takes no other row's place`() throws {
    let place = try Place(count: 400)
    let leaf = try pages(place, "leaf")[1]
    var key = 0
    try place.edit { data in
      let start = (leaf - 1) * 4096
      let count = Int(data[start + 3]) << 8 | Int(data[start + 4])
      let pointer = start + 8 + 2 * (count - 1)
      let cell = start + (Int(data[pointer]) << 8 | Int(data[pointer + 1]))
      // These are a byte of the length, and two of the key.
      key = Int(data[cell + 1] & 0x7f) << 7 | Int(data[cell + 2])
      (data[cell + 1], data[cell + 2]) = (0x80 | UInt8(399 >> 7), UInt8(399 & 0x7f))
    }
    #expect(key > 128 && key < 399)
    let report = try place.salvage()
    #expect(try place.count(Self.isRight) == 399 && report.objects == ["Record": 399])
    #expect(report.cuts.map(\.description) == ["1 row of Record with a key out of place"], "\(report)")
    #expect(place.cuts.contains("\"record \(key)\"") && !report.isComplete)
  }

  @Test(arguments: [-10, -1, 1, 10])
  func `a page between leaves whose key was changed costs no row`(change: Int) throws {
    let place = try Place(count: 400)
    let root = try page(place, "SELECT rootpage FROM sqlite_schema WHERE name = 'ZRECORD'")
    try place.edit { data in
      let start = (root - 1) * 4096
      let cell = start + (Int(data[start + 12]) << 8 | Int(data[start + 13]))
      data[cell + 4] = UInt8(Int(data[cell + 4]) + change)
    }
    let report = try place.salvage()
    #expect(try place.count(Self.isRight) == 400 && report.cuts.isEmpty, "\(report)")
  }

  @Test func `a page that the map takes for another kind is read where its table leads to it`() throws {
    let place = try Place(count: 400)
    let leaf = try pages(place, "leaf")[1]
    // The second page is the map; from the third page on, each page has an entry of five bytes.
    try place.edit { data in
      #expect(data[4096 + 5 * (leaf - 3)] == 5)
      data[4096 + 5 * (leaf - 3)] = 4
    }
    let report = try place.salvage()
    #expect(try place.count(Self.isRight) == 400 && report.cuts.isEmpty, "\(report)")
  }

  // MARK: Pages without a table

  @Test func `pages of rows of which nothing tells the table are counted`() throws {
    let place = try Place(
      """
      \(Self.withoutMap) CREATE TABLE app (a INTEGER PRIMARY KEY, b); CREATE INDEX ZRECORD_own ON ZRECORD (Z_ENT);
      WITH RECURSIVE n (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 300)
        INSERT INTO app SELECT k, printf('%.*c', 50, 'x') FROM n;
      """)
    let roots = try ["name = 'app'", "type = 'index' AND tbl_name = 'ZRECORD'"].map { condition in
      try page(place, "SELECT rootpage FROM sqlite_schema WHERE \(condition)")
    }
    let original = try Data(contentsOf: place.url)
    for (index, root) in roots.enumerated() {
      try place.edit { data in
        data = original
        data.replaceSubrange((root - 1) * 4096..<root * 4096, with: Data(count: 4096))
      }
      let report = try place.salvage()
      #expect((report.unassignedPageCount > 2) == (index == 0), "\(report)")
      #expect(try place.count(Self.isRight) == 40)
      for suffix in ["", "-wal", "-shm", ".cuts.jsonl"] {
        try? FileManager.default.removeItem(atPath: place.output.path + suffix)
      }
    }
  }

  // MARK: The folders of a killed salvage

  @Test func `folders of salvages that were killed go, those of others stay`() throws {
    let place = try Place()
    let digits = String(repeating: "0123456789abcdef", count: 2)
    let (dead, held, young, other) = (
      ".salvage-" + digits, ".salvage-" + String(digits.reversed()), ".salvage-" + String(repeating: "a", count: 32),
      ".salvage-mine"
    )
    for name in [dead, held, young, other] {
      try FileManager.default.createDirectory(at: place.directory.file(name), withIntermediateDirectories: false)
      try Data("Dear diary".utf8).write(to: place.directory.file(name + "/damaged"))
      if name != young { try Data().write(to: place.directory.file(name + "/lock")) }
    }
    let lock = try SalvageHolder(place.directory.file(held + "/lock"))
    #expect(try place.salvage().isComplete)
    let names = try FileManager.default.contentsOfDirectory(atPath: place.directory.url.path)
    #expect(Set(names.filter { $0.hasPrefix(".salvage") }) == [held, young, other])
    let links = try FileManager.default.attributesOfItem(atPath: place.output.path)[.referenceCount] as? Int
    #expect(links == 1)
    lock.release()
    try FileManager.default.removeItem(at: place.output)
    #expect(try place.salvage().isComplete)
    #expect(!FileManager.default.fileExists(atPath: place.directory.file(held).path))
  }
}

/// A process that works in a folder, as far as a lock tells.
private final class SalvageHolder {
  private let file: FileHandle

  init(_ url: URL) throws {
    file = try FileHandle(forUpdating: url)
    try #require(flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
  }

  func release() { try? file.close() }
}
