import Foundation
import Heirloom
import TestSupport
import Testing
import HeirloomSalvage

/// Salvage of stores whose header or `-wal` is damaged: possible gaps are reported, and nothing old is taken for new.
struct SalvageFilesTests {
  /// A store of notes whose `-wal` holds five commits, each of another page.
  private struct Place {
    static let noteCount = 400
    let directory: TemporaryDirectory
    let url: URL
    let model: ManagedObjectModel
    var log: URL { URL(fileURLWithPath: url.path + "-wal") }

    init(hasLog: Bool = true) throws {
      directory = try TemporaryDirectory()
      url = directory.file("Diary.sqlite")
      model = try ManagedObjectModel(entities: [Make.entity("Note", [Make.attribute("text")])])
      try PersistentStore.create(at: url, model: model).close()
      var options = Connection.Options.building
      options.checkpointsOnClose = false
      let connection = try Connection(path: url.path, mode: .readWrite, options: options)
      try connection.execute("BEGIN")
      for key in 1...Self.noteCount {
        try connection.execute(
          "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (?1, 1, 1, ?2)",
          [.integer(Int64(key)), .text("old \(key) " + String(repeating: "x", count: 200))])
      }
      try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ?1", [.integer(Int64(Self.noteCount))])
      try connection.execute("COMMIT")
      guard hasLog else {
        try connection.execute("PRAGMA journal_mode = DELETE")
        try connection.close()
        return
      }
      _ = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
      for key in Place.changedKeys {
        try connection.execute("UPDATE ZNOTE SET ZTEXT = 'new ' || ?1 WHERE Z_PK = ?1", [.integer(key)])
      }
      try connection.close()
    }

    static let changedKeys: [Int64] = [1, 80, 160, 240, 320]

    func salvage(_ name: String) throws -> (report: SalvageReport, texts: [Int64: String]) {
      let output = directory.file(name + ".sqlite")
      let report = try StoreSalvage(storeURL: url, models: [model]).run(to: output)
      let rows = try Connection(reading: output).rows("SELECT Z_PK, ZTEXT FROM ZNOTE")
      var texts: [Int64: String] = [:]
      for row in rows { texts[row[0].integer ?? 0] = row[1].text }
      return (report, texts)
    }
  }

  private static func flip(_ bit: UInt8, at offset: Int, of url: URL) throws {
    var data = try Data(contentsOf: url)
    data[offset] ^= bit
    try data.write(to: url)
  }

  @Test func `a header that tells of fewer pages than there are costs no row`() throws {
    let place = try Place(hasLog: false)
    let (whole, texts) = try place.salvage("whole")
    #expect(whole.isComplete && whole.isStructureSound && texts.count == Place.noteCount)
    // This is the lowest byte of the number of pages.
    let header = try Data(contentsOf: place.url).prefix(32)
    for bit in [UInt8(1), 2, 4, 8, 16, 32, 64] where header[31] & bit != 0 {
      try Self.flip(bit, at: 31, of: place.url)
      let cut = try place.salvage("cut \(bit)")
      #expect(cut.texts == texts, "bit \(bit): \(cut.report)")
      #expect(cut.report.notes.count == 1)
      try Self.flip(bit, at: 31, of: place.url)
    }
  }

  @Test func `pages that were reserved after the end are no damage`() throws {
    let place = try Place(hasLog: false)
    var data = try Data(contentsOf: place.url)
    data.append(Data(count: 40960))
    try data.write(to: place.url)
    let (report, texts) = try place.salvage("longer")
    #expect(report.isComplete && report.isStructureSound && texts.count == Place.noteCount)
    #expect(report.notes.count == 1)
  }

  /// Bits of the `-wal`, by their parts: the header, a frame, and the last page, counted from the end.
  ///
  /// The header's are of magic, page size, salts and sum, the frame's of page, salt, sum and content.
  private static let bits: [(offset: Int, bit: UInt8)] = {
    let header: [(Int, UInt8)] = [(0, 1), (9, 0x10), (17, 1), (22, 4), (25, 1)]
    let frame: [(Int, UInt8)] = [(35, 1), (41, 1), (52, 1), (2032, 1)]
    return header + frame + [(-1, 1), (-4096, 1), (-4103, 1)]
  }()

  @Test(arguments: bits)
  func `one flipped bit of the log brings no old text back as if it were the new one`(
    _ place: (offset: Int, bit: UInt8)
  ) throws {
    let (offset, bit) = place
    let place = try Place()
    let size = try Data(contentsOf: place.log).count
    let (whole, expected) = try place.salvage("whole")
    #expect(whole.isComplete)
    #expect(expected.values.count { $0.hasPrefix("new") } == Place.changedKeys.count)
    try Self.flip(bit, at: offset < 0 ? size + offset : offset, of: place.log)
    let (report, texts) = try place.salvage("flipped")
    let stale = Place.changedKeys.filter { texts[$0]?.hasPrefix("old") == true }
    // The last changes may be missing, but then the report says so.
    #expect(stale.isEmpty || !report.isComplete, "\(stale) \(report.notes)")
    #expect(texts == expected || !report.isComplete, "\(report.notes)")
    // Only the unreadable pages are affected.
    #expect(texts.count >= Place.noteCount - 40 && stale.count <= 1, "\(stale) \(texts.count) \(report.notes)")
  }

  @Test(arguments: 16..<32)
  func `a flipped bit in the salts or the sum of the log's header costs nothing`(offset: Int) throws {
    let place = try Place()
    let (_, expected) = try place.salvage("whole")
    try Self.flip(4, at: offset, of: place.log)
    let (report, texts) = try place.salvage("flipped")
    #expect(texts == expected, "\(texts.count) \(report.notes)")
    #expect(!report.isComplete && report.notes.contains { $0.contains("header of the \"-wal\"") })
    // SQLite drops the whole log then, and has the rows of the main file.
    let copy = place.directory.file("SQLite.sqlite")
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: place.url.path + suffix, toPath: copy.path + suffix)
    }
    let rows = try Connection(path: copy.path, mode: .readWrite, options: .building).rows("SELECT ZTEXT FROM ZNOTE")
    #expect(rows.count == Place.noteCount && !rows.contains { $0[0].text?.hasPrefix("new") == true })
  }

  @Test func `of a log with a damaged header, no less is read than SQLite reads of the main file`() throws {
    let place = try Place()
    // Neither the sum that the header has nor that of its bytes leads to the first frame, whose page is not known then.
    for offset in [20, 26] { try Self.flip(4, at: offset, of: place.log) }
    let (report, texts) = try place.salvage("flipped")
    #expect(texts.count == Place.noteCount, "\(texts.count) \(report.notes)")
    #expect(!report.isComplete && report.notes.contains { $0.contains("as it was before") }, "\(report.notes)")
  }

  @Test func `pages of the log that SQLite passes over because of another's salts are read and told`() throws {
    let place = try Place()
    let (_, expected) = try place.salvage("whole")
    // The salts are not in the sum.
    try Self.flip(1, at: 41, of: place.log)
    let (report, texts) = try place.salvage("flipped")
    #expect(texts == expected)
    #expect(report.notes.contains { $0.contains("1 of the") && $0.contains("salts") }, "\(report.notes)")
  }

  @Test func `a log that is damaged from its start is told`() throws {
    let place = try Place()
    var log = try Data(contentsOf: place.log)
    log.replaceSubrange(0..<log.count, with: (0..<log.count).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ 7) })
    try log.write(to: place.log)
    let (report, texts) = try place.salvage("noise")
    #expect(texts.count == Place.noteCount && !report.isComplete)
    #expect(report.notes.contains { $0.contains("\"-wal\"") })
    // A log that was emptied, or was begun anew without a commit, holds nothing.
    for content in [Data(count: log.count), Data()] {
      try content.write(to: place.log)
      #expect(try place.salvage("empty \(content.count)").report.isComplete)
    }
  }
}
