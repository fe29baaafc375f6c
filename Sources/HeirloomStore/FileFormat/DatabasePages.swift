internal import CHeirloomSQLite

/// Read without SQLite's cache and without its locks: nothing may write meanwhile.
///
/// The format is that of https://www.sqlite.org/fileformat2.html.
package final class DatabasePages {
  let layout: PageLayout
  package var pageSize: Int { layout.pageSize }
  var usableSize: Int { layout.usableSize }
  /// The first page has the number 1.
  package let pageCount: Int
  /// With any bytes after the last page, which SQLite ignores.
  let byteCount: Int64
  let header: [UInt8]
  /// Core Data's stores have one.
  var hasPageMap: Bool { bigEndianWord(header, at: 52) != 0 }
  package var isUTF8: Bool { bigEndianWord(header, at: 56) == 1 }
  var lockPage: Int { layout.lockPage }

  private let connection: Connection
  private let database: String
  /// A part's slot follows from its offset.
  private let cache: UnsafeMutableRawBufferPointer
  private var cached: [Int64]
  private static let partSize = 1 << 16
  private static let partCount = 16

  package init(of connection: Connection, database: String) throws {
    self.connection = connection
    self.database = database
    var size: Int64 = 0
    try connection.check(
      heirloom_sqlite_file_size(try connection.openHandle(), database, &size), sql: nil)
    var header = [UInt8](repeating: 0, count: 100)
    let status = heirloom_sqlite_read(try connection.openHandle(), database, &header, 100, 0)
    guard size >= 512, status == SQLITE_OK, let layout = PageLayout(header: header) else {
      throw PageFault("has no header")
    }
    // The header's number is valid unless SQLite before 3.7.0 wrote last; then the file's length counts.
    let isCounted = bigEndianWord(header, at: 28) > 0 && header[24..<28] == header[92..<96]
    guard isCounted || size % Int64(layout.pageSize) == 0, let held = Int(exactly: size / Int64(layout.pageSize)),
      held < Int(clamping: UInt32.max)
    else { throw PageFault("has \(size) bytes, which are not whole pages") }
    let count = isCounted ? bigEndian(header, at: 28) : held
    guard count <= held else { throw PageFault("has \(held) pages, and \(count) by its header") }
    self.layout = layout
    (pageCount, byteCount) = (count, size)
    self.header = header
    cached = [Int64](repeating: -1, count: Self.partCount)
    cache = .allocate(byteCount: Self.partSize * Self.partCount, alignment: 16)
  }

  deinit {
    cache.deallocate()
  }

  func makeBuffer() -> PageBuffer { PageBuffer(pageSize: pageSize) }

  func read(_ page: Int, into buffer: PageBuffer) throws {
    guard page >= 1, page <= pageCount else { throw PageFault("has no page \(page)") }
    let offset = Int64(page - 1) * Int64(pageSize)
    let part = offset / Int64(Self.partSize)
    let slot = Int(clamping: part % Int64(Self.partCount))
    let place = slot * Self.partSize
    if cached[slot] != part {
      cached[slot] = -1
      let start = part * Int64(Self.partSize)
      let count = min(Int64(Self.partSize), Int64(pageCount) * Int64(pageSize) - start)
      try read(
        UnsafeMutableRawBufferPointer(rebasing: cache[place..<place + Int(clamping: count)]), at: start)
      cached[slot] = part
    }
    let inPart = place + Int(clamping: offset % Int64(Self.partSize))
    UnsafeMutableRawBufferPointer(start: buffer.start, count: pageSize)
      .copyMemory(from: UnsafeRawBufferPointer(rebasing: cache[inPart..<inPart + pageSize]))
  }

  func readAlone(_ page: Int, into buffer: PageBuffer) throws {
    guard page >= 1, page <= pageCount else { throw PageFault("has no page \(page)") }
    try read(
      UnsafeMutableRawBufferPointer(start: buffer.start, count: pageSize), at: Int64(page - 1) * Int64(pageSize))
  }

  /// Throws if the connection is to be interrupted.
  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SQLiteError) {
    if connection.interruption?() ?? false {
      throw SQLiteError(extendedCode: SQLITE_INTERRUPT, message: String(cString: sqlite3_errstr(SQLITE_INTERRUPT)))
    }
    guard let start = buffer.baseAddress, !buffer.isEmpty else { return }
    let status = heirloom_sqlite_read(try connection.openHandle(), database, start, Int32(buffer.count), offset)
    guard status == SQLITE_OK else {
      throw SQLiteError(extendedCode: status, message: String(cString: sqlite3_errstr(status)))
    }
  }
}
