/// The pointer map of a database in auto-vacuum mode: the kind of each page, and its parent.
final class PageMap {
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
  private var layout: PageLayout { pages.layout }
  private var cached: [Int]
  private let buffers: [PageBuffer]

  init(_ pages: DatabasePages) {
    self.pages = pages
    cached = [Int](repeating: 0, count: 16)
    buffers = (0..<16).map { _ in pages.makeBuffer() }
  }

  func contains(_ page: Int) -> Bool { layout.isMapPage(page) }

  func covers(_ page: Int) -> Bool { page >= 3 && page != layout.lockPage && !contains(page) }

  /// The page must have an entry.
  func entry(of page: Int) throws -> Entry {
    let bytes = try read(layout.mapPage(of: page))
    guard let offset = layout.mapOffset(of: page) else { throw PageFault("has no map of page \(page)") }
    return entry(in: bytes, at: offset)
  }

  func forEachEntry(_ body: (_ page: Int, _ entry: Entry, _ mapPage: Int) throws -> Void) throws {
    var map = 0
    var bytes = buffers[0].bytes
    for page in 3..<max(3, pages.pageCount + 1) where covers(page) {
      // Each page of the pointer map precedes the pages that it describes.
      if map == 0 || page > map + layout.mapEntryCount {
        map = layout.mapPage(of: page)
        bytes = try read(map)
      }
      try body(page, entry(in: bytes, at: 5 * (page - map - 1)), map)
    }
  }

  private func entry(in bytes: UnsafeRawPointer, at offset: Int) -> Entry {
    Entry(kind: bytes.load(fromByteOffset: offset, as: UInt8.self), parent: bytes.unsigned(at: offset + 1))
  }

  /// Valid until other pages are read.
  private func read(_ map: Int) throws -> UnsafeRawPointer {
    let slot = map / (layout.mapEntryCount + 1) % cached.count
    if cached[slot] != map {
      cached[slot] = 0
      // They lie far apart, so neighbours aren't needed.
      try pages.readAlone(map, into: buffers[slot])
      cached[slot] = map
    }
    return buffers[slot].bytes
  }
}
