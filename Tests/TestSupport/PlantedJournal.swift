package import Foundation

/// A rollback journal beside a store, made by the rules of SQLite's file format and with no code of ours.
///
/// https://www.sqlite.org/fileformat2.html#the_rollback_journal
package enum PlantedJournal: String, CaseIterable, Sendable {
  /// The store's last page is torn, and the journal holds all pages.
  case interrupted
  /// The same, for a change of several databases whose super-journal exists and lists it.
  case interruptedWithOthers
  /// The same, but the super-journal is gone: the change was done, and the store is not torn.
  case committed
  /// A header alone, which says that the store was empty.
  case emptiesStore
  /// It says that the store had one page, and holds that page: the schema without any table's rows.
  case cutsToOnePage
  /// It says that the store had four thousand million pages.
  case stretchesStore
  /// It holds a first page of zeros.
  case blanksSchema
  /// It names a file in another folder as its super-journal.
  case namesForeignFile
  /// The same, for a file that has a super-journal's name and lists the journal.
  case namesForeignList
  case namesStore
  /// It names a link in the store's folder that has a super-journal's name and points to another
  /// file.
  case namesLink
  /// It names a super-journal in the folder that lists a named pipe, which SQLite would wait for.
  case namesPipe

  /// True when rolling the journal back is right; all others are refused.
  package var isSound: Bool { [.interrupted, .interruptedWithOthers, .committed].contains(self) }

  private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
  private static let nonce: UInt32 = 0x1234_5678

  /// The store must be in rollback mode; it is changed only if the interrupted change is a real
  /// one.
  ///
  /// `foreign` is an existing file, which the journal may name.
  package func plant(besideStoreAt store: URL, foreign: URL) throws {
    let store = store.resolvingSymlinksInPath()
    let content = [UInt8](try Data(contentsOf: store))
    let declared = Int(content[16]) << 8 | Int(content[17])
    let pageSize = declared == 1 ? 65_536 : declared
    let pages = stride(from: 0, to: content.count, by: pageSize).map { Array(content[$0..<$0 + pageSize]) }
    let journal = URL(fileURLWithPath: store.path + "-journal")
    let superJournal = URL(fileURLWithPath: store.path + "-mj00ABCD9EF")
    func write(_ count: Int, _ records: [[UInt8]], naming name: String? = nil) throws {
      var bytes = Self.header(count: records.count, originalCount: count, pageSize: pageSize)
      for (index, page) in records.enumerated() {
        bytes += Self.bigEndian(UInt32(index + 1)) + page + Self.bigEndian(Self.sum(of: page))
      }
      if let name { bytes += Self.record(naming: name, pageSize: pageSize) }
      try Data(bytes).write(to: journal)
    }
    func tear() throws {
      var torn = content
      for index in torn.count - pageSize..<torn.count { torn[index] = 0x5a }
      try Data(torn).write(to: store)
    }
    switch self {
    case .interrupted:
      try write(pages.count, pages)
      try tear()
    case .interruptedWithOthers:
      try write(pages.count, pages, naming: superJournal.path)
      try Data((journal.path + "\0" + store.path + "-other-journal\0").utf8).write(to: superJournal)
      try tear()
    case .committed: try write(1, [pages[0]], naming: superJournal.path)
    case .emptiesStore: try write(0, [])
    case .cutsToOnePage: try write(1, [pages[0]])
    case .stretchesStore: try write(Int(UInt32.max), [])
    case .blanksSchema: try write(pages.count, [[UInt8](repeating: 0, count: pageSize)])
    case .namesForeignFile: try write(pages.count, [], naming: foreign.path)
    case .namesForeignList:
      let list = foreign.deletingLastPathComponent().appendingPathComponent("list-mj00ABCD9EF")
      try Data((journal.path + "\0").utf8).write(to: list)
      try write(pages.count, [], naming: list.path)
    case .namesStore: try write(pages.count, [], naming: store.path)
    case .namesLink:
      try FileManager.default.createSymbolicLink(at: superJournal, withDestinationURL: foreign)
      try write(pages.count, [], naming: superJournal.path)
    case .namesPipe:
      let pipe = store.path + "-pipe-journal"
      _ = mkfifo(pipe, 0o644)
      try Data((journal.path + "\0" + pipe + "\0").utf8).write(to: superJournal)
      try write(pages.count, pages, naming: superJournal.path)
    }
  }

  private static func header(count: Int, originalCount: Int, pageSize: Int) -> [UInt8] {
    let numbers = [UInt32(count), nonce, UInt32(originalCount), 512, UInt32(pageSize)]
    let start = magic + numbers.flatMap(bigEndian)
    return start + [UInt8](repeating: 0, count: 512 - start.count)
  }

  private static func record(naming name: String, pageSize: Int) -> [UInt8] {
    let bytes = Array(name.utf8)
    let sum = bytes.reduce(UInt32(0)) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }
    return bigEndian(UInt32(0x4000_0000 / pageSize + 1)) + bytes + bigEndian(UInt32(bytes.count)) + bigEndian(sum)
      + magic
  }

  private static func sum(of page: [UInt8]) -> UInt32 {
    stride(from: page.count - 200, to: 0, by: -200).reduce(nonce) { $0 &+ UInt32(page[$1]) }
  }

  private static func bigEndian(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}
