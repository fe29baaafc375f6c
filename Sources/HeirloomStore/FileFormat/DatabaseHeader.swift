/// The database header, the first 100 bytes of a file.
package struct DatabaseHeader {
  /// The length of a header, in bytes.
  package static let byteCount = 100
  /// The first bytes of every database.
  package static let magic = Array("SQLite format 3\0".utf8)

  /// The size of a page, in bytes.
  package var pageSize: Int
  /// The number of reserved bytes at the end of each page.
  package var reservedBytes = 0
  /// The text encoding, from 1 to 3.
  package var encoding = 1
  /// The first trunk page of the freelist; 0 for an empty list.
  package var firstFreePage = 0
  /// The number of free pages.
  package var freePageCount = 0
  /// The number of pages before the file was truncated; 0 if unknown.
  package var formerPageCount = 0
  /// True if the database has pointer map pages because it is in auto-vacuum mode; `nil` if the header is damaged.
  package var autoVacuums: Bool?
  /// True if the file's own header couldn't be used.
  package var isRepaired = false

  /// The sizes of the database's pages.
  package var layout: PageLayout { PageLayout(pageSize: pageSize, usableSize: pageSize - reservedBytes) }

  /// Returns the page size that the start of a file declares; 0 if there are not enough bytes.
  ///
  /// The number isn't checked: it may be none that SQLite accepts.
  package static func pageSize(in start: [UInt8]) -> Int {
    guard start.count >= 18 else { return 0 }
    let declared = Int(start[16]) << 8 | Int(start[17])
    return declared == 1 ? 65_536 : declared
  }

  /// Parses a header; `nil` if it is damaged.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.byteCount, bytes.starts(with: Self.magic), let layout = PageLayout(header: bytes) else {
      return nil
    }
    pageSize = layout.pageSize
    reservedBytes = pageSize - layout.usableSize
    // The payload fractions are constants of the format; other values mean that this is no header.
    guard bytes[21] == 64, bytes[22] == 32, bytes[23] == 32, bytes[18] <= 2, bytes[19] <= 2 else { return nil }
    firstFreePage = bigEndian(bytes, at: 32)
    freePageCount = bigEndian(bytes, at: 36)
    autoVacuums = bigEndian(bytes, at: 52) != 0
    encoding = bigEndian(bytes, at: 56)
    if encoding == 0 { encoding = 1 }
    guard (1...3).contains(encoding) else { return nil }
  }

  /// Creates a header for a file whose own is damaged.
  package init(pageSize: Int) {
    self.pageSize = pageSize
    isRepaired = true
  }
}
