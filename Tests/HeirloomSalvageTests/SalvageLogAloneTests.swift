import Foundation
import Heirloom
import TestSupport
import Testing
import HeirloomSalvage

/// Salvage of stores whose main file is gone or cut, while their whole `-wal` is there: each page in it is read.
struct SalvageLogAloneTests {
  enum Rest: String, CaseIterable, Sendable {
    case gone, empty, partOfPage, page, twoPages, noise
  }

  struct Shape: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Statements that are checkpointed, so that the log lacks their pages.
    let before: [String]
    let log: [[String]]
    /// Every page of these rows is in the log.
    var held = "1"
  }

  private static func rows(_ range: ClosedRange<Int>, _ text: String = "x") -> String {
    "WITH RECURSIVE n(i) AS (SELECT \(range.lowerBound) UNION ALL SELECT i + 1 FROM n WHERE i < \(range.upperBound))"
      + " INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) SELECT i, 1, 1, '\(text) ' || i FROM n"
  }

  static let shapes =
    [5, 199, 2000].map { Shape(testDescription: "\($0) rows", before: [], log: [[rows(1...$0)]]) } + [
      Shape(testDescription: "an overflow", before: [], log: [[rows(1...300, String(repeating: "long", count: 3000))]]),
      Shape(testDescription: "all pages", before: [rows(1...2000)], log: [[rows(2001...2100)], ["VACUUM"]]),
      Shape(
        testDescription: "rows deleted later", before: [],
        log: [[rows(1...2000)], ["DELETE FROM ZNOTE WHERE Z_PK % 7 <> 0"], ["DELETE FROM ZNOTE WHERE Z_PK > 900"]]),
      Shape(
        testDescription: "some pages of many", before: [rows(1...20_000)],
        log: [["UPDATE ZNOTE SET ZTEXT = 'new' WHERE Z_PK % 5000 = 17"]], held: "ZTEXT = 'new'"),
    ]

  /// Makes the store in which SQLite reads what is expected, and the damaged one.
  private func make(_ shape: Shape, _ rest: Rest, _ vacuum: Int, in directory: TemporaryDirectory) throws -> URL {
    let (whole, store) = (directory.file("Whole.sqlite"), directory.file("Diary.sqlite"))
    try PersistentStore.create(at: whole, model: Self.model()).close()
    let options = Connection.Options.building
    var connection = try Connection(path: whole.path, mode: .readWrite, options: options)
    try connection.executeScript("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = \(vacuum); VACUUM")
    try connection.execute("BEGIN")
    for statement in shape.before { try connection.execute(statement) }
    try connection.execute("COMMIT")
    try connection.executeScript("PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint(TRUNCATE)")
    try connection.close()
    var kept = options
    kept.checkpointsOnClose = false
    connection = try Connection(path: whole.path, mode: .readWrite, options: kept)
    _ = try connection.rows("PRAGMA wal_autocheckpoint = 0")
    for statements in shape.log {
      let isVacuum = statements == ["VACUUM"]
      if !isVacuum { try connection.execute("BEGIN") }
      for statement in statements { try connection.execute(statement) }
      if !isVacuum { try connection.execute("COMMIT") }
    }
    try connection.close()
    try FileManager.default.copyItem(atPath: whole.path + "-wal", toPath: store.path + "-wal")
    let main = try Data(contentsOf: whole)
    switch rest {
    case .gone: break
    case .empty: try Data().write(to: store)
    case .partOfPage: try main.prefix(2580).write(to: store)
    case .page: try main.prefix(4096).write(to: store)
    case .twoPages: try main.prefix(8192).write(to: store)
    case .noise: try Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ 7) }).write(to: store)
    }
    return store
  }

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      Make.entity("Note", [Make.attribute("text")]), Make.entity("Tag", [Make.attribute("title")]),
    ])
  }

  private func texts(_ path: String, where condition: String = "1") throws -> [Int64: String] {
    let connection = try Connection(path: path, mode: .readOnly)
    defer { try? connection.close() }
    var texts: [Int64: String] = [:]
    for row in try connection.rows("SELECT Z_PK, ZTEXT FROM ZNOTE WHERE \(condition)") {
      texts[row[0].integer ?? 0] = row[1].text
    }
    return texts
  }

  @Test(arguments: LongTests.pairs(of: shapes, Rest.allCases, every: 3))
  func `each row whose pages the log has is read, and none that SQLite doesn't read`(shape: Shape, rest: Rest) throws {
    // Core Data's stores can be shortened, those of SwiftData's previews and of apps that made their own can't.
    for vacuum in [2, 0] {
      let directory = try TemporaryDirectory()
      let store = try make(shape, rest, vacuum, in: directory)
      #expect(StoreSalvage.holdsPages(store.path))
      let output = directory.file("Salvaged.sqlite")
      let report = try StoreSalvage(storeURL: store, models: [Self.model()]).run(to: output)
      let whole = directory.file("Whole.sqlite").path
      let (found, expected) = (try texts(output.path), try texts(whole))
      let missing = try texts(whole, where: shape.held).keys.filter { found[$0] == nil }.sorted()
      #expect(missing.isEmpty, "\(vacuum): \(missing.count), first \(missing.prefix(3)) \(report.notes)")
      #expect(found.allSatisfy { expected[$0.key] == $0.value }, "\(vacuum): \(found.count) of \(expected.count)")
      if found.count < expected.count { #expect(!report.isComplete, "\(vacuum): \(report.notes)") }
    }
  }

  @Test func `a log without a page, beside no page, is not called one that can be read`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Diary.sqlite")
    for (main, log) in [(2580, 0), (0, 40_000), (2580, 40_000)] {
      try PersistentStore.create(at: directory.file("\(main) \(log)"), model: Self.model()).close()
      try Data(contentsOf: directory.file("\(main) \(log)")).prefix(main).write(to: store)
      try Data(count: log).write(to: URL(fileURLWithPath: store.path + "-wal"))
      #expect(!StoreSalvage.holdsPages(store.path))
      #expect(throws: SalvageError.self) {
        try StoreSalvage(storeURL: store, models: [Self.model()]).run(to: directory.file("Salvaged.sqlite"))
      }
    }
  }

  @Test func `a page number at the end of what there can be makes no file of its size`() throws {
    let directory = try TemporaryDirectory()
    let store = try make(Self.shapes[0], .gone, 2, in: directory)
    var log = try Data(contentsOf: URL(fileURLWithPath: store.path + "-wal"))
    log = try PlantedLog.appending(page: 0x7FFF_FFF0, to: log)
    try log.write(to: URL(fileURLWithPath: store.path + "-wal"))
    let output = directory.file("Salvaged.sqlite")
    let report = try StoreSalvage(storeURL: store, models: [Self.model()]).run(to: output)
    #expect(try texts(output.path).count == 5 && !report.isComplete)
  }
}

/// A frame after those that SQLite wrote, with its sum.
private enum PlantedLog {
  /// Adds the frame, as https://www.sqlite.org/fileformat2.html#walformat describes it.
  static func appending(page: UInt32, to log: Data) throws -> Data {
    func word(_ offset: Int, isBig: Bool) -> UInt32 {
      let bytes = log[offset..<offset + 4].map(UInt32.init)
      let value = bytes.reduce(0) { $0 << 8 | $1 }
      return isBig ? value : value.byteSwapped
    }
    let isBig = word(0, isBig: true) & 1 == 1
    let frameSize = 24 + Int(word(8, isBig: true))
    let last = 32 + ((log.count - 32) / frameSize - 1) * frameSize
    var frame = Data(withUnsafeBytes(of: page.bigEndian, Array.init) + withUnsafeBytes(of: page.bigEndian, Array.init))
    frame += log[16..<24]
    let content = log[last + 24..<last + frameSize]
    var (first, second) = (word(last + 16, isBig: true), word(last + 20, isBig: true))
    let summed = Array(frame[..<8] + content)
    for index in stride(from: 0, to: summed.count, by: 8) {
      func value(_ offset: Int) -> UInt32 {
        let value = summed[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return isBig ? value : value.byteSwapped
      }
      first = first &+ value(index) &+ second
      second = second &+ value(index + 4) &+ first
    }
    for sum in [first, second] { frame += withUnsafeBytes(of: sum.bigEndian, Array.init) }
    return log + frame + content
  }
}
