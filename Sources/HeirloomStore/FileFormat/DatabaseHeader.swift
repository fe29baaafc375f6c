package struct DatabaseHeader {
  package static let byteCount = 100
  package static let magic = Array("SQLite format 3\0".utf8)

  package var pageSize: Int
  /// At the end of each page.
  package var reservedBytes = 0
  /// From 1 to 3.
  package var encoding = 1
  /// The first trunk page of the freelist; 0 for an empty list.
  package var firstFreePage = 0
  package var freePageCount = 0
  /// Before the file was truncated; 0 if unknown.
  package var formerPageCount = 0
  /// `nil` if the header is damaged.
  package var autoVacuums: Bool?
  package var isRepaired = false

  package var layout: PageLayout { PageLayout(pageSize: pageSize, usableSize: pageSize - reservedBytes) }

  /// 0 if there are not enough bytes; the number may be none that SQLite accepts.
  package static func pageSize(in start: [UInt8]) -> Int {
    guard start.count >= 18 else { return 0 }
    let declared = Int(start[16]) << 8 | Int(start[17])
    return declared == 1 ? 65_536 : declared
  }

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

  package init(pageSize: Int) {
    self.pageSize = pageSize
    isRepaired = true
  }
}
