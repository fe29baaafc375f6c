/// The map that a database of a file that can be shortened keeps of its pages: the kind of each, and what leads to it.
final class PageMap {
  /// The map's entry for a page: its kind, and the page that leads to it; 0 for none.
  struct Entry: Hashable {
    let kind: UInt8
    let parent: UInt32

    static let root = Entry(kind: 1, parent: 0)
    static let free = Entry(kind: 2, parent: 0)
    static func firstOverflow(of page: Int) -> Entry { Entry(kind: 3, parent: UInt32(page)) }
    static func overflow(after page: Int) -> Entry { Entry(kind: 4, parent: UInt32(page)) }
    static func child(of page: Int) -> Entry { Entry(kind: 5, parent: UInt32(page)) }
  }

  private let pages: DatabasePages
  private var cached: [Int]
  private let buffers: [PageBuffer]

  init(_ pages: DatabasePages) {
    self.pages = pages
    cached = [Int](repeating: 0, count: 16)
    buffers = (0..<16).map { _ in pages.makeBuffer() }
  }

  /// Returns true if a page belongs to the map itself.
  func contains(_ page: Int) -> Bool { page >= 2 && mapPage(of: page) == page }

  /// Returns true if a page has an entry.
  func covers(_ page: Int) -> Bool { page >= 3 && page != pages.lockPage && !contains(page) }

  private func mapPage(of page: Int) -> Int {
    let span = pages.usableSize / 5 + 1
    let map = (page - 2) / span * span + 2
    // The page that SQLite locks is never used.
    return map == pages.lockPage ? map + 1 : map
  }

  /// Returns the entry of a page that has one.
  ///
  /// - Throws: ``PageFault`` when the file doesn't go so far.
  func entry(of page: Int) throws -> Entry {
    let map = mapPage(of: page)
    let bytes = try read(map)
    let offset = 5 * (page - map - 1)
    guard offset >= 0, offset + 5 <= pages.usableSize else { throw PageFault("has no map of page \(page)") }
    return entry(in: bytes, at: offset)
  }

  /// Calls a closure with each page that has an entry, the entry, and the page of the map that it is on.
  ///
  /// - Throws: ``PageFault``, or what the closure throws.
  func forEachEntry(_ body: (_ page: Int, _ entry: Entry, _ mapPage: Int) throws -> Void) throws {
    var map = 0
    var bytes = buffers[0].bytes
    for page in 3..<max(3, pages.pageCount + 1) where covers(page) {
      // The next page of the map comes right before the pages that are on it.
      if map == 0 || page > map + pages.usableSize / 5 {
        map = mapPage(of: page)
        bytes = try read(map)
      }
      try body(page, entry(in: bytes, at: 5 * (page - map - 1)), map)
    }
  }

  private func entry(in bytes: UnsafeRawPointer, at offset: Int) -> Entry {
    Entry(kind: bytes.load(fromByteOffset: offset, as: UInt8.self), parent: bytes.unsigned(at: offset + 1))
  }

  /// Returns a page of the map, which stays until others are read.
  private func read(_ map: Int) throws -> UnsafeRawPointer {
    let slot = map / (pages.usableSize / 5 + 1) % cached.count
    if cached[slot] != map {
      cached[slot] = 0
      // They lie far apart.
      try pages.readAlone(map, into: buffers[slot])
      cached[slot] = map
    }
    return buffers[slot].bytes
  }
}
