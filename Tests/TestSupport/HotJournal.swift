package import Foundation
import HeirloomStore

/// A real journal of SQLite beside a store, as a crash in the middle of a change leaves both.
package struct HotJournal: Sendable {
  /// A header and the records that SQLite synced with it, as byte offsets in the journal.
  package struct Part: Sendable {
    package let header: Int
    package let records: [Int]
  }

  package let bytes: [UInt8]
  package let parts: [Part]
  package let pageSize: Int

  /// A record is the page's number, the page and a checksum.
  package var recordLength: Int { pageSize + 8 }

  /// Interrupts a change of a store after SQLite has written a part of it into the store, which is
  /// then in rollback mode.
  ///
  /// `cachedPages` is the number of pages that SQLite holds before it writes some; an unsynced
  /// journal has no numbers of records, as `PRAGMA synchronous = OFF` makes it.
  package init(
    interrupting change: String, ofStoreAt store: URL, cachedPages: Int = 10, isSynced: Bool = true
  ) throws {
    let manager = FileManager.default
    let connection = try Connection(path: store.path, mode: .readWrite, options: .inspecting)
    _ = try connection.firstValue("PRAGMA journal_mode = DELETE")
    _ = try connection.rows("PRAGMA cache_size = \(cachedPages)")
    try connection.execute("PRAGMA synchronous = \(isSynced ? "FULL" : "OFF")")
    try connection.execute("BEGIN")
    try connection.execute(change)
    let copies = ["", "-journal"].map { (store.path + $0, store.path + $0 + ".hot") }
    for (path, copy) in copies { try manager.copyItem(atPath: path, toPath: copy) }
    try connection.execute("ROLLBACK")
    try connection.close()
    for (path, copy) in copies {
      try? manager.removeItem(atPath: path)
      try manager.moveItem(atPath: copy, toPath: path)
    }
    bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: store.path + "-journal")))
    func word(_ offset: Int, _ bytes: [UInt8]) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
    let (sector, size) = (word(20, bytes), word(24, bytes))
    var parts: [Part] = []
    var offset = 0
    while offset + sector <= bytes.count, Array(bytes[offset..<offset + 8]) == Array(bytes[..<8]) {
      let declared = word(offset + 8, bytes)
      let count = declared == 0xffff_ffff ? (bytes.count - sector) / (size + 8) : declared
      parts.append(Part(header: offset, records: (0..<count).map { offset + sector + $0 * (size + 8) }))
      offset = (offset + sector + count * (size + 8) + sector - 1) / sector * sector
    }
    self.parts = parts
    pageSize = size
  }
}
