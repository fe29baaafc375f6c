/// SQLite rolls a change back up to the damage, and silently ignores the rest.
package struct JournalDamage: Equatable, Sendable {
  /// SQLite rolls nothing back then.
  package let isHeaderDamaged: Bool
  /// Pages that the journal has, or claims to have.
  package let recordCount: Int64
  /// Pages that SQLite doesn't restore; the database may still have them as changed.
  package let lostCount: Int64
}

extension JournalDamage: CustomStringConvertible {
  package var description: String {
    let found =
      isHeaderDamaged
      ? "The header of the \"-journal\" is damaged: SQLite rolled back nothing of the change"
      : "\(lostCount) of \(recordCount) pages in the \"-journal\" can't be restored: SQLite reads it up to the first that"
        + " is damaged"
    return found + ", and rows may have values that were never saved."
  }
}

extension RollbackJournal {
  package struct Record: Equatable, Sendable {
    /// Counts from 1.
    package let page: UInt32
    /// The offset of the page's content in the journal, in bytes.
    package let offset: Int64
  }

  package struct Playback: Equatable, Sendable {
    package fileprivate(set) var damage: JournalDamage?
    /// Sound records after the first damaged one, which SQLite doesn't reach.
    package fileprivate(set) var unread: [Record] = []
    package fileprivate(set) var pageSize = 0
  }

  /// Determines what SQLite would roll back, record by record.
  ///
  /// SQLite stops at the first record whose checksum is wrong, and at an invalid header. A page
  /// counts as lost unless the database still has it as in the journal. Some damage can't be
  /// detected: another page's number, content outside the checksum, which covers every 200th byte,
  /// a truncation where a header could be, and any truncation of a journal without a number of
  /// records.
  ///
  /// The files are opened and closed, which drops this process's locks on them: read a copy.
  package func playback() throws(StoreError) -> Playback {
    guard !isCommitted else { return Playback() }
    guard let journal = OpenedFile(path), let database = OpenedFile(databasePath) else {
      throw StoreError(path: databasePath, problem: .unreadable(reason: "its -journal can't be read"))
    }
    var reader = JournalReader(journal, size: recordsByteCount, database: database)
    return reader.read()
  }
}

/// Begins each part whose records were synced together.
///
/// https://www.sqlite.org/fileformat2.html#the_rollback_journal
private struct JournalHeader {
  /// `nil` for as many records as fit in the file.
  let count: Int64?
  let nonce: UInt32
  let pageCount: UInt32
  let sectorSize: Int64
  let pageSize: Int64
  let hasMagic: Bool

  init?(_ bytes: [UInt8]?, databasePageSize: Int64) {
    guard let bytes, bytes.count == 28 else { return nil }
    hasMagic = bytes.starts(with: RollbackJournal.magic)
    let declared = bigEndianWord(bytes, at: 8)
    count = declared == .max ? nil : Int64(declared)
    nonce = bigEndianWord(bytes, at: 12)
    pageCount = bigEndianWord(bytes, at: 16)
    sectorSize = Int64(bigEndianWord(bytes, at: 20))
    let size = Int64(bigEndianWord(bytes, at: 24))
    pageSize = size == 0 ? databasePageSize : size
  }

  var hasSizes: Bool {
    (32...65_536).contains(sectorSize) && sectorSize & (sectorSize - 1) == 0
      && (512...65_536).contains(pageSize) && pageSize & (pageSize - 1) == 0
  }
}

/// Reads on after the place where SQLite stops.
private struct JournalReader {
  private let journal: OpenedFile
  private let size: Int64
  private let database: OpenedFile
  private let databasePageSize: Int64

  private var pageSize: Int64 = 0
  private var sectorSize: Int64 = 0
  private var pageCount: UInt32 = 0
  /// True from the record, or the header, at which SQLite stops.
  private var isStopped = false
  private var seen: Set<UInt32> = []
  private var (recordCount, lostCount): (Int64, Int64) = (0, 0)
  private var unread: [RollbackJournal.Record] = []

  /// SQLite's shortest sector: it reads no journal that is shorter.
  private static let shortest: Int64 = 512

  init(_ journal: OpenedFile, size: Int64, database: OpenedFile) {
    (self.journal, self.size, self.database) = (journal, size, database)
    let start = database.bytes(at: 0, count: min(18, database.byteCount)) ?? []
    databasePageSize = Int64(max(512, DatabaseHeader.pageSize(in: start)))
  }

  mutating func read() -> RollbackJournal.Playback {
    let header = JournalHeader(journal.bytes(at: 0, count: 28), databasePageSize: databasePageSize)
    let isHeaderDamaged = header?.hasMagic != true || header?.hasSizes != true || size < Self.shortest
    isStopped = isHeaderDamaged
    if let header, header.hasSizes {
      (pageSize, sectorSize, pageCount) = (header.pageSize, header.sectorSize, header.pageCount)
      readParts(from: header)
    }
    // The records after an unreadable header are unknown; there was at least one.
    if isHeaderDamaged, recordCount == 0 { (recordCount, lostCount) = (1, 1) }
    var playback = RollbackJournal.Playback(unread: unread, pageSize: Int(clamping: pageSize))
    guard lostCount > 0 else { return playback }
    // A journal has each page once. A number of records beyond that is itself damaged.
    let most = max(1, Int64(pageCount), Int64(seen.count))
    playback.damage = JournalDamage(
      isHeaderDamaged: isHeaderDamaged, recordCount: min(recordCount, most), lostCount: min(lostCount, most))
    return playback
  }

  private mutating func readParts(from first: JournalHeader) {
    var (header, offset): (JournalHeader, Int64) = (first, 0)
    while true {
      let end = readPart(header, at: offset)
      // The next header is at the start of a sector.
      offset = (end + sectorSize - 1) / sectorSize * sectorSize
      guard let next = nextHeader(at: offset) else { return }
      header = next
    }
  }

  /// Returns `nil` for the end of what was synced.
  ///
  /// SQLite writes a part's magic bytes and number of records once the records are on the disk.
  private mutating func nextHeader(at offset: Int64) -> JournalHeader? {
    guard let start = journal.bytes(at: offset, count: min(28, max(0, size - offset))), start.count >= 8
    else { return nil }
    let hasMagic = start.starts(with: RollbackJournal.magic)
    guard let header = JournalHeader(start, databasePageSize: databasePageSize) else {
      if hasMagic { note(missing: 1) }
      return nil
    }
    if hasMagic { return header }
    // The first byte of an earlier change's header was set to zero. Any other part with sound records was synced.
    guard start[0] != 0, header.count != 0, header.pageCount == pageCount,
      record(at: offset + sectorSize).map({ isSound($0, header) }) == true
    else { return nil }
    isStopped = true
    return header
  }

  private mutating func readPart(_ header: JournalHeader, at offset: Int64) -> Int64 {
    let (start, length) = (offset + sectorSize, pageSize + 8)
    let fitting = max(0, size - start) / length
    let declared = header.count ?? fitting
    var unknown: [(record: JournalRecord, difference: UInt32)] = []
    for number in 0..<min(declared, fitting) {
      guard let record = record(at: start + number * length) else { break }
      // Without a number, records of an earlier change may follow: their checksums fit another nonce, the same for all.
      if header.count == nil, !isSound(record, header) || record.page == 0 {
        unknown.append((record, record.checksum &- record.sum))
      } else {
        for earlier in unknown { take(earlier.record, header) }
        unknown = []
        take(record, header)
      }
    }
    let isOfEarlierChange = unknown.count > 1 && !seen.isEmpty && Set(unknown.map(\.difference)).count == 1
    if !isOfEarlierChange { for record in unknown { take(record.record, header) } }
    if declared > fitting {
      note(missing: declared - fitting)
      return size
    }
    guard header.count != nil else { return size }
    // A record in the place of a header: the real number of records is larger.
    var end = start + declared * length
    while let record = record(at: end), isSound(record, header), isPage(record.page), !seen.contains(record.page) {
      isStopped = true
      take(record, header)
      end += length
    }
    return end
  }

  private mutating func take(_ record: JournalRecord, _ header: JournalHeader) {
    recordCount += 1
    let isKnown = isPage(record.page) && isSound(record, header)
    // SQLite skips the number of a page beyond the database's end, and stops at an invalid one.
    if !isKnown, record.page <= pageCount || record.page == lockPage { isStopped = true }
    // If a page occurs twice, one of the two has a wrong number, and its real page isn't restored.
    let isNew = !isPage(record.page) || seen.insert(record.page).inserted
    guard isStopped || !isKnown || !isNew, !isNew || !isInDatabase(record) else { return }
    lostCount += 1
    if isKnown, isNew { unread.append(RollbackJournal.Record(page: record.page, offset: record.offset)) }
  }

  private mutating func note(missing count: Int64) {
    isStopped = true
    recordCount += count
    lostCount += count
  }

  private var lockPage: UInt32 { UInt32(Int64(PageLayout.lockByte) / max(512, pageSize)) + 1 }

  private func isPage(_ number: UInt32) -> Bool { number >= 1 && number <= pageCount && number != lockPage }

  private func isSound(_ record: JournalRecord, _ header: JournalHeader) -> Bool {
    record.checksum == header.nonce &+ record.sum
  }

  private func record(at offset: Int64) -> JournalRecord? {
    guard offset + pageSize + 8 <= size else { return nil }
    return journal.bytes(at: offset, count: pageSize + 8).map { JournalRecord($0, offset: offset + 4) }
  }

  private func isInDatabase(_ record: JournalRecord) -> Bool {
    guard isPage(record.page) else { return false }
    return database.bytes(at: Int64(record.page - 1) * pageSize, count: pageSize).map { $0[...] == record.content }
      ?? false
  }
}

private struct JournalRecord {
  let page: UInt32
  let content: ArraySlice<UInt8>
  let checksum: UInt32
  /// The sum of every two-hundredth byte from the page's end; the checksum is this and the header's nonce.
  let sum: UInt32
  let offset: Int64

  init(_ bytes: [UInt8], offset: Int64) {
    page = bigEndianWord(bytes, at: 0)
    content = bytes[4..<bytes.count - 4]
    checksum = bigEndianWord(bytes, at: bytes.count - 4)
    sum = stride(from: content.count - 200, to: 0, by: -200).reduce(0) { $0 &+ UInt32(bytes[4 + $1]) }
    self.offset = offset
  }
}
