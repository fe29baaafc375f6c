package import Foundation
import HeirloomStore

/// A real journal of SQLite beside a store, as a crash in the middle of a change leaves both.
package struct HotJournal: Sendable {
  /// A part of the journal whose records SQLite brought to the disk together.
  package struct Part: Sendable {
    /// The offset of the part's header.
    package let header: Int
    /// The offsets of its records.
    package let records: [Int]
  }

  /// The journal's content.
  package let bytes: [UInt8]
  /// Its parts, the synced ones.
  package let parts: [Part]
  /// The size of a page, in bytes.
  package let pageSize: Int

  /// The length of a record: its number, a page and a checksum.
  package var recordLength: Int { pageSize + 8 }

  /// Interrupts a change of a store after SQLite has written a part of it into the store.
  ///
  /// - Parameters:
  ///   - change: The statement that changes many pages.
  ///   - store: The store, which is then in rollback mode.
  ///   - cachedPages: The number of pages that SQLite holds before it writes some into the store.
  ///   - isSynced: False for a journal without numbers of records, as `PRAGMA synchronous = OFF` makes it.
  /// - Throws: An error of SQLite or Foundation.
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
