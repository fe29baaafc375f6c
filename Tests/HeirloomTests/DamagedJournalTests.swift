import Foundation
import Heirloom
import HeirloomSalvage
import HeirloomStore
import HeirloomVault
import TestSupport
import Testing

/// The journal of an interrupted change with damage, at which SQLite stops undoing without a word.
struct DamagedJournalTests {
  private let directory: TemporaryDirectory
  private let store: URL

  /// Makes 205 flights on some thirty pages.
  init() throws {
    directory = try TemporaryDirectory()
    store = directory.file("Flights.sqlite")
    try FlightChange.makeStore(at: store)
    let connection = try Connection(path: store.path, mode: .readWrite, options: .inspecting)
    _ = try connection.firstValue("PRAGMA journal_mode=DELETE")
    try connection.execute(
      "WITH n(i) AS (SELECT 6 UNION ALL SELECT i + 1 FROM n WHERE i < 205) INSERT INTO ZFLIGHT (Z_PK, Z_ENT, Z_OPT, ZPILOTNAME)"
        + " SELECT i, 1, 1, 'base ' || i || hex(zeroblob(250)) FROM n")
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 205 WHERE Z_NAME = 'Flight'")
    try connection.close()
  }

  private static let change =
    "UPDATE ZFLIGHT SET ZPILOTNAME = 'changed ' || Z_PK || hex(zeroblob(250)) WHERE Z_PK > 5"

  private func names(_ url: URL) throws -> [String] {
    let connection = try Connection(path: url.path, mode: .readWrite, options: .inspecting)
    defer { try? connection.close() }
    return try connection.rows("SELECT Z_PK || ifnull(ZPILOTNAME, '') FROM ZFLIGHT ORDER BY Z_PK").map {
      $0[0].text ?? ""
    }
  }

  private func write(_ journal: [UInt8]) throws {
    try Data(journal).write(to: URL(fileURLWithPath: store.path + "-journal"))
  }

  // MARK: Every damage

  private struct Damage {
    enum Kind: String {
      case none, magic, finished, count, countAbove, nonce, pageCount, sectorSize, pageSize
      case pageNumber, otherPageNumber, content, unsummedContent, checksum, cut, cutBetweenParts
    }

    let kind: Kind
    let name: String
    let bytes: [UInt8]

    /// True where nothing in the files can show that SQLite undoes less, or something else.
    var isSilent: Bool { [.finished, .otherPageNumber, .unsummedContent, .cutBetweenParts].contains(kind) }
    /// True where the files can't show that SQLite undoes everything all the same.
    var isDoubtful: Bool {
      let sizes: [Kind] = [.nonce, .sectorSize, .pageSize, .pageCount]
      return ([.countAbove, .content, .cut, .pageNumber, .otherPageNumber] + sizes).contains(kind)
    }
  }

  private func damages(of journal: HotJournal) -> [Damage] {
    var damages: [Damage] = [Damage(kind: .none, name: "none", bytes: journal.bytes)]
    func add(_ kind: Damage.Kind, _ name: String, _ change: (inout [UInt8]) -> Void) {
      var bytes = journal.bytes
      change(&bytes)
      damages.append(Damage(kind: kind, name: "\(kind) \(name)", bytes: bytes))
    }
    func word(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
    func set(_ value: Int, at offset: Int) -> (inout [UInt8]) -> Void {
      { $0.replaceSubrange(offset..<offset + 4, with: word(value)) }
    }
    for (number, part) in journal.parts.enumerated() {
      let (header, count) = (part.header, part.records.count)
      let place = "part \(number)"
      add(.magic, place) { $0[header] ^= 1 }
      add(.magic, "\(place), last byte") { $0[header + 7] ^= 0x10 }
      add(.finished, place) { $0[header] = 0 }
      for less in Set([0, 1, count / 2, count - 1]) where less < count {
        add(.count, "\(place), \(less) of \(count)", set(less, at: header + 8))
      }
      for more in [1, 1000, 0x7fff_ffff] { add(.countAbove, "\(place), \(more)", set(count + more, at: header + 8)) }
      add(.nonce, place) { $0[header + 15] ^= 1 }
      if number == 0 {
        for value in [1, 20] { add(.pageCount, "\(value)", set(value, at: 16)) }
        for value in [0, 16, 32, 1024, 4096, 3000] { add(.sectorSize, "\(value)", set(value, at: 20)) }
        for value in [512, 2048, 8192, 65_536, 4095] { add(.pageSize, "\(value)", set(value, at: 24)) }
      }
      for record in Set([0, 1, count / 2, count - 1]).sorted() where (0..<count).contains(record) {
        let offset = part.records[record]
        let place = "\(place), record \(record)"
        for value in [0, 100_000, 0x4000_0000 / journal.pageSize + 1] {
          add(.pageNumber, "\(place), \(value)", set(value, at: offset))
        }
        if let other = part.records.first(where: { $0 != offset }) {
          add(.pageNumber, "\(place), twice") { $0.replaceSubrange(offset..<offset + 4, with: $0[other..<other + 4]) }
        }
        // The page is the schema's first leaf or a page of the map: no record has it.
        add(.otherPageNumber, place, set(2, at: offset))
        add(.content, place) { $0[offset + 4 + journal.pageSize - 400] ^= 1 }
        add(.unsummedContent, place) { $0[offset + 4 + journal.pageSize - 399] ^= 1 }
        add(.checksum, place) { $0[offset + journal.recordLength - 1] ^= 1 }
        for length in [0, 2, 4, journal.pageSize + 4, journal.pageSize + 6] {
          add(.cut, "\(place), \(length)") { $0.removeLast($0.count - offset - length) }
        }
      }
      let end = (part.records.last ?? header) + journal.recordLength
      let next = number + 1 < journal.parts.count ? journal.parts[number + 1].header : nil
      // Before the magic bytes are there, the next part is none.
      add(.cutBetweenParts, place) { $0.removeLast($0.count - end) }
      for length in [0, 4, 7] {
        guard let next else { break }
        add(.cutBetweenParts, "\(place), header \(length)") { $0.removeLast($0.count - next - length) }
      }
      for length in [8, 12, 20, 28, 300] {
        add(.cut, "\(place), header \(length)") { $0.removeLast($0.count - header - length) }
      }
    }
    add(.cutBetweenParts, "everything") { $0.removeAll() }
    return damages
  }

  @Test(arguments: [true, false])
  func `damage is told where SQLite undoes less, and nowhere else`(_ isSynced: Bool) throws {
    let before = try names(store)
    let journal = try HotJournal(interrupting: Self.change, ofStoreAt: store, isSynced: isSynced)
    #expect(isSynced ? journal.parts.count > 2 : journal.parts.count == 1)
    let hot = try Data(contentsOf: store)
    var counts: [String: (silent: Int, told: Int, quiet: Int, doubtful: Int)] = [:]
    for damage in damages(of: journal) {
      try hot.write(to: store)
      try write(damage.bytes)
      let found = try RollbackJournal(besideDatabaseAt: store.path)
      let lost = try found?.playback().damage
      var isTold = found?.objection != nil || lost != nil
      // SQLite judges; a copy that it finds damaged is refused.
      var differs = true
      do { differs = try names(store) != before } catch { isTold = true }
      var count = counts["\(damage.kind)"] ?? (0, 0, 0, 0)
      switch (differs, isTold) {
      case (true, true): count.told += 1
      case (false, false): count.quiet += 1
      case (true, false):
        count.silent += 1
        // Without a number of records, a journal may end anywhere.
        let isSilent = damage.isSilent || !isSynced && damage.kind == .cut
        #expect(isSilent, "\(damage.name): rows differ, and nothing is told")
      case (false, true):
        count.doubtful += 1
        let isDoubtful = damage.isDoubtful
        #expect(isDoubtful, "\(damage.name): told, though no row differs: \(lost.map { "\($0)" } ?? "")")
      }
      counts["\(damage.kind)"] = count
      try? FileManager.default.removeItem(atPath: store.path + "-journal")
    }
    #expect(counts["none"]?.quiet == 1)
    for kind in ["magic", "content", "checksum", "cut", "pageNumber", "nonce"] + (isSynced ? ["count"] : []) {
      #expect(counts[kind]?.told ?? 0 > 0, "\(kind): \(counts)")
    }
  }

  // MARK: The whole way

  private func migrate(
    to change: FlightChange, delegate: (any MigrationAssistantDelegate)? = nil,
    losses: LossPolicy = .accept
  ) throws -> (MigrationOutcome, PreviousVersion?) {
    var configuration = MigrationAssistant.Configuration()
    (configuration.losses, configuration.migratesUnknownVersions) = (losses, true)
    let assistant = MigrationAssistant(store, try ModelHistory(current: change.after()), configuration)
    assistant.delegate = delegate
    let outcome = try assistant.migrateStore()
    return (outcome, try StoreArchive(storeURL: store).previousVersions().last { $0.holdsInterruptedChange })
  }

  @Test func `the version with the journal is pinned, and salvage reads what SQLite doesn't reach`() throws {
    let before = try names(store)
    let journal = try HotJournal(interrupting: Self.change, ofStoreAt: store)
    var bytes = journal.bytes
    let first = try #require(journal.parts.first?.records.first)
    bytes[first + journal.recordLength - 1] ^= 1
    try write(bytes)
    let log = ClosureDelegate()
    let (outcome, undone) = try migrate(to: .renamed, delegate: log)
    let report = try #require(outcome.report)
    let kept = try #require(undone)
    let lost = kept.alone.first?.rows ?? 0
    #expect(kept.isPinned && kept.alone.map(\.entity) == ["Flights.sqlite-journal"] && lost > 10)
    #expect(log.events.contains { if case .undidPartOfInterruptedChange(kept.id, _) = $0 { true } else { false } })
    #expect(!log.events.contains { if case .undidInterruptedChange = $0 { true } else { false } })
    #expect(report.plan.warnings.contains { $0.contains("\"-journal\"") && $0.contains("\(lost) of ") })

    let output = directory.file("Salvaged.sqlite")
    _ = try StoreSalvage(storeURL: kept.storeURL, models: [FlightChange.before()]).run(to: output)
    let salvaged = try names(output)
    // The rows of the one page whose record is damaged are as the change left them.
    #expect(salvaged.count == before.count && zip(salvaged, before).filter { $0 != $1 }.count < 10)

    // Another change is interrupted, whose journal is whole, and more versions are kept than stay.
    for model in [FlightChange.dropped, .renamed, .dropped] {
      _ = try HotJournal(interrupting: "UPDATE ZFLIGHT SET Z_OPT = Z_OPT + 1", ofStoreAt: store, isSynced: false)
      for _ in 0..<2 { _ = try migrate(to: model) }
    }
    let archive = StoreArchive(storeURL: store)
    #expect(try archive.previousVersions().contains { $0.id == kept.id && $0.isPinned && $0.alone == kept.alone })
    #expect(try Data(contentsOf: URL(fileURLWithPath: kept.storeURL.path + "-journal")) == Data(bytes))
    try archive.releasePreviousVersion(kept.id)
    _ = try HotJournal(interrupting: "UPDATE ZFLIGHT SET Z_OPT = Z_OPT + 1", ofStoreAt: store, isSynced: false)
    for model in [FlightChange.renamed, .dropped, .dropped] { _ = try migrate(to: model) }
    #expect(try !archive.previousVersions().contains { $0.id == kept.id })
  }

  @Test func `what the journal alone holds is a loss of the next migration, which needs consent`() throws {
    let journal = try HotJournal(interrupting: Self.change, ofStoreAt: store)
    var bytes = journal.bytes
    bytes[try #require(journal.parts.first?.records.first) + journal.recordLength - 1] ^= 1
    try write(bytes)
    for _ in 0..<2 {
      let error = #expect(throws: MigrationAssistantError.self) { try migrate(to: .renamed, losses: .stop) }
      guard case .lossesNotConsented(_, let plan)? = error else {
        Issue.record("\(error as Any)")
        return
      }
      let loss = try #require(plan.losses.first)
      #expect(plan.losses.count == 1 && loss.entity == "Flights.sqlite-journal" && loss.kind == .unknownContent)
      #expect(loss.amount == "\(loss.rows) pages" && loss.rows > 10)
    }
    let (outcome, undone) = try migrate(to: .renamed)
    let report = try #require(outcome.report)
    #expect(report.plan.losses.map(\.consent) == [.configuration])
    #expect(undone?.isPinned == true && report.previousVersion.isPinned == false)
    // The version that it has kept is newer than the journal.
    guard case .migrated(let next) = try migrate(to: .dropped, losses: .keepVersion).0 else {
      throw CocoaError(.featureUnsupported)
    }
    #expect(!next.plan.losses.contains { $0.entity.hasSuffix("-journal") })
  }

  @Test func `a version that an earlier release kept without a pin is pinned by the next operation`() throws {
    let journal = try HotJournal(interrupting: Self.change, ofStoreAt: store)
    var bytes = journal.bytes
    bytes[journal.bytes.startIndex + 4] ^= 1
    try write(bytes)
    let kept = try #require(try migrate(to: .renamed).1)
    #expect(kept.isPinned)
    // An earlier release noted no content.
    let folder = kept.storeURL.deletingLastPathComponent()
    let manifest = folder.appendingPathComponent("manifest.json")
    let noted = try PreviousVersionManifest(decoding: [UInt8](Data(contentsOf: manifest)))
    let earlier = PreviousVersionManifest(
      identifier: noted.identifier, time: noted.time, storeName: noted.storeName, storeByteCount: noted.storeByteCount,
      supportFileCount: noted.supportFileCount, supportByteCount: noted.supportByteCount, versionChecksum: nil,
      generation: nil, mode: .rollback, operation: .undoing)
    try Data(earlier.encoded()).write(to: manifest)
    #expect(try StoreArchive(storeURL: store).previousVersions().first { $0.id == kept.id }?.isPinned == false)
    _ = try migrate(to: .dropped)
    let now = try #require(try StoreArchive(storeURL: store).previousVersions().first { $0.id == kept.id })
    #expect(now.isPinned && now.alone == kept.alone)
  }
}
